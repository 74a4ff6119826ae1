/* SPDX-License-Identifier: MIT */
/*
 * An eval's config file: found, loaded, {{env.X}} rendered, $ref resolved, its shape checked. What its parts mean is
 * the business of prompts.h, providers.h and tests.h, which read them into lists of plain data; plan.h makes the
 * matrix of them.
 */
#pragma once
#include "eval/document.h"

struct fh_eval_config {
	struct fh_document *document; /* first of all documents that were read */
	const json_t *root;           /* its value, borrowed */
	char *path, *dir;             /* of the file, absolute; relative file:// paths start at dir */
	json_t *env;                  /* for templates: the environment and the config's own `env` */
	struct fh_error *warnings;    /* what is odd, but not wrong */
	size_t warning_count, warning_capacity;
};

/* promptfooconfig.yaml, .yml or .json in dir, or NULL. free() it. */
FH_OWN FH_NULLABLE char *fh_eval_config_find(const char *dir);
/* A config with nothing in it, for an eval that the command line describes whole. */
void fh_eval_config_empty(struct fh_eval_config *ret);
int fh_eval_config_load(const char *path, struct fh_eval_config *ret, struct fh_error *err);
void fh_eval_config_release(struct fh_eval_config *c);
/* Adds a warning at a place of a document; formats as fh_document_error. */
void fh_eval_config_warn(struct fh_eval_config *c, const struct fh_document *d, const char *place, const char *format,
                         ...) FH_PRINTF(4, 5);
/* Loads a further file that the config names, renders its {{env.X}} and keeps it with the config. */
int fh_eval_config_document(struct fh_eval_config *c, const char *path, struct fh_document **ret, struct fh_error *err);

/* The files that "file://PATTERN" or "PATTERN" (relative to the config) stands for, sorted by name; a pattern without
 * wildcards is itself. Error when there is none. Release with fh_eval_paths_release. */
struct fh_eval_paths {
	char **items;
	size_t count;
};
int fh_eval_config_paths(const struct fh_eval_config *c, const char *pattern, struct fh_eval_paths *ret,
                         struct fh_error *err);
void fh_eval_paths_release(struct fh_eval_paths *p);
/* path as seen from the config's folder, for labels; points into path. */
const char *fh_eval_config_shorten(const struct fh_eval_config *c, const char *path);
