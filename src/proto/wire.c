/* SPDX-License-Identifier: MIT */
#include "proto/wire.h"

enum { HEADER = 8 };

static void put_le(uint8_t *p, uint64_t v, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		p[i] = (uint8_t)(v >> (8 * i));
}

static uint64_t get_le(const char *p, size_t bytes)
{
	uint64_t v = 0;
	for (size_t i = 0; i < bytes; i++)
		v |= (uint64_t)(uint8_t)p[i] << (8 * i);
	return v;
}

static void header(struct fh_buf *out, uint16_t tag, size_t n)
{
	uint8_t h[HEADER] = { 0 };
	put_le(h, tag, 2);
	put_le(h + 4, n, 4);
	(void)fh_buf_add(out, h, sizeof(h));
}

void fh_wire_u64(struct fh_buf *out, uint16_t tag, uint64_t value)
{
	uint8_t v[8];
	put_le(v, value, 8);
	header(out, tag, sizeof(v));
	(void)fh_buf_add(out, v, sizeof(v));
}

void fh_wire_bytes(struct fh_buf *out, uint16_t tag, const void *p, size_t n)
{
	header(out, tag, n);
	if (n)
		(void)fh_buf_add(out, p, n);
}

void fh_wire_text(struct fh_buf *out, uint16_t tag, const char *s)
{
	fh_wire_bytes(out, tag, s, strlen(s));
}

size_t fh_wire_begin(struct fh_buf *out, uint16_t tag)
{
	header(out, tag, 0);
	return out->n;
}

void fh_wire_end(struct fh_buf *out, size_t mark)
{
	if (!out->overflowed)
		put_le((uint8_t *)out->p + mark - 4, out->n - mark, 4);
}

bool fh_wire_next(struct fh_wire_reader *r, struct fh_wire_field *ret)
{
	if (r->malformed || r->rest.n == 0)
		return false;
	if (r->rest.n < HEADER)
		goto malformed;
	size_t n = get_le(r->rest.p + 4, 4);
	if (n > r->rest.n - HEADER)
		goto malformed;
	ret->tag = (uint16_t)get_le(r->rest.p, 2);
	ret->value = (struct fh_str){ r->rest.p + HEADER, n };
	r->rest.p += HEADER + n;
	r->rest.n -= HEADER + n;
	return true;
malformed:
	r->malformed = true;
	return false;
}

uint64_t fh_wire_get_u64(struct fh_wire_reader *r, const struct fh_wire_field *f)
{
	if (f->value.n != 8) {
		r->malformed = true;
		return 0;
	}
	return get_le(f->value.p, 8);
}

char *fh_wire_get_text(struct fh_wire_reader *r, const struct fh_wire_field *f)
{
	if (f->value.n && memchr(f->value.p, 0, f->value.n)) {
		r->malformed = true;
		return fh_xstrdup("");
	}
	return fh_xstrndup(f->value.n ? f->value.p : "", f->value.n);
}
