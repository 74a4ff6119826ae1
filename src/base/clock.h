/* SPDX-License-Identifier: MIT */
/* Time. Durations and deadlines are CLOCK_MONOTONIC nanoseconds in an int64_t; users give ms or seconds. */
#pragma once
#include <stdint.h>
#include <stddef.h>

#define FH_NS_PER_MS 1000000LL
#define FH_NS_PER_S 1000000000LL
int64_t fh_now_ns(void);      /* monotonic */
int64_t fh_in_ms(int64_t ms); /* the time on the clock of fh_now_ns in `ms` milliseconds */
int64_t fh_wall_ms(void);     /* since 1970, UTC */
int64_t fh_wall_us(void);
void fh_sleep_ns(int64_t ns); /* continues after EINTR */
/* "2026-11-21T13:45:59.123Z" */
const char *fh_iso_time(int64_t wall_ms, char buf[32]);
