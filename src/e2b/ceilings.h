/* SPDX-License-Identifier: MIT */
/*
 * What the operator grants, whatever a client asks for. One table: the options of `fumehood serve`, the words of a line
 * in the key file, and the limits of each sandbox come from it.
 *
 * `sandboxes` bounds how many one key may have alive or paused at once, and `total` all keys together. The others are
 * of each sandbox. FH_UNLIMITED: none.
 */
#pragma once
#include "base/error.h"
#include "fumehood/sandbox.h"

enum fh_ceiling {
	FH_CEILING_SANDBOXES,
	FH_CEILING_TOTAL,
	FH_CEILING_LIFETIME, /* ms */
	FH_CEILING_CPUS,     /* thousandths of a processor */
	FH_CEILING_MEMORY,   /* bytes */
	FH_CEILING_DISK,     /* bytes */
	FH_CEILING_PROCESSES,
	FH_CEILING_OUTPUT,   /* bytes, of each stream of one command or run of code */
	FH_CEILING_CPU_TIME, /* ms, of one command or run of code */
	FH_CEILING_COUNT_
};

enum fh_ceiling_unit { FH_CEILING_NUMBER, FH_CEILING_SIZE, FH_CEILING_SECONDS, FH_CEILING_MILLI };

struct fh_ceiling_info {
	const char *name; /* "memory": of a key's line; the option is --max-memory */
	enum fh_ceiling_unit unit;
	uint64_t usual; /* of a server that was told nothing */
	const char *help;
};
extern const struct fh_ceiling_info fh_ceiling_table[FH_CEILING_COUNT_];

struct fh_ceilings {
	uint64_t value[FH_CEILING_COUNT_];
};
void fh_ceilings_init(struct fh_ceilings *c);
/* "memory", "2G": -FH_E_ARGUMENT with what is allowed. */
int fh_ceilings_set(struct fh_ceilings *c, const char *name, const char *value, struct fh_error *err);
/* The limits of a sandbox under these ceilings. */
void fh_ceilings_limits(const struct fh_ceilings *c, struct fh_limits *ret);
