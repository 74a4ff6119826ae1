/* SPDX-License-Identifier: MIT */
/*
 * The keys that a config may have, level by level: one table each, from which configs are checked.
 *
 * A key that is nearly a known one is a slip, and an error that names the one that is meant; `lenient` lets it pass.
 * Any other unknown key has no effect: it is noted, and told again where the results are shown.
 */
#pragma once
#include "eval/config/config.h"

enum fh_eval_shape {
	FH_SHAPE_ANY,
	FH_SHAPE_OBJECT,
	FH_SHAPE_LIST,
	FH_SHAPE_NUMBER,
	FH_SHAPE_TEXT,    /* or a number */
	FH_SHAPE_BOOLEAN, /* true or false */
	FH_SHAPE_VARS,    /* a map, or the names of files with one */
	FH_SHAPE_COUNT_
};

struct fh_eval_key {
	const char *name;
	enum fh_eval_shape shape;
	/* Why promptfoo has it and fumehood does not carry it out: giving it (not empty, not false) is an error with this
	 * text. NULL: it is carried out. */
	const char *refused;
	/* What is told, once, about a key that is taken and does nothing here. NULL: nothing. */
	const char *idle;
};
struct fh_eval_keys {
	const char *what; /* "a test", for messages */
	const struct fh_eval_key *items;
	size_t count;
	bool open; /* other keys have a meaning elsewhere (they go to a provider): only slips are told */
};

extern const struct fh_eval_keys fh_eval_keys_config, fh_eval_keys_evaluate, fh_eval_keys_command_line,
    fh_eval_keys_test, fh_eval_keys_options, fh_eval_keys_assertion, fh_eval_keys_assert_set, fh_eval_keys_scenario,
    fh_eval_keys_provider, fh_eval_keys_prompt, fh_eval_keys_derived;

/* Checks names and shapes of the members of `object`, which stands at `place`. */
int fh_eval_keys_check(struct fh_eval_config *c, const struct fh_document *d, const json_t *object, const char *place,
                       const struct fh_eval_keys *keys, struct fh_error *err);
