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
 * sandbox's sockets can hold at most, and by how much the memory of the host that no figure of /proc/meminfo names,
 * where these pages are, has grown since the first was small. The first alone would be hundreds of times too much for
 * programs that send in bulk.
 */
#include "init/init.h"

enum {
	PAGE_OF_FRAGMENTS = 32768,
	FRAGMENTS_MAX = 17, /* fragments of one packet: the kernel's MAX_SKB_FRAGS */
	/* bytes that the kernel counts for a packet beside its payload: struct sk_buff and struct skb_shared_info */
	PACKET_LEAST = 576,
	SMALL = 16 << 20,
	/* bytes of free pages that each processor keeps for itself; /proc/meminfo does not name these either */
	TOLERANCE = 32 << 20,
};

/* Figures of /proc/meminfo that are parts of MemTotal and do not overlap. */
static const char *const named[] = { "MemFree:",       "Buffers:",     "Cached:",      "SwapCached:",
	                                 "AnonPages:",     "Slab:",        "KernelStack:", "PageTables:",
	                                 "SecPageTables:", "VmallocUsed:", "Percpu:",      "Hugetlb:" };

uint64_t fh_unnamed_memory(void)
{
	const char *text = fh_meminfo();
	uint64_t total = fh_meminfo_bytes(text, "MemTotal:"), rest = 0;
	for (unsigned i = 0; i < sizeof(named) / sizeof(named[0]); i++)
		rest += fh_meminfo_bytes(text, named[i]);
	return total > rest ? total - rest : 0;
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
	static uint64_t before;
	if (most < SMALL) {
		before = 0;
		return 0;
	}
	uint64_t now = fh_unnamed_memory();
	if (!before || now < before)
		before = now;
	uint64_t grown = now - before, beyond = counted + TOLERANCE;
	if (grown > most)
		grown = most;
	return grown > beyond ? grown - beyond : 0;
}
