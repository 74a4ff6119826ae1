/* SPDX-License-Identifier: MIT */
/* Starts an engine as a child of this process, with one socket. */
#include "sandbox/connection/placement.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

static int reach_local(const struct fh_client_options *o, struct fh_reach *ret, struct fh_error *err)
{
	fh_auto_free char *program = NULL;
	int r = fh_engine_program(o->engine_program, &program, err);
	if (r < 0)
		return r;
	int pair[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return fh_error_sys(err, errno, "cannot make a socket for the engine");
	fh_auto_close int ours = pair[0];
	fh_auto_close int theirs = pair[1];
	fh_auto_free const char **env = fh_engine_environment();
	const char *const argv[] = { "fumehood-engine", "--socket", NULL };
	/* The engine gets a session of its own, because a terminal's Ctrl-C is for us: we then cancel in order. It is not
	 * killed when we die: it sees the end of the socket, and sandboxes with a lease live on. */
	struct fh_child_options c = {
		.file = program,
		.argv = argv,
		.env = env,
		.cwd = "/",
		.stdio = { theirs, -1, STDERR_FILENO },
		.flags = FH_CHILD_SESSION,
	};
	fh_auto_free char *absolute = realpath(program, NULL); /* absolute, because the engine's working directory is / */
	if (absolute)
		c.file = absolute;
	r = fh_child_start(&ret->child, &c, err);
	if (r < 0)
		return r;
	ret->in = ret->out = FH_TAKE_FD(ours);
	return 0;
}

const struct fh_placement fh_placement_local = {
	.name = "local",
	.reach = reach_local,
	.greet_ms = 30 * 1000,
	.subject = "the engine",
};
