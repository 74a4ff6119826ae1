/* SPDX-License-Identifier: MIT */
/* The prompts of a config, from text, files and lists of them. */
#pragma once
#include "base/sha256.h"
#include "eval/config/config.h"

struct fh_script_pool;

struct fh_eval_prompt {
	char *raw; /* the template */
	char *label;
	char id[FH_SHA256_HEX]; /* SHA-256 of the raw text, hexadecimal */
	json_t *parsed;         /* raw, when that is JSON: its strings are rendered one by one; NULL otherwise */
	json_t *config;         /* laid over the provider's; NULL: none */
	char *file;             /* a script that makes the prompt: absolute path; NULL: raw is the template */
	char *function;         /* of file; NULL: its default */
	char **program;         /* a command that prints the prompt, its context as JSON behind its arguments; NULL: none */
};
struct fh_eval_prompts {
	struct fh_eval_prompt *items;
	size_t count, capacity;
};

/* `spec` is what the config has under "prompts" (place "prompts"), or what -p gave; NULL: one prompt, "{{prompt}}". */
int fh_eval_prompts_load(struct fh_eval_config *c, FH_NULLABLE const json_t *spec, struct fh_script_pool *scripts,
                         struct fh_eval_prompts *ret, struct fh_error *err);
void fh_eval_prompts_release(struct fh_eval_prompts *p);
