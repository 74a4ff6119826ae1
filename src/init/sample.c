/* SPDX-License-Identifier: MIT */
/*
 * The usage of all processes, for hosts without control groups, read from /proc of the sandbox's own pid namespace.
 *
 * The CPU time of a running process is its process clock (clock_gettime, in nanoseconds, all its threads). The CPU time
 * of processes that were waited for is in their parents' figures (cutime in stat, rusage of our own children),
 * that of others is estimated (lives.c). Memory is the resident pages without a backing file, those in swap, page
 * tables, files in memory (memfds.c), shared memory (shared.c, hidden.c), socket buffers (sockets.c), file locks
 * (fdinfo.c) and the kernel's records of mappings (mappings.c) and of all else that programs have open (records.c). An
 * address space that a process shares with its parent (vfork, posix_spawn) counts once (spaces.c).
 */
#include "init/init.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/prctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <time.h>

enum { PAGE = 4096, TICK_US = 10000 /* microseconds of a clock tick: USER_HZ is 100 on all Linux systems */ };

static int is_number(const char *s)
{
	if (!*s)
		return 0;
	for (; *s; s++)
		if (*s < '0' || *s > '9')
			return 0;
	return 1;
}

static uint64_t number(const char *s)
{
	uint64_t v = 0;
	for (; *s >= '0' && *s <= '9'; s++)
		v = v * 10 + (uint64_t)(*s - '0');
	return v;
}

/* Writes "/proc/PID/NAME" to `to`. */
static void proc_path(char *to, const char *pid, const char *name)
{
	size_t n = strlen(pid);
	memcpy(to, "/proc/", 6);
	memcpy(to + 6, pid, n);
	to[6 + n] = '/';
	memcpy(to + 7 + n, name, strlen(name) + 1);
}

static long read_text(const char *path, char *buffer, size_t size)
{
	long fd = fh_sys(__NR_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return fd;
	long n = fh_sys(__NR_read, fd, buffer, size - 1);
	fh_sys(__NR_close, fd);
	buffer[n > 0 ? n : 0] = 0;
	return n;
}

/* The n-th field (from 1) after the command name in a line of stat. The name itself may contain spaces and brackets. */
static const char *stat_field(const char *line, int n)
{
	const char *p = line, *last = 0;
	for (; *p; p++)
		if (*p == ')')
			last = p;
	for (p = last ? last + 1 : line; *p && n; p++)
		if (*p == ' ')
			n--;
	return p;
}

/* What one sample adds to, and for whom. */
struct look {
	const struct fh_init *in;
	struct fh_init_usage *usage;
	uint64_t waited_us; /* CPU time of processes that were waited for */
};

int fh_is_helper(const struct fh_init *in, const char *pid)
{
	for (int i = 0; i < FH_INIT_PROCESSES_MAX; i++)
		if (in->child[i].pid && in->child[i].ours && (uint64_t)in->child[i].pid == number(pid))
			return 1;
	return 0;
}

/* Opens the folder of descriptors of a program that has another user id than init: init takes that of the folder's
 * owner, for files alone. It stays until `restore_id`, so that what the descriptors stand for can be opened too. */
static long open_as_owner(const char *path, long *ret_id)
{
	struct stat st;
	if (fh_sys(__NR_newfstatat, AT_FDCWD, path, &st, 0) < 0)
		return -EACCES;
	*ret_id = fh_sys(__NR_setfsuid, st.st_uid);
	return fh_sys(__NR_openat, AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
}

static void restore_id(long id)
{
	if (id < 0)
		return;
	fh_sys(__NR_setfsuid, id);
	fh_sys(__NR_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0); /* which a change of ids sets to the host's fs.suid_dumpable */
}

/* Adds the descriptors that /proc shows for `task`. Helpers are not dumpable either, and hold no files in memory. */
static void add_descriptors(const struct fh_init *in, const char *pid, const char *task)
{
	char path[64];
	long id = -1;
	proc_path(path, task, "fd");
	long dir = fh_sys(__NR_openat, AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	if (dir == -EACCES && in->start.switch_ids)
		dir = open_as_owner(path, &id);
	if (dir == -EACCES && !fh_is_helper(in, pid))
		fh_memfds_add_closed();
	if (dir >= 0) {
		fh_memfds_add_process(number(pid), dir);
		fh_sys(__NR_close, dir);
	}
	restore_id(id);
}

int fh_living_thread(const char *pid, char *ret, size_t size)
{
	static char entries[4096], text[256];
	char path[64];
	int found = 0;
	proc_path(path, pid, "task");
	long dir = fh_sys(__NR_openat, AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	for (long n; dir >= 0 && !found && (n = fh_sys(__NR_getdents64, dir, entries, sizeof(entries))) > 0;)
		for (long at = 0; at < n && !found;) {
			struct fh_dirent *d = (struct fh_dirent *)(void *)(entries + at);
			at += d->size;
			if (!is_number(d->name) || strlen(d->name) >= size)
				continue;
			proc_path(path, d->name, "statm");
			found = read_text(path, text, sizeof(text)) > 0 && number(text) > 0;
			if (found)
				memcpy(ret, d->name, strlen(d->name) + 1);
		}
	if (dir >= 0)
		fh_sys(__NR_close, dir);
	return found;
}

/* Where nothing else of a process is to be sampled. */
static int add_descriptors_alone(const char *pid, void *data)
{
	const struct look *look = data;
	char living[12];
	if (fh_living_thread(pid, living, sizeof(living)))
		add_descriptors(look->in, pid, living);
	return 1;
}

static int add_process(const char *pid, void *data)
{
	struct look *look = data;
	struct fh_init_usage *u = look->usage;
	static char text[4096];
	char path[64], living[12];
	proc_path(path, pid, "stat");
	if (read_text(path, text, sizeof(text)) <= 0)
		return 1;
	/* fields after the name: 1 state, 2 ppid … 12 utime, 13 stime, 14 cutime, 15 cstime, 18 num_threads (proc(5)) */
	int is_zombie = *stat_field(text, 1) == 'Z', main_thread_ended = is_zombie && number(stat_field(text, 18)) > 1;
	uint64_t utime = number(stat_field(text, 12)), stime = number(stat_field(text, 13));
	uint64_t cutime = number(stat_field(text, 14)), cstime = number(stat_field(text, 15));
	uint64_t parent = number(stat_field(text, 2));
	u->tasks += number(stat_field(text, 18));

	/* the clock gives the exact sum; the ticks in stat only give the ratio of the split */
	struct {
		int64_t s, ns;
	} clock;
	long id = (~(long)number(pid) << 3) | 2; /* the clock id CPUCLOCK_SCHED of a process: linux/posix-timers.h */
	uint64_t us = (utime + stime) * TICK_US;
	if (fh_sys(__NR_clock_gettime, (int)id, &clock) == 0)
		us = (uint64_t)clock.s * 1000000 + (uint64_t)clock.ns / 1000;
	uint64_t ticks = utime + stime;
	uint64_t user = ticks ? us * utime / ticks : us;
	u->user_us += user + cutime * TICK_US;
	u->sys_us += us - user + cstime * TICK_US;
	look->waited_us += (cutime + cstime) * TICK_US;
	fh_lives_add_process(pid, us, *stat_field(text, 1) == 'R', (uint64_t)look->in->start.sample_ms * 1000);

	const char *task = main_thread_ended && fh_living_thread(pid, living, sizeof(living)) ? living : pid;
	proc_path(path, task, "statm");
	if (read_text(path, text, sizeof(text)) > 0) {
		const char *p = text; /* the fields of statm: size resident shared … */
		while (*p && *p != ' ')
			p++;
		uint64_t resident = number(++p);
		while (*p && *p != ' ')
			p++;
		uint64_t shared = number(*p ? p + 1 : p);
		uint64_t own = (resident > shared ? resident - shared : 0) * PAGE;
		if (!fh_spaces_add_process(number(pid), number(task), parent, resident * PAGE)) {
			u->memory_bytes += own + fh_shared_add_process(task);
			u->mapped_bytes += shared * PAGE;
		}
	}
	if (!is_zombie || task != pid) /* one that has ended has no descriptors, and its folder is root's */
		add_descriptors(look->in, pid, task);
	return 1;
}

void fh_init_disk(const struct fh_init *in, struct fh_init_finished *ret)
{
	struct statfs fs;
	if (!in->start.disk_path[0] || fh_sys(__NR_statfs, in->start.disk_path, &fs) < 0)
		return;
	ret->disk_total = (uint64_t)fs.f_blocks * (uint64_t)fs.f_bsize;
	ret->disk_free = (uint64_t)fs.f_bfree * (uint64_t)fs.f_bsize;
	ret->inodes_total = fs.f_files;
	ret->inodes_free = fs.f_ffree;
}

int fh_each_process(int (*visit)(const char *pid, void *data), void *data)
{
	static char entries[16384];
	int all = 1;
	long dir = fh_sys(__NR_openat, AT_FDCWD, "/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	for (long n; dir >= 0 && all && (n = fh_sys(__NR_getdents64, dir, entries, sizeof(entries))) > 0;)
		for (long at = 0; at < n && all;) {
			struct fh_dirent *d = (struct fh_dirent *)(void *)(entries + at);
			at += d->size;
			all = !is_number(d->name) || number(d->name) == 1 || visit(d->name, data);
		}
	if (dir >= 0)
		fh_sys(__NR_close, dir);
	return all;
}

/* What the sample's look at descriptors found. */
static uint64_t in_pipes(void)
{
	int whole;
	uint64_t most = fh_memfds_pipes(&whole);
	return fh_pipes_bytes(most, whole);
}

/* What control groups do not count. */
static uint64_t kernel_bytes_alone(const struct fh_init *in)
{
	uint64_t bytes = fh_sockets_bytes(in->start.sockets_are_charged);
	if (!fh_pipes_begin())
		return bytes;
	fh_memfds_begin();
	fh_each_process(add_descriptors_alone, &(struct look){ .in = in });
	bytes += in_pipes();
	(void)fh_memfds_bytes();
	return bytes;
}

void fh_init_sample(const struct fh_init *in, struct fh_init_usage *ret)
{
	int charged = in->start.sockets_are_charged;
	ret->kernel_bytes = fh_locks_bytes();
	ret->too_many_watches = (uint64_t)fh_watches_are_too_many();
	if (in->start.shares)
		fh_shares_look();
	if (in->start.only_kernel) {
		ret->kernel_bytes += kernel_bytes_alone(in);
		return;
	}
	(void)fh_pipes_begin();
	ret->user_us = in->reaped_user_us;
	ret->sys_us = in->reaped_sys_us;
	fh_memfds_begin();
	fh_shared_begin();
	fh_spaces_begin();
	fh_lives_begin();
	struct look look = { in, ret, in->reaped_user_us + in->reaped_sys_us };
	fh_each_process(add_process, &look);
	ret->user_us += fh_lives_bare_us(look.waited_us);
	ret->kernel_bytes += fh_sockets_bytes(charged);
	struct fh_init_finished disk = { 0 };
	fh_init_disk(in, &disk);
	ret->disk_bytes = disk.disk_total - disk.disk_free;
	ret->kernel_bytes += fh_mappings_bytes();
	ret->kernel_bytes += in_pipes();
	uint64_t files = fh_memfds_bytes();
	files += fh_shared_bytes(ret->tasks);
	ret->kernel_bytes +=
	    fh_records_bytes(fh_memfds_records(), ret->tasks, disk.inodes_total - disk.inodes_free, ret->kernel_bytes);
	ret->memory_bytes += files + fh_hidden_bytes(in, files + ret->disk_bytes) + ret->kernel_bytes;
}
