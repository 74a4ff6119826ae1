/* SPDX-License-Identifier: MIT */
/*
 * Whether a program that ran out of time had in truth run out of memory.
 *
 * The kernel ends a program that goes over its memory limit only when nothing is left that it can take away. As long as
 * it finds pages of mapped files (the program's own code, too), it takes these, the program reads them again, and the
 * processor's time goes to the kernel: node under 40 MiB spent up to 1.1 s in this way before it was ended. Where that
 * costs more than the limit of time, the limit of time is met first.
 */
#pragma once
#include "engine/host/cgroup.h"

/* What the kernel tells of one sandbox; the last four since the program started. */
struct fh_thrash_figures {
	uint64_t limit_bytes, used_bytes; /* of memory: what is allowed, and what is charged now */
	uint64_t cpu_user_us, cpu_sys_us;
	struct fh_cgroup_refaults since;
};

bool fh_thrash_is_lack_of_memory(const struct fh_thrash_figures *f);
