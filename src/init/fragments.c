// SPDX-License-Identifier: MIT
/*
 * What network sockets hold beyond their buffers. The kernel copies what is sent into pages of 32 KiB that the sockets
 * of a task take bytes from in turn (skb_page_frag_refill() in net/core/sock.c), and counts for each socket the bytes
 * that it took. One byte that is not received keeps the whole page, so that a program whose sockets take a byte here
 * and there holds hundreds of times what is counted and charged, with control groups v2 as well.
 *
 * Nothing tells these pages by socket. Two figures bound them, and the smaller one counts: what the packets in the
 * sandbox's sockets can hold at most, and by how much the memory of the host that no figure of /proc/meminfo names,
 * where these pages are, has grown since the first was small. The first alone would be hundreds of times too much for
 * programs that send in bulk.
 */
#include "init/init.h"

#include <fcntl.h>

enum {
	PAGE_OF_FRAGMENTS = 32768,
	FRAGMENTS_MAX = 17, /* fragments of one packet: the kernel's MAX_SKB_FRAGS */
	/* bytes that the kernel counts for a packet in addition to its payload: struct sk_buff and struct skb_shared_info
	 */
	PACKET_LEAST = 576,
	SMALL = 16 << 20,
	TOLERANCE =
	    32
	    << 20, /* bytes of free pages that each processor keeps for itself; /proc/meminfo does not name these either */
	KIB = 1024,
};

/* Figures of /proc/meminfo that are parts of MemTotal and do not overlap. */
static const char *const named[] = { "MemFree:",       "Buffers:",     "Cached:",      "SwapCached:",
	                                 "AnonPages:",     "Slab:",        "KernelStack:", "PageTables:",
	                                 "SecPageTables:", "VmallocUsed:", "Percpu:",      "Hugetlb:" };

static uint64_t value_of(const char *text, const char *name)
{
	size_t n = strlen(name);
	for (const char *p = text; *p; p++) {
		if ((p == text || p[-1] == '\n') && memcmp(p, name, n) == 0) {
			uint64_t v = 0;
			for (p += n; *p == ' '; p++)
				;
			for (; *p >= '0' && *p <= '9'; p++)
				v = v * 10 + (uint64_t)(*p - '0');
			return v * KIB;
		}
	}
	return 0;
}

/* 0: not known. */
static uint64_t unnamed_memory(void)
{
	enum { NAME_MAX_SIZE = 32 };
	static char text[4096 + NAME_MAX_SIZE]; /* comparing a name may go beyond the end of what was read */
	memset(text, 0, sizeof(text));
	long fd = fh_sys(__NR_openat, AT_FDCWD, "/proc/meminfo", O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return 0;
	fh_sys(__NR_read, fd, text, sizeof(text) - NAME_MAX_SIZE);
	fh_sys(__NR_close, fd);
	uint64_t total = value_of(text, "MemTotal:"), rest = 0;
	for (unsigned i = 0; i < sizeof(named) / sizeof(named[0]); i++)
		rest += value_of(text, named[i]);
	return total > rest ? total - rest : 0;
}

uint64_t fh_fragments_most(uint64_t beside_payload)
{
	uint64_t packets = (beside_payload + PACKET_LEAST - 1) / PACKET_LEAST;
	return packets * FRAGMENTS_MAX * PAGE_OF_FRAGMENTS;
}

uint64_t fh_fragments_bytes(uint64_t most, uint64_t counted)
{
	static uint64_t before;
	if (most < SMALL) {
		before = 0;
		return 0;
	}
	uint64_t now = unnamed_memory();
	if (!before || now < before)
		before = now;
	uint64_t grown = now - before, beyond = counted + TOLERANCE;
	if (grown > most)
		grown = most;
	return grown > beyond ? grown - beyond : 0;
}
