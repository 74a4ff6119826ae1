/* SPDX-License-Identifier: MIT */
#include "e2b/common/ceilings.h"

#include "base/text/nearest.h"
#include "base/text/parse.h"
#include "proto/plan.h"

const struct fh_ceiling_info fh_ceiling_table[FH_CEILING_COUNT_] = {
	[FH_CEILING_SANDBOXES] = { "sandboxes", FH_CEILING_NUMBER, 1000 },
	[FH_CEILING_TOTAL] = { "total", FH_CEILING_NUMBER, 4000 },
	[FH_CEILING_LIFETIME] = { "lifetime", FH_CEILING_SECONDS, 24 * 3600 * 1000ULL },
	[FH_CEILING_CPUS] = { "cpus", FH_CEILING_MILLI, FH_UNLIMITED },
	[FH_CEILING_MEMORY] = { "memory", FH_CEILING_SIZE, 1ULL << 30 },
	[FH_CEILING_DISK] = { "disk", FH_CEILING_SIZE, 1ULL << 30 },
	[FH_CEILING_PROCESSES] = { "processes", FH_CEILING_NUMBER, 1024 },
	[FH_CEILING_OUTPUT] = { "output", FH_CEILING_SIZE, 256ULL << 20 },
	[FH_CEILING_CPU_TIME] = { "cpu-time", FH_CEILING_SECONDS, FH_UNLIMITED },
	[FH_CEILING_VOLUMES] = { "volumes", FH_CEILING_NUMBER, 100 },
	[FH_CEILING_VOLUME_SIZE] = { "volume-size", FH_CEILING_SIZE, 1ULL << 30 },
};

static int parse_number(const char *text, uint64_t *ret, struct fh_error *err)
{
	return fh_parse_u64(text, 1, UINT32_MAX, ret, err);
}

static int parse_milli(const char *text, uint64_t *ret, struct fh_error *err)
{
	double value = 0;
	int r = fh_parse_double(text, 0.01, 4096, &value, err);
	if (r == 0)
		*ret = (uint64_t)(value * 1000 + 0.5);
	return r;
}

static int (*const parsers[])(const char *text, uint64_t *ret, struct fh_error *err) = {
	[FH_CEILING_NUMBER] = parse_number,
	[FH_CEILING_SIZE] = fh_parse_size,
	[FH_CEILING_SECONDS] = fh_parse_duration,
	[FH_CEILING_MILLI] = parse_milli,
};

int fh_ceilings_set(struct fh_ceilings *c, const char *name, const char *value, struct fh_error *err)
{
	struct fh_nearest near = FH_NEAREST_INIT(name);
	for (size_t i = 0; i < FH_CEILING_COUNT_; i++) {
		uint64_t number = FH_UNLIMITED;
		fh_nearest_offer(&near, fh_ceiling_table[i].name);
		if (!fh_streq(name, fh_ceiling_table[i].name))
			continue;
		int r = fh_streq(value, "unlimited") ? 0 : parsers[fh_ceiling_table[i].unit](value, &number, err);
		if (r < 0)
			return fh_error_wrap(err, "%s", name);
		c->value[i] = number;
		return 0;
	}
	fh_error_set(err, FH_E_ARGUMENT, "there is no ceiling called %s", name);
	if (near.best)
		fh_error_hint(err, "did you mean %s?", near.best);
	return -FH_E_ARGUMENT;
}

void fh_ceilings_limits(const struct fh_ceilings *c, struct fh_limits *ret)
{
	static const struct {
		enum fh_limit limit;
		enum fh_ceiling ceiling;
	} same[] = {
		{ FH_LIMIT_MEMORY, FH_CEILING_MEMORY },  { FH_LIMIT_DISK, FH_CEILING_DISK },
		{ FH_LIMIT_FILE_SIZE, FH_CEILING_DISK }, { FH_LIMIT_PROCESSES, FH_CEILING_PROCESSES },
		{ FH_LIMIT_OUTPUT, FH_CEILING_OUTPUT },  { FH_LIMIT_CPU_TIME, FH_CEILING_CPU_TIME },
	};
	fh_limits_init(ret);
	ret->value[FH_LIMIT_WALL_TIME] = FH_UNLIMITED; /* each command has a time limit of its own */
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		ret->value[same[i].limit] = c->value[same[i].ceiling];
	fh_limits_bound_disk(ret);
	ret->value[FH_LIMIT_CPU_RATE] = c->value[FH_CEILING_CPUS] == FH_UNLIMITED ? 0 : c->value[FH_CEILING_CPUS];
}
