/* SPDX-License-Identifier: MIT */
/*
 * Which program runs a language, and what of the host it needs to see.
 *
 * The answer is what the user's shell would run: the first of the language's tools on PATH. A shim (a script, or a
 * program that stands in for many) is followed to the real one: pyenv's by reading what pyenv reads, others by running
 * them once with a fixed command line and a time limit. Symbolic links are followed; a Python virtual environment is
 * known by its pyvenv.cfg and stays one.
 *
 * A tool below /usr is visible in every sandbox. Of any other one its prefix (the folder above bin/) is bound read-only
 * at the same path, and nothing beside it; when that prefix is a home or another folder of everything, only the
 * language's prefix_parts of it are.
 */
#pragma once
#include "base/error.h"
#include "sandbox/planning/language.h"

struct fh_tool_mount {
	char *target;
	FH_NULLABLE char *link; /* text of a symbolic link to make; NULL: bind what is at target on the host */
};

struct fh_tool {
	char *host_path;  /* the real program, no link; "" with an image */
	char *inside;     /* argv[0] of a run: as a user would see it (a venv's bin/python, /usr/bin/python3) */
	char **prefixes;  /* the tool's own and, for a venv, the base's; for the language's `hide` */
	char **path_dirs; /* to stand first on the sandbox's PATH */
	char **env;       /* NAME=value that goes with the tool (VIRTUAL_ENV) */
	struct fh_tool_mount *mounts;
	size_t mount_count;
};

struct fh_tool_query {
	const struct fh_language *language;
	FH_NULLABLE const char *interpreter; /* a path, or a name on PATH, instead of the language's tools */
	FH_NULLABLE const char *venv;        /* a folder with pyvenv.cfg */
	FH_NULLABLE const char *image;       /* look in this root file system only; interpreter is then a path inside */
	FH_NULLABLE const char *path;        /* PATH */
	FH_NULLABLE const char *home;        /* never bound as a whole */
};

/* FH_E_NOT_FOUND names the Debian package of a tool that is missing. */
int fh_tool_find(const struct fh_tool_query *q, struct fh_tool **ret, struct fh_error *err);
void fh_tool_free(struct fh_tool *t);

static inline void fh_tool_freep(struct fh_tool **t)
{
	fh_tool_free(*t);
}
#define fh_auto_tool FH_CLEANUP(fh_tool_freep)

/* PATH of every sandbox, behind the tool's own folders. */
#define FH_STANDARD_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
/* Whether a (clean) host path is part of the default image: below /usr, /bin, /lib … */
bool fh_in_default_image(const char *path);
