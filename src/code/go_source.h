/* SPDX-License-Identifier: MIT */
/*
 * Takes a Go file apart (package clause, imports, the rest) to assemble a new one. Go refuses unused imports as well as
 * missing ones, so the imports of the new file are chosen by what its text uses. There is no Go parser behind it:
 * for text that misleads it, the result does not compile.
 */
#pragma once
#include "base/buf.h"
#include "base/error.h"

#define FH_GO_IMPORTS_MAX 64
#define FH_GO_HELPFUL_MAX 16 /* how many packages fh_go_add_helpful may import */

/* An import; its members point into the text that was read. */
struct fh_go_import {
	struct fh_str spec; /* the import as written: quoted path, preceded by a name if it has one */
	struct fh_str path; /* import path without quotes */
	struct fh_str name; /* name by which the file refers to the package */
};

struct fh_go_source {
	struct fh_buf blank; /* the whole text after fh_signature_blank */
	struct fh_str body, blank_body;
	struct fh_go_import imports[FH_GO_IMPORTS_MAX];
	size_t count;
};
void fh_go_source_release(struct fh_go_source *s);
#define fh_auto_go_source FH_CLEANUP(fh_go_source_release)

/* Reads text into a zeroed source, which borrows it. -FH_E_UNAVAILABLE: too many imports, or a malformed one. */
int fh_go_source_read(struct fh_str text, struct fh_go_source *s, struct fh_error *err);

/* The default name of a package: the last part of its path that is not a version. */
struct fh_str fh_go_name_of_path(struct fh_str path);
/* Finds `name` as a whole word that is followed by a point, in blanked text from position `at` on. s.n: it is not
 * there. */
size_t fh_go_find_use(struct fh_str s, struct fh_str name, size_t at);
bool fh_go_uses(struct fh_str blank, struct fh_str name);

/* The names that an assembled file imports already. */
struct fh_go_imports {
	struct fh_str names[2 * FH_GO_IMPORTS_MAX + FH_GO_HELPFUL_MAX];
	size_t count;
};
bool fh_go_is_imported(const struct fh_go_imports *done, struct fh_str name);
/* Whether the import is testing or testify, which we replace by packages of our own. */
bool fh_go_is_own(const struct fh_go_import *i);
/* Adds the imports of s that the blanked text uses and `done` lacks. */
void fh_go_add_imports(struct fh_buf *out, struct fh_go_imports *done, const struct fh_go_source *s,
                       struct fh_str blank);
/* Adds the imports of a program. Go refuses a program with unused imports, but other harnesses put program and test
 * into one file, where an import counts as used if the test uses it; so programs contain all imports of their
 * prompt. */
void fh_go_add_own_imports(struct fh_buf *out, struct fh_go_imports *done, const struct fh_go_source *program,
                           const struct fh_go_source *test);
/* Imports packages of a short list that the text uses without importing them, as bigcode-evaluation-harness does. */
void fh_go_add_helpful(struct fh_buf *out, struct fh_go_imports *done, struct fh_str blank);
/* The same of a longer list, for a program that lacks imports: where one of these names is a variable's, it does not
 * compile. */
void fh_go_add_missing(struct fh_buf *out, struct fh_go_imports *done, struct fh_str blank);
