/* SPDX-License-Identifier: MIT */
#include "engine/core/thrash.h"

enum {
	PAGE = 4096,
	/* The kernel charges in batches of 64 pages for each processor, and takes away as many pages at a time, so the
	 * usage of a group that stands at its limit is some of these below it. */
	BELOW_LIMIT = 32, /* a part of the limit */
	SYSTEM_PARTS = 3, /* of SYSTEM_OF parts of the CPU time, at least, the kernel took */
	SYSTEM_OF = 4,
	/* A program that reads a large file again and again by read() has refaults as well, but hardly a major fault. Of
	 * pages that are mapped, a major fault brings in its neighbours, as many as the host reads ahead (8 MiB on some),
	 * so there are far fewer faults than pages; with the taking away that it causes, one took 0.05 to 10 ms. */
	FAULT_US = 40000,
	/* On a slow disk, half a second of CPU time brought in as little as half of the limit. */
	READ_AGAIN = 8, /* a part of the limit */
};

bool fh_thrash_is_lack_of_memory(const struct fh_thrash_figures *f)
{
	const struct fh_cgroup_refaults *s = &f->since;
	if (f->limit_bytes == 0 || f->limit_bytes == FH_UNLIMITED)
		return false;
	return f->used_bytes >= f->limit_bytes - f->limit_bytes / BELOW_LIMIT &&
	       f->cpu_sys_us / SYSTEM_PARTS >= (f->cpu_user_us + f->cpu_sys_us) / SYSTEM_OF &&
	       s->refaulted_pages >= f->limit_bytes / PAGE / READ_AGAIN && s->major_faults >= f->cpu_sys_us / FAULT_US;
}
