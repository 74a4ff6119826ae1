/* SPDX-License-Identifier: MIT */
/* Between interpreter.c and shim.c, which finds what a shim stands for. */
#pragma once
#include "sandbox/planning/interpreter.h"

/* Whether the (absolute) path is one of pyenv's shims. */
bool fh_pyenv_is_shim(const char *path);
/* What pyenv would run for it: a path, or NULL in *ret for "system", the next one on PATH. */
int fh_pyenv_resolve(const char *shim, char **ret, struct fh_error *err);

/* Runs a shim with the language's `ask` arguments and takes the path it prints: the program's, or that of the folder
 * whose bin/ holds it (rustc --print sysroot). */
int fh_shim_ask(const struct fh_language *l, const char *shim, char **ret, struct fh_error *err);
