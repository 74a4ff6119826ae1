/* SPDX-License-Identifier: MIT */
/* Program fumehood-view: `fumehood view`. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "base/process/child.h"
#include "base/process/launcher.h"
#include "cli/shared/interrupt.h"
#include "cli/shared/options.h"
#include "cli/shared/print.h"
#include "server/http_address.h"
#include "view/view.h"

enum {
	CONNECTIONS_MAX = 256,
	IDLE_SECONDS = 10,         /* idle connections must not keep others out */
	BODY_MAX = 4 << 20,        /* a configuration, a program, a comment */
	OPENER_WAIT_MS = 10 * 1000 /* time limit of the program that passes the URL to a browser */
};

static uint64_t port, until_pid;
static const char *address;
static struct fh_opt_list names;
static bool yes, no, quiet;

static const struct fh_opt options[] = {
	{ "port", 'p', FH_OPT_U64, &port, "N", "The port to listen at; 0: any free port.", .default_text = "15500" },
	{ "address", 0, FH_OPT_STRING, &address, "ADDRESS",
	  "The address to listen at. At addresses other than loopback ones, the URL's token is needed.",
	  .default_text = "127.0.0.1" },
	{ "name", 0, FH_OPT_LIST, &names, "NAME",
	  "A name of this machine under which browsers may ask for it, besides its addresses and localhost." },
	{ "yes", 'y', FH_OPT_FLAG, &yes, NULL, "Open the page in a browser." },
	{ "no", 'n', FH_OPT_FLAG, &no, NULL, "Open no browser, as without --yes." },
	{ "quiet", 'q', FH_OPT_FLAG, &quiet, NULL, "Do not print where the page is." },
	{ "until", 0, FH_OPT_U64, &until_pid, "PID", "Stop when this process has ended.", FH_OPT_HIDDEN },
	{ 0 },
};
static const struct fh_command_line command_line = {
	.program = "fumehood view",
	.synopsis = "[OPTIONS]",
	.about = "Shows in a browser what is stored: evals as tables, each answer with its program, logs and what was "
	         "expected, and comparisons of evals. Listens at this machine alone.",
	.details = "Only the user who started it may look: the kernel says whose process is at the other end of a "
	           "connection. Anyone else (--address, a forwarded port) needs the URL with its token.\n"
	           "\n"
	           "Exit status: 0 when it was told to stop, 1 when it could not serve, 2 for a wrong command line.",
	.options = options,
};

/* Runs xdg-open, which passes the URL to the user's browser and ends. */
static void open_browser(const char *url)
{
	static const char *const places[] = { "/usr/bin/xdg-open", "/usr/local/bin/xdg-open" };
	for (size_t i = 0; i < FH_ARRAY_SIZE(places); i++) {
		const char *const argv[] = { "xdg-open", url, NULL };
		struct fh_child_options o = { .file = places[i], .argv = argv, .stdio = { -1, -1, -1 } };
		struct fh_child child;
		int status;
		if (access(places[i], X_OK) < 0 || fh_child_start(&child, &o, NULL) < 0)
			continue;
		if (fh_child_wait(&child, OPENER_WAIT_MS, &status, NULL) < 0)
			fh_child_forget(&child);
		return;
	}
	fprintf(stderr, "fumehood: no xdg-open here: open the URL yourself\n");
}

/* Prints the URL. It contains the token only if that is needed, to keep it out of histories. */
static void greet(const struct fh_view *v, uint16_t at, bool loopback)
{
	fh_auto_buf struct fh_buf url = FH_BUF_INIT(0);
	bool v6 = strchr(address, ':') != NULL;
	fh_buf_addf(&url, "http://%s%s%s:%u/", v6 ? "[" : "", address, v6 ? "]" : "", at);
	if (!loopback)
		fh_buf_addf(&url, "?token=%s", fh_view_token(v));
	if (!quiet) {
		fh_print_line(fh_buf_cstr(&url));
		if (loopback)
			fprintf(stderr, "For you alone; through a forwarded port: http://localhost:PORT/?token=%s\n",
			        fh_view_token(v));
		fprintf(stderr, "Ctrl-C ends it.\n");
	}
	if (yes)
		open_browser(fh_buf_cstr(&url));
}

static int serve(struct fh_view *v, const struct fh_http_options *o, bool loopback, struct fh_error *err)
{
	struct fh_http_server *server;
	int r = fh_http_server_start(o, &server, err);
	if (r < 0)
		return r;
	fh_view_listening(v, fh_http_server_port(server));
	greet(v, fh_http_server_port(server), loopback);
	fh_auto_close int owner = until_pid ? pidfd_open((pid_t)until_pid, 0) : -1;
	struct pollfd ends = { .fd = owner, .events = POLLIN };
	while (!fh_interrupted && !(until_pid && (owner < 0 || ends.revents)))
		(void)poll(&ends, 1, 1000); /* poll() returns at once on a signal */
	fh_http_server_stop(server);
	return 0;
}

int main(int argc, char **argv)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_view *v = NULL;
	struct fh_http_options http = { .route = fh_view_route,
		                            .listener = -1,
		                            .connections_max = CONNECTIONS_MAX,
		                            .idle_seconds = IDLE_SECONDS,
		                            .body_max = BODY_MAX };
	bool loopback = true;
	int status;
	if (fh_launcher_start(&err) < 0)
		return fh_command_failed(&err, FH_EXIT_FAILED);
	if (!fh_options_alone(&command_line, argc, argv, &status))
		return status;
	if (yes && no)
		(void)fh_error_set(&err, FH_E_ARGUMENT, "--yes and --no contradict each other");
	if (err.code || fh_http_address(address, port, &http.address, &loopback, &err) < 0)
		return fh_command_failed(&err, FH_EXIT_USAGE);
	fh_interrupt_catch();
	(void)signal(SIGPIPE, SIG_IGN); /* clients may disconnect at any time */
	struct fh_view_options o = { .names = names.items, .name_count = names.count };
	int r = fh_view_open(&o, &v, &err);
	if (r == 0) {
		http.context = v;
		r = serve(v, &http, loopback, &err);
		fh_view_close(v);
	}
	fh_opt_list_release(&names);
	return fh_print_end(r < 0 ? fh_command_failed(&err, FH_EXIT_FAILED) : FH_EXIT_OK, FH_EXIT_FAILED);
}
