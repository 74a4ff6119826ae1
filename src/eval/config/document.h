/* SPDX-License-Identifier: MIT */
/*
 * A file of the user's that says what to do (a config, a list of tests, of providers): YAML or JSON as one JSON value,
 * and where in the file each part of it stands, for errors.
 *
 * A place is a path of keys and indices joined by '/': "tests/3/assert/0/type". (A key that itself holds a '/' is
 * found up to there; the place is then that of the object around it.)
 */
#pragma once
#include "json/json.h"

struct fh_yaml_positions;

struct fh_document {
	char *path; /* as shown in errors */
	json_t *root;
	json_t *loaded; /* as it was read: positions know its parts; root may differ where templates were rendered */
	struct fh_yaml_positions *positions; /* NULL: places are not known (the output of a script) */
	struct fh_document *next;            /* documents form a list that their owner frees whole */
};

/* Any file is read as YAML, of which JSON is a part. */
int fh_document_load(const char *path, struct fh_document **ret, struct fh_error *err);
/* A document made elsewhere (the output of a script); takes over root. */
FH_OWN struct fh_document *fh_document_new(const char *path, FH_OWN json_t *root);
void fh_document_free_list(struct fh_document *d); /* NULL is fine */

/* Line and column of a place, or of the nearest thing around it; 0 when unknown. */
void fh_document_locate(const struct fh_document *d, const char *place, uint32_t *ret_line, uint32_t *ret_column);
/* Code config at the place. */
int fh_document_error(const struct fh_document *d, const char *place, struct fh_error *err, const char *format, ...)
    FH_PRINTF(4, 5);
/* Gives an error that knows no place (a provider's, an assertion's) that of `place`. Returns the code, config. */
int fh_document_place(const struct fh_document *d, const char *place, struct fh_error *err);
