/* SPDX-License-Identifier: MIT */
/*
 * What sockets hold beyond their buffers. The kernel copies what is sent into pages of 32 KiB that the sockets
 * of a task take bytes from in turn (skb_page_frag_refill() in net/core/sock.c), and counts for each socket the bytes
 * that it took. One byte that is not received keeps the whole page, so that a program whose sockets take a byte here
 * and there holds hundreds of times what is counted and charged, with control groups v2 as well.
 *
 * splice() and sendfile() take such bytes along with their pages into a pipe, and from there into a unix socket. They
 * take bytes of a file in memory in the same way, which keep their pages when the file is made shorter.
 *
 * Nothing tells these pages by socket. Two figures bound them, and the smaller one counts: what the packets in the
 * sandbox's sockets can hold at most, and by how much the memory of the host that no figure of /proc/meminfo or
 * /proc/zoneinfo names, where these pages are, has grown since the first was small. The first alone would be hundreds
 * of times too much for programs that send in bulk.
 */
#include "init/init.h"

#include <fcntl.h>

enum {
	PAGE_OF_FRAGMENTS = 32768,
	FRAGMENTS_MAX = 17, /* fragments of one packet: the kernel's MAX_SKB_FRAGS */
	/* bytes that the kernel counts for a packet beside its payload: struct sk_buff and struct skb_shared_info */
	PACKET_LEAST = 576,
	SMALL = 16 << 20,
	TOLERANCE = 32 << 20, /* others on the host have such memory as well */
	MOVED = 1 << 20,      /* others on the host come and go with less at any time */
};

/* Figures of /proc/meminfo that are parts of MemTotal and do not overlap. */
static const char *const named[] = { "MemFree:",       "Buffers:",     "Cached:",      "SwapCached:",
	                                 "AnonPages:",     "Slab:",        "KernelStack:", "PageTables:",
	                                 "SecPageTables:", "VmallocUsed:", "Percpu:",      "Hugetlb:" };

static uint64_t unnamed_memory(void)
{
	const char *text = fh_meminfo();
	uint64_t total = fh_meminfo_bytes(text, "MemTotal:"), rest = 0;
	for (unsigned i = 0; i < sizeof(named) / sizeof(named[0]); i++)
		rest += fh_meminfo_bytes(text, named[i]);
	return total > rest ? total - rest : 0;
}

/* Bytes that /proc/meminfo does not name and /proc/zoneinfo does: free pages that each processor keeps for itself,
 * which are gigabytes after somebody has freed as much (Linux 6.7), and those of compressed swap. proc_zoneinfo(5) */
static uint64_t named_by_zones(void)
{
	enum { PAGE = 4096 };
	static struct fh_line_reader r;
	uint64_t pages = 0;
	r.fd = (int)fh_sys(__NR_openat, AT_FDCWD, "/proc/zoneinfo", O_RDONLY | O_CLOEXEC, 0);
	r.have = r.at = 0;
	if (r.fd < 0)
		return 0;
	for (const char *p; (p = fh_line_reader_next(&r));) {
		while (*p == ' ')
			p++;
		if (!fh_begins(p, "count:") && !fh_begins(p, "nr_zspages"))
			continue;
		while (*p && (*p < '0' || *p > '9'))
			p++;
		pages += fh_number_in(&p, 10);
	}
	fh_sys(__NR_close, r.fd);
	return pages * PAGE;
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* The two texts tell of two moments, between which pages come and go. Those that a processor keeps are a part of what
 * /proc/meminfo does not name; so if that is the same before and after /proc/zoneinfo was read, all are of one moment.
 * Else this text, which takes long to write, is read twice as well, and what has grown is what has by any two. */
uint64_t fh_unnamed_growth(struct fh_unnamed *u, uint64_t beyond)
{
	enum { SELDOM = 64 }; /* readings between two that look for less than before */
	uint64_t first = unnamed_memory();
	if (u->before && first <= u->before + beyond && ++u->readings % SELDOM)
		return 0; /* which what the zones name only makes less */
	uint64_t zones = named_by_zones(), second = unnamed_memory();
	int moved = less(first, second) + less(second, first) > MOVED;
	uint64_t zones_then = moved ? named_by_zones() : zones;
	uint64_t most = less(first > second ? first : second, zones < zones_then ? zones : zones_then);
	u->now = less(first < second ? first : second, zones > zones_then ? zones : zones_then);
	if (!u->before || most < u->before)
		u->before = most;
	return less(u->now, u->before + beyond);
}

uint64_t fh_fragments_most(uint64_t beside_payload)
{
	uint64_t packets = (beside_payload + PACKET_LEAST - 1) / PACKET_LEAST;
	return packets * FRAGMENTS_MAX * PAGE_OF_FRAGMENTS;
}

uint64_t fh_fragments_in(uint64_t bytes)
{
	return bytes * PAGE_OF_FRAGMENTS;
}

uint64_t fh_fragments_bytes(uint64_t most, uint64_t counted)
{
	static struct fh_unnamed u;
	if (most < SMALL) {
		u.before = 0;
		return 0;
	}
	uint64_t beyond = counted + TOLERANCE, grown = fh_unnamed_growth(&u, beyond);
	if (most <= beyond)
		return 0;
	return grown < most - beyond ? grown : most - beyond;
}
