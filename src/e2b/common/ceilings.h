/* SPDX-License-Identifier: MIT */
/*
 * Ceilings: the most that the operator grants, whatever a client requests. The options of `fumehood serve`, the words
 * of a line in the key file, and the limits of each sandbox are made from one table.
 *
 * `sandboxes` bounds how many sandboxes a key may have at once, running or paused, and `total` those of all keys;
 * `volumes` and `volume-size` are about volumes. The other ceilings apply to each sandbox. FH_UNLIMITED: no ceiling.
 */
#pragma once
#include "base/error.h"
#include "fumehood/sandbox.h"

enum fh_ceiling {
	FH_CEILING_SANDBOXES,
	FH_CEILING_TOTAL,
	FH_CEILING_LIFETIME, /* lifetime of a sandbox in ms */
	FH_CEILING_CPUS,     /* processors of a sandbox, in thousandths */
	FH_CEILING_MEMORY,   /* memory of a sandbox in bytes */
	FH_CEILING_DISK,     /* files of a sandbox in bytes */
	FH_CEILING_PROCESSES,
	FH_CEILING_OUTPUT,      /* bytes of each stream of a command or run of code */
	FH_CEILING_CPU_TIME,    /* ms of a command or run of code */
	FH_CEILING_VOLUMES,     /* volumes of a key */
	FH_CEILING_VOLUME_SIZE, /* size of a volume in bytes */
	FH_CEILING_COUNT_
};

enum fh_ceiling_unit { FH_CEILING_NUMBER, FH_CEILING_SIZE, FH_CEILING_SECONDS, FH_CEILING_MILLI };

struct fh_ceiling_info {
	const char *name; /* "memory": as in a key's line; the option is --max-memory */
	enum fh_ceiling_unit unit;
	uint64_t usual; /* default value of the ceiling */
};
extern const struct fh_ceiling_info fh_ceiling_table[FH_CEILING_COUNT_];

struct fh_ceilings {
	uint64_t value[FH_CEILING_COUNT_];
};
/* Sets a ceiling from text ("memory", "2G"); the error -FH_E_ARGUMENT says what is allowed. */
int fh_ceilings_set(struct fh_ceilings *c, const char *name, const char *value, struct fh_error *err);
/* The limits of a sandbox under these ceilings. */
void fh_ceilings_limits(const struct fh_ceilings *c, struct fh_limits *ret);
