/* SPDX-License-Identifier: MIT */
/*
 * Asking a model to grade: the prompt (a default for each kind, or the config's rubricPrompt) rendered with what is to
 * be graded, the call, and reading JSON out of the answer.
 *
 * A prompt is a template; when it is JSON (a chat), each of its strings is one. Objects and lists among the variables
 * render as JSON. What the model answers is data: whoever calls this decides whether it holds a verdict, and where it
 * does not, the row is an error, never a pass and never a fail.
 */
#pragma once
#include "eval/grading/graders.h"
#include "eval/grading/services.h"

struct fh_rubric_call {
	const char *what; /* the assertion's type */
	FH_NULLABLE const json_t *assertion, *test;
	const json_t *vars; /* for the template, and the grader's context */
	struct fh_graders *graders;
	struct fh_services *services;
	const char *config_dir;
};

/* Default prompts (rubric_prompts.c); which variables each uses stands there. */
extern const char fh_rubric_prompt_rubric[], fh_rubric_prompt_search[], fh_rubric_prompt_agent[],
    fh_rubric_prompt_factuality[], fh_rubric_prompt_closed_qa[], fh_rubric_prompt_select_best[],
    fh_rubric_prompt_steps[], fh_rubric_prompt_evaluate[], fh_rubric_prompt_question[], fh_rubric_prompt_recall[],
    fh_rubric_prompt_relevance[], fh_rubric_prompt_statements[], fh_rubric_prompt_verdicts[],
    fh_rubric_prompt_conversation[], fh_rubric_prompt_goal[];

/* Asks with the assertion's rubricPrompt, the test's, or `usual`. *ret is the answer as text; free() it. */
int fh_rubric_ask(const struct fh_rubric_call *c, const char *usual, char **ret, json_t *tokens, struct fh_error *err);
/* The same with a rubricPrompt that was chosen already (NULL: `usual`). *ret_object, when not NULL, is the answer
 * itself when it is an object (and *ret then its JSON). */
int fh_rubric_ask_with(const struct fh_rubric_call *c, FH_NULLABLE const json_t *prompt, const char *usual, char **ret,
                       json_t *tokens, struct fh_error *err);
/* rubricPrompt of the assertion, else of the test's options; NULL: none. */
FH_NULLABLE const json_t *fh_rubric_prompt(const struct fh_rubric_call *c);

/* A string that holds JSON as that value, anything else as it is. New reference. */
FH_OWN json_t *fh_rubric_parsed(const json_t *output);
/* The first JSON object in an answer; NULL: there is none. New reference. */
FH_OWN FH_NULLABLE json_t *fh_rubric_object(const char *answer);
