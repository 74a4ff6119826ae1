/* SPDX-License-Identifier: MIT */
/*
 * Compiles for split judging: each compilation runs in a sandbox that contains only its inputs, or comes from the cache
 * of compiled programs (sandbox/compile.h).
 *
 * Parts of a task (stand-ins, the test) are compiled once and kept in memory by the digest of their texts, flags and
 * files; threads that need the same part wait for the first. A candidate's program is compiled for each sample.
 */
#pragma once
#include "base/base.h"
#include "fumehood/sandbox.h"

/* Maximum bytes of kept artifacts; the oldest are dropped first. */
#define FH_BUILDS_KEPT_MAX ((size_t)256 << 20)
#define FH_BUILD_FILES_MAX 8

/* What is to be compiled. */
struct fh_compilation {
	const char *language;
	FH_NULLABLE const char *code_name; /* NULL: the language's default */
	struct fh_str code;
	FH_NULLABLE const char *const *flags;
	struct fh_file files[FH_BUILD_FILES_MAX]; /* files added to the code; borrowed */
	size_t file_count;
	FH_NULLABLE const char *linker; /* "gold": link with ld.gold if the toolchain has it */
	FH_NULLABLE const char *mark;   /* text that marks lines of the compiler's output with an error; NULL: "error" */
};

/* The result: data or, if the text does not compile, the compiler's error. */
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
void fh_builds_free(struct fh_builds *b); /* NULL is allowed */

/* Compiles. 0 with an artifact; a negative code if the compiler could not be run. */
int fh_builds_run(struct fh_builds *b, struct fh_client *client, const struct fh_compilation *build,
                  struct fh_artifact *ret, struct fh_error *err);
/* The same, but returns a copy if an equal compilation was made before. */
int fh_builds_keep(struct fh_builds *b, struct fh_client *client, const struct fh_compilation *build,
                   struct fh_artifact *ret, struct fh_error *err);
