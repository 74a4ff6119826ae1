/* SPDX-License-Identifier: MIT */
/*
 * Counts the mappings of all processes, for hosts without control groups: the kernel keeps a record of each, and a
 * process may have 65,530 (vm.max_map_count), which every fork copies. No figure of a process tells their number but
 * their list.
 *
 * Reading lists takes milliseconds for each ten thousand. So there is a look only if memory of the kind that the
 * records are of has grown on this host since the last, or none was for long. It takes LOOK_NS, or one process; the
 * next one goes on from there. A *round* has looked at all. Source: proc_pid_maps(5).
 */
#include "init/init.h"

enum {
	RECORD = 200,     /* bytes, at least: struct vm_area_struct and its share of the tree of mappings */
	OFTEN = 10,       /* samples between two looks at programs that have many */
	SELDOM = 250,     /* samples without a look, at most */
	GROWN = 16 << 20, /* of the kernel's memory, and worth a look */
	WORTH_TELLING = 1 << 16,
	EACH_MOST = 1 << 20,
	LOOK_NS = 20000000, /* of CPU time */
};

static struct {
	uint64_t count, last_count; /* of the round under way, and of the last whole one */
	uint64_t pid;               /* the last process that the round has looked at */
	int active;
	int64_t until;
} mappings;

static uint64_t lines_of(const char *pid)
{
	static char text[32768];
	uint64_t lines = 0;
	int fd = fh_open_of(pid, "maps", 0);
	for (long n; fd >= 0 && lines < EACH_MOST && (n = fh_sys(__NR_read, fd, text, sizeof(text))) > 0;)
		for (long i = 0; i < n; i++)
			lines += text[i] == '\n';
	if (fd >= 0)
		fh_sys(__NR_close, fd);
	return lines;
}

static int look_at_process(const char *name, void *data)
{
	char living[12];
	const char *p = name;
	uint64_t pid = fh_number_in(&p, 10), lines;
	(void)data;
	if (pid <= mappings.pid)
		return 1;
	mappings.pid = pid;
	lines = lines_of(name);
	if (!lines && fh_living_thread(name, living, sizeof(living)))
		lines = lines_of(living);
	mappings.count += lines;
	return fh_clock_ns(FH_CLOCK_OWN_CPU) < mappings.until;
}

static void look(void)
{
	if (!mappings.active) {
		mappings.count = mappings.pid = 0;
		mappings.active = 1;
	}
	mappings.until = fh_clock_ns(FH_CLOCK_OWN_CPU) + LOOK_NS;
	if (!fh_each_process(look_at_process, 0))
		return;
	mappings.last_count = mappings.count;
	mappings.active = 0;
}

uint64_t fh_mappings_count(void)
{
	return mappings.count > mappings.last_count && mappings.active ? mappings.count : mappings.last_count;
}

uint64_t fh_mappings_bytes(void)
{
	static uint64_t before;
	static uint32_t left_out;
	uint64_t now = fh_meminfo_bytes(fh_meminfo(), "SUnreclaim:");
	int first = !before, many = mappings.last_count >= WORTH_TELLING;
	if (first || now < before)
		before = now;
	left_out++;
	if (first || mappings.active || now - before > GROWN || left_out >= (many ? OFTEN : SELDOM)) {
		before = now;
		left_out = 0;
		look();
	}
	uint64_t count = fh_mappings_count();
	return count >= WORTH_TELLING ? count * RECORD : 0;
}
