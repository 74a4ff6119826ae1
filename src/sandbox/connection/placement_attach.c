/* SPDX-License-Identifier: MIT */
/* Attaches to an engine of the same user that runs on this machine, by its socket. */
#include "sandbox/connection/placement.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Any user can bind an abstract name first, so the listener's uid must be ours. */
static int check_peer(int fd, pid_t pid, struct fh_error *err)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
		return fh_error_sys(err, errno, "cannot find out whose process engine %d is", (int)pid);
	if (peer.uid != getuid())
		return fh_error_set(err, FH_E_NOT_FOUND, "the socket of engine %d belongs to user %u", (int)pid, peer.uid);
	return 0;
}

int fh_engine_connect(pid_t pid, int *ret_fd, struct fh_error *err)
{
	/* An abstract name begins with a NUL; no file has to be removed. */
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int n = snprintf(a.sun_path + 1, sizeof(a.sun_path) - 1, "fumehood/%u/%d", getuid(), (int)pid);
	/* Non-blocking, so that an engine that does not accept cannot hold up a list of all engines. */
	fh_auto_close int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return fh_error_sys(err, errno, "cannot make a socket");
	socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
	if (connect(fd, (const struct sockaddr *)&a, size) < 0) {
		if (errno == ECONNREFUSED)
			return fh_error_set(err, FH_E_NOT_FOUND, "no engine of yours has the process id %d", (int)pid);
		return fh_error_sys(err, errno, "cannot reach the engine %d", (int)pid);
	}
	int r = check_peer(fd, pid, err);
	if (r == 0)
		*ret_fd = FH_TAKE_FD(fd);
	return r;
}

static int reach_attach(const struct fh_client_options *o, struct fh_reach *ret, struct fh_error *err)
{
	int fd;
	if (o->engine_pid <= 0)
		return fh_error_set(err, FH_E_ARGUMENT, "the placement \"attach\" needs the process id of an engine");
	int r = fh_engine_connect(o->engine_pid, &fd, err);
	if (r == 0)
		ret->in = ret->out = fd;
	return r;
}

const struct fh_placement fh_placement_attach = {
	.name = "attach",
	.reach = reach_attach,
	.greet_ms = 10 * 1000,
	.subject = "the engine",
};
