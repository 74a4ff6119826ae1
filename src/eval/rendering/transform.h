/* SPDX-License-Identifier: MIT */
/* Transforms of outputs and of variables: functions of the user's from a value to a value. */
#pragma once
#include "base/error.h"
#include "json/json.h"

struct fh_script_pool; /* script/script.h */

/* Calls a transform. `code` is inline JavaScript, file://x.js[:fn] or file://x.py[:fn] (default get_transform); its
 * parameters are called `name` and context. An exception in the code is an error too: the row cannot be judged. */
int fh_transform(struct fh_script_pool *scripts, const char *config_dir, const char *code, const char *name,
                 const json_t *value, const json_t *context, json_t **ret, struct fh_error *err);
