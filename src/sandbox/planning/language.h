/* SPDX-License-Identifier: MIT */
/*
 * A language: one data file, languages/NAME.json, that describes how its programs are run. No code below src/judge
 * mentions a language by name.
 *
 *     name, aliases, extensions
 *                       names that users may write
 *     tags              further words that models write after a code fence for this language
 *     file              the program's file name inside
 *     tools, package    programs searched on PATH, in this order; the Debian package that has them
 *     genuine           file names (globs) of the real tool
 *     ask               arguments that make a shim print its path
 *     hello             a program that prints "hello", with which `fumehood doctor` tests the language
 *     run               argv inside: {tool} {file} {artifact} {prefix}, {args} for the program's arguments
 *     compile           argv (also {flags}, {link} and {script}), artifact, limits of its own
 *     compile.script    a shell script in a file beside this one; {script} is its text
 *     compile.link      options to add for an #include whose name begins with the key
 *     compile.headers   the Debian package that has the headers whose names begin with the key
 *     compile.prepare   a step done once for a toolchain: argv, script, outs, limits
 *     prefix_parts      the parts of a prefix to bind if the whole prefix would show a user's home
 *     hide              folders (globs) of installed packages, hidden by "only the standard library"
 *     module_folders    further folders (globs) with modules that can be imported ahead
 *     module_files      where in such a folder a module lies: "{module}.py"
 *     keep              parts of these folders that stay visible, because the tool itself needs them
 *     env               NAME=value, for every run
 *     hash_secret.env   NAME=value, set for a run whose hash tables must start from a given number, {secret}.
 *                       An empty "hash_secret": the language draws a number for each process and takes none.
 *                       No "hash_secret": no output depends on such a number, or it differs without one
 *
 * All lists end with NULL and are never NULL. In words for limits, see fh_limit_table.
 */
#pragma once
#include "base/error.h"
#include "fumehood/sandbox.h"

/* The maximum bytes of a data file, and of a script beside it. */
#define FH_LANGUAGE_FILE_MAX (256 << 10)
/* Number of files that a "*" in prepare's outs stands for. */
#define FH_PREPARE_OUTS_MAX 400

struct fh_link_rule {
	char *include; /* beginning of the name between < > or " ", such as "openssl/" */
	char **flags;
};

struct fh_header_rule {
	char *include, *package;
};

struct fh_language {
	char *name, *file, *package;
	char *hello; /* NULL: none in the data file */
	char **aliases, **tags, **extensions, **tools, **genuine, **ask, **run, **prefix_parts, **hide, **keep, **env;
	char **module_folders, **module_files;
	char **compile;       /* argv; empty: the language is not compiled */
	char **prepare;       /* argv of the command that makes prepared files (compile_cache.h); empty: none are needed */
	char **prepare_outs;  /* the files it makes; "*" in a name stands for 0, 1, 2 … FH_PREPARE_OUTS_MAX - 1 */
	char *script;         /* text of compile.script; NULL: none */
	char *prepare_script; /* text of the script of `prepare`; NULL: none */
	/* beginning of an #include: only programs with such a line need the prepared files; NULL: all do */
	char *prepare_for;
	struct fh_limits prepare_limits;
	char *artifact;
	struct fh_limits compile_limits;
	struct fh_link_rule *links;
	size_t link_count;
	struct fh_header_rule *headers;
	size_t header_count;
	bool zygote; /* the data file has "zygote": programs may be forked from a warmed-up interpreter (guest/warm) */
	bool has_hash_secret;   /* the data file has "hash_secret" */
	char **hash_secret_env; /* NAME=value with {secret} in the value */
	/* for the zygote only: options after argv[0], and variables added to the program's environment */
	char **zygote_options, **zygote_env;
};

/* Loads a language by name or alias. FH_E_NOT_FOUND names the nearest known one; FH_E_CONFIG: the data file is
 * invalid. */
int fh_language_load(const char *name, struct fh_language **ret, struct fh_error *err);
/* The language of a file name such as "a.py". FH_E_NOT_FOUND if no language has its extension. */
int fh_language_for_file(const char *path, struct fh_language **ret, struct fh_error *err);
/* The language of a program's #! line ("#!/usr/bin/env python3"). -FH_E_NOT_FOUND, without an error struct, if there is
 * no such line or no language has that interpreter. */
int fh_language_for_shebang(struct fh_str code, struct fh_language **ret);
/* All languages, by file name. Free each with fh_language_free, and the list. */
int fh_language_all(struct fh_language ***ret, size_t *ret_count, struct fh_error *err);
/* `path` is used in errors. */
int fh_language_parse(struct fh_str json, const char *path, struct fh_language **ret, struct fh_error *err);
void fh_language_free(struct fh_language *l);

static inline void fh_language_freep(struct fh_language **l)
{
	fh_language_free(*l);
}
#define fh_auto_language FH_CLEANUP(fh_language_freep)

/* Whether the code needs the files that `prepare` makes. */
bool fh_language_has_prepared(const struct fh_language *l, struct fh_str code);
/* The package of a header that the compiler's message reports as missing; NULL: it reports none, or no rule covers
 * it. */
FH_NULLABLE const char *fh_language_missing_package(const struct fh_language *l, const char *said);
/* Appends to *list (by fh_plan_add_string) the options that the code's #include lines require; each rule at most
 * once. */
void fh_language_link_flags(const struct fh_language *l, struct fh_str code, char ***list);
