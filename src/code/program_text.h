/* SPDX-License-Identifier: MIT */
/*
 * Values of a data set as program text: the one way in which they get into a test that we write.
 */
#pragma once
#include "json/json.h"

/* A Python expression for JSON text that has been parsed before, exactly: integers of any size, 1 beside 1.0; and for
 * what Python writes into it (NaN, Infinity). */
void fh_python_of_json(struct fh_buf *out, struct fh_str json);
/* A Python expression for what guest/python/truth.py says of a value (the tags stand there), in a test that begins with
 * guest/python/test_plus.py. -FH_E_CONFIG: no such value. */
int fh_python_of_value(struct fh_buf *out, const json_t *tagged, struct fh_error *err);
/* A string literal that holds text: of Python and of JavaScript. */
void fh_python_string(struct fh_buf *out, struct fh_str text);
void fh_javascript_string(struct fh_buf *out, struct fh_str text);
