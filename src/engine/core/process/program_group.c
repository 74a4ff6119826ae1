// SPDX-License-Identifier: MIT
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

int fh_program_group_make(struct fh_process *p, const struct fh_spawn *s, struct fh_error *err)
{
	struct fh_error why = FH_ERROR_INIT;
	p->group = (struct fh_cgroup)FH_CGROUP_INIT;
	if (s->one_shot || s->helper)
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
	remove_left_groups(b);
	return b->left_count == 0;
}
