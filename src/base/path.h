/* SPDX-License-Identifier: MIT */
/* Paths as text. The caller owns the results (free()). */
#pragma once
#include "base/base.h"

FH_OWN char *fh_path_join(const char *dir, const char *name); /* only name, if name is absolute or dir is "" */
FH_OWN char *fh_path_dir(const char *path);                   /* "a/b" -> "a", "b" -> ".", "/b" -> "/" */
const char *fh_path_base(const char *path);                   /* points into path */
const char *fh_path_ext(const char *path);                    /* ".py", or "" ; points into path */
/* Lexically clean: no empty, "." or inner ".." components; ".." above the root of an absolute path is dropped. */
FH_OWN char *fh_path_clean(const char *path);
bool fh_path_exists(const char *path);
bool fh_path_is_dir(const char *path);
/* Whether path is dir or below it; both must be clean and absolute. */
bool fh_path_within(const char *path, const char *dir);
/* The executable that a shell would run for `name`; a name with a slash is used as it is. NULL if there is none. */
FH_OWN FH_NULLABLE char *fh_path_which(const char *name, const char *path_variable);
/* The folder of the running program, in which a build tree or an installation has its siblings. NULL without /proc. */
FH_OWN FH_NULLABLE char *fh_path_self_dir(void);
