/* SPDX-License-Identifier: MIT */
/*
 * Fills a struct fh_error, which is defined in fumehood/error.h.
 *
 * Each setter returns the negative code, so that a failing function ends with `return fh_error_set(err, …);`. err may
 * always be NULL. Formatting truncates and never fails.
 */
#pragma once
#include "base/base.h"
#include "fumehood/error.h"

int fh_error_set(struct fh_error *err, enum fh_code code, const char *format, ...) FH_PRINTF(3, 4);

/* Sets the code FH_E_SYSTEM and the errno `sys`, and appends ": strerror" to the message. */
int fh_error_sys(struct fh_error *err, int sys, const char *format, ...) FH_PRINTF(3, 4);

/* Sets the code FH_E_CONFIG and a position in the user's file. */
int fh_error_at(struct fh_error *err, const char *file, uint32_t line, uint32_t column, const char *format, ...)
    FH_PRINTF(5, 6);

/* Puts context in front of the message: "read samples: line 3: …". Returns the negative code in err. */
int fh_error_wrap(struct fh_error *err, const char *format, ...) FH_PRINTF(2, 3);

/* Sets a hint how to fix it; replaces an earlier hint. */
void fh_error_hint(struct fh_error *err, const char *format, ...) FH_PRINTF(2, 3);

/* The whole error as text for people: one line, or two if it has a hint: "file:3:7: message\nhint: …". Escaped for a
 * terminal. buf is always NUL-terminated. Returns buf. */
const char *fh_error_text(const struct fh_error *err, char *buf, size_t size);
