/* SPDX-License-Identifier: MIT */
#include "sandbox/connection/mux.h"

#include <errno.h>

#include "proto/wire.h"

static struct fh_flow **bucket_of(struct fh_connection *c, struct fh_id id)
{
	return &c->streams[id.b[0] % FH_MUX_BUCKETS];
}

FH_NULLABLE static struct fh_flow *find_flow(struct fh_connection *c, struct fh_id id)
{
	struct fh_flow *s = *bucket_of(c, id);
	while (s && !fh_id_eq(s->id, id))
		s = s->next;
	return s;
}

static void unlink_stream(struct fh_connection *c, struct fh_flow *s)
{
	for (struct fh_flow **at = bucket_of(c, s->id); *at; at = &(*at)->next) {
		if (*at == s) {
			*at = s->next;
			break;
		}
	}
	s->open = false;
}

void fh_flow_open(struct fh_connection *c, struct fh_flow *s)
{
	struct fh_flow *older = find_flow(c, s->id);
	if (older) {
		unlink_stream(c, older);
		older->taken_over = true;
		fh_connection_wake(c, older->key);
	}
	if (!s->key)
		s->key = s;
	s->data = (struct fh_buf)FH_BUF_INIT(FH_WINDOW_MAX);
	struct fh_flow **at = bucket_of(c, s->id);
	s->next = *at;
	*at = s;
	s->open = true;
}

void fh_flow_close(struct fh_connection *c, struct fh_flow *s)
{
	pthread_mutex_lock(&c->mutex);
	if (s->open)
		unlink_stream(c, s);
	fh_buf_release(&s->data);
	pthread_mutex_unlock(&c->mutex);
}

bool fh_flow_parse(struct fh_str message, uint64_t fallback, struct fh_flow *ret)
{
	struct fh_flow s = { .kind = FH_KIND_FILE, .window = fallback, .ceiling = UINT64_MAX };
	if (message.n == sizeof(s.id.b)) {
		memcpy(s.id.b, message.p, sizeof(s.id.b));
		*ret = s;
		return !fh_id_is_zero(s.id);
	}
	struct fh_wire_reader r = fh_wire_reader(message);
	struct fh_wire_field x;
	while (fh_wire_next(&r, &x)) {
		if (x.tag == F_ID && x.value.n == sizeof(s.id.b)) {
			memcpy(s.id.b, x.value.p, sizeof(s.id.b));
		} else if (x.tag == F_KIND) {
			uint64_t kind = fh_wire_get_u64(&r, &x);
			/* FH_KIND_COUNT_ stands for all kinds of a newer engine, which callers ignore */
			s.kind = (enum fh_stream_kind)FH_MIN(kind, (uint64_t)FH_KIND_COUNT_);
		} else if (x.tag == F_WINDOW) {
			s.window = fh_wire_get_u64(&r, &x);
		} else if (x.tag == F_OFFSET) {
			s.position = s.credited = fh_wire_get_u64(&r, &x);
		}
	}
	if (r.malformed || fh_id_is_zero(s.id) || s.window == 0 || s.window > FH_WINDOW_MAX || s.position > INT64_MAX)
		return false;
	*ret = s;
	return true;
}

/* ------------------------------------------------------------------------------------------------------- incoming */

static int check_data(const struct fh_flow *s, uint64_t offset, size_t n, struct fh_error *err)
{
	if (s->ended)
		return fh_error_set(err, FH_E_PROTOCOL, "the engine sent %zu bytes after the end of a stream", n);
	if (n > FH_FRAME_DATA_MAX)
		return fh_error_set(err, FH_E_PROTOCOL, "the engine sent %zu bytes of a stream at once; at most %d are allowed",
		                    n, FH_FRAME_DATA_MAX);
	if (offset != s->position)
		return fh_error_set(err, FH_E_PROTOCOL, "the engine sent byte %llu of a stream where byte %llu was due",
		                    (unsigned long long)offset, (unsigned long long)s->position);
	if (n > s->window - (s->position - s->credited))
		return fh_error_set(err, FH_E_PROTOCOL, "the engine sent more of a stream than its credit of %llu bytes",
		                    (unsigned long long)s->window);
	if (s->ceiling < s->position + n)
		return fh_error_set(err, FH_E_PROTOCOL, "the engine sent more than the %llu bytes that it announced",
		                    (unsigned long long)s->ceiling);
	return 0;
}

int fh_flow_on_data(struct fh_connection *c, const struct fh_frame *f, struct fh_error *err)
{
	uint64_t offset;
	struct fh_str bytes;
	if (!fh_frame_data(f, &offset, &bytes))
		return fh_error_set(err, FH_E_PROTOCOL, "the engine sent a data frame without its offset");
	struct fh_flow *s = find_flow(c, f->id);
	if (!s) /* this side has closed the stream meanwhile */
		return 0;
	if (s->kind == FH_KIND_STDIN) { /* END on stdin: its reader in the sandbox is gone */
		s->ended = s->ended || (f->flags & FH_DATA_END);
		fh_connection_wake(c, s->key);
		return 0;
	}
	int r = check_data(s, offset, bytes.n, err);
	if (r < 0)
		return r;
	if (bytes.n)
		(void)fh_buf_add(&s->data, bytes.p, bytes.n);
	s->position += bytes.n;
	if (f->flags & FH_DATA_END) {
		s->ended = true;
		s->truncated = f->flags & FH_DATA_TRUNCATED;
	}
	s->taken_over = s->taken_over || (f->flags & FH_DATA_TAKEN_OVER);
	fh_connection_wake(c, s->key);
	return 0;
}

size_t fh_flow_take(struct fh_flow *s, void *to, size_t n)
{
	n = FH_MIN(n, s->data.n);
	if (n) {
		memcpy(to, s->data.p, n);
		fh_buf_drop(&s->data, n);
	}
	return n;
}

void fh_flow_take_all(struct fh_flow *s, struct fh_buf *to)
{
	struct fh_buf empty = *to;
	*to = s->data;
	s->data = empty;
	s->data.max = to->max;
}

int fh_flow_credit(struct fh_connection *c, struct fh_flow *s, size_t threshold, struct fh_error *err)
{
	struct fh_wait w;
	int r = 0;
	fh_wait_begin(&w, c, &c->queue);
	uint64_t taken = s->position - s->data.n;
	if (s->open && taken > s->credited && taken - s->credited >= threshold && !c->broken.code) {
		fh_auto_buf struct fh_buf frame = FH_BUF_INIT(0);
		s->credited = taken;
		fh_frame_write_credit(&frame, s->id, taken);
		r = fh_wait_flushed(&w, fh_connection_enqueue(c, fh_buf_str(&frame)), err);
	}
	fh_wait_end(&w);
	return r;
}

/* ------------------------------------------------------------------------------------------------------- outgoing */

int fh_flow_on_credit(struct fh_connection *c, const struct fh_frame *f, struct fh_error *err)
{
	struct fh_flow *s = find_flow(c, f->id);
	if (!s || s->kind != FH_KIND_STDIN)
		return 0;
	struct fh_wire_reader r = fh_wire_reader(f->payload);
	struct fh_wire_field x;
	uint64_t offset = s->credited;
	while (fh_wire_next(&r, &x))
		if (x.tag == F_OFFSET)
			offset = fh_wire_get_u64(&r, &x);
	if (r.malformed)
		return fh_error_set(err, FH_E_PROTOCOL, "the engine sent a malformed credit frame");
	if (offset > s->position)
		return fh_error_set(err, FH_E_PROTOCOL, "the engine took byte %llu of an input of %llu",
		                    (unsigned long long)offset, (unsigned long long)s->position);
	if (offset > s->credited) {
		s->credited = offset;
		fh_connection_wake(c, s->key);
	}
	return 0;
}

static int gone(struct fh_error *err)
{
	(void)fh_error_set(err, FH_E_NOT_FOUND, "the process does not read its stdin any more");
	if (err)
		err->sys = EPIPE;
	return -FH_E_NOT_FOUND;
}

/* Waits for credit and sends one frame. Returns the number of bytes sent, or a negative code. */
static ssize_t write_piece(struct fh_connection *c, struct fh_flow *s, const char *p, size_t n, const bool *stop,
                           struct fh_error *err)
{
	struct fh_wait w;
	int r = 0;
	uint64_t room = 0;
	fh_wait_begin(&w, c, s->key);
	while (r == 0) {
		room = s->window - (s->position - s->credited);
		if (s->ended || !s->open)
			r = gone(err);
		else if (stop && *stop)
			r = fh_error_set(err, FH_E_CANCELLED, "cancelled");
		else if (room)
			break;
		else
			r = fh_wait_step(&w, 0, err);
	}
	if (r == 0) { /* counted and queued under one lock, so that the bytes of two writers keep their order */
		fh_auto_buf struct fh_buf frame = FH_BUF_INIT(0);
		n = FH_MIN(n, FH_MIN(room, (uint64_t)FH_FRAME_DATA_MAX));
		fh_frame_write_data(&frame, s->id, 0, s->position, (struct fh_str){ p, n });
		s->position += n;
		r = fh_wait_flushed(&w, fh_connection_enqueue(c, fh_buf_str(&frame)), err);
	}
	fh_wait_end(&w);
	return r < 0 ? r : (ssize_t)n;
}

int fh_flow_write(struct fh_connection *c, struct fh_flow *s, const void *p, size_t n, const bool *stop,
                  struct fh_error *err)
{
	const char *from = p;
	while (n > 0) {
		ssize_t r = write_piece(c, s, from, n, stop, err);
		if (r < 0)
			return (int)r;
		from += r;
		n -= (size_t)r;
	}
	return 0;
}

int fh_flow_end(struct fh_connection *c, struct fh_flow *s, struct fh_error *err)
{
	struct fh_wait w;
	int r = 0;
	fh_wait_begin(&w, c, &c->queue);
	if (!s->ended && s->open) {
		fh_auto_buf struct fh_buf frame = FH_BUF_INIT(0);
		fh_frame_write_data(&frame, s->id, FH_DATA_END, s->position, (struct fh_str){ "", 0 });
		s->ended = true;
		fh_connection_wake(c, s->key); /* a writer that waits for room waits in vain */
		r = fh_wait_flushed(&w, fh_connection_enqueue(c, fh_buf_str(&frame)), err);
	}
	fh_wait_end(&w);
	return r;
}
