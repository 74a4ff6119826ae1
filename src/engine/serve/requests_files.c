/* SPDX-License-Identifier: MIT */
/* Requests that move files into and out of a session's sandbox. */
#include "engine/core/connection.h"
#include "engine/core/sandbox.h"
#include "engine/core/process/stream.h"
#include "engine/core/process/transfer.h"
#include "engine/serve/requests.h"

#include "engine/core/pause.h"
#include "proto/wire.h"

struct put {
	struct fh_transfer t;
	struct fh_plan_file *files;
	uint64_t *append;
	size_t count;
};

static void free_put(struct put *p)
{
	for (size_t i = 0; i < p->count; i++) {
		free(p->files[i].name);
		free(p->files[i].content.data);
	}
	free(p->files);
	free(p->append);
	free(p);
}

static void put_done(struct fh_sandbox *b, struct fh_transfer *t, const struct fh_init_done *m)
{
	struct put *p = (struct put *)(void *)t;
	struct fh_error err = FH_ERROR_INIT;
	struct fh_connection *c = t->connection;
	char why[160];
	if (c && !c->closing && m && !m->refused) {
		fh_frame_write(fh_connection_out(c), FH_FRAME_REPLY, 0, t->request, b->id, (struct fh_str){ "", 0 });
		fh_connection_flush(c);
	} else {
		size_t i = m ? (size_t)FH_MIN(m->size, p->count - 1) : 0;
		fh_error_set(&err, m ? FH_E_SYSTEM : FH_E_NOT_FOUND, "cannot put file %s into the sandbox: %s",
		             p->files[i].name, m ? fh_transfer_refused(m, why, sizeof(why)) : "it is gone");
		err.phase = FH_PHASE_FILES;
		fh_connection_error(c, t->request, &err);
	}
	free_put(p);
}

static bool get_file(struct fh_str message, struct fh_plan_file *file, uint64_t *append)
{
	struct fh_wire_reader r = fh_wire_reader(message);
	struct fh_wire_field x;
	while (fh_wire_next(&r, &x)) {
		if (x.tag == F_NAME) {
			free(file->name);
			file->name = fh_wire_get_text(&r, &x);
		} else if (x.tag == F_CONTENT) {
			free(file->content.data);
			file->content = (struct fh_bytes_owned){ fh_xmemdup(x.value.n ? x.value.p : "", x.value.n), x.value.n };
		} else if (x.tag == F_MODE) {
			file->mode = (uint32_t)fh_wire_get_u64(&r, &x) & 07777;
		} else if (x.tag == F_OFFSET) {
			*append = fh_wire_get_u64(&r, &x) != 0;
		}
	}
	size_t n = file->name ? strlen(file->name) : 0;
	return !r.malformed && n > 0 && n < FH_INIT_PATH_MAX && file->name[n - 1] != '/';
}

int fh_request_put(struct fh_connection *c, const struct fh_frame *f, struct fh_error *err)
{
	struct fh_sandbox *b = fh_request_sandbox(c, f);
	if (!b)
		return fh_request_no_sandbox(err);
	int e = fh_pause_refuses(b, err);
	if (e)
		return e;
	struct put *p = FH_NEW(struct put);
	p->files = fh_xcalloc(FH_PLAN_FILES_MAX, sizeof(*p->files));
	p->append = fh_xcalloc(FH_PLAN_FILES_MAX, sizeof(*p->append));
	p->t = (struct fh_transfer){ .connection = c, .request = f->request, .done = put_done };
	struct fh_wire_reader r = fh_wire_reader(f->payload);
	struct fh_wire_field x;
	bool ok = true;
	while (ok && fh_wire_next(&r, &x))
		if (x.tag == F_FILE) {
			ok = p->count < FH_PLAN_FILES_MAX;
			if (ok) {
				size_t i = p->count++;
				ok = get_file(x.value, &p->files[i], &p->append[i]);
			}
		}
	if (!ok || r.malformed || p->count == 0)
		e = fh_error_set(err, FH_E_PROTOCOL, "a malformed request to put files");
	else
		e = fh_transfer_put(b, p->files, p->count, b->plan->cwd, p->append, &p->t, err);
	if (e)
		free_put(p);
	return e;
}

static void get_done(struct fh_sandbox *b, struct fh_transfer *t, const struct fh_init_done *m)
{
	struct fh_connection *c = t->connection;
	struct fh_error err = FH_ERROR_INIT;
	char why[160];
	if (c && !c->closing && m && !m->refused) {
		struct fh_buf *out = fh_connection_out(c);
		size_t mark = fh_frame_begin(out, FH_FRAME_REPLY, 0, t->request, b->id);
		fh_wire_u64(out, F_SIZE, m->size);
		fh_frame_end(out, mark);
		fh_connection_flush(c);
	} else {
		bool large = m && m->refused == FH_REFUSED_TOO_LARGE, missing = !m || m->refused == FH_REFUSED_MISSING;
		fh_error_set(&err,
		             large     ? FH_E_LIMIT
		             : missing ? FH_E_NOT_FOUND
		                       : FH_E_SYSTEM,
		             "cannot bring the file back: %s",
		             m ? fh_transfer_refused(m, why, sizeof(why)) : "the sandbox is gone");
		err.phase = FH_PHASE_FILES;
		fh_connection_error(c, t->request, &err);
		t->stream->connection = NULL;
		fh_output_end(b->engine, t->stream);
	}
	free(t);
}

/* Frees the files that were sent completely, or that have no client; returns how many are left. */
static size_t drop_finished_files(struct fh_sandbox *b)
{
	size_t left = 0;
	for (struct fh_output **p = &b->files; *p;) {
		struct fh_output *s = *p;
		bool moving = false;
		for (const struct fh_transfer *t = b->transfers; t; t = t->next)
			moving = moving || t->stream == s;
		if (moving || !s->ended || (s->connection && !s->end_sent)) {
			p = &s->next;
			left++;
			continue;
		}
		*p = s->next;
		fh_output_free(b->engine, s);
	}
	return left;
}

int fh_request_get(struct fh_connection *c, const struct fh_frame *f, struct fh_error *err)
{
	struct fh_sandbox *b = fh_request_sandbox(c, f);
	fh_auto_free char *name = NULL;
	struct fh_wire_reader r = fh_wire_reader(f->payload);
	struct fh_wire_field x;
	if (!b)
		return fh_request_no_sandbox(err);
	int e = fh_pause_refuses(b, err);
	if (e)
		return e;
	while (fh_wire_next(&r, &x))
		if (x.tag == F_NAME) {
			free(name);
			name = fh_wire_get_text(&r, &x);
		}
	if (r.malformed || !name || !name[0])
		return fh_error_set(err, FH_E_PROTOCOL, "a malformed request to get a file");
	if (drop_finished_files(b) >= FH_GETS_MAX)
		return fh_error_set(err, FH_E_LIMIT, "%d files are on their way out of the sandbox already", FH_GETS_MAX);
	struct fh_transfer *t = FH_NEW(struct fh_transfer);
	*t = (struct fh_transfer){ .connection = c, .request = f->request, .done = get_done };
	uint64_t most = fh_request_number(f, F_MAX_BYTES, 64 << 20);
	t->stream = fh_output_new(c->engine, FH_KIND_FILE, c, fh_request_number(f, F_WINDOW, 0), most);
	t->stream->sandbox = b;
	t->stream->next = b->files;
	b->files = t->stream;
	e = fh_transfer_get(b, name, most, t, err);
	if (e) {
		b->files = t->stream->next;
		fh_output_free(c->engine, t->stream);
		free(t);
	} else {
		fh_transfer_announce(t->stream, c, f->request, 0);
	}
	return e;
}
