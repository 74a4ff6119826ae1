/* SPDX-License-Identifier: MIT */
/* The user's own functions from a value to a value: transforms of outputs and of variables. */
#pragma once
#include "base/error.h"
#include "json/json.h"

struct fh_script_pool; /* script/script.h */

/* `code` is inline javascript or file://x.js[:fn], file://x.py[:fn] (default get_transform). The parameters are called
 * `name` and context. What the code does wrong is an error as well: the row cannot be judged. */
int fh_transform(struct fh_script_pool *scripts, const char *config_dir, const char *code, const char *name,
                 const json_t *value, const json_t *context, json_t **ret, struct fh_error *err);
