/* SPDX-License-Identifier: MIT */
/*
 * Templates of an eval: a row's variables, its prompt, the values of its assertions.
 *
 * Variables: file:// values are loaded, one trailing newline is dropped, {{name}} of another variable is put in (up to
 * five rounds, so that variables can hold each other): these are what assertions and scripts see. For a prompt of text
 * each is then rendered itself; one that names something unknown, or whose braces are no template, stays as it is: it
 * may be code. In a prompt, what is unknown renders as nothing, and a prompt with a tag that is never closed is no
 * template. In a prompt that is JSON each string is a template of its own.
 */
#pragma once
#include "eval/grading/services.h"
#include "eval/plan.h"

/* Renders text with vars (object; "env" in it is the environment). Text without braces is copied. free() *ret. */
int fh_render_text(struct fh_str text, const json_t *vars, char **ret, struct fh_error *err);

/* The row's variables as assertions see them. New reference. */
int fh_render_vars(const struct fh_eval_plan *plan, struct fh_services *services, const json_t *vars,
                   const struct fh_eval_column *column, json_t **ret, struct fh_error *err);

/* The prompt of a column for rendered vars, with prefix and suffix (of the test's options and of the command line).
 * *ret_config is what a prompt function gave as config (new reference), or NULL. */
int fh_render_prompt(const struct fh_eval_plan *plan, struct fh_services *services, const struct fh_eval_column *column,
                     const json_t *vars, const json_t *options, char **ret, json_t **ret_config, struct fh_error *err);
