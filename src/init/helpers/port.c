/* SPDX-License-Identifier: MIT */
/* The helper that connects to a TCP port of the sandbox's own network and then carries the stream. */
#include "init/helpers/helpers.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <poll.h>
#include <sys/socket.h>

enum { CONNECT_MS = 10000, BUFFER = 64 * 1024 };

static uint16_t swapped(uint16_t v)
{
	return (uint16_t)(v << 8 | v >> 8);
}

static long dial(int family, const void *address, size_t size)
{
	long fd = fh_sys(__NR_socket, family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return fd;
	long r = fh_sys(__NR_connect, fd, address, size);
	if (r == -EINPROGRESS) {
		struct pollfd p = { .fd = (int)fd, .events = POLLOUT };
		struct {
			int64_t s, ns;
		} most = { CONNECT_MS / 1000, 0 };
		int error = 0;
		uint32_t length = sizeof(error);
		r = fh_sys(__NR_ppoll, &p, 1, &most, 0, 8);
		if (r > 0)
			r = fh_sys(__NR_getsockopt, fd, SOL_SOCKET, SO_ERROR, &error, &length);
		else if (r == 0)
			r = -ETIMEDOUT;
		r = r == 0 && error ? -error : r;
	}
	if (r < 0) {
		fh_sys(__NR_close, fd);
		return r;
	}
	return fd;
}

/* One direction of the stream. */
struct pipe {
	int from, to, ended; /* ended: end of file was read, and the other side was told */
	size_t used, filled;
	char bytes[BUFFER];
};
static struct pipe in, outward;

/* Moves as many bytes as possible without waiting. -errno: this direction has failed. */
static long move(struct pipe *p, int readable, int writable)
{
	if (p->used < p->filled && writable) {
		long n = fh_sys(__NR_write, p->to, p->bytes + p->used, p->filled - p->used);
		if (n < 0 && n != -EAGAIN && n != -EINTR)
			return n;
		p->used += n > 0 ? (size_t)n : 0;
	}
	if (p->used == p->filled && readable && !p->ended) {
		long n = fh_sys(__NR_read, p->from, p->bytes, BUFFER);
		if (n == -EAGAIN || n == -EINTR)
			return 0;
		if (n < 0)
			return n;
		p->used = 0;
		p->filled = (size_t)n;
		p->ended = n == 0;
		return n == 0 ? 1 : 0;
	}
	return 0;
}

static void run(int fd)
{
	in.from = 0;
	in.to = outward.from = fd;
	outward.to = 1;
	for (int i = 0; i < 2; i++) {
		long flags = fh_sys(__NR_fcntl, i, F_GETFL, 0);
		fh_sys(__NR_fcntl, i, F_SETFL, flags | O_NONBLOCK);
	}
	while (!outward.ended || outward.used < outward.filled) {
		int in_full = in.used < in.filled, out_full = outward.used < outward.filled;
		struct pollfd wait[3] = {
			{ .fd = in.ended || in_full ? -1 : 0, .events = POLLIN },
			{ .fd = fd, .events = (short)((in_full ? POLLOUT : 0) | (outward.ended || out_full ? 0 : POLLIN)) },
			{ .fd = 1, .events = out_full ? POLLOUT : 0 }, /* POLLERR: the reader at the other end is gone */
		};
		long r = fh_sys(__NR_ppoll, wait, 3, 0, 0, 8);
		if ((r < 0 && r != -EINTR) || wait[2].revents & POLLERR)
			return;
		r = move(&in, wait[0].revents, wait[1].revents & POLLOUT);
		if (r == 1)
			fh_sys(__NR_shutdown, fd, 1 /* SHUT_WR */);
		else if (r < 0)
			in.ended = 1, in.used = in.filled; /* the server reads no more, but may still write */
		if (move(&outward, wait[1].revents & (POLLIN | POLLHUP | POLLERR), wait[2].revents) < 0)
			return;
	}
}

long fh_helper_connect(const char *const *argv, uint64_t *ret_count)
{
	int64_t port = fh_argument_number(argv[0]);
	if (port < 1 || port > 65535)
		return -EINVAL;
	struct sockaddr_in four = { .sin_family = AF_INET, .sin_port = swapped((uint16_t)port) };
	struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_port = swapped((uint16_t)port) };
	memcpy(&four.sin_addr, "\177\0\0\1", 4);
	((char *)&six.sin6_addr)[15] = 1;
	(void)ret_count;
	long fd = dial(AF_INET, &four, sizeof(four));
	if (fd < 0) {
		long second = dial(AF_INET6, &six, sizeof(six));
		fd = second < 0 ? fd : second;
	}
	if (fd < 0)
		return fd;
	fh_out_done(0, 0);
	run((int)fd);
	fh_sys(__NR_exit_group, 0);
	return 0;
}
