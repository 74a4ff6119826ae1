/* SPDX-License-Identifier: MIT */
#include "sandbox/session/session.h"

#include "base/error.h"
#include "proto/plan.h"
#include "proto/wire.h"

/* Bytes of file content in one PUT; the rest of the largest frame is for names. */
enum { PUT_PIECE = 15 << 20 };

/* Sends the frame that was begun for `a`, and waits for its REPLY. */
static int ask(struct fh_answer *a, struct fh_buf *frame, size_t mark, struct fh_error *err)
{
	if (!frame->overflowed && frame->n - mark > FH_FRAME_PAYLOAD_MAX) {
		fh_call_end(&a->call);
		return fh_error_set(err, FH_E_LIMIT, "a request of %zu bytes; at most %d fit into a frame", frame->n - mark,
		                    FH_FRAME_PAYLOAD_MAX);
	}
	fh_frame_end(frame, mark);
	return fh_answer_wait(a, frame, err);
}

int fh_simple_call(struct fh_client *client, uint16_t type, struct fh_id id, uint16_t tag, uint64_t value,
                   struct fh_error *err)
{
	struct fh_answer a;
	fh_auto_buf struct fh_buf frame = FH_BUF_INIT(0);
	fh_answer_begin(client->connection, &a, FH_FRAME_REPLY);
	size_t mark = fh_frame_begin(&frame, type, 0, a.call.request, id);
	if (tag)
		fh_wire_u64(&frame, tag, value);
	int r = ask(&a, &frame, mark, err);
	fh_buf_release(&a.payload);
	return r;
}

static struct fh_sandbox *new_sandbox(struct fh_client *client, struct fh_id id)
{
	struct fh_sandbox *s = FH_NEW(struct fh_sandbox);
	s->client = client;
	s->id = id;
	fh_id_hex(id, s->hex);
	return s;
}

/* Reads the id from a REPLY: from its payload, or else from its header. */
static bool read_id(const struct fh_answer *a, struct fh_id *ret)
{
	struct fh_wire_reader r = fh_wire_reader(fh_buf_str(&a->payload));
	struct fh_wire_field f;
	struct fh_id id = a->id;
	while (fh_wire_next(&r, &f))
		if (f.tag == F_ID && f.value.n == sizeof(id.b))
			memcpy(id.b, f.value.p, sizeof(id.b));
	if (r.malformed || fh_id_is_zero(id))
		return false;
	*ret = id;
	return true;
}

int fh_sandbox_make(struct fh_client *client, const struct fh_plan *plan, const struct fh_sandbox *like,
                    const struct fh_sandbox_options *options, struct fh_sandbox **ret, struct fh_evidence *ret_evidence,
                    struct fh_error *err)
{
	struct fh_sandbox_options o = FH_SANDBOX_OPTIONS_INIT;
	if (options)
		memcpy(&o, options, FH_MIN(options->size, sizeof(o)));
	if (o.name && (!*o.name || strlen(o.name) > 63))
		return fh_error_set(err, FH_E_ARGUMENT, "a sandbox's name has 1 to 63 bytes");
	struct fh_answer a;
	struct fh_id id = { { 0 } };
	fh_auto_buf struct fh_buf frame = FH_BUF_INIT(0);
	fh_answer_begin(client->connection, &a, FH_FRAME_REPLY);
	size_t mark = fh_frame_begin(&frame, FH_FRAME_CREATE, 0, a.call.request, (struct fh_id){ { 0 } });
	if (like) {
		fh_wire_bytes(&frame, F_SANDBOX_ID, like->id.b, sizeof(like->id.b));
	} else {
		size_t inner = fh_wire_begin(&frame, F_PLAN);
		fh_plan_encode(&frame, plan);
		fh_wire_end(&frame, inner);
	}
	if (o.name)
		fh_wire_text(&frame, F_NAME, o.name);
	if (o.lease_ms) {
		fh_wire_u64(&frame, F_LEASE_MS, o.lease_ms);
		client->leased = true;
	}
	int r = ask(&a, &frame, mark, err);
	if (r == 0 && !read_id(&a, &id))
		r = fh_error_set(err, FH_E_PROTOCOL, "the engine made a sandbox and did not tell its id");
	if (r == 0) {
		struct fh_evidence made = { 0 };
		fh_evidence_read(&made, fh_buf_str(&a.payload));
		if (ret_evidence)
			fh_evidence_read(ret_evidence, fh_buf_str(&a.payload));
		*ret = new_sandbox(client, id);
		(*ret)->start = made.start;
		(*ret)->start_why = FH_TAKE_PTR(made.start_why);
		fh_evidence_release(&made);
	}
	fh_buf_release(&a.payload);
	return r;
}

int fh_sandbox_create(struct fh_client *client, const struct fh_plan *plan, const struct fh_sandbox_options *options,
                      struct fh_sandbox **ret, struct fh_error *err)
{
	struct fh_plan light = *plan;
	bool split = fh_plan_is_large(plan);
	int r = fh_plan_check(plan, err);
	if (r < 0)
		return r;
	fh_limits_bound_disk(&light.limits);
	if (split) { /* the plan's files follow one by one, and its input is sent by the run */
		light.file_count = 0;
		light.stdin_data.size = 0;
	}
	struct fh_sandbox *s;
	r = fh_sandbox_make(client, &light, NULL, options, &s, NULL, err);
	if (r < 0)
		return r;
	r = split ? fh_sandbox_put_plan_files(s, plan, err) : 0;
	if (r < 0) {
		(void)fh_sandbox_destroy(s, NULL);
		fh_sandbox_free(s);
		return r;
	}
	*ret = s;
	return 0;
}

int fh_sandbox_attach(struct fh_client *client, const char *id, struct fh_sandbox **ret, struct fh_error *err)
{
	struct fh_id parsed;
	if (!fh_id_parse(id, &parsed))
		return fh_error_set(err, FH_E_ARGUMENT, "a sandbox's id has 32 hexadecimal digits; this is not one: %.64s", id);
	int r = fh_simple_call(client, FH_FRAME_ATTACH, parsed, 0, 0, err);
	if (r == 0)
		*ret = new_sandbox(client, parsed);
	return r;
}

const char *fh_sandbox_id(const struct fh_sandbox *sandbox)
{
	return sandbox->hex;
}

enum fh_start fh_sandbox_start(const struct fh_sandbox *sandbox, const char **ret_why)
{
	if (ret_why)
		*ret_why = sandbox->start_why ? sandbox->start_why : "";
	return sandbox->start;
}

int fh_sandbox_renew(struct fh_sandbox *sandbox, uint64_t lease_ms, struct fh_error *err)
{
	if (lease_ms)
		sandbox->client->leased = true;
	return fh_simple_call(sandbox->client, FH_FRAME_RENEW, sandbox->id, F_LEASE_MS, lease_ms, err);
}

int fh_sandbox_destroy(struct fh_sandbox *sandbox, struct fh_error *err)
{
	return fh_simple_call(sandbox->client, FH_FRAME_DESTROY, sandbox->id, 0, 0, err);
}

void fh_sandbox_free(struct fh_sandbox *sandbox)
{
	if (!sandbox)
		return;
	free(sandbox->start_why);
	for (char **one = sandbox->left_out; one && *one; one++)
		free(*one);
	free(sandbox->left_out);
	free(sandbox);
}

/* ---------------------------------------------------------------------------------------------------------- files */

static int put_piece(struct fh_sandbox *s, const char *name, uint32_t mode, uint64_t offset, struct fh_str piece,
                     struct fh_error *err)
{
	struct fh_answer a;
	fh_auto_buf struct fh_buf frame = FH_BUF_INIT(0);
	fh_answer_begin(s->client->connection, &a, FH_FRAME_REPLY);
	size_t mark = fh_frame_begin(&frame, FH_FRAME_PUT, 0, a.call.request, s->id);
	size_t file = fh_wire_begin(&frame, F_FILE);
	fh_wire_text(&frame, F_NAME, name);
	fh_wire_u64(&frame, F_MODE, mode);
	if (offset)
		fh_wire_u64(&frame, F_OFFSET, offset);
	fh_wire_bytes(&frame, F_CONTENT, piece.p, piece.n);
	fh_wire_end(&frame, file);
	int r = ask(&a, &frame, mark, err);
	fh_buf_release(&a.payload);
	return r;
}

static int put(struct fh_sandbox *s, const char *name, uint32_t mode, struct fh_str content, struct fh_error *err)
{
	size_t done = 0;
	int r;
	do {
		struct fh_str piece = { content.n ? content.p + done : "", FH_MIN(content.n - done, (size_t)PUT_PIECE) };
		r = put_piece(s, name, mode ? mode : 0644, done, piece, err);
		done += piece.n;
	} while (r == 0 && done < content.n);
	return r;
}

int fh_sandbox_put_file(struct fh_sandbox *sandbox, const struct fh_file *file, struct fh_error *err)
{
	if (!file->name || !*file->name || strlen(file->name) >= FH_PLAN_PATH_MAX)
		return fh_error_set(err, FH_E_ARGUMENT, "a file needs a name of 1 to %d bytes", FH_PLAN_PATH_MAX - 1);
	return put(sandbox, file->name, file->mode, (struct fh_str){ file->content.data, file->content.size }, err);
}

int fh_sandbox_put_plan_files(struct fh_sandbox *s, const struct fh_plan *plan, struct fh_error *err)
{
	for (size_t i = 0; i < plan->file_count; i++) {
		const struct fh_plan_file *f = &plan->files[i];
		int r = put(s, f->name, f->mode, (struct fh_str){ (const char *)f->content.data, f->content.size }, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* ---- GET: FILE announces a stream, its bytes follow, REPLY confirms that they are complete ---- */

struct get {
	struct fh_call call;
	struct fh_flow stream;
	uint64_t max_bytes;
	bool started;
};

static int on_get(struct fh_call *call, const struct fh_frame *f, struct fh_error *err)
{
	struct get *g = (struct get *)((char *)call - offsetof(struct get, call));
	struct fh_wire_reader r = fh_wire_reader(f->payload);
	struct fh_wire_field x;
	if (f->type == FH_FRAME_REPLY && g->started)
		return 1;
	if (f->type != FH_FRAME_FILE)
		return fh_error_set(err, FH_E_PROTOCOL, "the engine answered a request for a file with a frame of type %u",
		                    f->type);
	while (fh_wire_next(&r, &x)) {
		if (x.tag != F_STREAM || g->started)
			continue;
		if (!fh_flow_parse(x.value, FH_WINDOW_DEFAULT, &g->stream))
			return fh_error_set(err, FH_E_PROTOCOL, "the engine sent a malformed stream of a file");
		g->started = true;
	}
	if (r.malformed || !g->started)
		return fh_error_set(err, FH_E_PROTOCOL, "the engine named no stream for a file");
	g->stream.kind = FH_KIND_FILE;
	g->stream.key = call;
	g->stream.ceiling = g->max_bytes;
	fh_flow_open(call->connection, &g->stream);
	return 0;
}

/* Receives the file's bytes. */
static int get_loop(struct fh_connection *c, struct get *g, struct fh_buf *to, struct fh_error *err)
{
	int r = 0;
	for (bool end = false; !end && r == 0;) {
		fh_auto_buf struct fh_buf piece = FH_BUF_INIT(FH_WINDOW_MAX);
		struct fh_wait w;
		fh_wait_begin(&w, c, &g->call);
		while (r == 0 && !g->call.error.code && !g->stream.data.n && !(g->call.done && g->stream.ended))
			r = fh_wait_step(&w, 0, err);
		if (g->started)
			fh_flow_take_all(&g->stream, &piece);
		end = g->call.error.code || (g->call.done && g->stream.ended && !g->stream.data.n);
		fh_wait_end(&w);
		if (piece.n)
			(void)fh_buf_add(to, piece.p, piece.n);
		if (r == 0 && !end)
			r = fh_flow_credit(c, &g->stream, FH_WINDOW_DEFAULT / 4, err);
	}
	if (r == 0 && g->call.error.code) {
		if (err)
			*err = g->call.error;
		r = -(int)g->call.error.code;
	}
	return r;
}

int fh_sandbox_get_file(struct fh_sandbox *sandbox, const char *name, size_t max_bytes, uint8_t **ret_data,
                        size_t *ret_size, struct fh_error *err)
{
	struct fh_connection *c = sandbox->client->connection;
	struct get g = { .call = { .on_answer = on_get }, .max_bytes = FH_MIN(max_bytes, FH_BUF_DEFAULT_MAX) };
	fh_auto_buf struct fh_buf frame = FH_BUF_INIT(0), data = FH_BUF_INIT(0);
	fh_call_begin(c, &g.call);
	size_t mark = fh_frame_begin(&frame, FH_FRAME_GET, 0, g.call.request, sandbox->id);
	fh_wire_text(&frame, F_NAME, name);
	fh_wire_u64(&frame, F_MAX_BYTES, g.max_bytes);
	fh_frame_end(&frame, mark);
	int r = fh_connection_send(c, &frame, err);
	if (r == 0)
		r = get_loop(c, &g, &data, err);
	fh_call_end(&g.call);
	if (g.started)
		fh_flow_close(c, &g.stream);
	if (r == 0)
		*ret_data = (uint8_t *)fh_buf_take(&data, ret_size);
	return r;
}
