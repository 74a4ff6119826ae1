/* SPDX-License-Identifier: MIT */
/*
 * Graders, the models that grade: chooses the provider for an assertion, and calls it.
 *
 * The provider is the assertion's `provider`, else the test's options.provider (merged with defaultTest's), else
 * defaultTest's provider, else one for which the environment has a key (OPENAI_API_KEY). It is given as an id, as {id,
 * config}, as the id or label of a provider of the config, or as {text, embedding, classification, moderation} with one
 * of these for each operation. A grader is opened on first use, once for each distinct entry.
 */
#pragma once
#include "eval/plan/plan.h"

struct fh_graders;

struct fh_graders *fh_graders_new(const struct fh_eval_plan *plan); /* opens no provider; borrows the plan */
void fh_graders_free(FH_NULLABLE struct fh_graders *g);

/* Adds a warning to the plan's config for each operation for which an assertion needs a grader and has none: its rows
 * will be errors, which is to be known before answers are paid for. */
void fh_graders_warn(struct fh_eval_plan *plan);
/* Whether the id of a grader that the command line names is a provider's: an error where no row might ask it, too. */
int fh_graders_check(const struct fh_eval_plan *plan, const char *id, struct fh_error *err);

struct fh_grader_request {
	enum fh_provider_operation operation;
	const char *what;                    /* the assertion's type, for messages and as the prompt's label */
	FH_NULLABLE const json_t *assertion; /* the assertion, for its `provider` */
	FH_NULLABLE const json_t *test;      /* the test, for its options.provider */
	struct fh_str prompt;
	FH_NULLABLE const json_t *vars; /* what the grader sees as context.vars */
};
/* Calls the grader. FH_E_ARGUMENT when it cannot be called, or its answer is an error or empty: the row becomes an
 * error, since nothing is known about the answer. Adds the call's tokens to `tokens` (an object, may be NULL). */
int fh_graders_call(struct fh_graders *g, const struct fh_grader_request *request, struct fh_provider_response *ret,
                    FH_NULLABLE json_t *tokens, struct fh_error *err);
