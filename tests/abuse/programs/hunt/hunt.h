/* SPDX-License-Identifier: MIT */
/*
 * The fuzzer from inside (`./dev abuse --hunt`): random system calls in a sandbox, and a neighbour that watches itself.
 *
 * The same code is a static program and a shared library whose constructor does it all: an interpreter loads the
 * library (dlopen), so that the calls are made in the process that a zygote forked, with what it inherited.
 *
 * What to do stands in the file hunt.seed of the working directory, a line each:
 *
 *     hunt | watch | census   what to be
 *     SEED                a number; the calls of a seed are the same each time, as far as the kernel answers alike
 *     MARK                "HUNT", 8 hexadecimal digits and 8 more, HUNT_CHECK times as much (modulo 2^32): what this
 *                         sandbox writes wherever it can
 *     BATCHES             forked children, each of up to 60 calls; to watch, or to stay after the census: milliseconds
 *     PORT, ABSTRACT      where the host listens: a TCP port, and the name of an abstract socket
 *     PATH…               of the host: nobody inside should find them
 *
 * Lines on stdout that begin with ESCAPED are findings: a mark of another sandbox was read, or a secret of the host's
 * (they begin with S3CR3T), or the watching neighbour is not as it was. The last line counts what was done.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HUNT_MARK = 20, HUNT_PATHS = 6, HUNT_CALLS = 60 };
#define HUNT_CHECK ((uint32_t)2654435761)

struct hunt_words {
	enum { HUNT_HUNT, HUNT_WATCH, HUNT_CENSUS } kind;
	uint64_t seed;
	char mark[HUNT_MARK + 1];
	unsigned batches;
	int port;
	char abstract[100];
	char paths[HUNT_PATHS][256];
	unsigned path_count;
};

/* What the batches tell their parent, in memory that both have. */
struct hunt_told {
	volatile uint64_t calls, good; /* good: did not fail */
	char finding[512];             /* the first one; "": none */
};

/* calls.c: makes the calls of one batch, in the calling process, which they may end in any way. */
void hunt_batch(const struct hunt_words *w, unsigned batch, struct hunt_told *told);
/* watch.c: looks at itself for w->batches milliseconds; prints what was touched. */
void hunt_watch(const struct hunt_words *w);
/* census.c: prints every kernel object that this process can name. */
void hunt_census(const struct hunt_words *w);

static inline uint64_t hunt_random(uint64_t *state) /* splitmix64 (Steele, Lea, Flood 2014) */
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}
