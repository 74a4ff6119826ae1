/* SPDX-License-Identifier: MIT */
/*
 * Checks that a program forked from a zygote shares nothing with it: no open file description (a pipe, an eventfd, an
 * epoll set; the offset and flags of a file) and no writable shared memory. The engine checks this from outside, while
 * neither runs code of a client's: the zygote when it reports that it is ready, each program when it reports that it is
 * parked. What a zygote may hold at all is decided by the warm library (guest/warm/descriptors.c).
 *
 * Sources: proc_pid_fd(5), proc_pid_fdinfo(5), proc_pid_map_files(5), kcmp(2); PROCMAP_QUERY (Linux 6.11): the kernel's
 * include/uapi/linux/fs.h and Documentation/filesystems/proc.rst.
 */
#include "engine/warm/own.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/base.h"
#include "base/fd.h"

enum { STANDARD = 3 /* first descriptor to compare: each run replaces 0 to 2 */, LINK_MAX = 64, LOOKS_MAX = 8 };

/* ----------------------------------------------------------------------------------------------------- descriptors */

struct folder_entry {
	uint64_t inode;
	int64_t offset;
	unsigned short size;
	unsigned char type;
	char name[];
};

typedef bool each_fn(void *data, int fd, const char *link);

/* Calls `each` for every descriptor from STANDARD on, until it returns false. Returns false also if they cannot be
 * listed. */
static bool for_each_descriptor(pid_t pid, each_fn *each, void *data)
{
	_Alignas(8) char entries[2048];
	char path[48], link[LINK_MAX];
	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	fh_auto_close int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	long n = folder < 0 ? -1 : 1;
	while (n > 0 && (n = syscall(SYS_getdents64, folder, entries, sizeof(entries))) > 0)
		for (long at = 0; at < n;) {
			const struct folder_entry *e = (const void *)(entries + at);
			int fd = e->name[0] == '.' ? 0 : atoi(e->name);
			at += e->size;
			if (fd < STANDARD)
				continue;
			ssize_t size = readlinkat(folder, e->name, link, sizeof(link) - 1);
			link[FH_MAX(size, 0)] = 0;
			if (size <= 0 || !each(data, fd, link))
				return false;
		}
	return n == 0;
}

static bool note(void *data, int fd, const char *link)
{
	struct fh_held *h = data;
	if (h->count == FH_HELD_MAX)
		return false;
	h->fd[h->count++] = fd;
	(void)link;
	return true;
}

/* A zygote closes what it sent with its message as soon as that is on its way. A descriptor that is closed between the
 * two calls that read its entry makes the list void, and the next list does not have it. */
bool fh_held_read(pid_t zygote, struct fh_held *ret)
{
	for (int looks = 0; looks < LOOKS_MAX; looks++) {
		*ret = (struct fh_held){ .pid = zygote };
		if (for_each_descriptor(zygote, note, ret))
			return true;
		if (ret->count == FH_HELD_MAX)
			return false;
	}
	return false;
}

struct comparison {
	const struct fh_held *held;
	pid_t program;
	uint64_t socket; /* inode number of the socket between the program and the engine */
	char *why;
	size_t size;
};

/* kcmp returns 0 for the same open file description. Where it fails, the descriptors count as the same. */
static bool is_own(void *data, int fd, const char *link)
{
	const struct comparison *c = data;
	if (strncmp(link, "socket:[", 8) == 0 && strtoull(link + 8, NULL, 10) == c->socket)
		return true;
	for (size_t i = 0; i < c->held->count; i++) {
		long r = syscall(SYS_kcmp, c->program, c->held->pid, KCMP_FILE, fd, c->held->fd[i]);
		if (r > 0 || (r < 0 && errno == EBADF)) /* EBADF: the zygote has closed its descriptor */
			continue;
		snprintf(c->why, c->size,
		         r == 0 ? "it shares a descriptor with its zygote: %d, %s"
		                : "whether it shares descriptor %d, %s, cannot be known",
		         fd, link);
		return false;
	}
	return true;
}

/* ---------------------------------------------------------------------------------------------------------- memory */

/* The struct of PROCMAP_QUERY; Debian 12's headers are older. */
struct map_query {
	uint64_t size, flags, address;
	uint64_t start, end, map_flags, page_size, offset, inode;
	uint32_t major, minor, name_size, build_id_size;
	uint64_t name, build_id;
};
#define MAP_QUERY _IOWR('f', 17, struct map_query)
enum { QUERY_SHARED = 0x08, QUERY_COVERING_OR_NEXT = 0x10 };

/* Whether the file behind a shared mapping was opened for writing. If so, the mapping can be made writable even if it
 * is not so now. */
static bool can_be_written(pid_t pid, uint64_t start, uint64_t end)
{
	char path[80];
	struct stat st;
	snprintf(path, sizeof(path), "/proc/%d/map_files/%lx-%lx", (int)pid, (unsigned long)start, (unsigned long)end);
	return lstat(path, &st) < 0 || st.st_mode & S_IWUSR;
}

/* Looks for writable shared mappings. 1: none; 0: there is one; -1: the kernel does not have the query. */
static int query_maps(int maps, pid_t pid)
{
	struct map_query q = { .size = sizeof(q), .flags = QUERY_SHARED | QUERY_COVERING_OR_NEXT };
	while (ioctl(maps, MAP_QUERY, &q) == 0) {
		if (can_be_written(pid, q.start, q.end))
			return 0;
		q = (struct map_query){ .size = sizeof(q), .flags = q.flags, .address = q.end };
	}
	return errno == ENOENT ? 1 : -1;
}

static bool read_maps(int maps, pid_t pid)
{
	fh_auto_close int copy = fcntl(maps, F_DUPFD_CLOEXEC, 0);
	FILE *f = copy < 0 ? NULL : fdopen(copy, "r");
	char *line = NULL, letters[8];
	size_t size = 0;
	unsigned long start, end;
	bool none = f != NULL;
	if (f)
		FH_TAKE_FD(copy);
	while (none && getline(&line, &size, f) > 0)
		none = sscanf(line, "%lx-%lx %7s", &start, &end, letters) == 3 &&
		       (letters[3] != 's' || !can_be_written(pid, start, end));
	none = none && feof(f);
	free(line);
	if (f)
		fclose(f);
	return none;
}

static bool shares_no_memory(pid_t pid)
{
	char path[48];
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	fh_auto_close int maps = open(path, O_RDONLY | O_CLOEXEC);
	int r = maps < 0 ? 0 : query_maps(maps, pid);
	return r < 0 ? read_maps(maps, pid) : r > 0;
}

bool fh_held_apart(const struct fh_held *held, pid_t program, uint64_t socket, char *why, size_t size)
{
	struct comparison c = { held, program, socket, why, size };
	why[0] = 0;
	if (!for_each_descriptor(program, is_own, &c)) {
		if (!why[0])
			snprintf(why, size, "its descriptors cannot be listed");
		return false;
	}
	if (shares_no_memory(program))
		return true;
	snprintf(why, size, "it has shared memory that can be written");
	return false;
}
