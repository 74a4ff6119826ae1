/* SPDX-License-Identifier: MIT */
/* Program fumehood-serve: `fumehood serve`. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/launcher.h"
#include "cli/serve_tls.h"
#include "cli/shared/interrupt.h"
#include "cli/shared/options.h"
#include "e2b/server.h"
#include "server/http_address.h"

enum { PEM_MAX = 1 << 20 };

static uint64_t port = 3000, listen_descriptor, until_pid, queue = 256;
static const char *address = "127.0.0.1", *key_file, *domain, *access_log, *tls_certificate, *tls_key;
static const char *ceilings[FH_CEILING_COUNT_];
static struct fh_opt_list data_sets;
static bool quiet, tls_self_signed;

#define CEILING(name_, id, argument_, help_)                                                                           \
	{                                                                                                                  \
		"max-" name_, 0, FH_OPT_STRING, &ceilings[id], argument_, help_                                                \
	}
static const struct fh_opt options[] = {
	{ "port", 'p', FH_OPT_U64, &port, "N", "The port to listen at (default 3000; 0: any that is free)." },
	{ "address", 0, FH_OPT_STRING, &address, "ADDRESS",
	  "The address to listen at (default 127.0.0.1). Others than this machine's own need --api-key-file." },
	{ "api-key-file", 0, FH_OPT_STRING, &key_file, "FILE",
	  "Who may use the server: one key a line, or sha256:HASH, with ceilings of its own behind it (mode 0600). Without "
	  "it "
	  "every key is accepted." },
	{ "domain", 0, FH_OPT_STRING, &domain, "NAME",
	  "What the names of ports inside end in: PORT-SANDBOX.NAME (default localhost:PORT)." },
	{ "tls-certificate", 0, FH_OPT_STRING, &tls_certificate, "FILE", "Speak TLS with this certificate chain (PEM)." },
	{ "tls-key", 0, FH_OPT_STRING, &tls_key, "FILE", "The certificate's private key (PEM)." },
	{ "tls-self-signed", 0, FH_OPT_FLAG, &tls_self_signed, NULL,
	  "Speak TLS with a certificate of our own for --domain (default " FH_TLS_DOMAIN
	  "), made once; `fumehood env --domain` tells clients to trust it." },
	{ "data-set", 0, FH_OPT_LIST, &data_sets, "NAME=FILE",
	  "A data set that /judge and /submit judge by NAME, in the formats of `fumehood judge`; may be given several "
	  "times." },
	{ "queue", 0, FH_OPT_U64, &queue, "N",
	  "Requests of one key to /run_code, /judge and /submit that may wait; more are told to come again (default "
	  "256)." },
	{ "access-log", 0, FH_OPT_STRING, &access_log, "FILE", "Append a line of JSON for each request; - is stderr." },
	{ "quiet", 'q', FH_OPT_FLAG, &quiet, NULL, "Do not say where the server listens and how it is used." },
	{ "listen-descriptor", 0, FH_OPT_U64, &listen_descriptor, "N", "A socket that listens already.", FH_OPT_HIDDEN },
	{ "until", 0, FH_OPT_U64, &until_pid, "PID", "Stop when this process has ended.", FH_OPT_HIDDEN },
	{ "", 0, FH_OPT_FLAG, NULL, NULL, "Ceilings, whatever clients ask for; \"unlimited\" lifts one:" },
	CEILING("sandboxes", FH_CEILING_SANDBOXES, "N", "Sandboxes that one key may have at once (default 1000)."),
	CEILING("total", FH_CEILING_TOTAL, "N", "Sandboxes of all keys together (default 4000)."),
	CEILING("lifetime", FH_CEILING_LIFETIME, "SECONDS", "How far ahead a sandbox's end may be set (default 24 hours)."),
	CEILING("cpus", FH_CEILING_CPUS, "N", "Processors of one sandbox, in fractions (default: all)."),
	CEILING("memory", FH_CEILING_MEMORY, "SIZE", "Memory of one sandbox (default 1G)."),
	CEILING("disk", FH_CEILING_DISK, "SIZE", "Bytes that one sandbox may write (default 1G)."),
	CEILING("processes", FH_CEILING_PROCESSES, "N", "Processes and threads of one sandbox (default 512)."),
	CEILING("output", FH_CEILING_OUTPUT, "SIZE", "Output of one command or run of code (default 256M a stream)."),
	CEILING("cpu-time", FH_CEILING_CPU_TIME, "SECONDS", "CPU time of one command or run of code (default: no limit)."),
	{ 0 },
};
static const struct fh_command_line command_line = {
	.program = "fumehood serve",
	.synopsis = "[OPTIONS]",
	.about = "Serves sandboxes to E2B's own SDKs, unmodified, from this machine: commands, files, terminals, code with "
	         "state, ports. Needs no account, container image or daemon.",
	.details = "A client needs three variables (`fumehood env` prints them):\n"
	           "  E2B_API_KEY=e2b_0123456789abcdef\n"
	           "  E2B_API_URL=http://127.0.0.1:3000\n"
	           "  E2B_SANDBOX_URL=http://127.0.0.1:3000\n"
	           "\n"
	           "Exit status: 0 when it was told to stop, 1 when it could not serve, 2 for a wrong command line.",
	.options = options,
};

/* ---------------------------------------------------------------------------------------------------------------
 * set-up */

static int log_fd = -1;

static void write_log(const char *line)
{
	if (fh_write_all(log_fd, line, strlen(line)) < 0)
		log_fd = -1; /* the server continues when its log cannot be written */
}

static int open_log(struct fh_error *err)
{
	if (!access_log)
		return 0;
	log_fd =
	    fh_streq(access_log, "-") ? STDERR_FILENO : open(access_log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	return log_fd < 0 ? fh_error_sys(err, errno, "cannot open the log %s", access_log) : 0;
}

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

static int read_ceilings(struct fh_ceilings *c, struct fh_error *err)
{
	int r = 0;
	fh_ceilings_init(c);
	for (size_t i = 0; i < FH_CEILING_COUNT_ && r == 0; i++)
		if (ceilings[i] && (r = fh_ceilings_set(c, fh_ceiling_table[i].name, ceilings[i], err)) < 0)
			return fh_error_wrap(err, "--max");
	return 0;
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
		return fh_error_set(err, FH_E_ARGUMENT, "--tls-self-signed makes the certificate that --tls-certificate names");
	if (tls_self_signed) {
		fh_auto_free char *name = certified_name();
		return fh_serve_tls(name, certificate, key, err);
	}
	if (!tls_certificate != !tls_key)
		return fh_error_set(err, FH_E_ARGUMENT, "--tls-certificate and --tls-key are given together");
	if (!tls_certificate)
		return 0;
	int r = fh_file_read(tls_certificate, certificate, err);
	return r < 0 ? r : fh_file_read(tls_key, key, err);
}

/* ---------------------------------------------------------------------------------------------------------------
 * serving */

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
	while (!fh_interrupted && !(until_pid && (owner < 0 || ends.revents)))
		(void)poll(&ends, 1, 1000); /* returns at once on a signal */
	fh_e2b_stop(s);
	fh_http_server_stop(server);
	return 0;
}

int main(int argc, char **argv)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_e2b *s = NULL;
	fh_auto_buf struct fh_buf certificate = FH_BUF_INIT(PEM_MAX), key = FH_BUF_INIT(PEM_MAX);
	struct fh_http_options http = { .route = fh_e2b_route, .done = fh_e2b_done, .listener = -1 };
	struct fh_e2b_options o = { .log = write_log };
	int status;
	if (fh_launcher_start(&err) < 0)
		return fh_command_failed(&err, FH_EXIT_FAILED);
	if (!fh_options_alone(&command_line, argc, argv, &status))
		return status;
	if (read_address(&http.address, &err) < 0 || read_ceilings(&o.ceilings, &err) < 0 ||
	    read_tls(&certificate, &key, &err) < 0)
		return fh_command_failed(&err, err.code == FH_E_ARGUMENT ? FH_EXIT_USAGE : FH_EXIT_FAILED);
	o.domain = domain ? domain : tls_self_signed ? FH_TLS_DOMAIN : NULL;
	o.domain_with_port = tls_self_signed;
	o.key_file = key_file;
	o.data_sets = data_sets.items;
	o.data_set_count = data_sets.count;
	o.queue_max = (unsigned)FH_MIN(FH_MAX(queue, (uint64_t)1), (uint64_t)100000);
	o.tls = tls_certificate || tls_self_signed;
	fh_interrupt_catch();
	(void)signal(SIGPIPE, SIG_IGN); /* clients may disconnect at any time */
	int r = open_log(&err);
	if (r == 0 && log_fd < 0)
		o.log = NULL;
	if (r == 0)
		r = fh_e2b_open(&o, &s, &err);
	if (r == 0) {
		http.context = s;
		http.listener = listen_descriptor ? (int)listen_descriptor : -1;
		http.tls_certificate = o.tls ? fh_buf_cstr(&certificate) : NULL;
		http.tls_key = o.tls ? fh_buf_cstr(&key) : NULL;
		r = serve(s, &http, &err);
		fh_e2b_close(s);
	}
	return r < 0 ? fh_command_failed(&err, FH_EXIT_FAILED) : FH_EXIT_OK;
}
