/* SPDX-License-Identifier: MIT */
#include "engine/serve/group.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "engine/core/connection.h"
#include "engine/core/process/process.h"
#include "engine/core/sandbox.h"
#include "engine/serve/run.h"

struct fh_group_run {
	struct fh_sandbox *members[FH_MEMBERS_MAX]; /* an element is NULL once its sandbox is freed */
	size_t count, ready, left;
	uint64_t leader;
};

/* ------------------------------------------------------------------------------------------------------------ links */

static int *link_end(struct fh_group_run *g, size_t member, int descriptor)
{
	return &g->members[member]->links[descriptor - FH_DESCRIPTOR_FIRST];
}

static int check_end(const struct fh_group_request *q, size_t member, int number, enum fh_descriptor_kind kind,
                     struct fh_error *err)
{
	const struct fh_plan *p = member < q->member_count ? q->members[member].plan : NULL;
	for (size_t i = 0; p && i < p->descriptor_count; i++)
		if (p->descriptors[i].number == number && p->descriptors[i].kind == kind)
			return 0;
	return fh_error_set(err, FH_E_ARGUMENT, "a link needs descriptor %d of kind %s of member %zu, which has none",
	                    number, fh_descriptor_kind_name(kind), member);
}

/* Checks that each link joins an OUT to an IN descriptor, and that no descriptor is used twice. */
static int check_links(const struct fh_group_request *q, struct fh_error *err)
{
	uint32_t used[FH_MEMBERS_MAX] = { 0 };
	for (size_t i = 0; i < q->link_count; i++) {
		const struct fh_link *l = &q->links[i];
		int r = check_end(q, l->from, l->from_descriptor, FH_DESCRIPTOR_OUT, err);
		if (r == 0)
			r = check_end(q, l->to, l->to_descriptor, FH_DESCRIPTOR_IN, err);
		if (r)
			return r;
		if (used[l->from] & 1u << l->from_descriptor || used[l->to] & 1u << l->to_descriptor)
			return fh_error_set(err, FH_E_ARGUMENT, "a descriptor is the end of two links");
		used[l->from] |= 1u << l->from_descriptor;
		used[l->to] |= 1u << l->to_descriptor;
	}
	return 0; /* a descriptor without a link is refused when its program is started */
}

static int open_links(struct fh_group_run *g, const struct fh_group_request *q, struct fh_error *err)
{
	for (size_t i = 0; i < q->link_count; i++) {
		const struct fh_link *l = &q->links[i];
		int ends[2];
		if (pipe2(ends, O_CLOEXEC) < 0)
			return fh_error_sys(err, errno, "cannot make the pipes of a group");
		*link_end(g, l->to, l->to_descriptor) = ends[0];
		*link_end(g, l->from, l->from_descriptor) = ends[1];
	}
	return 0;
}

/* ------------------------------------------------------------------------------------------------------------- life */

static void fail_others(struct fh_group_run *g, const struct fh_sandbox *but)
{
	struct fh_error err = FH_ERROR_INIT;
	fh_error_set(&err, FH_E_CANCELLED, "another member of the group failed");
	err.phase = FH_PHASE_RUN;
	for (size_t i = 0; i < g->count; i++)
		if (g->members[i] && g->members[i] != but && g->members[i]->state < FH_DYING)
			fh_sandbox_fail(g->members[i], &err);
}

void fh_group_start(struct fh_engine *e, struct fh_group_request *q, struct fh_connection *c, uint64_t request)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_group_run *g = FH_NEW(struct fh_group_run);
	g->leader = q->leader;
	int r = check_links(q, &err);
	/* all members are made before any is begun: if one fails, those made before it fail too */
	for (size_t i = 0; i < q->member_count; i++) {
		struct fh_sandbox *b = NULL;
		struct fh_group_member *m = &q->members[i];
		if (r == 0)
			r = fh_run_start(e, FH_TAKE_PTR(m->plan), m->stdin_open, m->window, false, c, request + i, &b, &err);
		if (r)
			fh_connection_error(c, request + i, &err);
		if (!b)
			continue;
		b->group = g;
		g->members[g->count++] = b;
		g->left++;
	}
	if (g->left == 0) {
		fh_loop_free(e->loop, g);
		return;
	}
	if (r == 0)
		r = open_links(g, q, &err);
	for (size_t i = 0; r && i < g->count; i++)
		fh_sandbox_fail(g->members[i], &err);
	for (size_t i = 0; r == 0 && i < g->count; i++)
		if (g->members[i])
			fh_run_begin(g->members[i]);
}

void fh_group_on_ready(struct fh_sandbox *b)
{
	struct fh_group_run *g = b->group;
	if (++g->ready < g->count)
		return;
	for (size_t i = 0; i < g->count; i++)
		if (g->members[i] && g->members[i]->state == FH_READY)
			fh_run_spawn(g->members[i]);
}

/* Kills a member's running program, with everything that it started, because the group's leader ended. */
static void stop(struct fh_sandbox *b)
{
	for (struct fh_process *p = b->processes; p; p = p->next)
		if (!p->exited) {
			p->stopped = true;
			fh_sandbox_kill_all(b);
		}
}

void fh_group_on_over(struct fh_sandbox *b, bool failed)
{
	struct fh_group_run *g = b->group;
	if (failed)
		fail_others(g, b);
	for (size_t i = 0; !failed && i < g->count; i++)
		if (g->leader < g->count && b == g->members[g->leader] && g->members[i] && g->members[i] != b)
			stop(g->members[i]);
}

void fh_group_leave(struct fh_sandbox *b)
{
	struct fh_group_run *g = FH_TAKE_PTR(b->group);
	for (size_t i = 0; i < FH_ARRAY_SIZE(b->links); i++)
		if (b->links[i] >= 0)
			close(FH_TAKE_FD(b->links[i]));
	for (size_t i = 0; g && i < g->count; i++)
		if (g->members[i] == b)
			g->members[i] = NULL;
	if (g && --g->left == 0)
		fh_loop_free(b->engine->loop, g);
}
