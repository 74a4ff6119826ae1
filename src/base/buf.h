/* SPDX-License-Identifier: MIT */
/*
 * A growing byte buffer with a ceiling.
 *
 * Invariants: `n <= cap`; once something was added, `p[n]` is NUL (so `p` is a C string when no NUL was added);
 * before, `p` may be NULL (use fh_buf_cstr for a string that is never NULL). n never exceeds max: an append that
 * would is refused whole with -FH_E_LIMIT and sets `overflowed`, so that a caller may append many pieces and test
 * once at the end. max 0 means FH_BUF_DEFAULT_MAX.
 *
 * Life: FH_BUF_INIT(max) needs no release while empty; fh_buf_release frees and leaves it usable again;
 * fh_buf_take hands the memory to the caller (free()).
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
int fh_buf_addc(struct fh_buf *b, char c);
int fh_buf_addf(struct fh_buf *b, const char *format, ...) FH_PRINTF(2, 3);
int fh_buf_vaddf(struct fh_buf *b, const char *format, va_list args) FH_PRINTF(2, 0);

/* Room for n more bytes at p + n (the caller then adds to n what it wrote), or NULL at the ceiling. */
char *fh_buf_reserve(struct fh_buf *b, size_t n);

/* Drops the first n bytes (n <= b->n). */
void fh_buf_drop(struct fh_buf *b, size_t n);
/* Shortens to n bytes (n <= b->n); keeps the memory. */
void fh_buf_truncate(struct fh_buf *b, size_t n);

const char *fh_buf_cstr(const struct fh_buf *b);
FH_OWN char *fh_buf_take(struct fh_buf *b, size_t *ret_n); /* never NULL; ret_n may be NULL */
static inline struct fh_str fh_buf_str(const struct fh_buf *b)
{
	return (struct fh_str){ b->p ? b->p : "", b->n };
}
