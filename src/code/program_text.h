/* SPDX-License-Identifier: MIT */
/*
 * Writes values of a data set as program text. Only through these functions do such values get into generated tests.
 */
#pragma once
#include "json/json.h"

/* Writes a Python expression for JSON text that was parsed before. It keeps integers of any size, the difference
 * between 1 and 1.0, and the NaN and Infinity that Python writes into JSON. */
void fh_python_of_json(struct fh_buf *out, struct fh_str json);
/* Writes a Python expression for a value as guest/python/truth.py describes it (its tags are documented there), for a
 * test that begins with guest/python/test_plus.py. -FH_E_CONFIG: not such a value. */
int fh_python_of_value(struct fh_buf *out, const json_t *tagged, struct fh_error *err);
/* Write text as a string literal, of Python or of JavaScript. */
void fh_python_string(struct fh_buf *out, struct fh_str text);
void fh_javascript_string(struct fh_buf *out, struct fh_str text);
