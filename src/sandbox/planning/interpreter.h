/* SPDX-License-Identifier: MIT */
/*
 * Finds the program that runs a language, and the files of the host that it needs.
 *
 * It is the program that the user's shell would run: the first of the language's tools on PATH. A shim (a script or
 * program that starts the real one) is followed to the real program: pyenv's by reading the files that pyenv reads,
 * others by running them once with a fixed command line and a time limit. Symbolic links are followed. A Python virtual
 * environment is recognized by its pyvenv.cfg and is kept as one.
 *
 * A tool below /usr is visible in every sandbox. For any other tool, its prefix (the folder above bin/) is bound
 * read-only at the same path, and nothing else. If that prefix is a home or another folder with unrelated files, only
 * the language's prefix_parts of it are bound.
 */
#pragma once
#include "base/error.h"
#include "sandbox/planning/language.h"
#include "survey/survey.h"

struct fh_tool_mount {
	char *target;
	FH_NULLABLE char *link; /* target of a symbolic link to make; NULL: bind what is at `target` on the host */
};

struct fh_tool {
	char *host_path;  /* path of the real program, with links resolved; "" with an image */
	char *inside;     /* argv[0] of a run, as a user would write it (a venv's bin/python, /usr/bin/python3) */
	char **prefixes;  /* the tool's prefix and, for a venv, that of the base; for the language's `hide` */
	char **path_dirs; /* first folders of the sandbox's PATH */
	char **env;       /* NAME=value, variables that the tool needs (VIRTUAL_ENV) */
	struct fh_tool_mount *mounts;
	size_t mount_count;
};

struct fh_tool_query {
	struct fh_survey *survey; /* of the machine on which it is searched */
	const struct fh_language *language;
	FH_NULLABLE const char *interpreter; /* a path, or a name on PATH, to use instead of the language's tools */
	FH_NULLABLE const char *venv;        /* a folder with a pyvenv.cfg */
	/* a root file system to search instead of the host's; `interpreter` is a path inside it then */
	FH_NULLABLE const char *image;
	FH_NULLABLE const char *path; /* the value of PATH */
	FH_NULLABLE const char *home; /* the user's home, which is never bound as a whole */
};

/* If a tool is missing, FH_E_NOT_FOUND names its Debian package. */
int fh_tool_find(const struct fh_tool_query *q, struct fh_tool **ret, struct fh_error *err);
void fh_tool_free(struct fh_tool *t);

static inline void fh_tool_freep(struct fh_tool **t)
{
	fh_tool_free(*t);
}
#define fh_auto_tool FH_CLEANUP(fh_tool_freep)

/* The end of every sandbox's PATH, after the tool's own folders. */
#define FH_STANDARD_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
/* Whether a (clean) host path is part of the default image: below /usr, /bin, /lib … */
bool fh_in_default_image(const char *path);
