/* SPDX-License-Identifier: MIT */
/* Shared by interpreter.c and shim.c, which finds the program behind a shim. */
#pragma once
#include "sandbox/planning/interpreter.h"

/* Whether an absolute path is one of pyenv's shims. */
bool fh_pyenv_is_shim(struct fh_survey *s, const char *path);
/* The program that pyenv would run for the shim. *ret is NULL for "system", i.e. the next program on PATH. */
int fh_pyenv_resolve(struct fh_survey *s, const char *shim, char **ret, struct fh_error *err);

/* Runs a shim with the language's `ask` arguments. *ret is the path that it prints: that of the program, or of the
 * folder whose bin/ contains it (rustc --print sysroot). */
int fh_shim_ask(struct fh_survey *s, const struct fh_language *l, const char *shim, char **ret, struct fh_error *err);
