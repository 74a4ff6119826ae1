/* SPDX-License-Identifier: MIT */
/* Whether a program that ran out of time had run out of memory. The figures of the first five rows, and those of the
 * slow disk, are measured ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/base.h"
#include "engine/core/thrash.h"

enum { MIB = 1 << 20, LIMIT = 64 * MIB };

static const struct row {
	const char *what;
	struct fh_thrash_figures figures;
	bool lack;
} rows[] = {
	{ "58 MiB of memory, and 40 MiB of a mapped file at random, under 64 MiB",
	  { LIMIT, 67080192, 60144, 1947287, { 34801, 38634 } },
	  true },
	{ "the same where the host reads 8 MiB ahead", { LIMIT, 67080192, 5530, 1004714, { 293706, 404 } }, true },
	{ "40 MiB of memory: all fits", { LIMIT, 51044352, 1906877, 102316, { 0, 2030 } }, false },
	{ "the first under 128 MiB, with room", { 2 * LIMIT, 67080192, 60144, 1947287, { 34801, 38634 } }, false },
	{ "a file of 48 MiB read by read() without end, under 34 MiB",
	  { 34 * MIB, 35495936, 13439, 991113, { 336866, 0 } },
	  false },
	{ "a large file searched in a mapping", { LIMIT, 62808064, 1957110, 47378, { 100000, 4000 } }, false },
	{ "an endless loop of the program's own that stands at its limit",
	  { LIMIT, LIMIT, 1990000, 10000, { 20, 300 } },
	  false },
	{ "an endless loop of calls that stands at its limit", { LIMIT, LIMIT, 200000, 1800000, { 20, 300 } }, false },
	{ "half of the time was the program's own", { LIMIT, LIMIT, 1000000, 1000000, { 34801, 38634 } }, false },
	{ "a few pages below the limit, as the kernel charges in batches",
	  { LIMIT, LIMIT - MIB, 0, 1000000, { LIMIT / 4096, LIMIT / 4096 } },
	  true },
	{ "34 MiB on a slow disk with a large read-ahead", { 34 * MIB, 35651584, 0, 603644, { 4229, 61 } }, true },
	{ "one page too few was read again", { LIMIT, LIMIT, 0, 1000000, { LIMIT / 4096 / 8 - 1, LIMIT / 4096 } }, false },
	{ "no limit", { FH_UNLIMITED, LIMIT, 0, 1000000, { 34801, 38634 } }, false },
	{ "nothing is known", { LIMIT, 0, 0, 0, { 0, 0 } }, false },
};

static void what_the_kernel_tells(void **state)
{
	for (const struct row *row = rows; row < rows + FH_ARRAY_SIZE(rows); row++) {
		print_message("  %s\n", row->what);
		assert_int_equal(fh_thrash_is_lack_of_memory(&row->figures), row->lack);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_kernel_tells),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
