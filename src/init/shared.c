/* SPDX-License-Identifier: MIT */
/*
 * Counts memory that cannot be attributed to a single process, for hosts without control groups: shared anonymous
 * mappings, files in memory (memfd) and SysV segments. All of it is on one internal file system of the kernel, which is
 * recognized by its device number.
 *
 * An open memfd counts with its whole size, once (memfds.c). Memory that is only mapped counts by each mapping's
 * proportional set size, so that pages mapped by several processes count once. If reading the mappings takes too long,
 * because a process has very many, all of its shared pages count. SysV segments count by the namespace's total,
 * attached or not; semaphores and messages by their number. A memfd that no process maps or holds, because it is being
 * passed through a socket, cannot be seen. Sources: proc_pid_smaps(5), shmctl(2) SHM_INFO, semctl(2) SEM_INFO,
 * msgctl(2) MSG_INFO.
 */
#include "init/init.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

enum {
	MAPPERS_MAX = 1024,
	PAGE = 4096,
	/* shared bytes of a process from which on its mappings are read, which is much slower than reading its totals */
	WORTH_LOOKING = 64 << 10,
	SHM_INFO = 14,
	SEM_INFO = 19,
	MSG_INFO = 12,
	LOOK_NS = 20000000, /* time for reading mappings, for all processes in one sample */
};

static struct {
	char pid[MAPPERS_MAX][12];
	uint64_t resident[MAPPERS_MAX]; /* shared pages of each process, from its status file */
	uint64_t uncounted;             /* shared pages of processes for which there is no room */
	uint32_t count;
} mappers;

/* The number of a line like "Name: 123 kB", in bytes. */
static uint64_t kilobytes(const char *line)
{
	while (*line && (*line < '0' || *line > '9'))
		line++;
	return fh_number_in(&line, 10) * 1024;
}

int fh_open_of(const char *pid, const char *name, int flags)
{
	char path[64];
	size_t n = strlen(pid);
	memcpy(path, "/proc/", 6);
	memcpy(path + 6, pid, n);
	path[6 + n] = '/';
	memcpy(path + 7 + n, name, strlen(name) + 1);
	return (int)fh_sys(__NR_openat, AT_FDCWD, path, flags | O_RDONLY | O_CLOEXEC, 0);
}

void fh_shared_begin(void)
{
	mappers.count = 0;
	mappers.uncounted = 0;
}

uint64_t fh_shared_add_process(const char *pid)
{
	static struct fh_line_reader r;
	size_t n = strlen(pid);
	uint64_t bytes = 0, unmapped = 0;
	r.fd = fh_open_of(pid, "status", 0);
	r.have = r.at = 0;
	if (r.fd < 0)
		return 0;
	for (const char *line; (line = fh_line_reader_next(&r));)
		if (fh_begins(line, "RssShmem:"))
			bytes = kilobytes(line);
		else if (fh_begins(line, "VmPTE:") || fh_begins(line, "VmSwap:"))
			unmapped += kilobytes(line);
	fh_sys(__NR_close, r.fd);
	if (bytes < WORTH_LOOKING)
		return unmapped;
	if (mappers.count == MAPPERS_MAX || n >= sizeof(mappers.pid[0])) {
		mappers.uncounted += bytes;
		return unmapped;
	}
	mappers.resident[mappers.count] = bytes;
	memcpy(mappers.pid[mappers.count++], pid, n + 1);
	return unmapped;
}

/* The device number of the internal file system as smaps shows it: major << 32 | minor. */
static uint64_t shared_device(void)
{
	static uint64_t device = UINT64_MAX;
	struct stat st;
	if (device != UINT64_MAX)
		return device;
	long fd = fh_sys(__NR_memfd_create, "device", 1 /* MFD_CLOEXEC */);
	if (fd >= 0 && fh_sys(__NR_fstat, fd, &st) == 0)
		device = (uint64_t)(st.st_dev >> 8 & 0xfff) << 32 | ((st.st_dev & 0xff) | (st.st_dev >> 12 & 0xfff00));
	if (fd >= 0)
		fh_sys(__NR_close, fd);
	return device;
}

/* Whether the pages of a mapping count here, by its first line, "begin-end rwxp offset major:minor inode path". */
static int counts(const char *line, uint64_t device)
{
	const char *p = line;
	for (int field = 0; field < 3; field++) { /* skips range, permissions, offset */
		while (*p && *p != ' ')
			p++;
		while (*p == ' ')
			p++;
	}
	uint64_t major = fh_number_in(&p, 16);
	if (*p++ != ':')
		return 0;
	uint64_t minor = fh_number_in(&p, 16);
	while (*p == ' ')
		p++;
	uint64_t inode = fh_number_in(&p, 10);
	while (*p == ' ')
		p++;
	if (!inode || (major << 32 | minor) != device || fh_begins(p, "/SYSV"))
		return 0;
	return !fh_memfds_held(inode);
}

/* Bytes mapped by a process. Its mappings are read until `until_ns`; if it has more, all of its shared pages count. */
static uint64_t mapped_by(const char *pid, uint64_t resident, int64_t until_ns)
{
	static struct fh_line_reader r;
	uint64_t device = shared_device(), bytes = 0;
	int wanted = 0;
	uint32_t mappings = 0;
	if (fh_clock_ns(FH_CLOCK_MONOTONIC) > until_ns)
		return resident;
	r.fd = fh_open_of(pid, "smaps", 0);
	r.have = r.at = 0;
	if (r.fd < 0) /* a process that has ended, or one of a program that even we may not read */
		return r.fd == -EACCES ? resident : 0;
	for (const char *line; (line = fh_line_reader_next(&r));) {
		if ((*line >= '0' && *line <= '9') || (*line >= 'a' && *line <= 'f'))
			wanted = counts(line, device);
		else if (wanted && (fh_begins(line, "Pss:") || fh_begins(line, "SwapPss:")))
			bytes += kilobytes(line);
		else if (fh_begins(line, "Rss:") && ++mappings % 256 == 0 && fh_clock_ns(FH_CLOCK_MONOTONIC) > until_ns) {
			bytes = bytes > resident ? bytes : resident;
			break;
		}
	}
	fh_sys(__NR_close, r.fd);
	return bytes;
}

int fh_shared_unheld(const char *pid, int64_t until_ns)
{
	static struct fh_line_reader r;
	uint64_t device = shared_device();
	uint32_t mappings = 0;
	int found = 0;
	r.fd = fh_open_of(pid, "maps", 0);
	r.have = r.at = 0;
	if (r.fd < 0)
		return r.fd == -EACCES ? 1 : -1;
	for (const char *line; !found && (line = fh_line_reader_next(&r));)
		found = counts(line, device) || (++mappings % 256 == 0 && fh_clock_ns(FH_CLOCK_MONOTONIC) > until_ns);
	fh_sys(__NR_close, r.fd);
	return found ? 1 : mappings ? 0 : -1;
}

/* Bytes of semaphores and messages, estimated from their numbers by the minimum that the kernel needs: a cache line for
 * each semaphore or short message, more for each set or queue, and the undo records of each process in each set. */
static uint64_t counted_by_number(uint64_t tasks)
{
	enum { EACH = 64, SET = 256, UNDO = 96 };
	struct {
		int map, mni, mns, mnu, msl, opm, ume, sets, vmx, semaphores;
	} sem = { 0 };
	struct {
		int queues, messages, max, mnb, mni, ssz, bytes;
		unsigned short seg;
	} msg = { 0 };
	uint64_t bytes = 0;
	if (fh_sys(__NR_semctl, 0, 0, SEM_INFO, &sem) >= 0)
		bytes += (uint64_t)sem.semaphores * EACH + (uint64_t)sem.sets * (SET + UNDO * tasks);
	if (fh_sys(__NR_msgctl, 0, MSG_INFO, &msg) >= 0)
		bytes += (uint64_t)msg.queues * SET + (uint64_t)msg.messages * EACH + (uint64_t)msg.bytes;
	return bytes;
}

uint64_t fh_shared_bytes(uint64_t tasks)
{
	struct {
		int used_ids;
		unsigned long total, resident, swapped, attempts, successes;
	} segments = { 0 };
	int64_t until = fh_clock_ns(FH_CLOCK_MONOTONIC) + LOOK_NS;
	uint64_t bytes = mappers.uncounted + counted_by_number(tasks);
	for (uint32_t i = 0; i < mappers.count; i++)
		bytes += mapped_by(mappers.pid[i], mappers.resident[i], until);
	if (fh_sys(__NR_shmctl, 0, SHM_INFO, &segments) >= 0)
		bytes += (uint64_t)(segments.resident + segments.swapped) * PAGE;
	return bytes;
}
