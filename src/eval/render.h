/* SPDX-License-Identifier: MIT */
/*
 * Renders the templates of an eval: a row's variables, its prompt, the values of its assertions.
 *
 * Variables: file:// values are loaded, one trailing newline is dropped, {{name}} of another variable is replaced by
 * its value (up to five rounds, so that variables can be nested): assertions and scripts see the result. For a text
 * prompt each variable is then rendered as a template; one that uses an unknown name, or whose braces are no valid
 * template, stays unchanged, since it may be code. Outputs that storeOutputAs made variables are no templates: a model
 * wrote them.
 *
 * In a prompt, an unknown name renders as nothing; a prompt with a tag that is never closed is not rendered. In a JSON
 * prompt each string is a template.
 */
#pragma once
#include "eval/services/services.h"
#include "eval/plan/plan.h"

/* The row's variables in the form that assertions see. New reference. */
int fh_render_vars(const struct fh_eval_plan *plan, struct fh_services *services, const json_t *vars,
                   const struct fh_eval_column *column, json_t **ret, struct fh_error *err);

/* The template of a prompt with the prefix and the suffix of a test's options. New text. */
FH_OWN char *fh_render_prompt_template(const struct fh_eval_plan *plan, const struct fh_eval_prompt *p,
                                       const json_t *options);

/* The prompt of a column for rendered vars, with the prefixes and suffixes of the test's options and of the command
 * line. *ret_config is the config that a prompt function returned (new reference), or NULL. */
int fh_render_prompt(const struct fh_eval_plan *plan, struct fh_services *services, const struct fh_eval_column *column,
                     const json_t *vars, const json_t *options, char **ret, json_t **ret_config, struct fh_error *err);
