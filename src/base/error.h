/* SPDX-License-Identifier: MIT */
/*
 * Filling a struct fh_error (its meaning: fumehood/error.h).
 *
 * Each setter returns the negative code, so that a failing function ends with `return fh_error_set(err, …);`.
 * A NULL err is allowed everywhere. Formatting truncates, it never fails.
 */
#pragma once
#include "base/base.h"
#include "fumehood/error.h"

int fh_error_set(struct fh_error *err, enum fh_code code, const char *format, ...) FH_PRINTF(3, 4);

/* Code system with errno `sys`; ": strerror" is appended to the message. */
int fh_error_sys(struct fh_error *err, int sys, const char *format, ...) FH_PRINTF(3, 4);

/* Code config, at a place of the user's file. */
int fh_error_at(struct fh_error *err, const char *file, uint32_t line, uint32_t column, const char *format, ...)
    FH_PRINTF(5, 6);

/* Puts context in front of the message: "read samples: line 3: …". Returns the negative code that err holds. */
int fh_error_wrap(struct fh_error *err, const char *format, ...) FH_PRINTF(2, 3);

/* Sets how to mend it; replaces an earlier hint. */
void fh_error_hint(struct fh_error *err, const char *format, ...) FH_PRINTF(2, 3);

/* The whole error for a person, one line, or two when there is a hint: "file:3:7: message\nhint: …". The text is
 * escaped for a terminal. buf is always NUL-terminated. Returns buf. */
const char *fh_error_text(const struct fh_error *err, char *buf, size_t size);
