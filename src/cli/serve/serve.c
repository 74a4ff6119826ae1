/* SPDX-License-Identifier: MIT */
/* Program fumehood-serve: `fumehood serve`. */
#include "cli/serve/serve.h"

#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/process/launcher.h"
#include "cli/serve/serve_log.h"
#include "cli/serve/serve_tls.h"
#include "cli/shared/interrupt.h"
#include "cli/shared/options.h"
#include "e2b/server.h"
#include "server/http_address.h"

enum { PEM_MAX = 1 << 20, ARENAS = 4, TRIM_S = 20, TRIM_FROM = 1 << 20 };

static uint64_t port, listen_descriptor, until_pid, queue;
static const char *state;
static const char *address, *key_file, *domain, *access_log, *tls_certificate, *tls_key;
static struct fh_ceilings ceilings;
static struct fh_opt_list data_sets, preload;
static bool quiet, tls_self_signed;

#define CEILING(name_, id, kind_, argument_, help_, ...)                                                               \
	{                                                                                                                  \
		.name = "max-" name_, .kind = kind_, .target = &ceilings.value[id], .argument = argument_, .help = help_,      \
		.flags = FH_OPT_UNLIMITED, .default_number = &fh_ceiling_table[id].usual, __VA_ARGS__                          \
	}
#define FROM_ONE .least = 1, .most = UINT32_MAX
static const struct fh_opt options[] = {
	{ "port", 'p', FH_OPT_U64, &port, "N", "The port to listen at; 0: any free port.", .default_text = FH_SERVE_PORT },
	{ "address", 0, FH_OPT_STRING, &address, "ADDRESS",
	  "The address to listen at. Addresses other than loopback ones need --api-key-file.",
	  .default_text = FH_SERVE_ADDRESS },
	{ "api-key-file", 0, FH_OPT_STRING, &key_file, "FILE",
	  "Who may use the server: one key a line, or sha256:HASH, with ceilings of its own behind it (mode 0600). Without "
	  "it every key is accepted." },
	{ "domain", 0, FH_OPT_STRING, &domain, "NAME", "What the names of ports inside end in: PORT-SANDBOX.NAME.",
	  .default_words = "localhost:PORT" },
	{ "tls-certificate", 0, FH_OPT_STRING, &tls_certificate, "FILE", "Speak TLS with this certificate chain (PEM)." },
	{ "tls-key", 0, FH_OPT_STRING, &tls_key, "FILE", "The certificate's private key (PEM)." },
	{ "tls-self-signed", 0, FH_OPT_FLAG, &tls_self_signed, NULL,
	  "Speak TLS with a certificate of our own for --domain (without it " FH_TLS_DOMAIN
	  "), made once; `fumehood env --domain` tells clients to trust it." },
	{ "data-set", 0, FH_OPT_LIST, &data_sets, "NAME=FILE",
	  "A data set that /judge and /submit judge by NAME, in the formats of `fumehood judge`." },
	{ "preload", 0, FH_OPT_LIST, &preload, "MODULE",
	  "A module that Python imports while a sandbox waits for its client, for code that will import it." },
	{ "queue", 0, FH_OPT_U64, &queue, "N",
	  "Requests of one key to /run_code, /judge and /submit that may wait; further ones get status 429.",
	  .default_text = "256" },
	{ "state", 0, FH_OPT_STRING, &state, "FOLDER",
	  "Keep paused sandboxes (their files, not their memory), snapshots, templates and volumes there for the next "
	  "server; made if it is missing (mode 0700). Without it there are no volumes.",
	  FH_OPT_WRITES },
	{ "access-log", 0, FH_OPT_STRING, &access_log, "FILE", "Append a line of JSON for each request; - is stderr." },
	{ "quiet", 'q', FH_OPT_FLAG, &quiet, NULL, "Do not say where the server listens and how it is used." },
	{ "listen-descriptor", 0, FH_OPT_U64, &listen_descriptor, "N", "A socket that listens already.", FH_OPT_HIDDEN },
	{ "until", 0, FH_OPT_U64, &until_pid, "PID", "Stop when this process has ended.", FH_OPT_HIDDEN },
	{ "", .help = "Ceilings, whatever clients ask for; \"unlimited\" removes one" },
	CEILING("sandboxes", FH_CEILING_SANDBOXES, FH_OPT_U64, "N", "Sandboxes that one key may have at once.", FROM_ONE),
	CEILING("total", FH_CEILING_TOTAL, FH_OPT_U64, "N", "Sandboxes of all keys together.", FROM_ONE),
	CEILING("lifetime", FH_CEILING_LIFETIME, FH_OPT_DURATION, "SECONDS", "How far ahead a sandbox's end may be set."),
	CEILING("cpus", FH_CEILING_CPUS, FH_OPT_MILLI, "N", "Processors of one sandbox, in fractions.", .least = 10,
	        .most = 4096000),
	CEILING("memory", FH_CEILING_MEMORY, FH_OPT_SIZE, "SIZE", "Memory of one sandbox."),
	CEILING("disk", FH_CEILING_DISK, FH_OPT_SIZE, "SIZE",
	        "Bytes that one sandbox may write, three quarters of its memory at most."),
	CEILING("processes", FH_CEILING_PROCESSES, FH_OPT_U64, "N", "Processes and threads of one sandbox.", FROM_ONE),
	CEILING("output", FH_CEILING_OUTPUT, FH_OPT_SIZE, "SIZE", "Output of one command or run of code, for each stream."),
	CEILING("cpu-time", FH_CEILING_CPU_TIME, FH_OPT_DURATION, "SECONDS", "CPU time of one command or run of code."),
	CEILING("volumes", FH_CEILING_VOLUMES, FH_OPT_U64, "N", "Volumes that one key may have.", FROM_ONE),
	CEILING("volume-size", FH_CEILING_VOLUME_SIZE, FH_OPT_SIZE, "SIZE",
	        "Size of one volume; sandboxes that run with a larger one are paused a moment later."),
	{ 0 },
};
static const struct fh_command_line command_line = {
	.program = "fumehood serve",
	.synopsis = "[OPTIONS]",
	.about = "Serves sandboxes to E2B's own SDKs, unmodified, from this machine: commands, files, terminals, code with "
	         "state, ports. Needs no account, container image or daemon.",
	.details = "A client needs three variables (`fumehood env` prints them):\n"
	           "  E2B_API_KEY=e2b_0123456789abcdef\n"
	           "  E2B_API_URL=" FH_SERVE_URL "\n"
	           "  E2B_SANDBOX_URL=" FH_SERVE_URL "\n"
	           "and for the files of volumes E2B_VOLUME_API_URL, which is the same.\n"
	           "\n"
	           "Exit status: 0 when it was told to stop, 1 when it could not serve, 2 for a wrong command line.",
	.options = options,
};

/* ---------------------------------------------------------------------------------------------------------- set-up */

static int read_address(struct sockaddr_storage *ret, struct fh_error *err)
{
	bool loopback;
	int r = fh_http_address(address, port, ret, &loopback, err);
	if (r < 0)
		return r;
	if (loopback || key_file)
		return 0;
	fh_error_set(err, FH_E_ARGUMENT, "at %s anybody who reaches this machine could run code on it", address);
	fh_error_hint(err, "give --api-key-file FILE, or listen at 127.0.0.1");
	return -FH_E_ARGUMENT;
}

/* The domain without a port. */
static FH_OWN char *certified_name(void)
{
	const char *name = domain ? domain : FH_TLS_DOMAIN;
	return fh_xasprintf("%.*s", (int)strcspn(name, ":"), name);
}

static int read_tls(struct fh_buf *certificate, struct fh_buf *key, struct fh_error *err)
{
	if (tls_self_signed && (tls_certificate || tls_key))
		return fh_error_set(err, FH_E_ARGUMENT, "--tls-self-signed and --tls-certificate exclude each other");
	if (tls_self_signed) {
		fh_auto_free char *name = certified_name();
		return fh_serve_tls(name, certificate, key, err);
	}
	if (!tls_certificate != !tls_key)
		return fh_error_set(err, FH_E_ARGUMENT, "--tls-certificate and --tls-key must be given together");
	if (!tls_certificate)
		return 0;
	int r = fh_file_read(tls_certificate, certificate, err);
	return r < 0 ? r : fh_file_read(tls_key, key, err);
}

/* --------------------------------------------------------------------------------------------------------- serving */

static void greet_domain(const struct fh_http_server *server)
{
	fh_auto_free char *name = certified_name(), *authority = fh_serve_tls_authority(name);
	unsigned at = fh_http_server_port(server);
	fprintf(stderr,
	        "Serving E2B's API at https://%s:%u. In a client's shell:\n"
	        "  export E2B_API_KEY=%s E2B_DOMAIN=%s:%u SSL_CERT_FILE=%s NODE_EXTRA_CA_CERTS=%s\n"
	        "The names api.%s and PORT-SANDBOX.%s have to lead here (docs/serve.md).\n",
	        address, at, key_file ? "KEY" : "e2b_0123456789abcdef", name, at, authority, authority, name, name);
}

static void greet(const struct fh_http_server *server)
{
	if (tls_self_signed) {
		greet_domain(server);
		return;
	}
	const char *scheme = tls_certificate ? "https" : "http";
	unsigned at = fh_http_server_port(server);
	fprintf(stderr,
	        "Serving E2B's API at %s://%s:%u. In a client's shell:\n"
	        "  export E2B_API_KEY=%s E2B_API_URL=%s://%s:%u E2B_SANDBOX_URL=%s://%s:%u\n",
	        scheme, address, at, key_file ? "KEY" : "e2b_0123456789abcdef", scheme, address, at, scheme, address, at);
	if (state)
		fprintf(stderr, "  export E2B_VOLUME_API_URL=%s://%s:%u\n", scheme, address, at);
}

/* Gives memory back to the system that a burst of requests needed: malloc keeps it in pieces that are too small to be
 * given back one by one. */
static void give_back_memory(void)
{
	struct mallinfo2 m = mallinfo2();
	if (m.fordblks > TRIM_FROM && m.fordblks > m.uordblks)
		(void)malloc_trim(0);
}

static int serve(struct fh_e2b *s, const struct fh_http_options *o, struct fh_error *err)
{
	struct fh_http_server *server;
	int r = fh_http_server_start(o, &server, err);
	if (r < 0)
		return r;
	fh_e2b_listening(s, fh_http_server_port(server));
	if (!quiet)
		greet(server);
	fh_auto_close int owner = until_pid ? pidfd_open((pid_t)until_pid, 0) : -1;
	struct pollfd ends = { .fd = owner, .events = POLLIN };
	int64_t trim_ns = 0;
	while (r == 0 && !fh_interrupted && !(until_pid && (owner < 0 || ends.revents))) {
		(void)poll(&ends, 1, 1000); /* returns at once on a signal */
		if (fh_now_ns() >= trim_ns) {
			give_back_memory();
			trim_ns = fh_now_ns() + TRIM_S * FH_NS_PER_S;
		}
		if (fh_launcher_lost() && !fh_e2b_engines_alive(&s->engines))
			r = fh_error_set(
			    err, FH_E_UNAVAILABLE,
			    "the engine has ended, and so has the process that starts engines with root's rights: no sandbox "
			    "can be made any more; start the server again");
	}
	fh_e2b_stop(s);
	fh_http_server_stop(server);
	return r;
}

int main(int argc, char **argv)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_e2b *s = NULL;
	fh_auto_buf struct fh_buf certificate = FH_BUF_INIT(PEM_MAX), key = FH_BUF_INIT(PEM_MAX);
	struct fh_http_options http = { .route = fh_e2b_route, .done = fh_e2b_done, .listener = -1 };
	struct fh_e2b_options o = { 0 };
	int status;
	(void)mallopt(M_ARENA_MAX,
	              ARENAS); /* else each of eight for every processor keeps what its busiest moment needed */
	if (fh_launcher_start(&err) < 0)
		return fh_command_failed(&err, FH_EXIT_FAILED);
	if (!fh_options_alone(&command_line, argc, argv, &status))
		return status;
	if (read_address(&http.address, &err) < 0 || read_tls(&certificate, &key, &err) < 0)
		return fh_command_failed(&err, err.code == FH_E_ARGUMENT ? FH_EXIT_USAGE : FH_EXIT_FAILED);
	o.domain = domain ? domain : tls_self_signed ? FH_TLS_DOMAIN : NULL;
	o.domain_with_port = tls_self_signed;
	o.ceilings = ceilings;
	o.key_file = key_file;
	o.preload = preload.items;
	o.data_sets = data_sets.items;
	o.data_set_count = data_sets.count;
	o.state = state;
	o.queue_max = (unsigned)FH_MIN(FH_MAX(queue, (uint64_t)1), (uint64_t)100000);
	o.tls = tls_certificate || tls_self_signed;
	fh_interrupt_catch();
	(void)signal(SIGPIPE, SIG_IGN); /* clients may disconnect at any time */
	int r = fh_serve_log_open(access_log, &err);
	o.log = fh_serve_log_is_open() ? fh_serve_log_write : NULL;
	if (r == 0)
		r = fh_e2b_open(&o, &s, &err);
	if (r == 0) {
		if (s->lost)
			fprintf(stderr, "fumehood serve: %zu records in %s cannot be restored, and stay there: %s\n", s->lost,
			        state, s->lost_why.message);
		http.context = s;
		http.listener = listen_descriptor ? (int)listen_descriptor : -1;
		http.tls_certificate = o.tls ? fh_buf_cstr(&certificate) : NULL;
		http.tls_key = o.tls ? fh_buf_cstr(&key) : NULL;
		r = serve(s, &http, &err);
		if (r == -FH_E_CONFIG && tls_certificate) {
			fh_error_set(&err, FH_E_CONFIG, "%s and %s are no certificate with its private key", tls_certificate,
			             tls_key);
			fh_error_hint(&err,
			              "both are PEM files: openssl x509 -noout -text -in CERTIFICATE, and openssl pkey -noout "
			              "-in KEY, say what is wrong with them");
		}
		fh_e2b_close(s);
	}
	return r < 0 ? fh_command_failed(&err, FH_EXIT_FAILED) : FH_EXIT_OK;
}
