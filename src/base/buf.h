/* SPDX-License-Identifier: MIT */
/*
 * A growing byte buffer with a ceiling.
 *
 * Invariants: `n <= cap`. After the first append `p[n]` is NUL, so `p` is a C string if no NUL was added; before that
 * `p` may be NULL (fh_buf_cstr never returns NULL). n never exceeds max: an append that would exceed it adds nothing,
 * returns -FH_E_LIMIT and sets `overflowed`, so that a caller may append many pieces and check once at the end. max 0
 * means FH_BUF_DEFAULT_MAX.
 *
 * A buffer initialised with FH_BUF_INIT(max) needs no release while it is empty. fh_buf_release frees the memory; the
 * buffer can be used again. fh_buf_take passes the memory to the caller, who frees it.
 */
#pragma once
#include "base/base.h"

#define FH_BUF_DEFAULT_MAX ((size_t)1 << 30)

struct fh_buf {
	char *p;
	size_t n, cap, max;
	bool overflowed;
};
#define FH_BUF_INIT(ceiling)                                                                                           \
	{                                                                                                                  \
		.max = (ceiling)                                                                                               \
	}

void fh_buf_release(struct fh_buf *b);
#define fh_auto_buf FH_CLEANUP(fh_buf_release)

int fh_buf_add(struct fh_buf *b, const void *p, size_t n);
static inline int fh_buf_add_str(struct fh_buf *b, struct fh_str s)
{
	return fh_buf_add(b, s.p, s.n);
}
int fh_buf_adds(struct fh_buf *b, const char *s);
static inline int fh_buf_addc(struct fh_buf *b, char c)
{
	if (b->n >= b->cap)
		return fh_buf_add(b, &c, 1);
	b->p[b->n++] = c;
	b->p[b->n] = '\0';
	return 0;
}
int fh_buf_addi(struct fh_buf *b, int64_t i); /* Appends i in decimal, as "%lld" does, but many times faster. */
int fh_buf_addf(struct fh_buf *b, const char *format, ...) FH_PRINTF(2, 3);
int fh_buf_vaddf(struct fh_buf *b, const char *format, va_list args) FH_PRINTF(2, 0);

/* Returns room for n more bytes at p + n, or NULL if they exceed max. The caller adds the number of bytes written to
 * n. */
char *fh_buf_reserve(struct fh_buf *b, size_t n);

/* Drops the first n bytes (n <= b->n). */
void fh_buf_drop(struct fh_buf *b, size_t n);
/* Shortens to n bytes (n <= b->n); keeps the memory. */
void fh_buf_truncate(struct fh_buf *b, size_t n);

const char *fh_buf_cstr(const struct fh_buf *b);
FH_OWN char *fh_buf_take(
    struct fh_buf *b,
    size_t *ret_n); /* Gives the buffer's memory to the caller, who frees it; never NULL. ret_n may be NULL. */
static inline struct fh_str fh_buf_str(const struct fh_buf *b)
{
	return (struct fh_str){ b->p ? b->p : "", b->n };
}
