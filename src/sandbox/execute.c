/* SPDX-License-Identifier: MIT */
/*
 * Executes a plan: by one RUN frame if the plan fits into a frame, otherwise by the requests of a session. Both end in
 * the same loop, which takes received bytes, hands them to the caller and gives credit, until the last answer and the
 * ends of all streams have arrived. A group is several RUNs in one frame, with one loop for all.
 */
#include "sandbox/execution.h"

#include <errno.h>

#include "base/clock.h"
#include "proto/wire.h"

enum {
	CANCEL_LOOK_MS = 50,        /* period at which a cancel flag is checked that no signal announces */
	CANCEL_PATIENCE_MS = 10000, /* time for the engine to confirm a cancellation */
	PLAN_SLACK = 1 << 20,       /* bytes of a frame left for the parts of a plan that are not contents */
};

/* State of one loop. */
struct pump {
	struct fh_execution *x;
	size_t count;
	const volatile int *cancel;
	int64_t cancelled_ns; /* when CANCEL was sent; 0: not sent */
};

static bool is_streaming(const struct fh_execution *x)
{
	return x->o.stdin_from_fd;
}

bool fh_plan_is_large(const struct fh_plan *plan)
{
	size_t n = plan->stdin_data.size;
	for (size_t i = 0; i < plan->file_count; i++)
		n += plan->files[i].content.size + strlen(plan->files[i].name) + 64;
	for (size_t i = 0; i < plan->mount_count; i++)
		n += plan->mounts[i].content.size;
	return n > FH_FRAME_PAYLOAD_MAX - PLAN_SLACK;
}

/* --------------------------------------------------------------------------------- answers (under the lock) */

static int on_started(struct fh_execution *x, const struct fh_frame *f, struct fh_error *err)
{
	int r = fh_started_read(&x->started, x->call.connection, f, err);
	return r < 0 ? r : x->session;
}

/* Opens the stream of one of the plan's output files; its bytes follow. */
static int on_file(struct fh_execution *x, const struct fh_frame *f, struct fh_error *err)
{
	struct fh_wire_reader r = fh_wire_reader(f->payload);
	struct fh_wire_field field;
	uint64_t index = x->out_count;
	struct fh_flow stream = { 0 };
	bool named = false;
	while (fh_wire_next(&r, &field)) {
		if (field.tag == F_COUNT)
			index = fh_wire_get_u64(&r, &field);
		else if (field.tag == F_STREAM)
			named = fh_flow_parse(field.value, FH_WINDOW_DEFAULT, &stream);
	}
	if (r.malformed || !named || index >= x->out_count || !fh_id_is_zero(x->outs[index].stream.id))
		return fh_error_set(err, FH_E_PROTOCOL, "the engine sent a malformed description of a file");
	struct fh_execution_out *out = &x->outs[index];
	out->stream = stream;
	out->stream.kind = FH_KIND_FILE;
	out->stream.key = x->key;
	out->stream.ceiling = x->plan->out_max_bytes;
	fh_flow_open(x->call.connection, &out->stream);
	return 0;
}

/* Reads one output file of RESULT; they come in the order of the plan's outs. */
static int read_out(struct fh_execution *x, struct fh_execution_out *out, struct fh_str message, struct fh_error *err)
{
	struct fh_wire_reader r = fh_wire_reader(message);
	struct fh_wire_field f;
	uint64_t size = 0;
	while (fh_wire_next(&r, &f)) {
		if (f.tag == F_SIZE)
			size = fh_wire_get_u64(&r, &f);
		else if (f.tag == F_REFUSED && !out->refused)
			out->refused = fh_xstrndup(f.value.n ? f.value.p : "", FH_MIN(f.value.n, (size_t)400));
	}
	if (r.malformed || (fh_id_is_zero(out->stream.id) && !out->refused) || size > x->plan->out_max_bytes)
		return fh_error_set(err, FH_E_PROTOCOL, "the engine sent a malformed description of a file");
	if (!out->refused && (!out->stream.ended || out->stream.position != size))
		return fh_error_set(err, FH_E_PROTOCOL, "the engine sent %llu bytes of a file of %llu",
		                    (unsigned long long)out->stream.position, (unsigned long long)size);
	if (out->refused) { /* bytes received before it was refused are discarded */
		fh_buf_release(&out->stream.data);
		out->stream.ended = true;
	}
	return 0;
}

static int on_result(struct fh_execution *x, const struct fh_frame *f, struct fh_error *err)
{
	struct fh_wire_reader r = fh_wire_reader(f->payload);
	struct fh_wire_field field;
	size_t n = 0;
	bool exited = false;
	while (fh_wire_next(&r, &field)) {
		int e = 0;
		if (field.tag == F_EXIT) {
			e = fh_exit_read(field.value, &x->exit, err);
			exited = true;
		} else if (field.tag == F_OUT && n < x->out_count) {
			e = read_out(x, &x->outs[n++], field.value, err);
		}
		if (e < 0)
			return e;
	}
	if (r.malformed || !exited)
		return fh_error_set(err, FH_E_PROTOCOL, "the engine sent a malformed result");
	for (int i = FH_STDOUT; i < FH_STREAM_COUNT_; i++) /* RESULT is the last frame, so a missing end would never come */
		if (x->started.streams[i].open && !x->started.streams[i].ended)
			return fh_error_set(err, FH_E_PROTOCOL, "the engine sent a result before the end of the output");
	fh_evidence_read(&x->evidence, f->payload);
	return 1;
}

static int on_exit_record(struct fh_execution *x, const struct fh_frame *f, struct fh_error *err)
{
	int r = fh_exit_read_frame(f->payload, &x->exit, err);
	fh_evidence_read(&x->evidence, f->payload);
	return r < 0 ? r : 1;
}

static const struct {
	enum fh_frame_type type;
	bool session;
	bool one_shot;
	int (*read)(struct fh_execution *x, const struct fh_frame *f, struct fh_error *err);
} answer_table[] = {
	{ FH_FRAME_STARTED, true, true, on_started },
	{ FH_FRAME_FILE, false, true, on_file },
	{ FH_FRAME_RESULT, false, true, on_result },
	{ FH_FRAME_EXIT, true, false, on_exit_record },
};

static int on_answer(struct fh_call *call, const struct fh_frame *f, struct fh_error *err)
{
	struct fh_execution *x = (struct fh_execution *)((char *)call - offsetof(struct fh_execution, call));
	for (size_t i = 0; i < FH_ARRAY_SIZE(answer_table); i++)
		if (answer_table[i].type == f->type && (x->session ? answer_table[i].session : answer_table[i].one_shot))
			return answer_table[i].read(x, f, err);
	return fh_error_set(err, FH_E_PROTOCOL, "the engine answered a run with a frame of type %u", f->type);
}

/* --------------------------------------------------------------------------------------------------------- the loop */

static struct fh_flow *stream_at(struct fh_execution *x, size_t i)
{
	return i < FH_STREAM_COUNT_ ? &x->started.streams[i] : &x->outs[i - FH_STREAM_COUNT_].stream;
}

static size_t stream_count(const struct fh_execution *x)
{
	return FH_STREAM_COUNT_ + x->out_count;
}

static bool has_data(struct fh_execution *x)
{
	for (size_t i = FH_STDOUT; i < stream_count(x); i++)
		if (stream_at(x, i)->data.n)
			return true;
	return false;
}

static bool is_over(struct fh_execution *x)
{
	if (!x->call.done)
		return false;
	for (size_t i = FH_STDOUT; !x->call.error.code && i < stream_count(x); i++) {
		struct fh_flow *s = stream_at(x, i);
		if (s->open && !(s->ended && !s->data.n))
			return false;
	}
	return true;
}

static bool wants_cancel(const struct pump *p)
{
	return p->cancel && __atomic_load_n(p->cancel, __ATOMIC_RELAXED) && !p->cancelled_ns;
}

static bool wants_feed(const struct fh_execution *x)
{
	return x->started.started && !x->feed.running && x->started.streams[FH_STDIN].open &&
	       !x->started.streams[FH_STDIN].ended && (x->feed.fd >= 0 || x->feed.bytes.n);
}

static bool all_over(const struct pump *p)
{
	for (size_t m = 0; m < p->count; m++)
		if (!is_over(&p->x[m]))
			return false;
	return true;
}

static bool any_work(const struct pump *p)
{
	for (size_t m = 0; m < p->count; m++)
		if (has_data(&p->x[m]) || wants_feed(&p->x[m]))
			return true;
	return all_over(p) || wants_cancel(p);
}

/* Sleeps until there is work. A deadline that has passed is handled by the caller. */
static int wait_for_work(struct pump *p, struct fh_wait *w, struct fh_error *err)
{
	int r = 0;
	while (r == 0 && !any_work(p)) {
		int64_t deadline = 0;
		if (p->cancelled_ns)
			deadline = p->cancelled_ns + CANCEL_PATIENCE_MS * FH_NS_PER_MS;
		else if (p->cancel)
			deadline = fh_now_ns() + CANCEL_LOOK_MS * FH_NS_PER_MS;
		r = fh_wait_step(w, deadline, err);
		if (r == -FH_E_TIMEOUT && !p->cancelled_ns)
			r = 0;
	}
	return r;
}

static void keep(struct fh_execution *x, size_t i, const struct fh_buf *piece)
{
	if (i >= FH_STREAM_COUNT_) {
		(void)fh_buf_add(&x->outs[i - FH_STREAM_COUNT_].data, piece->p, piece->n);
		return;
	}
	if (x->o.on_output)
		x->o.on_output(x->o.context, (enum fh_stream)i, piece->p, piece->n);
	struct fh_buf *to = &x->collected[i];
	size_t n = FH_MIN(piece->n, to->max - to->n);
	x->cut[i] = x->cut[i] || n < piece->n;
	if (n && !x->o.discard_output)
		(void)fh_buf_add(to, piece->p, n);
}

static int pass_on(struct fh_execution *x, size_t i, struct fh_buf *piece, struct fh_error *err)
{
	struct fh_flow *s = stream_at(x, i);
	if (!piece->n)
		return 0;
	keep(x, i, piece);
	return fh_flow_credit(x->client->connection, s, (size_t)(s->window / 4), err);
}

static int send_cancel(struct pump *p, struct fh_error *err)
{
	fh_auto_buf struct fh_buf frames = FH_BUF_INIT(0);
	for (size_t m = 0; m < p->count; m++)
		fh_frame_write(&frames, FH_FRAME_CANCEL, 0, p->x[m].call.request, (struct fh_id){ { 0 } },
		               (struct fh_str){ "", 0 });
	p->cancelled_ns = fh_now_ns();
	return fh_connection_send(p->x[0].client->connection, &frames, err);
}

static int start_feed(struct fh_execution *x, struct fh_error *err)
{
	x->feed.connection = x->client->connection;
	x->feed.stream = &x->started.streams[FH_STDIN];
	return fh_feed_start(&x->feed, err);
}

/* What was received for one member, to be handed on without the lock, and whether its input may start. */
struct piece {
	struct fh_buf *streams;
	bool feed;
};

static void take_all(struct fh_execution *x, struct piece *to)
{
	for (size_t i = FH_STDOUT; i < stream_count(x); i++)
		fh_flow_take_all(stream_at(x, i), &to->streams[i]);
	to->feed = wants_feed(x);
}

static int pass_all_on(struct fh_execution *x, struct piece *from, struct fh_error *err)
{
	int r = 0;
	for (size_t i = FH_STDOUT; i < stream_count(x); i++) {
		if (r == 0)
			r = pass_on(x, i, &from->streams[i], err);
		fh_buf_truncate(&from->streams[i], 0);
	}
	return r == 0 && from->feed ? start_feed(x, err) : r;
}

static int one_round(struct pump *p, struct piece *pieces, bool *ret_over, struct fh_error *err)
{
	struct fh_wait w;
	fh_wait_begin(&w, p->x[0].client->connection, p->x[0].key);
	int r = wait_for_work(p, &w, err);
	for (size_t m = 0; m < p->count; m++)
		take_all(&p->x[m], &pieces[m]);
	*ret_over = all_over(p);
	bool cancel = wants_cancel(p);
	fh_wait_end(&w);
	for (size_t m = 0; r == 0 && m < p->count; m++) {
		pieces[m].feed = pieces[m].feed && !*ret_over;
		r = pass_all_on(&p->x[m], &pieces[m], err);
	}
	return r == 0 && !*ret_over && cancel ? send_cancel(p, err) : r;
}

/* Runs the loop until the last answer and all bytes have arrived. */
int fh_execution_pump(struct fh_execution *x, size_t count, struct fh_error *err)
{
	struct pump p = { .x = x, .count = count, .cancel = x->o.cancel };
	struct piece pieces[FH_MEMBERS_MAX] = { 0 };
	bool over = false;
	int r = 0;
	for (size_t m = 0; m < count; m++) {
		pieces[m].streams = fh_xcalloc(stream_count(&x[m]), sizeof(*pieces[m].streams));
		for (size_t i = 0; i < stream_count(&x[m]); i++)
			pieces[m].streams[i].max = FH_WINDOW_MAX;
	}
	while (r == 0 && !over)
		r = one_round(&p, pieces, &over, err);
	for (size_t m = 0; m < count; m++) {
		for (size_t i = 0; i < stream_count(&x[m]); i++)
			fh_buf_release(&pieces[m].streams[i]);
		free(pieces[m].streams);
	}
	if (p.cancelled_ns && r == -FH_E_TIMEOUT)
		return fh_error_set(err, FH_E_CANCELLED, "cancelled; the engine has not confirmed it within %d s",
		                    CANCEL_PATIENCE_MS / 1000);
	for (size_t m = 0; r == 0 && p.cancelled_ns && m < count; m++)
		if (x[m].call.error.code == FH_E_CANCELLED)
			r = fh_error_set(err, FH_E_CANCELLED, "cancelled");
	return r;
}

/* --------------------------------------------------------------------------------------------------- the two ways */

void fh_execution_write_run(struct fh_buf *frame, const struct fh_execution *x)
{
	size_t inner = fh_wire_begin(frame, F_PLAN);
	fh_plan_encode(frame, x->plan);
	fh_wire_end(frame, inner);
	if (is_streaming(x))
		fh_wire_u64(frame, F_STDIN_OPEN, 1);
}

static int send_run(struct fh_execution *x, struct fh_error *err)
{
	fh_auto_buf struct fh_buf frame = FH_BUF_INIT(0);
	size_t mark = fh_frame_begin(&frame, FH_FRAME_RUN, 0, x->call.request, (struct fh_id){ { 0 } });
	fh_execution_write_run(&frame, x);
	fh_frame_end(&frame, mark);
	if (frame.overflowed || frame.n - mark > FH_FRAME_PAYLOAD_MAX)
		return fh_error_set(err, FH_E_LIMIT, "the plan is larger than a frame (%d bytes)", FH_FRAME_PAYLOAD_MAX);
	return fh_connection_send(x->client->connection, &frame, err);
}

static int execute_one_shot(struct fh_execution *x, struct fh_error *err)
{
	fh_call_begin(x->client->connection, &x->call);
	int r = send_run(x, err);
	if (r == 0)
		r = fh_execution_pump(x, 1, err);
	fh_call_end(&x->call);
	return r;
}

/* Sends SPAWN for the plan's own command and waits for STARTED. */
static int session_spawn(struct fh_execution *x, struct fh_sandbox *s, struct fh_error *err)
{
	struct fh_connection *c = x->client->connection;
	fh_auto_buf struct fh_buf frame = FH_BUF_INIT(0);
	fh_call_begin(c, &x->call);
	size_t mark = fh_frame_begin(&frame, FH_FRAME_SPAWN, 0, x->call.request, s->id);
	if (!is_streaming(x) && !x->feed.bytes.n)
		fh_wire_u64(&frame, F_NO_STDIN, 1);
	fh_frame_end(&frame, mark);
	int r = fh_connection_send(c, &frame, err);
	struct fh_wait w;
	fh_wait_begin(&w, c, x->key);
	while (r == 0 && !x->call.done)
		r = fh_wait_step(&w, 0, err);
	fh_wait_end(&w);
	fh_call_end(&x->call);
	return r;
}

static int session_wait(struct fh_execution *x, struct fh_error *err)
{
	struct fh_connection *c = x->client->connection;
	fh_auto_buf struct fh_buf frame = FH_BUF_INIT(0);
	fh_call_begin(c, &x->call);
	fh_frame_write(&frame, FH_FRAME_WAIT, 0, x->call.request, x->started.process, (struct fh_str){ "", 0 });
	int r = fh_connection_send(c, &frame, err);
	if (r == 0)
		r = fh_execution_pump(x, 1, err);
	fh_call_end(&x->call);
	return r;
}

/* As in a RESULT, a file that cannot be read is marked as refused; it is not an error. */
static int session_outs(struct fh_execution *x, struct fh_sandbox *s, struct fh_error *err)
{
	for (size_t i = 0; i < x->out_count; i++) {
		struct fh_error why = FH_ERROR_INIT;
		uint8_t *data;
		size_t n;
		int r = fh_sandbox_get_file(s, x->plan->outs[i], x->plan->out_max_bytes, &data, &n, &why);
		if (r == 0) {
			(void)fh_buf_add(&x->outs[i].data, data, n);
			free(data);
		} else if (r == -FH_E_PROTOCOL || why.sys == ECONNRESET) {
			if (err)
				*err = why;
			return r;
		} else {
			x->outs[i].refused = fh_xstrdup(why.message);
		}
	}
	return 0;
}

static int session_run(struct fh_execution *x, struct fh_sandbox *s, struct fh_error *err)
{
	int r = fh_sandbox_put_plan_files(s, x->plan, err);
	if (r == 0)
		r = session_spawn(x, s, err);
	if (r == 0 && !x->call.error.code)
		r = session_wait(x, err);
	if (r == 0 && !x->call.error.code)
		r = session_outs(x, s, err);
	return r;
}

/* An error that the engine reports becomes part of the result; it is in `call.error`, as for a RUN. */
static int execute_session(struct fh_execution *x, struct fh_error *err)
{
	struct fh_plan light = *x->plan; /* a shallow copy */
	struct fh_sandbox *s;
	light.file_count = 0;
	light.stdin_data.size = 0;
	x->session = true;
	if (!is_streaming(x))
		x->feed.bytes = (struct fh_str){ (const char *)x->plan->stdin_data.data, x->plan->stdin_data.size };
	int r = fh_sandbox_make(x->client, &light, NULL, NULL, &s, &x->evidence, err);
	if (r < 0)
		return r;
	r = session_run(x, s, err);
	fh_feed_stop(&x->feed);
	int d = fh_sandbox_destroy(s, r == 0 ? err : NULL);
	fh_sandbox_free(s);
	return r < 0 ? r : d;
}

/* ---------------------------------------------------------------------------------------------------------- result */

static bool has_driver(const struct fh_plan *plan)
{
	for (size_t i = 0; i < plan->descriptor_count; i++)
		if (plan->descriptors[i].kind == FH_DESCRIPTOR_DRIVER)
			return true;
	return false;
}

struct fh_result *fh_execution_assemble(struct fh_execution *x)
{
	struct fh_result *result = fh_result_new(x->plan);
	fh_result_set_evidence(result, &x->evidence);
	for (int i = FH_STDOUT; i < FH_STREAM_COUNT_; i++)
		if (i != FH_DRIVER || has_driver(x->plan))
			fh_result_set_stream(result, (enum fh_stream)i, &x->collected[i],
			                     x->started.streams[i].truncated || x->cut[i]);
	if (x->call.error.code) {
		result->status = FH_STATUS_ENGINE_ERROR;
		result->error = x->call.error;
		return result;
	}
	fh_result_set_exit(result, &x->exit);
	result->outs = fh_xcalloc(x->out_count ? x->out_count : 1, sizeof(*result->outs));
	result->out_count = x->out_count;
	for (size_t i = 0; i < x->out_count; i++) {
		struct fh_execution_out *o = &x->outs[i];
		struct fh_out_file *to = &result->outs[i];
		to->name = fh_xstrdup(x->plan->outs[i]);
		if (!o->refused && !o->stream.id.b[0] && fh_id_is_zero(o->stream.id) && !x->session)
			o->refused = fh_xstrdup("the engine said nothing about it");
		to->refused = FH_TAKE_PTR(o->refused);
		if (!to->refused)
			to->data = (uint8_t *)fh_buf_take(&o->data, &to->size);
	}
	return result;
}

void fh_execution_init(struct fh_execution *x, struct fh_client *client, const struct fh_plan *plan,
                       const struct fh_run_options *o)
{
	uint64_t limit = plan->limits.value[FH_LIMIT_OUTPUT];
	x->call.on_answer = on_answer;
	x->client = client;
	x->plan = plan;
	x->o = (struct fh_run_options)FH_RUN_OPTIONS_INIT;
	if (o)
		memcpy(&x->o, o, FH_MIN(o->size, sizeof(x->o)));
	x->key = x->call.key = x->started.key = x;
	x->feed.fd = x->o.stdin_from_fd ? x->o.stdin_fd : -1;
	while (plan->outs[x->out_count])
		x->out_count++;
	x->outs = fh_xcalloc(x->out_count ? x->out_count : 1, sizeof(*x->outs));
	for (size_t i = 0; i < x->out_count; i++)
		x->outs[i].data.max = (size_t)FH_MIN(plan->out_max_bytes, (uint64_t)FH_BUF_DEFAULT_MAX) + 1;
	for (int i = 0; i < FH_STREAM_COUNT_; i++)
		x->collected[i].max = (size_t)FH_MAX(FH_MIN(limit, (uint64_t)FH_BUF_DEFAULT_MAX), 1);
}

void fh_execution_release(struct fh_execution *x)
{
	struct fh_connection *c = x->client->connection;
	fh_feed_stop(&x->feed);
	fh_started_release(&x->started, c);
	for (size_t i = 0; i < x->out_count; i++) {
		fh_flow_close(c, &x->outs[i].stream);
		fh_buf_release(&x->outs[i].data);
		free(x->outs[i].refused);
	}
	for (int i = 0; i < FH_STREAM_COUNT_; i++)
		fh_buf_release(&x->collected[i]);
	fh_evidence_release(&x->evidence);
	free(x->outs);
}

int fh_execute(struct fh_client *client, const struct fh_plan *plan, const struct fh_run_options *o,
               struct fh_result **ret, struct fh_error *err)
{
	int r = fh_plan_check(plan, err);
	if (r < 0)
		return r;
	struct fh_execution x = { .feed = { .stop_event = -1 } };
	struct fh_error why = FH_ERROR_INIT;
	fh_execution_init(&x, client, plan, o);
	r = fh_plan_is_large(plan) ? execute_session(&x, &why) : execute_one_shot(&x, &why);
	fh_feed_stop(&x.feed);
	if (r == 0)
		*ret = fh_execution_assemble(&x);
	else if (err)
		*err = why;
	fh_execution_release(&x);
	return r;
}
