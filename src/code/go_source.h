/* SPDX-License-Identifier: MIT */
/*
 * A file in Go as it is taken apart and put together: package clause and imports, and what follows. Go refuses imports
 * that are not used and names that are not imported, so what a text uses decides what is written ahead of it. By look
 * only: a file that misleads does not compile.
 */
#pragma once
#include "base/buf.h"
#include "base/error.h"

#define FH_GO_IMPORTS_MAX 64
#define FH_GO_HELPFUL_MAX 16 /* what fh_go_add_helpful may put in */

/* Slices of the text that was read. */
struct fh_go_import {
	struct fh_str spec; /* as it stands: the path in quotes, a name in front of it where there is one */
	struct fh_str path; /* without quotes */
	struct fh_str name; /* by which the file knows it */
};

struct fh_go_source {
	struct fh_buf blank; /* fh_signature_blank of all of it */
	struct fh_str body, blank_body;
	struct fh_go_import imports[FH_GO_IMPORTS_MAX];
	size_t count;
};
void fh_go_source_release(struct fh_go_source *s);
#define fh_auto_go_source FH_CLEANUP(fh_go_source_release)

/* Into a source that is all zeroes; it borrows the text. -FH_E_UNAVAILABLE: too many imports, or one of nothing. */
int fh_go_source_read(struct fh_str text, struct fh_go_source *s, struct fh_error *err);

/* The name of a package without another one: the last part of its path that is no version. */
struct fh_str fh_go_name_of_path(struct fh_str path);
/* Where `name` stands with a point behind it in blanked text from `at` on, as a word of its own; s.n: nowhere. */
size_t fh_go_find_use(struct fh_str s, struct fh_str name, size_t at);
bool fh_go_uses(struct fh_str blank, struct fh_str name);

/* The names that a file which is put together imports already. */
struct fh_go_imports {
	struct fh_str names[2 * FH_GO_IMPORTS_MAX + FH_GO_HELPFUL_MAX];
	size_t count;
};
bool fh_go_is_imported(const struct fh_go_imports *done, struct fh_str name);
/* testing and testify, for which there is something of ours. */
bool fh_go_is_own(const struct fh_go_import *i);
/* Those of s that the blanked text uses and that are not there yet. */
void fh_go_add_imports(struct fh_buf *out, struct fh_go_imports *done, const struct fh_go_source *s,
                       struct fh_str blank);
/* A program by itself has to use what it imports, but other harnesses put the test into the same file, where the test's
 * use counts, too: programs bring all imports of their prompt. */
void fh_go_add_own_imports(struct fh_buf *out, struct fh_go_imports *done, const struct fh_go_source *program,
                           const struct fh_go_source *test);
/* What a text uses of a short list and does not import, as bigcode-evaluation-harness puts it in. */
void fh_go_add_helpful(struct fh_buf *out, struct fh_go_imports *done, struct fh_str blank);
