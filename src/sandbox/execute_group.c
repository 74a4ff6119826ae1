/* SPDX-License-Identifier: MIT */
/* Implements fh_run_group: several RUNs in one frame, and one loop for all of them. */
#include "sandbox/execution.h"

#include "proto/wire.h"

/* The plan of a member with the member's own files and input added. Everything is borrowed; the caller frees *files. */
static struct fh_plan member_plan(const struct fh_member *m, struct fh_plan_file **files)
{
	struct fh_plan plan = *m->plan;
	if (m->stdin_data.data)
		plan.stdin_data = (struct fh_bytes_owned){ (uint8_t *)(uintptr_t)m->stdin_data.data, m->stdin_data.size };
	if (m->file_count == 0)
		return plan;
	*files = fh_xcalloc(plan.file_count + m->file_count, sizeof(**files));
	if (plan.file_count)
		memcpy(*files, plan.files, plan.file_count * sizeof(**files));
	for (size_t i = 0; i < m->file_count; i++) {
		const struct fh_file *f = &m->files[i];
		(*files)[plan.file_count + i] = (struct fh_plan_file){
			.name = (char *)(uintptr_t)f->name,
			.content = { (uint8_t *)(uintptr_t)f->content.data, f->content.size },
			.mode = f->mode ? f->mode : 0644,
		};
	}
	plan.file_count += m->file_count;
	plan.files = *files;
	return plan;
}

static void write_links(struct fh_buf *frame, const struct fh_group *g)
{
	for (size_t i = 0; i < g->link_count; i++) {
		const struct fh_link *l = &g->links[i];
		size_t inner = fh_wire_begin(frame, F_LINK);
		fh_wire_u64(frame, F_FROM, l->from);
		fh_wire_u64(frame, F_FROM_DESCRIPTOR, (uint64_t)l->from_descriptor);
		fh_wire_u64(frame, F_TO, l->to);
		fh_wire_u64(frame, F_TO_DESCRIPTOR, (uint64_t)l->to_descriptor);
		fh_wire_end(frame, inner);
	}
	if (g->leader >= 0)
		fh_wire_u64(frame, F_LEADER, (uint64_t)g->leader);
}

static int send_group(const struct fh_group *g, struct fh_execution *x, struct fh_error *err)
{
	fh_auto_buf struct fh_buf frame = FH_BUF_INIT(0);
	size_t mark = fh_frame_begin(&frame, FH_FRAME_RUN, 0, x->call.request, (struct fh_id){ { 0 } });
	for (size_t i = 0; i < g->member_count; i++) {
		size_t inner = fh_wire_begin(&frame, F_MEMBER);
		fh_execution_write_run(&frame, &x[i]);
		fh_wire_end(&frame, inner);
	}
	write_links(&frame, g);
	fh_frame_end(&frame, mark);
	if (frame.overflowed || frame.n - mark > FH_FRAME_PAYLOAD_MAX)
		return fh_error_set(err, FH_E_LIMIT, "the plans of a group are larger than a frame (%d bytes)",
		                    FH_FRAME_PAYLOAD_MAX);
	return fh_connection_send(x->client->connection, &frame, err);
}

static int check_group(const struct fh_group *g, struct fh_error *err)
{
	if (g->member_count == 0 || g->member_count > FH_MEMBERS_MAX || g->link_count > FH_LINKS_MAX)
		return fh_error_set(err, FH_E_ARGUMENT, "a group has 1 to %d members and at most %d links", FH_MEMBERS_MAX,
		                    FH_LINKS_MAX);
	if (g->leader >= 0 && (size_t)g->leader >= g->member_count)
		return fh_error_set(err, FH_E_ARGUMENT, "member %d cannot lead: there are %zu", g->leader, g->member_count);
	for (size_t i = 0; i < g->member_count; i++)
		if (g->members[i].plan->compile)
			return fh_error_set(err, FH_E_ARGUMENT, "member %zu has to be compiled first", i);
	return 0;
}

static int execute_group(const struct fh_group *g, struct fh_execution *x, struct fh_error *err)
{
	struct fh_call *calls[FH_MEMBERS_MAX];
	for (size_t i = 0; i < g->member_count; i++)
		calls[i] = &x[i].call;
	fh_calls_begin(x->client->connection, calls, g->member_count);
	int r = send_group(g, x, err);
	if (r == 0)
		r = fh_execution_pump(x, g->member_count, err);
	for (size_t i = 0; i < g->member_count; i++)
		fh_call_end(calls[i]);
	return r;
}

int fh_execute_group(struct fh_client *client, const struct fh_group *g, const struct fh_run_options *o,
                     struct fh_result **ret, struct fh_error *err)
{
	struct fh_plan_file *files[FH_MEMBERS_MAX] = { 0 };
	struct fh_plan plans[FH_MEMBERS_MAX];
	struct fh_run_options options = FH_RUN_OPTIONS_INIT;
	int r = check_group(g, err);
	if (r < 0)
		return r;
	if (o && FH_HAS(o, cancel))
		options.cancel = o->cancel;
	fh_auto_free struct fh_execution *x = fh_xcalloc(g->member_count, sizeof(*x));
	for (size_t i = 0; i < g->member_count; i++) {
		plans[i] = member_plan(&g->members[i], &files[i]);
		x[i].feed.stop_event = -1;
		fh_execution_init(&x[i], client, &plans[i], &options);
		x[i].key = x[i].call.key = x[i].started.key = x;
		if (r == 0)
			r = fh_plan_check(&plans[i], err);
	}
	if (r == 0)
		r = execute_group(g, x, err);
	for (size_t i = 0; i < g->member_count; i++) {
		if (r == 0)
			ret[i] = fh_execution_assemble(&x[i]);
		fh_execution_release(&x[i]);
		free(files[i]);
	}
	return r;
}
