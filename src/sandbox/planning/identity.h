/* SPDX-License-Identifier: MIT */
/*
 * The identity of what a plan's programs run in: a hash that is another one when the image, the interpreter, a folder
 * that the plan shows or a module that is imported ahead has been replaced. It is part of what sandboxes made ahead are
 * found by (fh_plan_encode_key), so that a warm interpreter never serves a run for which another one is installed.
 *
 * It is made of facts of stat(2), not of contents (device, inode, size, mode, times of change):
 * - of the package manager's databases and the loader's cache, which change with every installed package; in an image,
 *   of those in the image, and of its root
 * - of the interpreter and the program that the plan names by a path
 * - of the sources of mounts outside of the system's folders: a file as a whole; of a folder which one it is
 * - of each module that is imported ahead, by name where the language's data file says that modules lie, or by path
 *
 * So a file that somebody changes by hand deep inside a package, or a compiled module of the standard library, is not
 * seen. It takes about ten questions of the survey, and a few for each module, and reads no file.
 */
#pragma once
#include "proto/plan.h"
#include "sandbox/planning/language.h"
#include "survey/survey.h"

/* Sets plan->image_identity, and zygote.preload_identity for its modules. Without a `language`
 * nothing says where a module lies that is given by its name, so such modules get no identity. */
void fh_plan_identify(struct fh_plan *plan, struct fh_survey *s, FH_NULLABLE const struct fh_language *language);

/* Adds a file's facts to a hash. False: the path leads nowhere, and nothing is added. */
bool fh_identity_add_file(struct fh_sha256 *h, struct fh_survey *s, const char *path);
