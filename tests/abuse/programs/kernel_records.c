/* SPDX-License-Identifier: MIT */
/* The kernel's own records of what a program has, made very many: connections that nobody accepts, buffers of files of
 * /proc, links between mappings that forks have copied. The argument is how many MiB are too much, as for
 * kernel_memory.c; what is counted is the least that the kernel must hold for what it took. */
#include "../attack.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>

enum { MIB = 1 << 20, QUEUE = 4096 };

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
	if (bytes >= most_of(args)) {
		escaped("%ld MiB of %s", bytes / MIB, what);
		return;
	}
	int e = errno;
	moment(300000000); /* who counts at intervals ends us before we say that we held */
	held("%ld MiB of %s: %s", bytes / MIB, what, strerror(e));
}

static bool connects(int fd, const void *to, socklen_t size)
{
	return fd >= 0 && (connect(fd, to, size) == 0 || errno == EINPROGRESS);
}

/* Connections of TCP that the client has reset, in the queues of listeners that do not accept: no descriptor is left of
 * them, and no address by which they could be found. */
static void refused_connections(char **args)
{
	enum { LEAST = 2000 }; /* struct tcp_sock */
	struct linger reset = { 1, 0 };
	long bytes = 0;
	for (unsigned l = 0; l < 400 && bytes < most_of(args); l++) {
		struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK + l) };
		socklen_t size = sizeof(a);
		int listener = socket(AF_INET, SOCK_STREAM, 0);
		if (listener < 0 || bind(listener, (void *)&a, size) < 0 || getsockname(listener, (void *)&a, &size) < 0 ||
		    listen(listener, QUEUE) < 0)
			break;
		for (int i = 0; i < QUEUE - 96 && bytes < most_of(args); i++, bytes += LEAST) {
			int near = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
			if (!connects(near, &a, sizeof(a)))
				return done("connections", bytes, args);
			(void)setsockopt(near, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
			close(near);
		}
		moment(500000);
	}
	done("connections", bytes, args);
}

/* Connections of TCP that were closed on both sides: the kernel keeps a record of each for a minute (TIME_WAIT), which
 * is no socket and has no descriptor. */
static void ended_connections(char **args)
{
	enum { RECORD = 256 }; /* struct tcp_timewait_sock */
	long bytes = 0;
	for (unsigned l = 0; l < 400 && bytes < most_of(args); l++) {
		struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK + l) };
		socklen_t size = sizeof(a);
		int listener = socket(AF_INET, SOCK_STREAM, 0);
		if (listener < 0 || bind(listener, (void *)&a, size) < 0 || getsockname(listener, (void *)&a, &size) < 0 ||
		    listen(listener, QUEUE) < 0)
			break;
		for (int i = 0; i < 10000 && bytes < most_of(args); i++, bytes += RECORD) {
			int near = socket(AF_INET, SOCK_STREAM, 0), far;
			if (!connects(near, &a, sizeof(a)) || (far = accept(listener, NULL, NULL)) < 0)
				return done("ended connections", bytes, args);
			close(near);
			close(far);
		}
		close(listener);
	}
	done("ended connections", bytes, args);
}

/* The same with unix sockets, whose clients have ended. */
static void unix_connections(char **args)
{
	enum { LEAST = 1000 }; /* struct unix_sock */
	long bytes = 0;
	for (int l = 0; l < 400 && bytes < most_of(args); l++) {
		struct sockaddr_un a = { .sun_family = AF_UNIX };
		socklen_t size = (socklen_t)(sizeof(sa_family_t) + 1 + (size_t)sprintf(a.sun_path + 1, "listener-%d", l));
		int listener = socket(AF_UNIX, SOCK_STREAM, 0);
		if (listener < 0 || bind(listener, (void *)&a, size) < 0 || listen(listener, QUEUE) < 0)
			break;
		for (int i = 0; i < QUEUE - 96 && bytes < most_of(args); i++, bytes += LEAST) {
			int near = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
			if (!connects(near, &a, size))
				return done("unix connections", bytes, args);
			close(near);
		}
		moment(500000);
	}
	done("unix connections", bytes, args);
}

/* The kernel keeps the whole text of a file of fdinfo until it is closed: here a line for each watch. */
static void texts_of_fdinfo(char **args)
{
	enum { WATCHES = 8000, LINE = 100 };
	char path[64], byte;
	long bytes = 0, watches = 0;
	int watcher = inotify_init1(IN_NONBLOCK);
	for (; watches < WATCHES; watches++) {
		(void)snprintf(path, sizeof(path), "/tmp/watched-%ld", watches);
		int fd = open(path, O_CREAT | O_WRONLY, 0600);
		close(fd);
		if (fd < 0 || inotify_add_watch(watcher, path, IN_OPEN) < 0)
			break;
	}
	(void)snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", watcher);
	while (bytes < most_of(args)) {
		int fd = open(path, O_RDONLY);
		if (fd < 0 || read(fd, &byte, 1) != 1)
			break;
		bytes += watches * LINE;
	}
	done("texts of fdinfo", bytes, args);
}

/* A page for each file of /proc that is read from and not closed, in as many processes as that takes. */
static void pages_of_proc(char **args)
{
	enum { LEAST = 4096 };
	long bytes = 0;
	int tell[2];
	struct rlimit files;
	if (pipe(tell) < 0 || getrlimit(RLIMIT_NOFILE, &files) < 0)
		return;
	while (bytes < most_of(args)) {
		pid_t child = fork();
		if (child < 0)
			break;
		if (child == 0) {
			char byte;
			int n = 0;
			for (int fd; (fd = open("/proc/self/maps", O_RDONLY)) >= 0 && read(fd, &byte, 1) == 1;)
				n++;
			if (write(tell[1], &n, sizeof(n)) == sizeof(n))
				pause();
			_exit(1);
		}
		int n = 0;
		if (read(tell[0], &n, sizeof(n)) != sizeof(n))
			break;
		bytes += (long)n * LEAST;
	}
	done("pages of files of /proc", bytes, args);
	(void)kill(0, SIGKILL);
}

static void touch(char *memory, int pages)
{
	for (int i = 0; i < pages; i++) {
		memory[(size_t)i * 4096] = 1;
		if (i % 64 == 63)
			(void)madvise(memory + (size_t)(i - 63) * 4096, 64 * 4096, MADV_DONTNEED);
	}
}

/* Each fork links its mappings to those of all its ancestors that are alive, so that the links of a line of processes
 * grow with the square of its length. No page stays. */
static void links_of_mappings(char **args)
{
	enum { PAGES = 16000, LINK = 64, LINE = 40 };
	long bytes = 0;
	char *memory = mmap(NULL, PAGES * 4096UL, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < PAGES; i += 2) /* neighbours differ, so that they stay apart */
		(void)mprotect(memory + (size_t)i * 4096, 4096, PROT_READ | PROT_WRITE | PROT_EXEC);
	touch(memory, PAGES);
	for (int n = 1; n < LINE && bytes < most_of(args); n++) {
		pid_t child = fork();
		if (child < 0)
			break;
		if (child > 0) {
			(void)waitpid(child, NULL, 0);
			_exit(0);
		}
		touch(memory, PAGES);
		bytes += (long)PAGES * LINK * (n + 1);
	}
	done("links of mappings", bytes, args);
}

/* Watches of one timer, in so many epoll sets that its end keeps a processor from everybody, with interrupts off: a
 * quarter of a second for a million. The argument is how many thousands. */
static void epoll_watches(char **args)
{
	enum { COPIES = 400, SETS = 500 };
	long most = atol(argument(args, 0, "800")) * 1000, watches = 0;
	int timer = timerfd_create(CLOCK_MONOTONIC, 0), ready[2];
	if (pipe(ready) < 0)
		_exit(1);
	for (; watches < most; watches += (long)COPIES * SETS) {
		pid_t child = fork();
		if (child < 0)
			return held("%ld watches: %s", watches, strerror(errno));
		if (child > 0) {
			char done;
			if (read(ready[0], &done, 1) != 1 || done != 'x')
				return held("%ld watches", watches);
			continue;
		}
		struct epoll_event event = { .events = EPOLLIN };
		int copies[COPIES], e = 0;
		for (int i = 0; i < COPIES; i++)
			copies[i] = dup(timer);
		for (int i = 0; i < SETS * COPIES && e == 0; i++) {
			static int set;
			if (i % COPIES == 0)
				set = epoll_create1(0);
			e = epoll_ctl(set, EPOLL_CTL_ADD, copies[i % COPIES], &event);
		}
		if (write(ready[1], e == 0 ? "x" : "e", 1) == 1)
			pause();
		_exit(0);
	}
	sleep(2); /* who counts at intervals ends us before we say that we have them */
	escaped("%ld watches of one timer", watches);
	kill(0, SIGTERM);
}

static const struct attack attacks[] = {
	{ "refused_connections", refused_connections },
	{ "ended_connections", ended_connections },
	{ "unix_connections", unix_connections },
	{ "texts_of_fdinfo", texts_of_fdinfo },
	{ "pages_of_proc", pages_of_proc },
	{ "links_of_mappings", links_of_mappings },
	{ "epoll_watches", epoll_watches },
};
ATTACKS(attacks)
