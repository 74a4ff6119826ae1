/* SPDX-License-Identifier: MIT */
/*
 * A language: one data file, languages/NAME.json, that says everything about how its programs run. Nothing in the code
 * below judge knows a language by name.
 *
 *     name, aliases, extensions
 *                       how people call it
 *     tags              beside these, what models write behind a fence before programs in it
 *     file              the program's file name inside
 *     tools, package    programs looked for on PATH, in this order; the Debian package that has them
 *     genuine           names (globs) that the real tool's file has
 *     ask               arguments that make a shim print its path
 *     hello             a program that prints "hello", by which `fumehood doctor` sees that it works
 *     run               argv inside: {tool} {file} {artifact} {prefix}, {args} for the program's arguments
 *     compile           argv (also {flags}, {link} and {script}), artifact, limits of its own
 *     compile.script    a shell script in a file beside this one; {script} is its text
 *     compile.link      what to add to the command line for an #include that begins with the key
 *     compile.headers   the Debian package that has the headers whose names begin with the key
 *     compile.prepare   what is made once for a tool chain: argv, script, outs, limits
 *     prefix_parts      what of a prefix is bound when the whole of it would show a person's home
 *     hide              folders (globs) of installed packages, hidden by "only the standard library"
 *     keep              what has to stay of them because the tool itself is built on it
 *     env               NAME=value, for every run
 *     hash_secret.env   NAME=value of a run whose hash tables begin with a number that is given, {secret}.
 *                       "hash_secret" without any: the language draws one for each process and takes no other. No
 * "hash_secret": nothing that a program sees hangs on one, or it differs by itself
 *
 * All lists end with NULL and are never NULL. In words for limits, see fh_limit_table.
 */
#pragma once
#include "base/error.h"
#include "fumehood/sandbox.h"

/* Files that one "*" of prepare's outs stands for. */
#define FH_PREPARE_OUTS_MAX 400

struct fh_link_rule {
	char *include; /* "openssl/": the beginning of what stands between < > or " " */
	char **flags;
};

struct fh_header_rule {
	char *include, *package;
};

struct fh_language {
	char *name, *file, *package;
	char *hello; /* NULL: its data file has none */
	char **aliases, **tags, **extensions, **tools, **genuine, **ask, **run, **prefix_parts, **hide, **keep, **env;
	char **compile;       /* argv; empty for a language that does not compile */
	char **prepare;       /* argv that makes, once for a toolchain, what its compiles need; empty: nothing */
	char **prepare_outs;  /* what it leaves; "*" in a name stands for 0, 1, 2 … FH_PREPARE_OUTS_MAX - 1 */
	char *script;         /* of `compile`; NULL: none */
	char *prepare_script; /* of `prepare` */
	char *prepare_for;    /* only for programs with an #include that begins so; NULL: for all */
	struct fh_limits prepare_limits;
	char *artifact;
	struct fh_limits compile_limits;
	struct fh_link_rule *links;
	size_t link_count;
	struct fh_header_rule *headers;
	size_t header_count;
	bool zygote;          /* the data file has "zygote": programs may be forked from a warm interpreter (guest/warm) */
	bool has_hash_secret; /* the data file has "hash_secret" */
	char **hash_secret_env;              /* with {secret} in their values */
	char **zygote_options, **zygote_env; /* the zygote's own: after argv[0], and beside the program's environment */
};

/* By name or alias. FH_E_NOT_FOUND names the nearest; FH_E_CONFIG: the data file is wrong. */
int fh_language_load(const char *name, struct fh_language **ret, struct fh_error *err);
/* The language that a file's name stands for ("a.py"). FH_E_NOT_FOUND when none has its extension. */
int fh_language_for_file(const char *path, struct fh_language **ret, struct fh_error *err);
/* The language that a program's first line asks for ("#!/usr/bin/env python3"). -FH_E_NOT_FOUND without a word when
 * there is no such line or no language of ours that has the interpreter. */
int fh_language_for_shebang(struct fh_str code, struct fh_language **ret);
/* All that there are, by file name. Free each (fh_language_free), and the list. */
int fh_language_all(struct fh_language ***ret, size_t *ret_count, struct fh_error *err);
/* `path` is for errors. */
int fh_language_parse(struct fh_str json, const char *path, struct fh_language **ret, struct fh_error *err);
void fh_language_free(struct fh_language *l);

static inline void fh_language_freep(struct fh_language **l)
{
	fh_language_free(*l);
}
#define fh_auto_language FH_CLEANUP(fh_language_freep)

/* Whether what `prepare` makes is of use for the code. */
bool fh_language_has_prepared(const struct fh_language *l, struct fh_str code);
/* The package that has a header which the compiler says it does not find; NULL: it says nothing of the kind, or no rule
 * names it. */
FH_NULLABLE const char *fh_language_missing_package(const struct fh_language *l, const char *said);
/* Appends to *list (fh_plan_add_string) the flags that the code's #include lines ask for, each rule once. */
void fh_language_link_flags(const struct fh_language *l, struct fh_str code, char ***list);
