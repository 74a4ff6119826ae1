/* SPDX-License-Identifier: MIT */
/*
 * What only the fdinfo of descriptors tells: how many file locks and epoll watches there are, and whether descriptors
 * wait in a unix socket.
 *
 * The kernel has no limit on record locks and charges their memory to no control group. The locks of a process belong
 * to its table of descriptors, and the kernel removes them when one of that file is closed, so that each is shown for
 * some descriptor. (Those that belong to an open file description, F_OFD_SETLK, can outlive every descriptor; the
 * filter refuses them.) Descriptors that were inherited or copied show the same lock again, so each line counts once.
 *
 * An event wakes all the epoll sets that watch for it, in one go and with interrupts off: a quarter of a second for a
 * million watches of one timer, in which the processor does nothing else and which no process is charged for. The
 * kernel has no limit on them but one for each user of the host. A set that several processes have counts for each, as
 * nothing tells two sets apart. Sets on their way through a socket are not shown: each descriptor there may be one, as
 * far as the kernel's memory has grown.
 *
 * Looking takes three system calls for each descriptor, and a long list of locks some milliseconds. So there is a look
 * only if memory of the kind that locks are of has grown on this host, or none was for long. It takes LOOK_NS at most,
 * and the next sample goes on from there. A *round* has looked at all. Sources: proc_pid_fdinfo(5), fcntl_locking(2).
 */
#include "init/init.h"

#include <fcntl.h>

enum {
	LOCK_BYTES = 192,       /* struct file_lock */
	PERIODS = 10,           /* samples between two looks */
	SELDOM = 25,            /* looks that may be left out, one after another */
	GROWN = 8 << 20,        /* of the kernel's memory, and worth a look */
	WORTH_TELLING = 2048,   /* locks */
	WATCHES_MOST = 1 << 15, /* epoll watches: 8 ms for one event */
	WATCHES_OF_SET = 1024,  /* that waits in a socket */
	WATCH_BYTES = 200,
	LOOK_NS = 20000000, /* of CPU time */
	WAIT_NS = 500000000,
	SLOTS = 1 << 17,
};

static struct {
	uint64_t seen[SLOTS]; /* hashes of the locks that the round has found; 0 for a free slot */
	uint32_t used;
	uint64_t locks, last_locks; /* of the round under way, and of the last whole one */
	uint64_t watches, last_watches;
	uint64_t passing, last_passing; /* descriptors that wait in a socket */
	int active;                     /* a round is under way */
	uint32_t rounds;                /* that were whole */
	uint64_t pid, descriptor;       /* where it goes on: a process, and its folder's offset */
	int64_t until, until_cpu;       /* the look under way ends, by the clock and by our CPU time */
	int cut;                        /* the look ended before the round did */
} fdinfo;

static void add_lock(const char *line)
{
	uint64_t hash = 0xcbf29ce484222325ULL; /* FNV-1a */
	while (*line && *line != ' ')          /* past the number in the list */
		line++;
	for (; *line; line++)
		hash = (hash ^ (unsigned char)*line) * 0x100000001b3ULL;
	hash |= 1;
	uint32_t i = (uint32_t)(hash >> 40) % SLOTS;
	while (fdinfo.seen[i] && fdinfo.seen[i] != hash)
		i = (i + 1) % SLOTS;
	if (fdinfo.seen[i])
		return;
	fdinfo.locks++;
	if (fdinfo.used < SLOTS - SLOTS / 4) { /* beyond that, a lock counts as often as it is shown */
		fdinfo.seen[i] = hash;
		fdinfo.used++;
	}
}

static void read_info(long dir, const char *name)
{
	static struct fh_line_reader r;
	r.fd = (int)fh_sys(__NR_openat, dir, name, O_RDONLY | O_CLOEXEC, 0);
	r.have = r.at = 0;
	if (r.fd < 0)
		return;
	for (const char *line; fdinfo.watches <= WATCHES_MOST && (line = fh_line_reader_next(&r));)
		if (fh_begins(line, "lock:\t")) {
			add_lock(line + 6);
		} else if (fh_begins(line, "tfd:")) {
			fdinfo.watches++;
		} else if (fh_begins(line, "scm_fds: ")) {
			const char *p = line + 9;
			fdinfo.passing += fh_number_in(&p, 10);
		}
	fh_sys(__NR_close, r.fd);
}

/* Reads a folder from the offset at which the round goes on. Returns how many descriptors it has. */
static uint32_t read_folder(const char *task)
{
	static char entries[8192];
	uint32_t count = 0;
	long dir = fh_open_of(task, "fdinfo", O_DIRECTORY);
	if (dir < 0)
		return 0;
	if (fdinfo.descriptor)
		fh_sys(__NR_lseek, dir, fdinfo.descriptor, 0 /* SEEK_SET */);
	for (long n; !fdinfo.cut && (n = fh_sys(__NR_getdents64, dir, entries, sizeof(entries))) > 0;)
		for (long at = 0; at < n && !fdinfo.cut;) {
			struct fh_dirent *d = (struct fh_dirent *)(void *)(entries + at);
			at += d->size;
			if (d->name[0] != '.') {
				count++;
				read_info(dir, d->name);
				fdinfo.cut = fdinfo.watches > WATCHES_MOST || fh_clock_ns(FH_CLOCK_OWN_CPU) > fdinfo.until_cpu ||
				             fh_clock_ns(FH_CLOCK_MONOTONIC) > fdinfo.until;
			}
			fdinfo.descriptor = (uint64_t)d->offset;
		}
	fh_sys(__NR_close, dir);
	return count;
}

static int look_at_process(const char *name, void *data)
{
	char living[12];
	const char *p = name;
	uint64_t pid = fh_number_in(&p, 10);
	(void)data;
	if (pid < fdinfo.pid)
		return 1;
	if (pid > fdinfo.pid)
		fdinfo.descriptor = 0;
	fdinfo.pid = pid;
	uint64_t from = fdinfo.descriptor;
	if (read_folder(name) == 0 && fh_living_thread(name, living, sizeof(living))) {
		fdinfo.descriptor = from;
		(void)read_folder(living);
	}
	return !fdinfo.cut;
}

/* Goes on with a round, or begins one. 1: it is whole. */
static int look(void)
{
	if (!fdinfo.active) {
		if (fdinfo.used)
			memset(fdinfo.seen, 0, sizeof(fdinfo.seen));
		fdinfo.used = 0;
		fdinfo.locks = fdinfo.pid = fdinfo.descriptor = 0;
		fdinfo.passing = fdinfo.watches = 0;
		fdinfo.active = 1;
	}
	fdinfo.cut = 0;
	fdinfo.until_cpu = fh_clock_ns(FH_CLOCK_OWN_CPU) + LOOK_NS;
	fdinfo.until = fh_clock_ns(FH_CLOCK_MONOTONIC) + WAIT_NS;
	fh_each_process(look_at_process, 0);
	if (fdinfo.cut)
		return 0;
	fdinfo.last_locks = fdinfo.locks;
	fdinfo.last_passing = fdinfo.passing;
	fdinfo.last_watches = fdinfo.watches;
	fdinfo.active = 0;
	fdinfo.rounds++;
	return 1;
}

/* By how much the memory that watches are of has grown since it was least. */
static uint64_t slabs_grown(uint64_t now)
{
	static uint64_t least;
	if (!least || now < least)
		least = now;
	return now - least;
}

static int too_many_watches;

int fh_watches_are_too_many(void)
{
	return too_many_watches;
}

static void count_watches(uint64_t grown)
{
	int begun = fdinfo.active && fdinfo.watches > fdinfo.last_watches;
	uint64_t most = (begun ? fdinfo.passing : fdinfo.last_passing) * WATCHES_OF_SET, hidden = grown / WATCH_BYTES;
	uint64_t watches = (begun ? fdinfo.watches : fdinfo.last_watches) + (hidden < most ? hidden : most);
	too_many_watches = watches > WATCHES_MOST;
}

uint64_t fh_locks_bytes(void)
{
	static uint64_t before;
	static uint32_t periods, left_out;
	if (fdinfo.active || ++periods % PERIODS == 0) {
		uint64_t now = fh_meminfo_bytes(fh_meminfo(), "SUnreclaim:");
		int first = !before, many = fdinfo.last_locks >= WORTH_TELLING;
		uint64_t grown = slabs_grown(now);
		if (!before || now < before)
			before = now;
		if (first || many || fdinfo.active || now - before > GROWN || ++left_out >= SELDOM) {
			before = now;
			left_out = 0;
			(void)look();
			count_watches(grown);
		}
	}
	uint64_t locks = fdinfo.locks > fdinfo.last_locks && fdinfo.active ? fdinfo.locks : fdinfo.last_locks;
	return locks >= WORTH_TELLING ? locks * LOCK_BYTES : 0;
}

int fh_descriptors_pass(void)
{
	enum { PATIENCE = 4 }; /* looks, of some thousand descriptors each */
	static uint32_t undecided, rounds;
	int ended_meanwhile = undecided && rounds != fdinfo.rounds;
	if (ended_meanwhile || look()) {
		undecided = 0;
		return fdinfo.last_passing > 0;
	}
	rounds = fdinfo.rounds;
	return fdinfo.passing || ++undecided > PATIENCE ? 1 : -1;
}
