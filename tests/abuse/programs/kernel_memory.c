// SPDX-License-Identifier: MIT
/* Memory of the kernel's own that a program makes it hold: buffers of network sockets, SysV semaphores and messages,
 * page tables. The argument is how many MiB are too much, as for memory.c; what is counted is the least that the kernel
 * must hold for what it took. */
#include "../attack.h"

#include <stdint.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>

enum { MIB = 1 << 20, PAIRS_MAX = 480, EACH = 65536 };
static char block[EACH];

/* A moment for whoever looks at intervals, and no more. */
static void moment(void)
{
	struct timespec t = { 0, 500000 };
	nanosleep(&t, NULL);
}

static void done(const char *what, long bytes, char **args)
{
	long most = atol(argument(args, 0, "64"));
	if (bytes >= most * MIB) {
		escaped("%ld MiB of %s", bytes / MIB, what);
		return;
	}
	int e = errno;
	struct timespec t = { 0, 300000000 };
	nanosleep(&t, NULL); /* who counts at intervals ends us before we say that we held */
	held("%ld MiB of %s: %s", bytes / MIB, what, strerror(e));
}

static int loopback(int type, struct sockaddr_in *ret)
{
	socklen_t n = sizeof(*ret);
	int fd = socket(AF_INET, type, 0);
	*ret = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	if (fd < 0 || bind(fd, (struct sockaddr *)ret, n) < 0 || getsockname(fd, (struct sockaddr *)ret, &n) < 0)
		return -1;
	return fd;
}

static long fill(int fd, size_t each)
{
	long bytes = 0;
	for (ssize_t w; (w = send(fd, block, each, MSG_DONTWAIT | MSG_NOSIGNAL)) > 0;)
		bytes += w;
	return bytes;
}

/* Both ends of each pair are full of what nobody reads. `each`: bytes of one write. */
static long fill_pairs(long most, size_t each)
{
	struct sockaddr_in a;
	long bytes = 0;
	int listener = loopback(SOCK_STREAM, &a);
	if (listener < 0 || listen(listener, 16) < 0)
		return 0;
	for (int i = 0; i < PAIRS_MAX && bytes < most; i++, moment()) {
		int one = 1, near = socket(AF_INET, SOCK_STREAM, 0);
		if (near < 0 || connect(near, (struct sockaddr *)&a, sizeof(a)) < 0)
			break;
		int far = accept(listener, NULL, NULL);
		(void)setsockopt(near, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		for (int round = 0; round < 3; round++) { /* what was sent makes room as it arrives */
			bytes += fill(near, each) + fill(far, each);
			moment();
		}
	}
	return bytes;
}

static void tcp(char **args)
{
	done("TCP buffers", fill_pairs(atol(argument(args, 0, "64")) * MIB, EACH), args);
}

static void udp(char **args)
{
	long most = atol(argument(args, 0, "64")) * MIB, bytes = 0;
	for (int i = 0; i < PAIRS_MAX && bytes < most; i++, moment()) {
		struct sockaddr_in a;
		int size = 8 * MIB, got = 0, fd = loopback(SOCK_DGRAM, &a);
		socklen_t n = sizeof(got);
		(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
		(void)getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &got, &n);
		int k = 0, from = socket(AF_INET, SOCK_DGRAM, 0);
		for (; k * 32768 < got; k++)
			if (sendto(from, block, 32768, MSG_DONTWAIT, (struct sockaddr *)&a, sizeof(a)) < 0)
				break;
		close(from);
		bytes += (long)k * 32768 < got ? (long)k * 32768 : got; /* more is dropped */
	}
	done("UDP buffers", bytes, args);
}

static void semaphores(char **args)
{
	long most = atol(argument(args, 0, "64")) * MIB, bytes = 0;
	for (int size = 32000; size >= 50 && bytes<most; size = size> 64 ? 64 : size / 2)
		for (int n = 0; bytes < most && semget(IPC_PRIVATE, size, 0600) >= 0; n++) {
			bytes += size * 64L; /* struct sem, a cache line */
			if (n % 64 == 0)
				moment();
		}
	done("semaphores", bytes, args);
}

/* The payload alone would be a thousandth of what is held. */
static void messages(char **args)
{
	long most = atol(argument(args, 0, "64")) * MIB, bytes = 0;
	struct {
		long type;
		char text[1];
	} m = { 1, "m" };
	for (int q; bytes < most && (q = msgget(IPC_PRIVATE, 0600)) >= 0; moment())
		for (int n = 0; n < 2000 && msgsnd(q, &m, 1, IPC_NOWAIT) == 0; n++)
			bytes += 64;
	done("messages", bytes, args);
}

/* A page of page tables for each 2 MiB that one byte is read of: what is read is the one page of zeros. */
static void page_tables(char **args)
{
	long most = atol(argument(args, 0, "64")) * MIB, bytes = 0;
	const size_t step = 2 * MIB, part = step * 512;
	for (volatile char *p; bytes < most && (p = mmap(NULL, part, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
	                                                 -1, 0)) != MAP_FAILED;
	     moment()) {
		(void)madvise((void *)(uintptr_t)p, part, MADV_NOHUGEPAGE);
		for (size_t at = 0; at < part; at += step, bytes += 4096)
			(void)p[at];
	}
	done("page tables", bytes, args);
}

/* Takes memory beside READERS processes that have each done something first. */
static void beside(void (*prepare)(void), const char *what, char **args)
{
	enum { READERS = 16 };
	long most = atol(argument(args, 0, "64")), n = 0;
	int ready[2];
	if (pipe(ready) < 0)
		return;
	for (int i = 0; i < READERS; i++) {
		if (fork())
			continue;
		prepare();
		(void)!write(ready[1], "r", 1);
		for (;;)
			pause();
	}
	close(ready[1]);
	for (char byte; n < READERS && read(ready[0], &byte, 1) == 1;)
		n++;
	for (n = 0; n < most; n++, moment()) {
		char *p = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p == MAP_FAILED)
			break;
		memset(p, 1, MIB);
	}
	done(what, n * MIB, args);
	_exit(0);
}

static void map_often(void)
{
	enum { MAPPINGS = 60000 };
	int page = (int)syscall(SYS_memfd_create, "page", 0);
	if (page < 0 || ftruncate(page, 4096) < 0)
		return;
	for (int k = 0; k < MAPPINGS; k++) {
		volatile char *p = mmap(NULL, 4096, k % 2 ? PROT_READ : PROT_READ | PROT_WRITE, MAP_SHARED, page, 0);
		if (p != MAP_FAILED)
			(void)*p;
	}
}

/* Processes with so many mappings that whoever reads them all comes too late, while another takes memory. */
static void many_mappings(char **args)
{
	beside(map_often, "memory beside many mappings", args);
}

static void open_often(void)
{
	while (syscall(SYS_memfd_create, "nothing", 0) >= 0)
		;
}

/* The same with files in memory, each of which has to be looked at. */
static void many_descriptors(char **args)
{
	beside(open_often, "memory beside many descriptors", args);
}

static const struct attack attacks[] = {
	{ "tcp", tcp },
	{ "udp", udp },
	{ "semaphores", semaphores },
	{ "messages", messages },
	{ "page_tables", page_tables },
	{ "many_mappings", many_mappings },
	{ "many_descriptors", many_descriptors },
};
ATTACKS(attacks)
