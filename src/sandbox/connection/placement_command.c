/* SPDX-License-Identifier: MIT */
/* An engine reached through stdin and stdout of a command: ssh, docker exec -i, kubectl exec -i, sh -c. */
#include "sandbox/connection/placement.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/path.h"

static int reach_command(const struct fh_client_options *o, struct fh_reach *ret, struct fh_error *err)
{
	if (!o->command || !o->command[0])
		return fh_error_set(err, FH_E_ARGUMENT, "the placement \"command\" needs a command");
	fh_auto_free char *program =
	    strchr(o->command[0], '/') ? fh_xstrdup(o->command[0]) : fh_path_which(o->command[0], getenv("PATH"));
	if (!program)
		return fh_error_set(err, FH_E_NOT_FOUND, "cannot start %s: no such program on PATH", o->command[0]);
	int to[2], from[2];
	if (pipe2(to, O_CLOEXEC) < 0)
		return fh_error_sys(err, errno, "cannot make a pipe for %s", program);
	fh_auto_close int to_read = to[0];
	fh_auto_close int to_write = to[1];
	if (pipe2(from, O_CLOEXEC) < 0)
		return fh_error_sys(err, errno, "cannot make a pipe for %s", program);
	fh_auto_close int from_read = from[0];
	fh_auto_close int from_write = from[1];
	/* The command stays in our session, so that it can ask for a password. It ignores Ctrl-C, which we handle. */
	struct fh_child_options c = {
		.file = program,
		.argv = o->command,
		.stdio = { to_read, from_write, STDERR_FILENO },
		.flags = FH_CHILD_IGNORES_INTERRUPT,
	};
	int r = fh_child_start(&ret->child, &c, err);
	if (r < 0)
		return r;
	ret->in = FH_TAKE_FD(from_read);
	ret->out = FH_TAKE_FD(to_write);
	return 0;
}

const struct fh_placement fh_placement_command = {
	.name = "command",
	.reach = reach_command,
	.greet_ms = 120 * 1000,
	.subject = "the command that reaches the engine",
	.tool = true,
};
