/* SPDX-License-Identifier: MIT */
/* Channels by what the kernel counts for the whole host, and by what /proc shows. */
#include "channels.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>

static long number_in(const char *path, int field)
{
	long v[8] = { 0 };
	FILE *f = fopen(path, "r");
	int n = f ? fscanf(f, "%ld %ld %ld", &v[0], &v[1], &v[2]) : 0;
	if (f)
		fclose(f);
	return n > field ? v[field] : -1;
}

/* /proc/sys/fs/file-nr: open files of the whole host. */
void file_count_send(void)
{
	int fds[700], n = 0;
	printf("ready\n");
	fflush(stdout);
	while (now() < channels_end) { /* many, none, many … */
		for (n = 0; n < 700 && (fds[n] = open("/dev/null", O_RDONLY)) >= 0; n++)
			;
		struct timespec t = { 0, 40000000 };
		nanosleep(&t, NULL);
		while (n)
			close(fds[--n]);
		nanosleep(&t, NULL);
	}
}
bool file_count_seen(void)
{
	static long low = -1, high;
	long v = number_in("/proc/sys/fs/file-nr", 0);
	if (v < 0)
		return false;
	low = low < 0 || v < low ? v : low;
	high = v > high ? v : high;
	return high - low >= 500;
}

/* Descriptors under way are counted for each user of the host. */
void in_flight_send(void)
{
	int n = 0;
	for (int round = 0; round < 400; round++) {
		int pair[2], one = 0;
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
			break;
		for (int i = 0; i < 200; i++) {
			char control[CMSG_SPACE(253 * sizeof(int))] = { 0 };
			struct iovec io = { (char[]){ "x" }, 1 };
			struct msghdr m = {
				.msg_iov = &io, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)
			};
			struct cmsghdr *c = CMSG_FIRSTHDR(&m);
			c->cmsg_level = SOL_SOCKET;
			c->cmsg_type = SCM_RIGHTS;
			c->cmsg_len = CMSG_LEN(253 * sizeof(int));
			for (int k = 0; k < 253; k++)
				memcpy(CMSG_DATA(c) + (size_t)k * sizeof(int), &one, sizeof(int));
			if (sendmsg(pair[0], &m, MSG_DONTWAIT) < 0)
				break;
			n++;
		}
	}
	hold("descriptors under way", n ? 0 : -1);
}
bool in_flight_seen(void)
{
	int pair[2], one = 0;
	char control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec io = { (char[]){ "x" }, 1 };
	struct msghdr m = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &one, sizeof(int));
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
		return false;
	ssize_t r = sendmsg(pair[0], &m, MSG_DONTWAIT);
	int e = errno;
	close(pair[0]);
	close(pair[1]);
	return r < 0 && e == ETOOMANYREFS;
}

/* Pages in pipes are counted for each user of the host: who is over the soft limit gets small pipes. */
void pipe_pages_send(void)
{
	int p[2], n = 0;
	while (n < 64 && pipe(p) == 0) {
		(void)fcntl(p[1], F_SETPIPE_SZ, 1 << 20);
		n++;
	}
	while (n < 400 && pipe(p) == 0)
		n++;
	hold("pipes", n ? 0 : -1);
}
bool pipe_pages_seen(void)
{
	int p[2];
	if (pipe(p) < 0)
		return false;
	int size = fcntl(p[1], F_GETPIPE_SZ);
	close(p[0]);
	close(p[1]);
	return size > 0 && size < 65536;
}

/* inotify instances are counted for each user, through every namespace. */
void inotify_count_send(void)
{
	int n = 0;
	while (n < 1000 && inotify_init1(0) >= 0)
		n++;
	hold("inotify", n ? 0 : -1);
}
bool inotify_count_seen(void)
{
	int fd = inotify_init1(0);
	if (fd >= 0)
		close(fd);
	return fd < 0 && errno == EMFILE;
}

/* Terminals come from one pool of the host. */
void pty_count_send(void)
{
	int n = 0;
	for (int c = 0; c < 8; c++)
		if (fork() == 0) {
			while (open("/dev/ptmx", O_RDWR | O_NOCTTY) >= 0)
				n++;
			while (time_is_left())
				;
			_exit(0);
		}
	hold("terminals", 0);
}
bool pty_count_seen(void)
{
	int fd = open("/dev/ptmx", O_RDWR | O_NOCTTY);
	int e = errno;
	if (fd >= 0)
		close(fd);
	return fd < 0 && (e == ENOSPC || e == EIO || e == EAGAIN || e == ENFILE);
}

/* Load: how much of a processor is left in a few milliseconds. */
void load_send(void)
{
	printf("ready\n");
	fflush(stdout);
	for (int i = 0; i < 4; i++)
		if (fork() == 0) {
			while (now() < channels_end)
				;
			_exit(0);
		}
	while (time_is_left())
		;
}
bool load_seen(void)
{
	static unsigned long best;
	unsigned long n = 0;
	double until = now() + 0.02;
	while (now() < until)
		n++;
	best = n > best ? n : best;
	return n < best * 9 / 10;
}

/* A process of the neighbour's, by what /proc shows. */
void proc_send(void)
{
	hold("proc", 0);
}
bool proc_seen(void)
{
	char path[64], text[256];
	for (int pid = 1; pid < 100000; pid++) {
		if (pid == getpid() || pid == getppid())
			continue;
		snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
		int fd = open(path, O_RDONLY);
		if (fd < 0)
			continue;
		ssize_t n = read(fd, text, sizeof(text) - 1);
		close(fd);
		if (n > 0 && memmem(text, (size_t)n, "send", 4) &&
		    memmem(text, (size_t)n, channels_key_text, strlen(channels_key_text)))
			return true;
	}
	return false;
}
