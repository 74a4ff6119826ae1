/* SPDX-License-Identifier: MIT */
/*
 * Compiling for split judging, each in a sandbox of its own that holds what is compiled and nothing else, or from the
 * cache of compilers (sandbox/compile.h).
 *
 * What belongs to a task (stand-ins, the test) is compiled once and kept under the digest of its texts, flags and
 * files: threads that want the same wait for the first. A candidate's program is compiled for each sample.
 */
#pragma once
#include "base/base.h"
#include "fumehood/sandbox.h"

/* What is kept, in bytes; the oldest go first. */
#define FH_BUILDS_KEPT_MAX ((size_t)256 << 20)
#define FH_BUILD_FILES_MAX 8

struct fh_build {
	const char *language;
	FH_NULLABLE const char *code_name; /* NULL: the language's */
	struct fh_str code;
	FH_NULLABLE const char *const *flags;
	struct fh_file files[FH_BUILD_FILES_MAX]; /* beside the code; borrowed */
	size_t file_count;
	FH_NULLABLE const char *linker; /* "gold": link with ld.gold where the tool chain has it */
	FH_NULLABLE const char *mark;   /* in a line of the compiler's about an error; NULL: "error" */
};

/* What came of it: data, or error (the compiler's words) when the text does not compile. */
struct fh_artifact {
	FH_OWN FH_NULLABLE uint8_t *data;
	size_t size;
	FH_OWN FH_NULLABLE char *error;
};
void fh_artifact_release(struct fh_artifact *a);
#define fh_auto_artifact FH_CLEANUP(fh_artifact_release)

struct fh_builds;
struct fh_judge_settings;
FH_OWN struct fh_builds *fh_builds_new(const struct fh_judge_settings *settings);
void fh_builds_free(struct fh_builds *b); /* NULL is fine */

/* 0 with an artifact; a negative code when it could not be tried. */
int fh_build_run(struct fh_builds *b, struct fh_client *client, const struct fh_build *build, struct fh_artifact *ret,
                 struct fh_error *err);
/* The same, or a copy of what an equal build gave before. */
int fh_build_keep(struct fh_builds *b, struct fh_client *client, const struct fh_build *build, struct fh_artifact *ret,
                  struct fh_error *err);
