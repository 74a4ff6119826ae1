/* SPDX-License-Identifier: MIT */
/*
 * Counts the files in memory (memfd) that processes hold open, for hosts without control groups: their pages belong to
 * no resident set unless they are mapped. Each file counts with its whole size, once.
 *
 * Looking at a descriptor takes two system calls, and programs may hold a hundred thousand of them. So a sample looks
 * at LOOKS_MAX descriptors, and the next one goes on from there. A *round* has looked at all of them; with few
 * descriptors each sample is a round. Between rounds, what counts is the larger of the last round and the one under
 * way.
 *
 * The folder of a process that is not dumpable belongs to root, whom the sandbox does not have, and no capability of
 * ours counts for it. Such a process may hold files that nobody can see (hidden.c). Sources: proc_pid_fd(5),
 * PR_SET_DUMPABLE(2const).
 */
#include "init/init.h"

#include <fcntl.h>
#include <sys/stat.h>

enum { LOOKS_MAX = 4096, FILES_MAX = 4096, SLOTS = 2 * FILES_MAX };

/* The files that a round has found: a hash table by inode, 0 for a free slot. */
struct round {
	uint64_t inode[SLOTS];
	uint64_t bytes;
	uint64_t pipes;   /* the most that pipes can hold */
	uint64_t records; /* the most that the kernel's own records of all descriptors can hold */
	uint32_t count;
};

static struct {
	struct round rounds[2];
	unsigned current; /* index of the round under way; the other one is the last that is whole */
	int active;       /* whether a round is under way */
	/* where the current round goes on: the process, and the offset in its folder of descriptors */
	uint64_t pid, descriptor;
	uint32_t looks; /* how many descriptors this sample may still look at */
	int cut;        /* the sample used up its share before the round was complete */
	int closed;     /* the sample met a process whose descriptors cannot be listed */
} memfds;

static uint64_t *slot_of(struct round *r, uint64_t inode)
{
	uint32_t i = (uint32_t)((inode * 0x9e3779b97f4a7c15ULL) >> 40) % SLOTS;
	while (r->inode[i] && r->inode[i] != inode)
		i = (i + 1) % SLOTS;
	return &r->inode[i];
}

/* Beyond FILES_MAX, a file counts as often as it is held, which is better than not at all. */
static void add(struct round *r, uint64_t inode, uint64_t bytes)
{
	uint64_t *slot = slot_of(r, inode);
	if (*slot)
		return;
	r->bytes += bytes;
	if (r->count < FILES_MAX) {
		*slot = inode;
		r->count++;
	}
}

void fh_memfds_begin(void)
{
	struct round *r = &memfds.rounds[memfds.current];
	memfds.looks = LOOKS_MAX;
	memfds.cut = memfds.closed = 0;
	if (memfds.active)
		return;
	if (r->count)
		memset(r->inode, 0, sizeof(r->inode));
	r->count = 0;
	r->bytes = r->records = r->pipes = 0;
	memfds.pid = memfds.descriptor = 0;
	memfds.active = 1;
}

static void look(long dir, const char *name)
{
	char link[64];
	struct stat st;
	long size = fh_sys(__NR_readlinkat, dir, name, link, sizeof(link) - 1);
	if (size < 0)
		return;
	link[size] = 0;
	memfds.rounds[memfds.current].records += fh_records_of_descriptor(link);
	if (fh_begins(link, "pipe:"))
		memfds.rounds[memfds.current].pipes += fh_pipes_most(dir, name);
	if (size >= 8 && memcmp(link, "/memfd:", 7) == 0 && fh_sys(__NR_newfstatat, dir, name, &st, 0) >= 0)
		add(&memfds.rounds[memfds.current], st.st_ino, (uint64_t)st.st_blocks * 512);
}

/* Looks at the descriptors of a folder, from the offset at which the round goes on. */
static void look_at_all(long dir)
{
	static char entries[8192];
	if (memfds.descriptor)
		fh_sys(__NR_lseek, dir, memfds.descriptor, 0 /* SEEK_SET */);
	for (long n; (n = fh_sys(__NR_getdents64, dir, entries, sizeof(entries))) > 0;)
		for (long at = 0; at < n;) {
			struct fh_dirent *d = (struct fh_dirent *)(void *)(entries + at);
			if (!memfds.looks) {
				memfds.cut = 1;
				return;
			}
			at += d->size;
			memfds.descriptor = (uint64_t)d->offset;
			if (d->name[0] == '.') /* the entries "." and ".." */
				continue;
			memfds.looks--;
			look(dir, d->name);
		}
}

void fh_memfds_add_process(uint64_t pid, long folder)
{
	if (memfds.cut || pid < memfds.pid)
		return;
	if (pid > memfds.pid)
		memfds.descriptor = 0;
	memfds.pid = pid;
	look_at_all(folder);
}

void fh_memfds_add_closed(void)
{
	memfds.closed = 1;
}

int fh_memfds_are_closed(void)
{
	return memfds.closed;
}

static uint64_t larger(uint64_t now, uint64_t last)
{
	return now > last ? now : last;
}

uint64_t fh_memfds_records(void)
{
	return larger(memfds.rounds[0].records, memfds.rounds[1].records);
}

uint64_t fh_memfds_pipes(int *ret_round_is_whole)
{
	*ret_round_is_whole = !memfds.cut;
	return memfds.cut ? larger(memfds.rounds[0].pipes, memfds.rounds[1].pipes) : memfds.rounds[memfds.current].pipes;
}

uint64_t fh_memfds_bytes(void)
{
	uint64_t now = memfds.rounds[memfds.current].bytes, last = memfds.rounds[!memfds.current].bytes;
	if (memfds.cut)
		return larger(now, last);
	memfds.current = !memfds.current;
	memfds.active = 0;
	return now;
}

int fh_memfds_held(uint64_t inode)
{
	return *slot_of(&memfds.rounds[0], inode) || *slot_of(&memfds.rounds[1], inode);
}
