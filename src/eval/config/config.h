/* SPDX-License-Identifier: MIT */
/*
 * An eval's config file: found, loaded, {{env.X}} rendered, $ref resolved, its shape checked. Its parts are read into
 * lists of plain data by prompts.h, providers.h and tests.h; plan.h makes the matrix of them.
 */
#pragma once
#include "eval/common/document.h"

struct fh_script_pool;

struct fh_eval_warning {
	struct fh_error error;
	bool with_results; /* repeat the warning beside the results: a part of the config had no effect */
};

struct fh_eval_config {
	struct fh_document *document; /* head of the list of all documents that were read */
	const json_t *root;           /* the files of -c joined into one config, borrowed */
	struct fh_document **parts;   /* the documents of the files of -c, in order; at least one */
	size_t part_count, part_capacity;
	char *path, *dir;                 /* of the first config, absolute; relative file:// paths start at dir */
	json_t *env;                      /* variables for {{env.X}}: the environment and the config's own `env` */
	bool lenient;                     /* a key that looks like a misspelt one is a warning, not an error */
	struct fh_eval_warning *warnings; /* about parts that are unusual, but not wrong */
	size_t warning_count, warning_capacity;
};

/* What loading needs beyond the files; all borrowed. */
struct fh_eval_config_options {
	bool lenient;
	FH_NULLABLE struct fh_script_pool *scripts; /* evaluates configs in JavaScript */
};

/* The config file in dir: promptfooconfig.yaml, .yml, .json, or one in JavaScript or TypeScript; NULL when there is
 * none. free() it. */
FH_OWN FH_NULLABLE char *fh_eval_config_find(const char *dir);
/* An empty config, for an eval that the command line describes completely. */
void fh_eval_config_empty(bool lenient, struct fh_eval_config *ret);
/* Loads configs (paths or globs) and joins them into one: lists are concatenated, of single values the last file's
 * counts. */
int fh_eval_config_load(const char *const *paths, size_t count, const struct fh_eval_config_options *options,
                        struct fh_eval_config *ret, struct fh_error *err);
void fh_eval_config_release(struct fh_eval_config *c);
/* Adds a warning about a place in a document; `format` as in fh_document_error. */
void fh_eval_config_warn(struct fh_eval_config *c, const struct fh_document *d, const char *place, const char *format,
                         ...) FH_PRINTF(4, 5);
/* The same for a part of the config that has no effect, or probably not the intended one: the warning is repeated
 * beside the results. */
void fh_eval_config_note(struct fh_eval_config *c, const struct fh_document *d, const char *place, const char *format,
                         ...) FH_PRINTF(4, 5);
/* Renders the {{env.X}} in a value that `env`, an object or null, has variables for. New reference: the value itself
 * when there are none. */
FH_OWN json_t *fh_eval_config_render_env(const json_t *value, const json_t *env);
/* Loads a further file that the config names, renders its {{env.X}} and keeps it with the config. */
int fh_eval_config_document(struct fh_eval_config *c, const char *path, struct fh_document **ret, struct fh_error *err);

/* Resolves a value: "file://NAME" stands for the content of the file or files (YAML, JSON, CSV, text; lists of several
 * files are concatenated), any other value for itself. New reference. */
int fh_eval_config_value(struct fh_eval_config *c, const struct fh_document *d, FH_NULLABLE const json_t *value,
                         const char *place, json_t **ret, struct fh_error *err);
/* Resolves file:// at every depth of a value that was read from a file, except in variables and scripts. */
int fh_eval_config_expand(struct fh_eval_config *c, const struct fh_document *d, const json_t *value, json_t **ret,
                          struct fh_error *err);
/* fh_eval_config_document, and its whole value expanded: a new reference. */
int fh_eval_config_whole(struct fh_eval_config *c, const char *path, struct fh_document **ret_document, json_t **ret,
                         struct fh_error *err);

/* The files that "file://PATTERN" or "PATTERN" (relative to the config) matches; a pattern without wildcards names one
 * file. Within a folder the names are in descending order, as promptfoo's glob returns them. An error when nothing
 * matches. Release with fh_eval_paths_release. */
struct fh_eval_paths {
	char **items;
	size_t count;
};
int fh_eval_config_paths(const struct fh_eval_config *c, const char *pattern, struct fh_eval_paths *ret,
                         struct fh_error *err);
void fh_eval_paths_release(struct fh_eval_paths *p);
/* path relative to the config's folder, for labels; points into path. */
const char *fh_eval_config_shorten(const struct fh_eval_config *c, const char *path);
