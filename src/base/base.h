/* SPDX-License-Identifier: MIT */
/*
 * Included everywhere: attributes, cleanup, moving ownership, allocation, vectors, and slices of bytes.
 *
 * Ownership words in prototypes: FH_OWN (the receiver frees it), FH_NULLABLE (may be NULL). A plain pointer is
 * borrowed for the duration of the call. Outputs are called ret_* and are untouched on failure.
 */
#pragma once
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#define FH_PRINTF(f, a) __attribute__((format(printf, f, a)))
#define FH_MUST_CHECK __attribute__((warn_unused_result))
#define FH_NORETURN __attribute__((noreturn))
#define FH_UNUSED __attribute__((unused))
#define FH_CLEANUP(fn) __attribute__((cleanup(fn)))
#define FH_OWN
#define FH_NULLABLE

#define FH_ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
/* Both evaluate each argument once, so that an argument may be a call. They are no constant expressions. */
#define FH_MIN(a, b) FH_CHOOSE_(a, <, b, FH_JOIN_(fh_a_, __COUNTER__), FH_JOIN_(fh_b_, __COUNTER__))
#define FH_MAX(a, b) FH_CHOOSE_(a, >, b, FH_JOIN_(fh_a_, __COUNTER__), FH_JOIN_(fh_b_, __COUNTER__))
#define FH_CHOOSE_(a, before, b, first, second)                                                                        \
	__extension__({                                                                                                    \
		__auto_type first = (a);                                                                                       \
		__auto_type second = (b);                                                                                      \
		first before second ? first : second;                                                                          \
	})
#define FH_JOIN_(a, b) FH_JOIN_EXPANDED_(a, b)
#define FH_JOIN_EXPANDED_(a, b) a##b

#define FH_TAKE(var, null)                                                                                             \
	__extension__({                                                                                                    \
		__typeof__(var) fh_taken_ = (var);                                                                             \
		(var) = (null);                                                                                                \
		fh_taken_;                                                                                                     \
	})
#define FH_TAKE_PTR(p) FH_TAKE(p, NULL)
#define FH_TAKE_FD(fd) FH_TAKE(fd, -1)

static inline void fh_freep(void *p)
{
	free(*(void **)p);
}
void fh_closep(const int *fd); /* closes fd >= 0, keeps errno */
#define fh_auto_free FH_CLEANUP(fh_freep)
#define fh_auto_close FH_CLEANUP(fh_closep)

/* Allocation that cannot fail. All inputs are bounded, so running out of memory is not handled: it prints a message and
 * ends the process with status 70. Not for use after fork. */
void *fh_xcalloc(size_t n, size_t size) __attribute__((malloc, returns_nonnull));
void *fh_xrealloc(void *p, size_t n, size_t size) __attribute__((returns_nonnull)); /* n * size, checked */
char *fh_xstrdup(const char *s) __attribute__((malloc, returns_nonnull));
char *fh_xstrndup(const char *s, size_t n) __attribute__((malloc, returns_nonnull));
char *fh_xasprintf(const char *format, ...) FH_PRINTF(1, 2) __attribute__((malloc, returns_nonnull));
void *fh_xmemdup(const void *p, size_t n) __attribute__((malloc, returns_nonnull)); /* a NUL follows the copy */
#define FH_NEW(type) ((type *)fh_xcalloc(1, sizeof(type)))

/* Appends a zeroed element to a vector: FH_PUSH(items, count, capacity) is an lvalue for it. */
#define FH_PUSH(items, count, capacity)                                                                                \
	(*__extension__({                                                                                                  \
		if ((count) == (capacity)) {                                                                                   \
			(capacity) = (capacity) ? (capacity)*2 : 8;                                                                \
			(items) = fh_xrealloc((items), (capacity), sizeof(*(items)));                                              \
		}                                                                                                              \
		memset(&(items)[(count)], 0, sizeof(*(items)));                                                                \
		&(items)[(count)++];                                                                                           \
	}))

/* A borrowed slice of bytes, not necessarily followed by a NUL. Print with "%.*s", FH_STR_ARGS(s). */
struct fh_str {
	const char *p;
	size_t n;
};
#define FH_STR_ARGS(s) (int)(s).n, (s).p
static inline struct fh_str fh_str(const char *s)
{
	return (struct fh_str){ s, s ? strlen(s) : 0 };
}
static inline bool fh_str_eq(struct fh_str a, const char *b)
{
	return a.n == strlen(b) && memcmp(a.p, b, a.n) == 0;
}
static inline bool fh_str_same(struct fh_str a, struct fh_str b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}
static inline bool fh_str_begins(struct fh_str s, const char *with)
{
	return s.n >= strlen(with) && memcmp(s.p, with, strlen(with)) == 0;
}
/* The rest of s after its first n bytes; empty if s is shorter. */
static inline struct fh_str fh_str_from(struct fh_str s, size_t n)
{
	return n < s.n ? (struct fh_str){ s.p + n, s.n - n } : (struct fh_str){ s.p + s.n, 0 };
}
static inline bool fh_streq(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}
static inline bool fh_starts_with(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}
