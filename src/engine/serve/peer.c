/* SPDX-License-Identifier: MIT */
#include "engine/serve/peer.h"

#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/base.h"
#include "base/fd.h"
#include "engine/host/own_namespace.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* Linux 6.5 */
#endif

/* Refers to the process that connected, and not to a later one of the same number; before Linux 6.5, to the process
 * that has its number now. */
static int open_peer(int socket, pid_t pid)
{
	int fd = -1;
	socklen_t n = sizeof(fd);
	if (getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &fd, &n) == 0)
		return fd;
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

static bool is_in_our_user_namespace(int socket, pid_t pid)
{
	char path[48];
	struct stat ours, theirs;
	fh_auto_close int process = open_peer(socket, pid);
	struct pollfd ended = { process, POLLIN, 0 };
	snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)pid);
	if (process < 0 || stat("/proc/self/ns/user", &ours) < 0 || stat(path, &theirs) < 0)
		return false;
	/* while it has not ended, its number is its own */
	return poll(&ended, 1, 0) == 0 && ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino;
}

bool fh_peer_may_ask(int socket, const struct ucred *peer)
{
	if (peer->uid != geteuid() && peer->uid != 0)
		return false;
	/* A process whose pid is not visible here is in none of our sandboxes. No program of a user's sandbox has root's
	 * uid, and a user may not examine root's processes. */
	if (peer->pid == 0 || (peer->uid == 0 && geteuid() != 0))
		return true;
	/* In a namespace of its own the engine may not examine the processes outside, and each sandbox has a range of ids,
	 * in which root is not. */
	if (fh_own_namespace_entered())
		return peer->uid == 0;
	return is_in_our_user_namespace(socket, peer->pid);
}
