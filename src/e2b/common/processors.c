/* SPDX-License-Identifier: MIT */
#include "e2b/common/processors.h"

#include <sched.h>

uint64_t fh_e2b_processors(void)
{
	cpu_set_t set;
	return sched_getaffinity(0, sizeof(set), &set) == 0 ? (uint64_t)CPU_COUNT(&set) : 1;
}
