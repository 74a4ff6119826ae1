/* SPDX-License-Identifier: MIT */
/*
 * An eval's config file: found, loaded, {{env.X}} rendered, $ref resolved, its shape checked. What its parts mean is
 * the business of prompts.h, providers.h and tests.h, which read them into lists of plain data; plan.h makes the
 * matrix of them.
 */
#pragma once
#include "eval/config/document.h"

struct fh_script_pool;

struct fh_eval_warning {
	struct fh_error error;
	bool with_results; /* to be told again where the results are shown: part of the config had no effect */
};

struct fh_eval_config {
	struct fh_document *document; /* first of all documents that were read */
	const json_t *root;           /* what all files of -c say together, borrowed */
	struct fh_document **parts;   /* the documents of the files of -c, in order; never none */
	size_t part_count, part_capacity;
	char *path, *dir;                 /* of the first file, absolute; relative file:// paths start at dir */
	json_t *env;                      /* for templates: the environment and the config's own `env` */
	bool lenient;                     /* keys that are nearly known ones are noted, not refused */
	struct fh_eval_warning *warnings; /* what is odd, but not wrong */
	size_t warning_count, warning_capacity;
};

/* What loading needs beyond the files; all borrowed. */
struct fh_eval_config_options {
	bool lenient;
	FH_NULLABLE struct fh_script_pool *scripts; /* evaluates configs in JavaScript */
};

/* promptfooconfig.yaml, .yml, .json or one in JavaScript or TypeScript in dir, or NULL. free() it. */
FH_OWN FH_NULLABLE char *fh_eval_config_find(const char *dir);
/* A config with nothing in it, for an eval that the command line describes whole. */
void fh_eval_config_empty(bool lenient, struct fh_eval_config *ret);
/* Loads one config, or several (paths or globs) as one: lists one behind the other, of single values the last. */
int fh_eval_config_load(const char *const *paths, size_t count, const struct fh_eval_config_options *options,
                        struct fh_eval_config *ret, struct fh_error *err);
void fh_eval_config_release(struct fh_eval_config *c);
/* Adds a warning at a place of a document; formats as fh_document_error. */
void fh_eval_config_warn(struct fh_eval_config *c, const struct fh_document *d, const char *place, const char *format,
                         ...) FH_PRINTF(4, 5);
/* The same for what has no effect, or not the one that is likely meant: told with the results, too. */
void fh_eval_config_note(struct fh_eval_config *c, const struct fh_document *d, const char *place, const char *format,
                         ...) FH_PRINTF(4, 5);
/* Loads a further file that the config names, renders its {{env.X}} and keeps it with the config. */
int fh_eval_config_document(struct fh_eval_config *c, const char *path, struct fh_document **ret, struct fh_error *err);

/* `value`, or what is in the file(s) that it names when it is "file://NAME": YAML, JSON, CSV, text; lists of several
 * files follow each other. New reference. */
int fh_eval_config_value(struct fh_eval_config *c, const struct fh_document *d, FH_NULLABLE const json_t *value,
                         const char *place, json_t **ret, struct fh_error *err);
/* The same at every depth of a value that was read from a file; variables and scripts stay as they are. */
int fh_eval_config_expand(struct fh_eval_config *c, const struct fh_document *d, const json_t *value, json_t **ret,
                          struct fh_error *err);

/* The files that "file://PATTERN" or "PATTERN" (relative to the config) stands for; a pattern without wildcards is
 * itself. In each folder the last name comes first, which is how promptfoo's glob gives them. Error when there is none.
 * Release with fh_eval_paths_release. */
struct fh_eval_paths {
	char **items;
	size_t count;
};
int fh_eval_config_paths(const struct fh_eval_config *c, const char *pattern, struct fh_eval_paths *ret,
                         struct fh_error *err);
void fh_eval_paths_release(struct fh_eval_paths *p);
/* path as seen from the config's folder, for labels; points into path. */
const char *fh_eval_config_shorten(const struct fh_eval_config *c, const char *path);
