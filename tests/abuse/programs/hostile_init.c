/* SPDX-License-Identifier: MIT */
/*
 * An init that somebody took over: it is built into an engine of the suite's own in place of fumehood-init, and says to
 * the engine what the real one never would. The sandbox's host name says what.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "init/messages.h"

enum { FH_INIT_SOCKET = 3 };

static char packet[FH_INIT_PACKET_MAX];
static int given[4], given_count;

static int send_fds(const void *p, size_t n, const int *fds, int count)
{
	char control[CMSG_SPACE(64 * sizeof(int))] = { 0 };
	struct iovec io = { (char *)(size_t)p, n };
	struct msghdr h = { .msg_iov = &io, .msg_iovlen = 1 };
	if (count) {
		h.msg_control = control;
		h.msg_controllen = CMSG_SPACE((size_t)count * sizeof(int));
		struct cmsghdr *c = CMSG_FIRSTHDR(&h);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN((size_t)count * sizeof(int));
		memcpy(CMSG_DATA(c), fds, (size_t)count * sizeof(int));
	}
	return sendmsg(FH_INIT_SOCKET, &h, MSG_NOSIGNAL) < 0 ? -1 : 0;
}

static void send_bytes(const void *p, size_t n)
{
	(void)send_fds(p, n, NULL, 0);
}

/* The next message of the engine's; 0 at its end. */
static uint32_t receive(void)
{
	char control[CMSG_SPACE(sizeof(given))];
	struct iovec io = { packet, sizeof(packet) };
	struct msghdr h = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control) };
	ssize_t n = recvmsg(FH_INIT_SOCKET, &h, MSG_CMSG_CLOEXEC);
	if (n < (ssize_t)sizeof(struct fh_init_header))
		exit(0);
	given_count = 0;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&h); c; c = CMSG_NXTHDR(&h, c)) {
		given_count = (int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
		memcpy(given, CMSG_DATA(c), (size_t)given_count * sizeof(int));
	}
	return ((struct fh_init_header *)(void *)packet)->op;
}

static uint32_t token(void)
{
	return ((struct fh_init_header *)(void *)packet)->token;
}

static struct fh_init_spawned spawned(void)
{
	struct fh_init_spawned m = { .h = { FH_INIT_SPAWNED, token() }, .pid = 2 };
	m.state.no_new_privs = 1;
	m.state.seccomp = 2;
	return m;
}

static void exited(int status)
{
	struct fh_init_exited m = { .h = { FH_INIT_EXITED, token() }, .status = status, .user_us = UINT64_MAX };
	send_bytes(&m, sizeof(m));
}

static void finished(void)
{
	struct fh_init_finished m = { .h = { FH_INIT_FINISHED, token() }, .disk_total = UINT64_MAX };
	send_bytes(&m, sizeof(m));
}

/* ------------------------------------------------------------------------------------------------- what it may do */

static void short_packet(void)
{
	send_bytes("x", 1);
}

static void unknown_op(void)
{
	struct fh_init_header h = { 4711, 0 };
	send_bytes(&h, sizeof(h));
}

static void large_packet(void)
{
	struct fh_init_header h = { FH_INIT_USAGE, 0 };
	memset(packet, 0xff, sizeof(packet));
	memcpy(packet, &h, sizeof(h));
	send_bytes(packet, sizeof(packet));
}

static void empty_packet(void)
{
	send_bytes("", 0);
}

static void unknown_tokens(void)
{
	struct fh_init_done done = { .h = { FH_INIT_GET_DONE, 99 }, .refused = 77, .error = -1, .size = UINT64_MAX };
	struct fh_init_exited e = { .h = { FH_INIT_EXITED, 99 } };
	send_bytes(&done, sizeof(done));
	done.h.op = FH_INIT_PUT_DONE;
	send_bytes(&done, sizeof(done));
	send_bytes(&e, sizeof(e));
	struct fh_init_spawned s = spawned();
	s.h.token = 99;
	send_bytes(&s, sizeof(s));
}

static void endless_usage(void)
{
	struct fh_init_usage u = { .h = { FH_INIT_USAGE, 0 } };
	for (;;)
		send_bytes(&u, sizeof(u));
}

static void endless_descriptors(void)
{
	int fds[64];
	struct fh_init_usage u = { .h = { FH_INIT_USAGE, 0 } };
	for (int i = 0; i < 64; i++)
		fds[i] = dup(FH_INIT_SOCKET);
	for (int i = 0; i < 2000; i++)
		(void)send_fds(&u, sizeof(u), fds, 64);
}

static void impossible_usage(void)
{
	struct fh_init_usage u = { { FH_INIT_USAGE, 0 }, UINT64_MAX, UINT64_MAX, UINT64_MAX,
		                       UINT64_MAX,           UINT64_MAX, UINT64_MAX };
	send_bytes(&u, sizeof(u));
}

static void spawned_with_a_file(void)
{
	while (receive() != FH_INIT_SPAWN)
		;
	struct fh_init_spawned m = spawned();
	int fd = open("/dev/zero", O_RDONLY);
	(void)send_fds(&m, sizeof(m), &fd, 1);
	send_bytes(&m, sizeof(m));
}

static void exits_before_it_starts(void)
{
	while (receive() != FH_INIT_SPAWN)
		;
	exited(0);
	exited(1);
	finished();
	finished();
	struct fh_init_spawned m = spawned();
	send_bytes(&m, sizeof(m));
}

static void exits_twice(void)
{
	while (receive() != FH_INIT_SPAWN)
		;
	struct fh_init_spawned m = spawned();
	send_bytes(&m, sizeof(m));
	exited(0x7fffffff);
	exited(9);
	finished();
	for (int i = 0; i < 100; i++)
		exited(i);
}

/* More comes out of a file than was asked for, and no end. */
static void endless_file(void)
{
	while (receive() != FH_INIT_SPAWN)
		;
	struct fh_init_spawned m = spawned();
	send_bytes(&m, sizeof(m));
	exited(0);
	finished();
	signal(SIGPIPE, SIG_IGN);
	while (receive() != FH_INIT_GET)
		;
	memset(packet, 'f', 65536);
	while (write(given[0], packet, 65536) > 0)
		;
}

static void silence(void)
{
}

static const struct {
	const char *name;
	void (*run)(void);
} kinds[] = {
	{ "short-packet", short_packet },
	{ "unknown-op", unknown_op },
	{ "large-packet", large_packet },
	{ "empty-packet", empty_packet },
	{ "unknown-tokens", unknown_tokens },
	{ "endless-usage", endless_usage },
	{ "endless-descriptors", endless_descriptors },
	{ "impossible-usage", impossible_usage },
	{ "spawned-with-a-file", spawned_with_a_file },
	{ "exits-before-it-starts", exits_before_it_starts },
	{ "exits-twice", exits_twice },
	{ "endless-file", endless_file },
	{ "silence", silence },
};

int main(void)
{
	struct utsname u;
	uname(&u);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(u.nodename, kinds[i].name) == 0) {
			receive(); /* START */
			kinds[i].run();
			break;
		}
	for (;;)
		(void)receive();
}
