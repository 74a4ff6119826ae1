/* SPDX-License-Identifier: MIT */
/* The requests of clients: one function for each frame type, in a table. */
#include "engine/serve/requests.h"

#include <errno.h>
#include <stdio.h>

#include "base/clock.h"
#include "engine/core/connection.h"
#include "engine/core/process/process.h"
#include "engine/core/sandbox.h"
#include "engine/core/process/stream.h"
#include "engine/serve/group.h"
#include "engine/serve/run.h"
#include "engine/serve/session.h"
#include "engine/serve/survey.h"
#include "proto/wire.h"

typedef int (*request_fn)(struct fh_connection *c, const struct fh_frame *f, struct fh_error *err);

void fh_request_reply(struct fh_connection *c, const struct fh_frame *f)
{
	fh_frame_write(fh_connection_out(c), FH_FRAME_REPLY, 0, f->request, f->id, (struct fh_str){ "", 0 });
	fh_connection_flush(c);
}

int fh_request_no_sandbox(struct fh_error *err)
{
	return fh_error_set(err, FH_E_NOT_FOUND, "there is no such sandbox (any more)");
}

int fh_request_no_process(struct fh_error *err)
{
	return fh_error_set(err, FH_E_NOT_FOUND, "there is no such process (any more)");
}

struct fh_sandbox *fh_request_sandbox(struct fh_connection *c, const struct fh_frame *f)
{
	struct fh_sandbox *b = fh_sandbox_find(c->engine, f->id);
	return b && b->state == FH_READY && fh_is_session(b) && !b->request
	           ? b
	           : NULL; /* b->request: CREATE is not answered yet */
}

int fh_request_text(const struct fh_frame *f, uint16_t tag, size_t size, char **ret, struct fh_error *err)
{
	struct fh_wire_reader r = fh_wire_reader(f->payload);
	struct fh_wire_field x;
	while (fh_wire_next(&r, &x)) {
		if (x.tag != tag)
			continue;
		free(*ret);
		*ret = fh_wire_get_text(&r, &x);
		if (r.malformed || strlen(*ret) >= size)
			return fh_error_set(err, FH_E_ARGUMENT, "a text of a request is malformed, or longer than %zu bytes",
			                    size - 1);
	}
	return 0;
}

uint64_t fh_request_number(const struct fh_frame *f, uint16_t tag, uint64_t fallback)
{
	struct fh_wire_reader r = fh_wire_reader(f->payload);
	struct fh_wire_field x;
	while (fh_wire_next(&r, &x))
		if (x.tag == tag)
			return fh_wire_get_u64(&r, &x);
	return fallback;
}

/* ------------------------------------------------------------------------------------------------- RUN, CREATE, … */

static int get_plan(const struct fh_frame *f, struct fh_plan **ret, struct fh_error *err)
{
	struct fh_wire_reader r = fh_wire_reader(f->payload);
	struct fh_wire_field x;
	while (fh_wire_next(&r, &x))
		if (x.tag == F_PLAN)
			return fh_plan_decode(x.value, ret, err);
	return fh_error_set(err, FH_E_PROTOCOL, "a request without a plan");
}

static bool get_link(struct fh_str message, struct fh_link *ret)
{
	struct fh_wire_reader r = fh_wire_reader(message);
	struct fh_wire_field x;
	uint64_t v[4] = { UINT32_MAX, 0, UINT32_MAX, 0 };
	while (fh_wire_next(&r, &x))
		if (x.tag >= F_FROM && x.tag <= F_TO_DESCRIPTOR)
			v[x.tag - F_FROM] = FH_MIN(fh_wire_get_u64(&r, &x), (uint64_t)UINT32_MAX);
	*ret = (struct fh_link){ v[0], (int)FH_MIN(v[1], 1024U), v[2], (int)FH_MIN(v[3], 1024U) };
	return !r.malformed;
}

static int get_member(const struct fh_wire_field *x, struct fh_group_member *ret, struct fh_error *err)
{
	const struct fh_frame inner = { .payload = x->value };
	ret->stdin_open = fh_request_number(&inner, F_STDIN_OPEN, 0) != 0;
	ret->window = fh_request_number(&inner, F_WINDOW, 0);
	return get_plan(&inner, &ret->plan, err);
}

/* A RUN with members. An error of the request as a whole is answered once for each member. */
static int on_run_group(struct fh_connection *c, const struct fh_frame *f, struct fh_error *err)
{
	struct fh_group_request g = { .leader = fh_request_number(f, F_LEADER, UINT64_MAX) };
	struct fh_wire_reader r = fh_wire_reader(f->payload);
	struct fh_wire_field x;
	size_t members = 0;
	int e = 0;
	while (fh_wire_next(&r, &x)) {
		if (x.tag == F_MEMBER && ++members <= FH_MEMBERS_MAX && e == 0)
			e = get_member(&x, &g.members[g.member_count++], err);
		else if (x.tag == F_LINK && e == 0 &&
		         (g.link_count == FH_LINKS_MAX || !get_link(x.value, &g.links[g.link_count++])))
			e = fh_error_set(err, FH_E_PROTOCOL, "a malformed link, or more than %d", FH_LINKS_MAX);
	}
	if (e == 0 && (r.malformed || members > FH_MEMBERS_MAX))
		e = fh_error_set(err, FH_E_PROTOCOL, "a malformed group, or more than %d members", FH_MEMBERS_MAX);
	if (e == 0)
		fh_group_start(c->engine, &g, c, f->request);
	for (size_t i = 0; i < g.member_count; i++)
		fh_plan_free(g.members[i].plan);
	for (size_t i = 1; e && i < FH_MIN(members, (size_t)FH_MEMBERS_MAX); i++)
		fh_connection_error(c, f->request + i, err);
	return e;
}

static int on_run(struct fh_connection *c, const struct fh_frame *f, struct fh_error *err)
{
	struct fh_plan *plan;
	struct fh_sandbox *b;
	struct fh_wire_reader r = fh_wire_reader(f->payload);
	struct fh_wire_field x;
	while (fh_wire_next(&r, &x))
		if (x.tag == F_MEMBER)
			return on_run_group(c, f, err);
	int e = get_plan(f, &plan, err);
	if (e)
		return e;
	e = fh_run_start(c->engine, plan, fh_request_number(f, F_STDIN_OPEN, 0) != 0, fh_request_number(f, F_WINDOW, 0),
	                 true, c, f->request, &b, err);
	if (e == 0 && b)
		fh_run_begin(b);
	return e;
}

/* The plan of a CREATE: its own, or a copy of that of an existing sandbox, without the files, which the client
 * brings. */
static int plan_to_create(struct fh_connection *c, const struct fh_frame *f, struct fh_plan **ret, struct fh_error *err)
{
	struct fh_wire_reader r = fh_wire_reader(f->payload);
	struct fh_wire_field x;
	struct fh_frame like = *f;
	while (fh_wire_next(&r, &x))
		if (x.tag == F_SANDBOX_ID && x.value.n == sizeof(like.id.b)) {
			memcpy(like.id.b, x.value.p, sizeof(like.id.b));
			const struct fh_sandbox *b = fh_request_sandbox(c, &like);
			if (!b)
				return fh_request_no_sandbox(err);
			*ret = fh_plan_copy(b->plan);
			for (size_t i = 0; i < (*ret)->file_count; i++) {
				free((*ret)->files[i].name);
				free((*ret)->files[i].content.data);
			}
			(*ret)->file_count = 0;
			return 0;
		}
	return get_plan(f, ret, err);
}

static int on_create(struct fh_connection *c, const struct fh_frame *f, struct fh_error *err)
{
	struct fh_deferred d = { .connection = c, .request = f->request, .lease_ms = fh_request_number(f, F_LEASE_MS, 0) };
	fh_auto_free char *name = NULL;
	int r = fh_request_text(f, F_NAME, sizeof(d.name), &name, err);
	if (r == 0)
		r = plan_to_create(c, f, &d.plan, err);
	if (r)
		return r;
	snprintf(d.name, sizeof(d.name), "%s", name ? name : "");
	return fh_session_make(c->engine, &d, err);
}

static int on_destroy(struct fh_connection *c, const struct fh_frame *f, struct fh_error *err)
{
	struct fh_sandbox *b = fh_sandbox_find(c->engine, f->id);
	if (!b)
		return fh_request_no_sandbox(err);
	b->destroy_connection = c;
	b->destroy_request = f->request;
	if (b->run)
		b->cancelled = true;
	fh_sandbox_destroy_now(b);
	return 0;
}

static int on_renew(struct fh_connection *c, const struct fh_frame *f, struct fh_error *err)
{
	struct fh_sandbox *b = fh_request_sandbox(c, f);
	if (!b)
		return fh_request_no_sandbox(err);
	uint64_t ms = fh_request_number(f, F_LEASE_MS, 0);
	if (ms == 0)
		b->connection = c; /* the sandbox sends its answers to the connection that asked for it */
	fh_sandbox_lease(b, ms);
	fh_request_reply(c, f);
	return 0;
}

/* --------------------------------------------------------------------------------------------------------- others */

static int on_attach(struct fh_connection *c, const struct fh_frame *f, struct fh_error *err)
{
	struct fh_sandbox *b = fh_request_sandbox(c, f);
	struct fh_process *p = fh_process_find(c->engine, f->id);
	if (b) {
		fh_request_reply(c, f);
		return 0;
	}
	if (!p || !fh_is_session(p->sandbox))
		return fh_request_no_process(err);
	p->connection = c;
	fh_process_started(p, c, f->request);
	/* Writing may close the connection; then the remaining streams must not be attached to it. */
	for (struct fh_output *s = p->streams; s && !c->closing; s = s->next)
		fh_output_attach(c->engine, s, c);
	return 0;
}

static void write_info(struct fh_buf *out, const struct fh_sandbox *b)
{
	int64_t now = fh_now_ns();
	uint64_t alive = 0;
	const struct fh_process *first = NULL;
	for (const struct fh_process *p = b->processes; p; p = p->next) {
		alive += !p->exited && !p->helper;
		first = p->helper ? first : p;
	}
	size_t mark = fh_wire_begin(out, F_SANDBOX);
	fh_wire_bytes(out, F_ID, b->id.b, 16);
	fh_wire_u64(out, F_AGE_MS, (uint64_t)(now - b->born_ns) / FH_NS_PER_MS);
	fh_wire_u64(out, F_LEASE_LEFT_MS,
	            b->lease_timer.slot ? (uint64_t)FH_MAX(b->lease_timer.deadline_ns - now, 0) / FH_NS_PER_MS : 0);
	fh_wire_u64(out, F_CLIENT_PID, b->connection ? (uint64_t)b->connection->peer_pid : 0);
	fh_wire_u64(out, F_COUNT, alive);
	fh_wire_text(out, F_COMMAND, first ? first->command : "");
	fh_wire_text(out, F_NAME, b->name);
	fh_wire_u64(out, F_SESSION, fh_is_session(b));
	fh_wire_u64(out, F_PAUSED, b->paused);
	fh_wire_end(out, mark);
}

static int on_list(struct fh_connection *c, const struct fh_frame *f, struct fh_error *err)
{
	(void)err;
	struct fh_buf *out = fh_connection_out(c);
	size_t mark = fh_frame_begin(out, FH_FRAME_REPLY, 0, f->request, f->id);
	for (const struct fh_sandbox *b = c->engine->sandboxes; b; b = b->next)
		if (b->state < FH_DYING && !b->parked)
			write_info(out, b);
	fh_frame_end(out, mark);
	fh_connection_flush(c);
	return 0;
}

static int on_cancel(struct fh_connection *c, const struct fh_frame *f, struct fh_error *err)
{
	(void)err;
	struct fh_error cancelled = FH_ERROR_INIT;
	fh_run_forget_deferred(c->engine, c, f->request);
	if (fh_surveys_end(c, f->request)) {
		fh_error_set(&cancelled, FH_E_CANCELLED, "the request was cancelled");
		fh_connection_error(c, f->request, &cancelled);
		return 0;
	}
	for (struct fh_sandbox *b = c->engine->sandboxes; b; b = b->next) {
		if (b->connection == c && b->request == f->request && (b->run || b->state == FH_MAKING)) {
			b->cancelled = true;
			if (!b->run && !b->failed) {
				fh_error_set(&b->error, FH_E_CANCELLED, "the request was cancelled");
				b->failed = true;
			}
			fh_sandbox_destroy_now(b);
			if (b->run)
				fh_run_settle(
				    b); /* the run may be over already, and only wait until its client gives credit for more output */
			return 0;
		}
		for (struct fh_process *p = b->processes; p; p = p->next)
			for (struct fh_waiter *w = p->waiters; w; w = w->next)
				if (w->connection == c && w->request == f->request) {
					fh_error_set(&cancelled, FH_E_CANCELLED, "the request was cancelled");
					fh_process_drop_waiter(w);
					fh_connection_error(c, f->request, &cancelled);
					return 0;
				}
	}
	return 0; /* the request was answered already */
}

static int on_data(struct fh_connection *c, const struct fh_frame *f, struct fh_error *err)
{
	uint64_t offset;
	struct fh_str bytes;
	if (!fh_frame_data(f, &offset, &bytes))
		return fh_error_set(err, FH_E_PROTOCOL, "a DATA frame without an offset");
	for (struct fh_sandbox *b = c->engine->sandboxes; b; b = b->next)
		for (struct fh_process *p = b->processes; p; p = p->next)
			if (p->connection == c && fh_id_eq(p->input.id, f->id)) {
				if (p->exited || (p->input.fd < 0 && p->input.broken))
					return 0; /* no process reads the stream any more */
				if (!fh_input_data(c->engine, &p->input, offset, bytes, f->flags & FH_DATA_END))
					return fh_error_set(err, FH_E_PROTOCOL, "stdin beyond the credit that was given");
				return 0;
			}
	return 0; /* the stream has ended already */
}

static struct fh_output *find_stream(struct fh_connection *c, struct fh_id id)
{
	for (struct fh_sandbox *b = c->engine->sandboxes; b; b = b->next) {
		for (struct fh_process *p = b->processes; p; p = p->next)
			for (struct fh_output *s = p->streams; s; s = s->next)
				if (s->connection == c && fh_id_eq(s->id, id))
					return s;
		for (struct fh_output *s = b->files; s; s = s->next)
			if (s->connection == c && fh_id_eq(s->id, id))
				return s;
		struct fh_output *s = fh_run_output(b, id);
		if (s && s->connection == c)
			return s;
	}
	return NULL;
}

static int on_credit(struct fh_connection *c, const struct fh_frame *f, struct fh_error *err)
{
	(void)err;
	struct fh_output *s = find_stream(c, f->id);
	if (s)
		fh_output_credit(c->engine, s, fh_request_number(f, F_OFFSET, 0));
	return 0;
}

static int on_hello(struct fh_connection *c, const struct fh_frame *f, struct fh_error *err)
{
	uint64_t version = fh_request_number(f, F_VERSION, 0);
	if (version < 1)
		return fh_error_set(err, FH_E_PROTOCOL, "a greeting without a version");
	pid_t pid = (pid_t)fh_request_number(f, F_PID, 0);
	if (c->peer_pid == 0) /* over a pipe: the number that the client claims, used for display only */
		c->peer_pid = pid;
	return 0;
}

static const struct {
	uint16_t type;
	bool plain; /* no request: the frame gets no answer, and an error in it closes the connection */
	request_fn run;
} requests[] = {
	{ FH_FRAME_HELLO, true, on_hello },
	{ FH_FRAME_DATA, true, on_data },
	{ FH_FRAME_CREDIT, true, on_credit },
	{ FH_FRAME_RUN, false, on_run },
	{ FH_FRAME_CREATE, false, on_create },
	{ FH_FRAME_DESTROY, false, on_destroy },
	{ FH_FRAME_RENEW, false, on_renew },
	{ FH_FRAME_ATTACH, false, on_attach },
	{ FH_FRAME_SPAWN, false, fh_request_spawn },
	{ FH_FRAME_WAIT, false, fh_request_wait },
	{ FH_FRAME_SIGNAL, false, fh_request_signal },
	{ FH_FRAME_RESIZE, false, fh_request_resize },
	{ FH_FRAME_PROCESSES, false, fh_request_processes },
	{ FH_FRAME_USAGE, false, fh_request_usage },
	{ FH_FRAME_PAUSE, false, fh_request_pause },
	{ FH_FRAME_RESUME, false, fh_request_resume },
	{ FH_FRAME_DESCRIBE, false, fh_request_describe },
	{ FH_FRAME_PUT, false, fh_request_put },
	{ FH_FRAME_GET, false, fh_request_get },
	{ FH_FRAME_LIST, false, on_list },
	{ FH_FRAME_SURVEY, false, fh_request_survey },
	{ FH_FRAME_CANCEL, true, on_cancel },
};

int fh_request(struct fh_connection *c, const struct fh_frame *f, struct fh_error *err)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(requests); i++) {
		if (requests[i].type != f->type)
			continue;
		if (!requests[i].plain && f->request == 0)
			return fh_error_set(err, FH_E_PROTOCOL, "a request without a number");
		int r = requests[i].run(c, f, err);
		if (r == 0 || requests[i].plain)
			return r;
		fh_connection_error(c, f->request, err);
		if (err)
			*err = (struct fh_error)FH_ERROR_INIT;
		return 0;
	}
	return 0; /* a frame type of a newer version: ignored */
}
