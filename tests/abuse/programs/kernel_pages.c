/* SPDX-License-Identifier: MIT */
/* Pages that the kernel takes for a program and charges to nobody: what splice() reads from a device. The argument is
 * how many MiB are too much, as for kernel_memory.c. */
#include "../attack.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

enum { MIB = 1 << 20, PAGE = 4096, PIPE = 16 * PAGE };

/* A moment for whoever looks at intervals, and no more. */
static void moment(long ns)
{
	struct timespec t = { 0, ns };
	nanosleep(&t, NULL);
}

static long most_of(char **args)
{
	return atol(argument(args, 0, "64")) * MIB;
}

static void done(const char *what, long bytes, char **args)
{
	int e = errno;
	moment(900000000); /* who counts at intervals ends us before we say what we hold, on a busy host too */
	if (bytes >= most_of(args))
		escaped("%ld MiB of %s", bytes / MIB, what);
	else
		held("%ld MiB of %s: %s", bytes / MIB, what, strerror(e));
}

static bool tcp_pair(int ret[2])
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof(a);
	int one = 1, listener = socket(AF_INET, SOCK_STREAM, 0);
	ret[0] = socket(AF_INET, SOCK_STREAM, 0);
	bool good = bind(listener, (struct sockaddr *)&a, n) == 0 && listen(listener, 1) == 0 &&
	            getsockname(listener, (struct sockaddr *)&a, &n) == 0 && connect(ret[0], (struct sockaddr *)&a, n) == 0;
	ret[1] = good ? accept(listener, NULL, NULL) : -1;
	close(listener);
	return good && setsockopt(ret[0], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) == 0;
}

/* Sends a pipe full of pages, which the socket takes as they are. */
static bool send_pages(int device, const int p[2], int socket)
{
	ssize_t left = splice(device, NULL, p[1], NULL, PIPE, 0);
	for (ssize_t n; left > 0; left -= n)
		if ((n = splice(p[0], NULL, socket, NULL, (size_t)left, 0)) <= 0)
			return false;
	return left == 0;
}

/* Receives n bytes: whole pages of them into the mapping at `at`, which it grows by, the others into a buffer. */
static bool receive_pages(int socket, char *at, long *grows, long n)
{
	static char rest[PAGE];
	while (n > 0) {
		struct tcp_zerocopy_receive z = { .address = (uintptr_t)(at + *grows), .length = (uint32_t)n };
		socklen_t size = sizeof(z);
		if (getsockopt(socket, IPPROTO_TCP, TCP_ZEROCOPY_RECEIVE, &z, &size) < 0)
			return false;
		*grows += z.length;
		n -= z.length;
		if (z.length)
			continue;
		ssize_t r = recv(socket, rest, n < PAGE ? (size_t)n : PAGE, 0);
		if (r <= 0)
			return false;
		n -= r;
	}
	return true;
}

/* The pages of a device go through a pipe and a socket into a mapping, where no buffer is that anybody counts. */
static void mapped_from_sockets(char **args)
{
	int tcp[2], p[2], zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	long bytes = 0;
	bool good = zero >= 0 && tcp_pair(tcp) && pipe(p) == 0;
	while (good && bytes < most_of(args)) {
		long mapped = 0;
		char *at = mmap(NULL, MIB, PROT_READ, MAP_SHARED, tcp[1], 0);
		good = at != MAP_FAILED;
		while (good && mapped <= MIB - PIPE)
			good = send_pages(zero, p, tcp[0]) && receive_pages(tcp[1], at, &mapped, PIPE);
		bytes += mapped;
		moment(500000);
	}
	done("pages mapped from a socket", bytes, args);
}

enum { PROCESSES = 60, DESCRIPTORS = 1000 };

/* Fills as many pipes as a process can have with pages of a device. Returns how many bytes they hold. */
static long fill_pipes(int device)
{
	long bytes = 0;
	loff_t at = 0;
	int p[2];
	for (int i = 0; i < DESCRIPTORS / 2 && pipe2(p, O_NONBLOCK) == 0; i++) {
		for (ssize_t n; (n = splice(device, &at, p[1], NULL, PIPE, SPLICE_F_NONBLOCK)) > 0;)
			bytes += n;
		if (i % 16 == 0)
			moment(500000);
	}
	return bytes;
}

/* A device whose pages go into pipes: /dev/zero since Linux 6.5, /dev/urandom before as well. */
static int a_device(void)
{
	int device = open("/dev/zero", O_RDONLY | O_CLOEXEC), p[2];
	loff_t at = 0;
	if (device >= 0 && pipe(p) == 0) {
		if (splice(device, &at, p[1], NULL, PAGE, 0) <= 0) {
			close(device);
			device = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
		}
		close(p[0]);
		close(p[1]);
	}
	return device;
}

/* A place of a pipe is a page, and a user's pipes have two for each beyond the first thousand. */
static void device_pages_in_pipes(char **args)
{
	int told[2], device = a_device();
	long bytes = 0, of_child;
	bool good = device >= 0 && pipe(told) == 0;
	for (int i = 0; good && bytes < most_of(args) && i < PROCESSES; i++) {
		pid_t child = fork();
		if (child == 0) {
			of_child = fill_pipes(device);
			(void)!write(told[1], &of_child, sizeof(of_child));
			pause();
		}
		good = child > 0 && read(told[0], &of_child, sizeof(of_child)) == sizeof(of_child);
		bytes += good ? of_child : 0;
	}
	done("a device's pages in pipes", bytes, args);
}

/* The same in processes whose descriptors nobody can list. */
static void device_pages_in_unseen_pipes(char **args)
{
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	device_pages_in_pipes(args);
}

/* Waits for a socket with a pipe locked, by splice or sendfile. */
static void wait_in_pipe(int socket, int pipe, bool by_sendfile)
{
	if (by_sendfile)
		(void)!sendfile(pipe, socket, NULL, 1);
	else
		(void)!splice(socket, NULL, pipe, NULL, 1, 0);
	_exit(0);
}

static bool ends(pid_t child)
{
	for (int i = 0; i < 20; i++, moment(50000000))
		if (waitpid(child, NULL, WNOHANG) == child)
			return true;
	return false;
}

/* Holds a pipe so that whoever reads it, as the engine does with output, or asks something of it waits, whom no signal
 * ends. */
static void held_pipe(char **args)
{
	for (int by_sendfile = 0; by_sendfile <= 1; by_sendfile++) {
		int p[2], s[2];
		if (pipe(p) < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, s) < 0)
			_exit(1);
		pid_t holder = fork();
		if (holder == 0)
			wait_in_pipe(s[0], p[1], by_sendfile);
		moment(200000000);
		pid_t other = fork();
		if (other == 0)
			_exit(fcntl(p[0], F_GETPIPE_SZ) < 0);
		bool free = ends(other);
		kill(holder, SIGKILL);
		waitpid(holder, NULL, 0);
		if (!free)
			escaped("a pipe was held by %s", by_sendfile ? "sendfile" : "splice");
	}
	held("a pipe is not held while a socket is waited for");
}

static const struct attack attacks[] = {
	{ "device_pages_in_pipes", device_pages_in_pipes },
	{ "device_pages_in_unseen_pipes", device_pages_in_unseen_pipes },
	{ "held_pipe", held_pipe },
	{ "mapped_from_sockets", mapped_from_sockets },
};
ATTACKS(attacks)
