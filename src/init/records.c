/* SPDX-License-Identifier: MIT */
/*
 * The kernel's own records of what programs have open and map, for hosts without control groups: buffers of files of
 * /proc, events that wait in an inotify instance, what an epoll set watches, and the links between a mapping and those
 * that it was copied from, one for each ancestor that is alive.
 *
 * Nothing tells these by sandbox. As in fragments.c, two figures bound them, and the smaller one counts: the most that
 * the sandbox's descriptors, mappings, files and processes can hold, and by how much the memory of the host that such
 * records are of has grown since the first was small. Where descriptors cannot be seen, only the second is known.
 * Sources: proc_meminfo(5), seq_read_iter() in fs/seq_file.c, anon_vma_clone() in mm/rmap.c.
 */
#include "init/init.h"

enum {
	SMALL = 8 << 20,
	TOLERANCE = 32 << 20, /* others on the host make such records as well */

	/* the most for one of each, in bytes */
	DESCRIPTOR = 4096, /* struct file, inode, and a socket's or a pipe's own */
	FILE_OF_PROC = 16 << 10,
	/* the whole text, which the kernel keeps while the file is open: one line for each of 8,192 watches */
	FDINFO = 4 << 20,
	INOTIFY = 6 << 20, /* 16,384 events with a name */
	EPOLL = 512 << 10, /* 200 bytes for each of 2,500 */
	PROCESS = 32 << 10,
	INODE = 2048,
	LINK = 80, /* struct anon_vma_chain */
};

uint64_t fh_records_of_descriptor(const char *link)
{
	static const struct {
		const char *begin;
		uint32_t most;
	} kinds[] = {
		{ "anon_inode:inotify", INOTIFY },
		{ "anon_inode:[eventpoll]", EPOLL },
		{ "/sys/", FILE_OF_PROC },
	};
	if (fh_begins(link, "/proc/")) {
		for (const char *p = link; *p; p++)
			if (fh_begins(p, "/fdinfo/"))
				return FDINFO;
		return FILE_OF_PROC;
	}
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (fh_begins(link, kinds[i].begin))
			return kinds[i].most;
	return DESCRIPTOR;
}

uint64_t fh_records_bytes(uint64_t of_descriptors, uint64_t tasks, uint64_t inodes, uint64_t counted)
{
	static uint64_t before;
	uint64_t most = of_descriptors + tasks * PROCESS + inodes * INODE + fh_mappings_count() * tasks * LINK;
	int unseen = fh_memfds_are_closed();
	if (most < SMALL && !unseen) {
		before = 0;
		return 0;
	}
	const char *text = fh_meminfo();
	uint64_t now = fh_meminfo_bytes(text, "SUnreclaim:") + fh_meminfo_bytes(text, "VmallocUsed:");
	if (!before || now < before)
		before = now;
	uint64_t grown = now - before, beyond = counted + TOLERANCE;
	if (grown <= beyond)
		return 0;
	grown -= beyond;
	return grown < most || unseen || fh_descriptors_pass() > 0 ? grown : most;
}
