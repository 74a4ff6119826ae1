/* SPDX-License-Identifier: MIT */
/* The prompts of a config, from text, files and lists of them. */
#pragma once
#include "base/text/sha256.h"
#include "eval/config/config.h"

struct fh_script_pool;
struct fh_text_template;

struct fh_eval_prompt {
	char *raw; /* the prompt's template */
	char *label;
	char *own_id;           /* the id that the config gives it, by which it is selected; NULL: none */
	char id[FH_SHA256_HEX]; /* SHA-256 of the label, hexadecimal, as in promptfoo */
	json_t *parsed;         /* raw parsed as JSON, whose strings are rendered one by one; NULL: raw is no JSON */
	struct fh_text_template *compiled; /* raw as a template; NULL: it has no tags, or a mistake that its rows tell */
	json_t *config;                    /* overrides the provider's config; NULL: the prompt has no config */
	char *file;                        /* absolute path of a script that makes the prompt; NULL: raw is the template */
	char *function;                    /* function in file; NULL: the file's default */
	char **program;                    /* command that prints the prompt, given its context as JSON; NULL: none */
};
struct fh_eval_prompts {
	struct fh_eval_prompt *items;
	size_t count, capacity;
};

/* `spec` is the config's value of "prompts" (place "prompts"), or the value of -p; NULL: the one prompt
 * "{{prompt}}". */
int fh_eval_prompts_load(struct fh_eval_config *c, FH_NULLABLE const json_t *spec, struct fh_script_pool *scripts,
                         struct fh_eval_prompts *ret, struct fh_error *err);
/* Takes a list of {raw, label, config} for the prompts: those that are in it stay what they are, others are new
 * templates. `place` is where the list comes from. */
int fh_eval_prompts_replace(struct fh_eval_config *c, const json_t *list, const char *place,
                            struct fh_eval_prompts *prompts, struct fh_error *err);
void fh_eval_prompts_release(struct fh_eval_prompts *p);
