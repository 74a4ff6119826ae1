/* SPDX-License-Identifier: MIT */
/*
 * derivedMetrics: [{name, value: EXPRESSION}], computed for each column from its named scores.
 *
 * An expression may contain numbers, pi, e, names of named scores (letters, digits, _ and $), names of derived metrics
 * that precede it in the list, __count (the number of the column's tests), + - * / % mod ^, comparisons, and, or, not,
 * a ? b : c, parentheses, and the functions of the table in derived.c (min, max, mean, median, sum, std, round, sqrt,
 * log, if …), which take lists too: mean([a, b]). As in promptfoo, the value of one that cannot be read (an unknown
 * name) is 0, and that of one that is no number (a division by zero) is null.
 */
#pragma once
#include "eval/common/document.h"

/* Computes a metric whose value is a function of a config in JavaScript ("file://FILE:NAME"). */
typedef int fh_derive_call(const void *context, const char *function, const json_t *names, double *ret,
                           struct fh_error *err);

/* Adds the metrics to `named`. An entry that is not {name, value: text}: FH_E_CONFIG with its place. *problem: why the
 * first metric that could not be computed is 0; kept if there is one already, else free() it. */
int fh_eval_derive(const struct fh_document *d, FH_NULLABLE const json_t *derived, json_t *named, size_t count,
                   fh_derive_call *function, const void *context, char **problem, struct fh_error *err);
/* Computes one expression, which may be infinite or not a number; false when it cannot be read. */
bool fh_eval_expression(const char *text, const json_t *names, double *ret);
