/* SPDX-License-Identifier: MIT */
#include "proto/frame.h"

#include <errno.h>
#include <sys/random.h>
#include <unistd.h>

#include "proto/wire.h"

static void put_le(char *p, uint64_t v, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		p[i] = (char)(v >> (8 * i));
}

static uint64_t get_le(const char *p, size_t bytes)
{
	uint64_t v = 0;
	for (size_t i = 0; i < bytes; i++)
		v |= (uint64_t)(uint8_t)p[i] << (8 * i);
	return v;
}

/* ------------------------------------------------------------------------------------------------------------- ids */

void fh_id_random(struct fh_id *ret)
{
	/* for 16 bytes getrandom is never partial; it blocks only until the pool is initialised */
	while (getrandom(ret->b, sizeof(ret->b), 0) != (ssize_t)sizeof(ret->b) && errno == EINTR)
		;
}

void fh_id_hex(struct fh_id id, char out[33])
{
	static const char digits[] = "0123456789abcdef";
	for (int i = 0; i < 16; i++) {
		out[2 * i] = digits[id.b[i] >> 4];
		out[2 * i + 1] = digits[id.b[i] & 15];
	}
	out[32] = 0;
}

bool fh_id_parse(const char *hex, struct fh_id *ret)
{
	struct fh_id id = { { 0 } };
	if (strlen(hex) != 32)
		return false;
	for (int i = 0; i < 32; i++) {
		char c = hex[i];
		int v = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
		if (v < 0)
			return false;
		id.b[i / 2] = (uint8_t)(id.b[i / 2] << 4 | v);
	}
	*ret = id;
	return true;
}

/* --------------------------------------------------------------------------------------------------------- writing */

size_t fh_frame_begin(struct fh_buf *out, uint16_t type, uint16_t flags, uint64_t request, struct fh_id id)
{
	char h[FH_FRAME_HEADER_SIZE] = { 0 };
	put_le(h + 4, type, 2);
	put_le(h + 6, flags, 2);
	put_le(h + 8, request, 8);
	memcpy(h + 16, id.b, 16);
	(void)fh_buf_add(out, h, sizeof(h));
	return out->n;
}

void fh_frame_end(struct fh_buf *out, size_t mark)
{
	if (!out->overflowed)
		put_le(out->p + mark - FH_FRAME_HEADER_SIZE, out->n - mark, 4);
}

void fh_frame_write(struct fh_buf *out, uint16_t type, uint16_t flags, uint64_t request, struct fh_id id,
                    struct fh_str payload)
{
	size_t mark = fh_frame_begin(out, type, flags, request, id);
	if (payload.n)
		(void)fh_buf_add(out, payload.p, payload.n);
	fh_frame_end(out, mark);
}

void fh_frame_write_data(struct fh_buf *out, struct fh_id stream, uint16_t flags, uint64_t offset, struct fh_str bytes)
{
	char o[8];
	put_le(o, offset, 8);
	size_t mark = fh_frame_begin(out, FH_FRAME_DATA, flags, 0, stream);
	(void)fh_buf_add(out, o, sizeof(o));
	if (bytes.n)
		(void)fh_buf_add(out, bytes.p, bytes.n);
	fh_frame_end(out, mark);
}

void fh_frame_write_credit(struct fh_buf *out, struct fh_id stream, uint64_t offset)
{
	size_t mark = fh_frame_begin(out, FH_FRAME_CREDIT, 0, 0, stream);
	fh_wire_u64(out, F_OFFSET, offset);
	fh_frame_end(out, mark);
}

void fh_frame_write_hello(struct fh_buf *out, const char *program, uint64_t pid,
                          FH_NULLABLE const char *const *capabilities)
{
	(void)fh_buf_add(out, FH_FRAME_MAGIC, FH_FRAME_MAGIC_SIZE);
	size_t mark = fh_frame_begin(out, FH_FRAME_HELLO, 0, 0, (struct fh_id){ { 0 } });
	fh_wire_u64(out, F_VERSION, FH_PROTOCOL_VERSION);
	fh_wire_text(out, F_PROGRAM, program);
	fh_wire_u64(out, F_PID, pid);
	for (; capabilities && *capabilities; capabilities++)
		fh_wire_text(out, F_CAPABILITY, *capabilities);
	fh_frame_end(out, mark);
}

void fh_frame_write_error(struct fh_buf *out, uint64_t request, const struct fh_error *err)
{
	size_t mark = fh_frame_begin(out, FH_FRAME_ERROR, 0, request, (struct fh_id){ { 0 } });
	fh_wire_u64(out, F_CODE, (uint64_t)err->code);
	fh_wire_u64(out, F_PHASE, (uint64_t)err->phase);
	fh_wire_u64(out, F_SYS, (uint64_t)err->sys);
	fh_wire_u64(out, F_RETRYABLE, err->retryable);
	fh_wire_text(out, F_MESSAGE, err->message);
	fh_wire_text(out, F_HINT, err->hint);
	fh_frame_end(out, mark);
}

/* --------------------------------------------------------------------------------------------------------- reading */

void fh_frame_decoder_release(struct fh_frame_decoder *d)
{
	fh_buf_release(&d->in);
	d->used = 0;
}

/* Skips a banner up to and including the magic. Returns 1 when the magic was found. */
static int skip_banner(struct fh_frame_decoder *d, struct fh_error *err)
{
	size_t n = d->in.n;
	char *at = n >= FH_FRAME_MAGIC_SIZE ? memmem(d->in.p, n, FH_FRAME_MAGIC, FH_FRAME_MAGIC_SIZE) : NULL;
	if (at) {
		d->skipped += (size_t)(at - d->in.p);
		fh_buf_drop(&d->in, (size_t)(at - d->in.p) + FH_FRAME_MAGIC_SIZE);
		d->greeted = true;
	} else if (n >= FH_FRAME_MAGIC_SIZE) { /* keeps what may be the beginning of the magic */
		size_t drop = n - (FH_FRAME_MAGIC_SIZE - 1);
		d->skipped += drop;
		fh_buf_drop(&d->in, drop);
	}
	if (d->skipped > FH_FRAME_BANNER_MAX)
		return fh_error_set(err, FH_E_PROTOCOL, "the peer does not greet as fumehood does (%zu other bytes came first)",
		                    d->skipped);
	return d->greeted;
}

/* Called once for all frames of a read: moving the rest after each of many small frames would be slow. */
static int forget_used(struct fh_frame_decoder *d)
{
	fh_buf_drop(&d->in, d->used);
	d->used = 0;
	return 0;
}

int fh_frame_next(struct fh_frame_decoder *d, struct fh_frame *ret, struct fh_error *err)
{
	if (!d->greeted) {
		int r = skip_banner(d, err);
		if (r <= 0)
			return r;
	}
	if (d->in.n - d->used < FH_FRAME_HEADER_SIZE)
		return forget_used(d);
	const char *p = d->in.p + d->used;
	size_t n = get_le(p, 4);
	if (n > FH_FRAME_PAYLOAD_MAX)
		return fh_error_set(err, FH_E_PROTOCOL, "the peer sent a frame of %zu bytes; at most %d are allowed", n,
		                    FH_FRAME_PAYLOAD_MAX);
	if (d->in.n - d->used - FH_FRAME_HEADER_SIZE < n)
		return forget_used(d);
	struct fh_frame f = {
		.type = (uint16_t)get_le(p + 4, 2),
		.flags = (uint16_t)get_le(p + 6, 2),
		.request = get_le(p + 8, 8),
		.payload = { p + FH_FRAME_HEADER_SIZE, n },
	};
	memcpy(f.id.b, p + 16, 16);
	d->used += FH_FRAME_HEADER_SIZE + n;
	*ret = f;
	return 1;
}

bool fh_frame_data(const struct fh_frame *f, uint64_t *ret_offset, struct fh_str *ret_bytes)
{
	if (f->payload.n < 8)
		return false;
	*ret_offset = get_le(f->payload.p, 8);
	*ret_bytes = (struct fh_str){ f->payload.p + 8, f->payload.n - 8 };
	return true;
}

static void copy_text(char *to, size_t size, struct fh_str from)
{
	size_t n = FH_MIN(from.n, size - 1);
	if (n)
		memcpy(to, from.p, n);
	to[n] = 0;
}

void fh_frame_error(const struct fh_frame *f, struct fh_error *ret)
{
	struct fh_error e = { .code = FH_E_PROTOCOL };
	struct fh_wire_reader r = fh_wire_reader(f->payload);
	struct fh_wire_field x;
	while (fh_wire_next(&r, &x)) {
		uint64_t v = x.value.n == 8 ? get_le(x.value.p, 8) : 0;
		if (x.tag == F_CODE && v > 0 && v < FH_CODE_COUNT_)
			e.code = (enum fh_code)v;
		else if (x.tag == F_PHASE && v < FH_PHASE_COUNT_)
			e.phase = (enum fh_phase)v;
		else if (x.tag == F_SYS && v < 4096)
			e.sys = (int)v;
		else if (x.tag == F_RETRYABLE)
			e.retryable = v != 0;
		else if (x.tag == F_MESSAGE)
			copy_text(e.message, sizeof(e.message), x.value);
		else if (x.tag == F_HINT)
			copy_text(e.hint, sizeof(e.hint), x.value);
	}
	if (!e.message[0]) /* an error must have a message */
		copy_text(e.message, sizeof(e.message), fh_str("the peer reported a failure and did not say which"));
	*ret = e;
}
