/* SPDX-License-Identifier: MIT */
#include "sandbox/connection/mux.h"

#include <limits.h>

#include "proto/wire.h"

/* --------------------------------------------------------------------------------------------------------- calls */

static struct fh_call **bucket_of(struct fh_connection *c, uint64_t request)
{
	return &c->calls[request % FH_MUX_BUCKETS];
}

static void begin(struct fh_connection *c, struct fh_call *call)
{
	call->connection = c;
	call->request = ++c->last_request;
	call->done = false;
	call->error = (struct fh_error)FH_ERROR_INIT;
	if (!call->key)
		call->key = call;
	struct fh_call **at = bucket_of(c, call->request);
	call->next = *at;
	*at = call;
}

void fh_calls_begin(struct fh_connection *c, struct fh_call *const *calls, size_t count)
{
	pthread_mutex_lock(&c->mutex);
	for (size_t i = 0; i < count; i++)
		begin(c, calls[i]);
	pthread_mutex_unlock(&c->mutex);
}

void fh_call_begin(struct fh_connection *c, struct fh_call *call)
{
	fh_calls_begin(c, &call, 1);
}

void fh_call_end(struct fh_call *call)
{
	struct fh_connection *c = call->connection;
	if (!c)
		return;
	pthread_mutex_lock(&c->mutex);
	for (struct fh_call **at = bucket_of(c, call->request); *at; at = &(*at)->next) {
		if (*at == call) {
			*at = call->next;
			break;
		}
	}
	pthread_mutex_unlock(&c->mutex);
	call->connection = NULL;
}

static struct fh_call *find_call(struct fh_connection *c, uint64_t request)
{
	struct fh_call *call = *bucket_of(c, request);
	while (call && call->request != request)
		call = call->next;
	return call;
}

static int keep_answer(struct fh_call *call, const struct fh_frame *f, struct fh_error *err)
{
	struct fh_answer *a = (struct fh_answer *)((char *)call - offsetof(struct fh_answer, call));
	if (f->type != a->type)
		return fh_error_set(err, FH_E_PROTOCOL, "the engine answered with a frame of type %u instead of %u", f->type,
		                    a->type);
	a->id = f->id;
	(void)fh_buf_add(&a->payload, f->payload.p, f->payload.n);
	return 1;
}

void fh_answer_begin(struct fh_connection *c, struct fh_answer *a, uint16_t type)
{
	*a = (struct fh_answer){
		.call = { .on_answer = keep_answer },
		.type = type,
		.payload = FH_BUF_INIT(FH_FRAME_PAYLOAD_MAX),
	};
	fh_call_begin(c, &a->call);
}

int fh_answer_wait(struct fh_answer *a, const struct fh_buf *frame, struct fh_error *err)
{
	struct fh_connection *c = a->call.connection;
	int r = fh_connection_send(c, frame, err);
	if (r == 0) {
		struct fh_wait w;
		fh_wait_begin(&w, c, a->call.key);
		while (!a->call.done && r == 0)
			r = fh_wait_step(&w, 0, err);
		fh_wait_end(&w);
	}
	fh_call_end(&a->call);
	if (r == 0 && a->call.error.code) {
		if (err)
			*err = a->call.error;
		r = -(int)a->call.error.code;
	}
	return r;
}

/* -------------------------------------------------------------------------------------------------------- frames */

static int on_hello(struct fh_connection *c, const struct fh_frame *f, struct fh_error *err)
{
	if (c->hello)
		return 0;
	struct fh_wire_reader r = fh_wire_reader(f->payload);
	struct fh_wire_field x;
	while (fh_wire_next(&r, &x)) {
		if (x.tag == F_VERSION)
			c->peer_version = fh_wire_get_u64(&r, &x);
		else if (x.tag == F_PID)
			c->peer_pid = (pid_t)FH_MIN(fh_wire_get_u64(&r, &x), (uint64_t)INT_MAX);
		else if (x.tag == F_CAPABILITY && c->capability_count < FH_MUX_CAPABILITIES)
			c->capabilities[c->capability_count++] = fh_wire_get_text(&r, &x);
	}
	/* A newer peer uses the same protocol with more fields and frame types, which are ignored. */
	if (r.malformed || c->peer_version < FH_PROTOCOL_VERSION)
		return fh_error_set(err, FH_E_PROTOCOL, "the engine speaks a version of the protocol that is not known here");
	c->hello = true;
	fh_connection_wake(c, c);
	return 0;
}

static int on_error(struct fh_connection *c, const struct fh_frame *f, struct fh_error *err)
{
	struct fh_call *call = find_call(c, f->request);
	struct fh_error e;
	fh_frame_error(f, &e);
	if (f->request == 0) { /* an error of the connection as a whole, which the engine closes */
		if (err)
			*err = e;
		return -(int)e.code;
	}
	if (!call || call->done)
		return 0;
	call->error = e;
	call->done = true;
	fh_connection_wake(c, call->key);
	return 0;
}

static int on_answer(struct fh_connection *c, const struct fh_frame *f, struct fh_error *err)
{
	struct fh_call *call = find_call(c, f->request);
	if (!call || call->done) /* the caller has given up this call, and nobody waits for the answer */
		return 0;
	int r = call->on_answer(call, f, err);
	if (r < 0)
		return r;
	if (r > 0)
		call->done = true;
	fh_connection_wake(c, call->key);
	return 0;
}

/* What to do with frames of each type. Other types are ignored, since a newer engine may send more. */
static const struct {
	enum fh_frame_type type;
	int (*handle)(struct fh_connection *c, const struct fh_frame *f, struct fh_error *err);
} frame_table[] = {
	{ FH_FRAME_DATA, fh_flow_on_data }, { FH_FRAME_CREDIT, fh_flow_on_credit }, { FH_FRAME_REPLY, on_answer },
	{ FH_FRAME_STARTED, on_answer },    { FH_FRAME_EXIT, on_answer },           { FH_FRAME_RESULT, on_answer },
	{ FH_FRAME_FILE, on_answer },       { FH_FRAME_ERROR, on_error },           { FH_FRAME_HELLO, on_hello },
};

static int dispatch_one(struct fh_connection *c, const struct fh_frame *f, struct fh_error *err)
{
	if (!c->hello && f->type != FH_FRAME_HELLO && f->type != FH_FRAME_ERROR)
		return fh_error_set(err, FH_E_PROTOCOL, "the engine sent a frame of type %u before it greeted", f->type);
	for (size_t i = 0; i < FH_ARRAY_SIZE(frame_table); i++)
		if (frame_table[i].type == f->type)
			return frame_table[i].handle(c, f, err);
	return 0;
}

int fh_connection_dispatch(struct fh_connection *c, struct fh_error *err)
{
	struct fh_frame f;
	int r;
	while ((r = fh_frame_next(&c->decoder, &f, err)) > 0) {
		r = dispatch_one(c, &f, err);
		if (r < 0)
			return r;
	}
	return r;
}
