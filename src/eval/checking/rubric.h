/* SPDX-License-Identifier: MIT */
/*
 * Asks a model to grade: renders the prompt (a default for each kind, or the config's rubricPrompt) with what is to be
 * graded, calls the grader, and finds JSON in its answer.
 *
 * A prompt is a template; in a JSON prompt (a chat) each string is a template. Objects and lists among the variables
 * render as JSON. The model's answer is untrusted data: the caller decides whether it holds a verdict. Where it
 * holds none the row is an error, never a pass or a fail.
 */
#pragma once
#include "eval/checking/graders.h"
#include "eval/services/services.h"

struct fh_rubric_call {
	const char *what; /* the assertion's type */
	FH_NULLABLE const json_t *assertion, *test;
	const json_t *vars; /* for the template; also the grader's context.vars */
	struct fh_graders *graders;
	struct fh_services *services;
	const char *config_dir;
	FH_NULLABLE json_t *about; /* object: gets the grader's metadata and renderedGradingPrompt; NULL: neither */
};

/* Default prompts; rubric_prompts.c says which variables each one uses. */
extern const char fh_rubric_prompt_rubric[], fh_rubric_prompt_search[], fh_rubric_prompt_agent[],
    fh_rubric_prompt_factuality[], fh_rubric_prompt_closed_qa[], fh_rubric_prompt_select_best[],
    fh_rubric_prompt_steps[], fh_rubric_prompt_evaluate[], fh_rubric_prompt_question[], fh_rubric_prompt_recall[],
    fh_rubric_prompt_relevance[], fh_rubric_prompt_statements[], fh_rubric_prompt_verdicts[],
    fh_rubric_prompt_conversation[], fh_rubric_prompt_goal[];

/* Asks with the assertion's rubricPrompt, else the test's, else `usual`. *ret is the answer as text; free() it. */
int fh_rubric_ask(const struct fh_rubric_call *c, const char *usual, char **ret, json_t *tokens, struct fh_error *err);
/* The same with a rubricPrompt that the caller chose (NULL: `usual`). If the answer is an object, *ret_object, when not
 * NULL, gets it, and *ret is its JSON. */
int fh_rubric_ask_with(const struct fh_rubric_call *c, FH_NULLABLE const json_t *prompt, const char *usual, char **ret,
                       json_t *tokens, struct fh_error *err);
/* rubricPrompt of the assertion, else of the test's options; NULL when neither has one. */
FH_NULLABLE const json_t *fh_rubric_prompt(const struct fh_rubric_call *c);

/* The JSON value that a string holds; any other value unchanged. New reference. */
FH_OWN json_t *fh_rubric_parsed(const json_t *output);
/* The first JSON object in an answer, or NULL. New reference. */
FH_OWN FH_NULLABLE json_t *fh_rubric_object(const char *answer);
