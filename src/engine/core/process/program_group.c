/* SPDX-License-Identifier: MIT */
#include "engine/core/process/program_group.h"
#include "engine/core/process/process.h"
#include "engine/core/sandbox.h"

/* Removes the groups of ended programs, except those that still have background processes. */
static void remove_left_groups(struct fh_sandbox *b)
{
	size_t left = 0;
	for (size_t i = 0; i < b->left_count; i++)
		if (!fh_cgroup_remove(&b->left_groups[i]))
			b->left_groups[left++] = b->left_groups[i];
	b->left_count = left;
}

static bool take_spare(struct fh_process *p)
{
	struct fh_sandbox *b = p->sandbox;
	if (!b->spare_count)
		return false;
	const struct fh_spare_group *spare = &b->spare_groups[--b->spare_count];
	p->group = spare->group;
	p->base = spare->used;
	p->has_group = true;
	return true;
}

/* Not kept: a group with a limit; one whose counter of kills would end the next program; one that holds much of what
 * its programs wrote; and one that has worked long, since nobody subtracts the page faults of its programs
 * (fh_cgroup_refaults) from those of the next. */
void fh_program_group_end(struct fh_process *p, uint64_t own_kills)
{
	enum { MOST_LEFT_BYTES = 1 << 20, MOST_CPU_US = 500000 };
	struct fh_sandbox *b = p->sandbox;
	struct fh_spare_group *spare = &b->spare_groups[b->spare_count];
	uint64_t left;
	if (!p->has_group)
		return;
	struct fh_usage used = { .cpu_user_us = p->base.cpu_user_us + p->usage.cpu_user_us,
		                     .cpu_sys_us = p->base.cpu_sys_us + p->usage.cpu_sys_us };
	bool keep = b->spare_count < FH_SPARE_GROUPS_MAX && fh_process_is_counted(p) && own_kills == 0 &&
	            p->group.limits.memory_bytes == FH_UNLIMITED && used.cpu_user_us + used.cpu_sys_us <= MOST_CPU_US &&
	            fh_cgroup_is_empty(&p->group) && fh_cgroup_renew(&p->group, MOST_LEFT_BYTES, &left);
	if (!keep) {
		fh_program_group_drop(p);
		return;
	}
	used.memory_peak_bytes = left;
	spare->group = p->group;
	spare->used = used;
	b->spare_count++;
	p->has_group = false;
}

int fh_program_group_make(struct fh_process *p, const struct fh_spawn *s, struct fh_error *err)
{
	struct fh_error why = FH_ERROR_INIT;
	p->group = (struct fh_cgroup)FH_CGROUP_INIT;
	if (s->one_shot || s->helper)
		return 0;
	if (s->memory_bytes == FH_UNLIMITED && take_spare(p))
		return 0;
	remove_left_groups(p->sandbox); /* so that groups do not pile up in a session that runs many programs */
	int r = fh_cgroup_create_below(&p->group, &p->sandbox->cgroup, p->token, s->memory_bytes, &why);
	p->has_group = r == 0;
	/* without a group of its own, its process group is signalled instead */
	if (r == 0 || s->memory_bytes == FH_UNLIMITED)
		return 0;
	if (err)
		*err = why;
	return r;
}

void fh_program_group_drop(struct fh_process *p)
{
	struct fh_sandbox *b = p->sandbox;
	if (p->has_group && !fh_cgroup_remove(&p->group))
		FH_PUSH(b->left_groups, b->left_count, b->left_capacity) = p->group;
	p->has_group = false;
}

bool fh_program_groups_remove(struct fh_sandbox *b)
{
	for (struct fh_process *p = b->processes; p; p = p->next)
		if (p->exited)
			fh_program_group_drop(p);
	for (; b->spare_count; b->spare_count--)
		FH_PUSH(b->left_groups, b->left_count, b->left_capacity) = b->spare_groups[b->spare_count - 1].group;
	remove_left_groups(b);
	return b->left_count == 0;
}
