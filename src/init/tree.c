/* SPDX-License-Identifier: MIT */
/* Finds all processes of a program, to kill them, and all processes of the sandbox, to stop them. */
#include "init/init.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <signal.h>

enum {
	PROCESSES_MAX = 16384,
	TREE_ROUNDS_MAX = 50,
	/* A process stops when it next gets a processor, which on a busy machine takes a while: two seconds at most. */
	HOLD_ROUNDS_MAX = 600,
	QUICK_ROUNDS = 200,
	LIST_SIZE = 16384
};

static struct process {
	int32_t pid, above, session;
	char state;
	char ours; /* this process belongs to the tree that is to be killed */
} processes[PROCESSES_MAX];

static int32_t number(const char **p)
{
	int32_t n = 0;
	for (; **p >= '0' && **p <= '9'; ++*p)
		n = n * 10 + (**p - '0');
	return n;
}

/* ------------------------------------------------------------------------------------------------------------ /proc */

static void put_decimal(char *to, int32_t v)
{
	char digits[12];
	int n = 0;
	do
		digits[n++] = (char)('0' + v % 10);
	while (v /= 10);
	while (n)
		*to++ = digits[--n];
	*to = 0;
}

/* Parses /proc/PID/stat: "PID (any text) STATE PPID PGRP SESSION …". The number may be a thread's. */
static int read_stat(long proc, int32_t pid, struct process *ret)
{
	char path[32], text[512];
	put_decimal(path, pid);
	memcpy(path + strlen(path), "/stat", 6);
	long fd = fh_sys(__NR_openat, proc, path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return 0;
	long n = fh_sys(__NR_read, fd, text, sizeof(text) - 1);
	fh_sys(__NR_close, fd);
	text[n > 0 ? n : 0] = 0;
	const char *p = text + (n > 0 ? n : 0);
	while (p > text && *p != ')') /* finds the last bracket, since the name may contain any */
		p--;
	if (*p != ')' || !p[1] || !p[2] || !p[3])
		return 0;
	*ret = (struct process){ .pid = pid, .state = p[2] };
	p += 4;
	ret->above = number(&p);
	p++;
	(void)number(&p);
	p++;
	ret->session = number(&p);
	return 1;
}

static int read_process(long proc, int32_t pid, struct process *ret)
{
	char name[12], thread[12];
	struct process living;
	if (!read_stat(proc, pid, ret))
		return 0;
	if (ret->state != 'Z')
		return 1;
	put_decimal(name, pid);
	const char *p = thread;
	if (fh_living_thread(name, thread, sizeof(thread)) && read_stat(proc, number(&p), &living))
		ret->state = living.state;
	return 1;
}

/* Reads all processes but init. Returns their number, or -errno. */
static long read_processes(void)
{
	static char entries[32 * 1024];
	long proc = fh_sys(__NR_openat, AT_FDCWD, "/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0), count = 0, n;
	if (proc < 0)
		return proc;
	while ((n = fh_sys(__NR_getdents64, proc, entries, sizeof(entries))) > 0)
		for (long at = 0; at < n;) {
			const unsigned char *e = (const unsigned char *)entries + at;
			const char *name = (const char *)e + 19; /* struct linux_dirent64 */
			at += e[16] | e[17] << 8;
			const char *p = name;
			int32_t pid = number(&p);
			if (*p || pid <= 1)
				continue;
			if (count == PROCESSES_MAX) {
				fh_sys(__NR_close, proc);
				return -E2BIG;
			}
			count += read_process(proc, pid, &processes[count]);
		}
	fh_sys(__NR_close, proc);
	return n < 0 ? n : count;
}

/* ------------------------------------------------------------------------------------------------------------- kill */

/* Calls `visit` for each number in a cgroup.procs file that was not read before. Returns how many there are, or -errno.
 * Control groups v1 answer all reads of one open file from a list that they make at the first one and keep for a second
 * (kernel/cgroup/cgroup-v1.c, cgroup_pidlist_start), so each look at a group needs a file that is opened anew. Init may
 * open none; the engine sends FH_INIT_LOOKS of them. */
static long each_member(int fd, long (*visit)(int32_t pid, int argument), int argument)
{
	static char text[LIST_SIZE];
	int32_t pid = 0;
	long count = 0, n, r;
	int digits = 0;
	while ((n = fh_sys(__NR_read, fd, text, sizeof(text))) > 0)
		for (long i = 0; i < n; i++) {
			if (text[i] >= '0' && text[i] <= '9') {
				pid = pid * 10 + (text[i] - '0');
				digits = 1;
				continue;
			}
			if (digits && pid > 1) { /* the number is 0 for a process outside our pid namespace */
				r = visit(pid, argument);
				if (r < 0)
					return r;
				count++;
			}
			pid = digits = 0;
		}
	return n < 0 ? n : count;
}

static long kill_member(int32_t pid, int argument)
{
	(void)argument;
	fh_sys(__NR_kill, pid, SIGKILL);
	return 0;
}

static int is_ours(const struct process *p, long count, int32_t pid)
{
	if (p->pid == pid || p->session == pid || p->above == pid)
		return 1;
	for (long i = 0; i < count; i++)
		if (processes[i].pid == p->above)
			return processes[i].ours;
	return 0;
}

static int is_running(const struct process *p)
{
	return p->state != 'Z' && p->state != 'X' && p->state != 'T' && p->state != 't';
}

static void nap(int round)
{
	struct {
		int64_t s, ns;
	} moment = { 0, round < QUICK_ROUNDS ? 200000 : 5000000 };
	fh_sys(__NR_nanosleep, &moment, 0);
}

/* Marks the program's session and all descendants that are still below it in the process tree. */
static void mark_tree(long count, int32_t pid)
{
	for (int more = 1; more;) {
		more = 0;
		for (long i = 0; i < count; i++)
			if (!processes[i].ours && is_ours(&processes[i], count, pid))
				processes[i].ours = (char)(more = 1);
	}
}

static int stop_marked(long count)
{
	int running = 0;
	for (long i = 0; i < count; i++)
		if (processes[i].ours && is_running(&processes[i])) {
			fh_sys(__NR_kill, processes[i].pid, SIGSTOP);
			running = 1;
		}
	return running;
}

/* Kills the program's tree. All of it is stopped first: a stopped process forks no more, and none may die before all
 * are known, because the children of a dead process are init's and would not be found. */
static void kill_by_proc(int32_t pid)
{
	long count = 0;
	for (int round = 0; round < TREE_ROUNDS_MAX; round++) {
		count = read_processes();
		mark_tree(count, pid);
		if (!stop_marked(count))
			break;
		nap(round);
	}
	for (long i = 0; i < count; i++)
		if (processes[i].ours)
			fh_sys(__NR_kill, processes[i].pid, SIGKILL);
}

void fh_tree_kill(int32_t pid, const int *looks, int look_count)
{
	if (pid && !look_count)
		kill_by_proc(pid);
	if (pid) {
		fh_sys(__NR_kill, -pid, SIGKILL);
		fh_sys(__NR_kill, pid, SIGKILL);
	}
	/* a killed process cannot fork, so each look finds fewer processes */
	for (int i = 0; i < look_count && each_member(looks[i], kill_member, 0) > 0; i++)
		fh_sys(__NR_sched_yield);
}

/* ------------------------------------------------------------------------------------------------------------- hold */

static int32_t stopped[PROCESSES_MAX];
static uint32_t stopped_count;

static void release(void)
{
	for (uint32_t i = 0; i < stopped_count; i++)
		fh_sys(__NR_kill, stopped[i], SIGCONT);
	stopped_count = 0;
}

static int was_stopped(int32_t pid)
{
	for (uint32_t i = 0; i < stopped_count; i++)
		if (stopped[i] == pid)
			return 1;
	return 0;
}

/* Whether a process that was told to stop waits for the child that it made by vfork. The kernel lets it wait (D) until
 * the child has started another program or ended, which a stopped child does not, and stops it before it runs again. */
static int waits_for_vfork(const struct process *p, long count)
{
	if (p->state != 'D')
		return 0;
	for (long i = 0; i < count; i++)
		if (processes[i].above == p->pid && processes[i].state == 'T' &&
		    fh_sys(__NR_kcmp, p->pid, processes[i].pid, KCMP_VM, 0, 0) == 0)
			return 1;
	return 0;
}

/* Stops all processes, until a round finds none running. Processes that were already stopped are not continued at the
 * release. */
static long stop_all(void)
{
	for (int round = 0; round < HOLD_ROUNDS_MAX; round++) {
		long count = read_processes();
		int running = 0;
		if (count < 0)
			return count;
		for (long i = 0; i < count; i++) {
			if (!is_running(&processes[i]))
				continue;
			int known = was_stopped(processes[i].pid);
			if (known && waits_for_vfork(&processes[i], count))
				continue;
			running = 1;
			if (known)
				continue;
			if (stopped_count == PROCESSES_MAX)
				return -E2BIG;
			if (fh_sys(__NR_kill, processes[i].pid, SIGSTOP) == 0)
				stopped[stopped_count++] = processes[i].pid;
		}
		if (!running)
			return 0;
		nap(round);
	}
	return -EBUSY;
}

static int is_helper(const struct fh_init *in, int32_t pid)
{
	for (int i = 0; i < FH_INIT_PROCESSES_MAX; i++)
		if (in->child[i].pid == pid && in->child[i].ours)
			return 1;
	return 0;
}

void fh_tree_keep_still(const struct fh_init *in)
{
	for (int round = 0; round < HOLD_ROUNDS_MAX; round++) {
		long count = read_processes();
		int running = count < 0;
		for (long i = 0; i < count; i++)
			if (is_running(&processes[i]) && !waits_for_vfork(&processes[i], count) &&
			    !is_helper(in, processes[i].pid)) {
				fh_sys(__NR_kill, processes[i].pid, SIGKILL);
				running = 1;
			}
		if (!running)
			return;
		if (count < 0 || round >= QUICK_ROUNDS) /* too many, or they fork as fast */
			fh_sys(__NR_kill, -1, SIGKILL);
		nap(round);
	}
}

static int32_t moved[PROCESSES_MAX];
static uint32_t moved_count;

static long move_member(int32_t pid, int to)
{
	char text[12];
	for (uint32_t i = 0; i < moved_count; i++)
		if (moved[i] == pid)
			return 0;
	if (moved_count == PROCESSES_MAX)
		return -E2BIG;
	put_decimal(text, pid);
	long r = fh_sys(__NR_write, to, text, strlen(text));
	if (r < 0 && r != -ESRCH) /* ESRCH: the process ended meanwhile */
		return r;
	moved[moved_count++] = pid;
	return 0;
}

/* Moves all processes into the frozen group `to`. A process there cannot fork, so once a look finds none that is new,
 * all are there. */
static long move_all(int to, const int *looks, int look_count)
{
	for (int i = 0; i < look_count; i++) {
		uint32_t before = moved_count;
		long r = each_member(looks[i], move_member, to);
		if (r < 0)
			return r;
		if (moved_count == before)
			return 0;
	}
	return -EBUSY;
}

/* Whether no process runs or waits for what would make it run: a frozen one is shown as D. */
static int none_can_run(void)
{
	long count = read_processes();
	for (long i = 0; i < count; i++)
		if (is_running(&processes[i]) && processes[i].state != 'D')
			return 0;
	return count >= 0;
}

/* The kernel says FREEZING until the last process of the group stands still; `state` is its freezer.state. It goes on
 * saying so of a process that waits for its child of vfork. */
static void wait_until_frozen(int state)
{
	for (int round = 0; round < HOLD_ROUNDS_MAX; round++) {
		char text[12] = { 0 };
		fh_sys(__NR_lseek, state, 0, 0);
		if (fh_sys(__NR_read, state, text, sizeof(text) - 1) <= 0 || memcmp(text, "FROZEN", 6) == 0)
			return;
		if (round >= QUICK_ROUNDS && none_can_run())
			return;
		nap(round);
	}
}

void fh_tree_hold(uint32_t how, const int *fds, int fd_count, struct fh_init_held *ret)
{
	long r = 0;
	moved_count = 0;
	if (how == FH_HOLD_RELEASE)
		release();
	else if (how == FH_HOLD_STOP)
		r = stop_all();
	else if (how == FH_HOLD_MOVE)
		r = fd_count > 2 ? move_all(fds[0], fds + 2, fd_count - 2) : -EINVAL;
	if (r < 0 && how == FH_HOLD_STOP)
		release();
	if (r == 0 && how == FH_HOLD_MOVE)
		wait_until_frozen(fds[1]);
	ret->error = (int32_t)-r;
	ret->count = how == FH_HOLD_MOVE ? moved_count : stopped_count;
}
