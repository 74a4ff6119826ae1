/* SPDX-License-Identifier: MIT */
/* Memory of every kind, 1 MiB at a time. The argument is how many MiB are too much: the program then says ESCAPED and
 * stops, so that it is bounded where nothing stops it. */
#include "../attack.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

enum { MIB = 1 << 20 };
static char block[MIB];

/* A moment for whoever looks at intervals, and no more. */
static void moment(void)
{
	struct timespec t = { 0, 500000 };
	nanosleep(&t, NULL);
}

static int too_much(char **args)
{
	memset(block, 'm', sizeof(block));
	return atoi(argument(args, 0, "64"));
}

static void done(const char *what, int mib, int most)
{
	if (mib >= most)
		escaped("%d MiB of %s", mib, what);
	else
		held("%d MiB of %s: %s", mib, what, strerror(errno));
	fflush(stdout);
}

static void anonymous(char **args)
{
	int most = too_much(args), n = 0;
	for (; n < most; n++, moment()) {
		char *p = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p == MAP_FAILED)
			break;
		memset(p, 1, MIB);
	}
	done("memory", n, most);
}

static void many_processes(char **args)
{
	int most = too_much(args), n = 0;
	int report[2];
	if (pipe(report) < 0)
		return;
	for (; n < most / 4; n++, moment())
		if (fork() == 0) {
			char *p = mmap(NULL, 4 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			if (p == MAP_FAILED)
				_exit(1);
			memset(p, 1, 4 * MIB);
			(void)!write(report[1], "x", 1);
			pause();
		}
	int have = 0;
	for (char x; have < n && read(report[0], &x, 1) == 1;)
		have++;
	done("memory in many processes", have * 4, most / 4 * 4);
	_exit(0);
}

static void shared_mapping(char **args)
{
	int most = too_much(args), n = 0;
	for (; n < most; n++, moment()) {
		char *p = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		if (p == MAP_FAILED)
			break;
		memset(p, 1, MIB);
	}
	done("shared memory", n, most);
}

static void memfds(char **args)
{
	int most = too_much(args), n = 0;
	int fd = memfd_create("m", 0);
	for (; n < most; n++, moment())
		if (write(fd, block, MIB) != MIB)
			break;
	done("memfd", n, most);
}

/* Files in memory, each below every limit on the size of a file. */
static void small_memfds(char **args)
{
	int most = too_much(args), n = 0;
	for (int fd = -1; n < most; n++, moment())
		if ((n % 8 == 0 && (fd = memfd_create("m", 0)) < 0) || write(fd, block, MIB) != MIB)
			break;
	done("memfds", n, most);
}

/* The folder of a process's descriptors belongs to root once the process is not dumpable. */
static void memfds_undumpable(char **args)
{
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	small_memfds(args);
}

/* The same without asking: a program that its own user may not read is not dumpable. */
static void memfds_unreadable(char **args)
{
	static char path[] = "./unreadable", attack[] = "small_memfds";
	char *own[] = { path, attack, args[0], NULL };
	int from = open("/proc/self/exe", O_RDONLY), to = open(own[0], O_WRONLY | O_CREAT | O_EXCL, 0700);
	for (ssize_t n; (n = read(from, block, sizeof(block))) > 0;)
		if (write(to, block, (size_t)n) != n)
			return;
	if (close(to) == 0 && chmod(own[0], 0111) == 0)
		execv(own[0], own);
	held("a program that cannot be read: %s", strerror(errno));
}

/* Files in memory that nobody holds open: they wait in a socket. */
static void memfds_in_flight(char **args)
{
	int most = too_much(args), n = 0, pair[2];
	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) < 0)
		return;
	for (; n < most; n++, moment()) {
		int fd = memfd_create("m", 0);
		if (fd < 0 || write(fd, block, MIB) != MIB)
			break;
		char control[CMSG_SPACE(sizeof(int))] = { 0 };
		struct iovec io = { (char[]){ "x" }, 1 };
		struct msghdr m = {
			.msg_iov = &io, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)
		};
		struct cmsghdr *c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &fd, sizeof(int));
		if (sendmsg(pair[0], &m, MSG_DONTWAIT) < 0) { /* the queue is full: another pair */
			if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) < 0 || sendmsg(pair[0], &m, MSG_DONTWAIT) < 0)
				break;
		}
		close(fd);
	}
	done("memfd under way", n, most);
}

/* Memory that no page table of a process shows: its pages are taken out of the tables once they are written. */
static void shared_and_dropped(char **args)
{
	int most = too_much(args), n = 0;
	for (; n < most; n++, moment()) {
		char *p = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		if (p == MAP_FAILED)
			break;
		memset(p, 1, MIB);
		if (madvise(p, MIB, MADV_DONTNEED) < 0)
			break;
	}
	done("shared memory in no page table", n, most);
}

/* The same by files that are mapped and never touched there, and not held open. */
static void memfds_mapped(char **args)
{
	int most = too_much(args), n = 0;
	for (; n < most; n++, moment()) {
		int fd = memfd_create("m", 0);
		if (fd < 0 || write(fd, block, MIB) != MIB || mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED)
			break;
		close(fd);
	}
	done("memfd, mapped and closed", n, most);
}

/* A process goes on when its main thread has ended; /proc then shows neither memory nor descriptors under its number.
 */
static void *without_main_thread(void *args)
{
	struct timespec t = { 0, 50000000 };
	nanosleep(&t, NULL);
	anonymous(args);
	_exit(0);
}

static void *memfds_without_main_thread(void *args)
{
	struct timespec t = { 0, 50000000 };
	nanosleep(&t, NULL);
	memfds(args);
	_exit(0);
}

static void end_main_thread(void *(*rest)(void *), char **args)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, rest, args) == 0)
		pthread_exit(NULL);
}

static void main_thread_ended(char **args)
{
	end_main_thread(without_main_thread, args);
}

static void main_thread_ended_memfds(char **args)
{
	end_main_thread(memfds_without_main_thread, args);
}

/* A thread with descriptors of its own, which /proc does not show under the number of its process. */
static int own_descriptors(void *args)
{
	memfds(args);
	_exit(0);
}

static void thread_with_descriptors(char **args)
{
	char *stack = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int how = CLONE_VM | CLONE_FS | CLONE_SIGHAND | CLONE_THREAD;
	if (stack == MAP_FAILED || clone(own_descriptors, stack + MIB, how, args) < 0) {
		held("a thread with descriptors of its own: %s", strerror(errno));
		return;
	}
	for (;;)
		pause();
}

static void *apart(void *args)
{
	if (syscall(SYS_close_range, 500, 600, 2 /* CLOSE_RANGE_UNSHARE */) < 0) {
		held("descriptors of its own: %s", strerror(errno));
		_exit(0);
	}
	own_descriptors(args);
	return NULL;
}

static void thread_parts_descriptors(char **args)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, apart, args) == 0)
		pthread_join(thread, NULL);
}

/* Memory of an address space that several processes have, which counts once: it still counts when the one that it is
 * counted with, the parent, has changed to another one (by execve) or keeps changing. */
enum { STACK = MIB / 4 };
static char stacks[2][STACK];

static int takes_memory(void *args)
{
	anonymous(args);
	_exit(0);
}

static void space_of_two(char **args)
{
	if (clone(takes_memory, stacks[0] + STACK, CLONE_VM | SIGCHLD, args) < 0)
		return;
	while (wait(NULL) < 0 && errno == EINTR)
		;
}

static void space_left_by_parent(char **args)
{
	if (clone(takes_memory, stacks[0] + STACK, CLONE_VM | SIGCHLD, args) < 0)
		return;
	execl("/bin/bash", "bash", "-c",
	      "x=$(head -c 2000000 /dev/zero | tr '\\0' x); while :; do read -t 0.01 <> <(:); done", NULL);
}

/* The parent is always in the middle of an execve: /proc/self/exe again and again, with the child beside it. */
static void space_with_busy_parent(char **args)
{
	char most[16];
	if (!args || !*args)
		return;
	snprintf(most, sizeof(most), "%s", *args);
	if (!getenv("AGAIN") && clone(takes_memory, stacks[0] + STACK, CLONE_VM | SIGCHLD, args) < 0)
		return;
	memset(block, 'm', sizeof(block)); /* large enough for the question whose memory it is */
	static char ballast[2 * MIB];
	memset(ballast, 'b', sizeof(ballast));
	setenv("AGAIN", "1", 1);
	execl("/proc/self/exe", "memory", "space_with_busy_parent", most, NULL);
}

static void segments(char **args)
{
	int most = too_much(args), n = 0;
	for (; n < most; n++, moment()) {
		int id = shmget(IPC_PRIVATE, MIB, IPC_CREAT | 0600);
		char *p = id < 0 ? (char *)-1 : shmat(id, NULL, 0);
		if (p == (char *)-1)
			break;
		memset(p, 1, MIB);
		shmdt(p);
	}
	done("SysV segments", n, most);
}

static void files(char **args)
{
	int most = too_much(args), n = 0;
	const char *path = argument(args, 1, "/dev/shm/f");
	int fd = open(path, O_WRONLY | O_CREAT, 0600);
	for (; n < most; n++, moment())
		if (write(fd, block, MIB) != MIB)
			break;
	done("files", n, most);
}

/* Kernel memory: what waits in pipes. */
static void pipes(char **args)
{
	int most = too_much(args);
	long bytes = 0;
	for (int c = 0; c < 32 && bytes < (long)most * MIB; c++) {
		int p[2], report[2];
		if (pipe(report) < 0)
			break;
		if (fork() == 0) {
			long mine = 0;
			while (mine < (long)most * MIB / 4 && pipe2(p, O_NONBLOCK) == 0) {
				(void)fcntl(p[1], F_SETPIPE_SZ, MIB);
				long before = mine;
				for (ssize_t w; (w = write(p[1], block, 65536)) > 0;)
					mine += w;
				if (mine / MIB != before / MIB)
					moment();
			}
			(void)!write(report[1], &mine, sizeof(mine));
			pause();
		}
		close(report[1]);
		long mine = 0;
		if (read(report[0], &mine, sizeof(mine)) == sizeof(mine))
			bytes += mine;
	}
	done("pipe buffers", (int)(bytes / MIB), most);
	_exit(0);
}

/* Kernel memory: what waits in sockets. */
static void sockets(char **args)
{
	int most = too_much(args);
	long bytes = 0;
	for (int c = 0; c < 32 && bytes < (long)most * MIB; c++) {
		int report[2];
		if (pipe(report) < 0)
			break;
		if (fork() == 0) {
			long mine = 0;
			int pair[2];
			while (mine < (long)most * MIB / 4 && socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) == 0) {
				for (int side = 0; side < 2; side++) {
					int size = MIB;
					(void)setsockopt(pair[side], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
					for (ssize_t w; (w = send(pair[side], block, 32768, MSG_DONTWAIT)) > 0;)
						mine += w;
				}
				moment();
			}
			(void)!write(report[1], &mine, sizeof(mine));
			pause();
		}
		close(report[1]);
		long mine = 0;
		if (read(report[0], &mine, sizeof(mine)) == sizeof(mine))
			bytes += mine;
	}
	done("socket buffers", (int)(bytes / MIB), most);
	_exit(0);
}

static const struct attack attacks[] = {
	{ "anonymous", anonymous },
	{ "many_processes", many_processes },
	{ "shared_mapping", shared_mapping },
	{ "memfds", memfds },
	{ "small_memfds", small_memfds },
	{ "memfds_undumpable", memfds_undumpable },
	{ "memfds_unreadable", memfds_unreadable },
	{ "memfds_in_flight", memfds_in_flight },
	{ "shared_and_dropped", shared_and_dropped },
	{ "memfds_mapped", memfds_mapped },
	{ "main_thread_ended", main_thread_ended },
	{ "main_thread_ended_memfds", main_thread_ended_memfds },
	{ "thread_with_descriptors", thread_with_descriptors },
	{ "thread_parts_descriptors", thread_parts_descriptors },
	{ "space_of_two", space_of_two },
	{ "space_left_by_parent", space_left_by_parent },
	{ "space_with_busy_parent", space_with_busy_parent },
	{ "segments", segments },
	{ "files", files },
	{ "pipes", pipes },
	{ "sockets", sockets },
};
ATTACKS(attacks)
