/* SPDX-License-Identifier: MIT */
/*
 * The keys that a config may have: one table for each level, from which configs are checked.
 *
 * A key that is almost a known one is taken for a misspelling: an error that names the right key, unless `lenient`. Any
 * other unknown key has no effect: a warning, repeated beside the results.
 */
#pragma once
#include "eval/config/config.h"

enum fh_eval_shape {
	FH_SHAPE_ANY,
	FH_SHAPE_OBJECT,
	FH_SHAPE_LIST,
	FH_SHAPE_NUMBER,
	FH_SHAPE_TEXT,    /* text, or a number */
	FH_SHAPE_BOOLEAN, /* true or false */
	FH_SHAPE_VARS,    /* an object, or names of files that hold one */
	FH_SHAPE_COUNT_
};

struct fh_eval_key {
	const char *name;
	enum fh_eval_shape shape;
	/* For a key of promptfoo's that fumehood does not support: the error when it is given a value other than empty or
	 * false. NULL: it is supported. */
	const char *refused;
	/* The warning, given once, about a key that is accepted and has no effect. NULL: no warning. */
	const char *idle;
};
struct fh_eval_keys {
	const char *what; /* the level as messages name it, such as "a test" */
	const struct fh_eval_key *items;
	size_t count;
	bool open; /* unknown keys are allowed (they go to a provider); only misspellings are warned of */
};

extern const struct fh_eval_keys fh_eval_keys_config, fh_eval_keys_evaluate, fh_eval_keys_command_line,
    fh_eval_keys_test, fh_eval_keys_options, fh_eval_keys_assertion, fh_eval_keys_assert_set, fh_eval_keys_scenario,
    fh_eval_keys_provider, fh_eval_keys_prompt, fh_eval_keys_derived;

/* Checks names and shapes of the members of `object`, which is at `place`. */
int fh_eval_keys_check(struct fh_eval_config *c, const struct fh_document *d, const json_t *object, const char *place,
                       const struct fh_eval_keys *keys, struct fh_error *err);
