/* SPDX-License-Identifier: MIT */
#include "base/buf.h"
#include "fumehood/error.h"

#include <stdio.h>

static size_t ceiling(const struct fh_buf *b)
{
	return b->max ? b->max : FH_BUF_DEFAULT_MAX;
}

void fh_buf_release(struct fh_buf *b)
{
	free(b->p);
	b->p = NULL;
	b->n = b->cap = 0;
	b->overflowed = false;
}

char *fh_buf_reserve(struct fh_buf *b, size_t n)
{
	if (n > ceiling(b) - b->n) {
		b->overflowed = true;
		return NULL;
	}
	/* One byte is always allocated in addition, for the NUL. */
	size_t need = b->n + n;
	if (!b->p || need > b->cap) {
		size_t cap = FH_MAX(b->cap + b->cap / 2, (size_t)64);
		cap = FH_MIN(FH_MAX(cap, need), ceiling(b));
		b->p = fh_xrealloc(b->p, cap + 1, 1);
		b->cap = cap;
		b->p[b->n] = '\0';
	}
	return b->p + b->n;
}

int fh_buf_add(struct fh_buf *b, const void *p, size_t n)
{
	const char *from = p;
	if (n > 0 && n < b->cap - b->n) {
		memmove(b->p + b->n, from, n);
		b->n += n;
		b->p[b->n] = '\0';
		return 0;
	}
	/* The piece may be part of this buffer, which moves when it grows. */
	bool inside = b->p && from >= b->p && from <= b->p + b->n;
	size_t offset = inside ? (size_t)(from - b->p) : 0;
	char *to = fh_buf_reserve(b, n);
	if (!to)
		return -FH_E_LIMIT;
	if (n)
		memcpy(to, inside ? b->p + offset : from, n);
	b->n += n;
	b->p[b->n] = '\0';
	return 0;
}

int fh_buf_adds(struct fh_buf *b, const char *s)
{
	return fh_buf_add(b, s, strlen(s));
}

int fh_buf_addi(struct fh_buf *b, int64_t i)
{
	char text[24], *at = text + sizeof(text);
	uint64_t left = i < 0 ? -(uint64_t)i : (uint64_t)i;
	do
		*--at = (char)('0' + left % 10);
	while ((left /= 10) > 0);
	if (i < 0)
		*--at = '-';
	return fh_buf_add(b, at, (size_t)(text + sizeof(text) - at));
}

int fh_buf_vaddf(struct fh_buf *b, const char *format, va_list args)
{
	char small[256];
	va_list again;
	va_copy(again, args);
	int n = vsnprintf(small, sizeof(small), format, args);
	int r;
	if (n < 0) {
		r = fh_buf_add(b, "", 0);
	} else if ((size_t)n < sizeof(small)) {
		r = fh_buf_add(b, small, (size_t)n);
	} else {
		char *to = fh_buf_reserve(b, (size_t)n);
		r = to ? 0 : -FH_E_LIMIT;
		if (to) {
			vsnprintf(to, (size_t)n + 1, format, again);
			b->n += (size_t)n;
		}
	}
	va_end(again);
	return r;
}

int fh_buf_addf(struct fh_buf *b, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int r = fh_buf_vaddf(b, format, args);
	va_end(args);
	return r;
}

void fh_buf_drop(struct fh_buf *b, size_t n)
{
	if (n == 0)
		return;
	memmove(b->p, b->p + n, b->n - n + 1);
	b->n -= n;
}

void fh_buf_truncate(struct fh_buf *b, size_t n)
{
	if (n >= b->n)
		return;
	b->n = n;
	b->p[n] = '\0';
}

const char *fh_buf_cstr(const struct fh_buf *b)
{
	return b->p ? b->p : "";
}

char *fh_buf_take(struct fh_buf *b, size_t *ret_n)
{
	char *p = b->p ? b->p : fh_xmemdup("", 0);
	if (ret_n)
		*ret_n = b->n;
	b->p = NULL;
	b->n = b->cap = 0;
	b->overflowed = false;
	return p;
}
