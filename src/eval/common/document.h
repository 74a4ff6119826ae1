/* SPDX-License-Identifier: MIT */
/*
 * A file that the user wrote (a config, a list of tests or providers): YAML or JSON as one JSON value, with the
 * position of each part for errors.
 *
 * A place is a path of keys and indices joined by '/': "tests/3/assert/0/type". (A key that contains a '/' cannot be
 * addressed: the place is that of the object around it.)
 */
#pragma once
#include "json/json.h"

struct fh_yaml_positions;

struct fh_document {
	char *path; /* path of the file as errors show it */
	json_t *root;
	json_t *loaded; /* the value as read, whose parts have positions; root has templates rendered */
	struct fh_yaml_positions *positions; /* NULL: positions are unknown (the output of a script) */
	struct fh_document *next;            /* next of a list that its owner frees as a whole */
};

/* The maximum bytes of a text file that is a value as a whole (a variable, what an assertion compares with). */
#define FH_VALUE_FILE_MAX ((size_t)64 << 20)

/* Reads the file as YAML; JSON is a subset of it. */
int fh_document_load(const char *path, struct fh_document **ret, struct fh_error *err);
/* Makes a document of a value from elsewhere (the output of a script); takes over root. */
FH_OWN struct fh_document *fh_document_new(const char *path, FH_OWN json_t *root);
/* Lets go of the value of a document without positions, whose path alone is needed from now on. */
void fh_document_forget(struct fh_document *d);
void fh_document_free_list(struct fh_document *d); /* NULL is fine */

/* The place of a member or of an item below `place`, which may be "". free() it. */
FH_OWN char *fh_document_member(const char *place, const char *name);
FH_OWN char *fh_document_item(const char *place, size_t index);
/* Sets FH_E_CONFIG with the position of the place. Returns its negative code. */
int fh_document_error(const struct fh_document *d, const char *place, struct fh_error *err, const char *format, ...)
    FH_PRINTF(4, 5);
/* Adds the position of `place` to an error that has none (a provider's, an assertion's). Returns the code of
 * FH_E_CONFIG. */
int fh_document_place(const struct fh_document *d, const char *place, struct fh_error *err);
