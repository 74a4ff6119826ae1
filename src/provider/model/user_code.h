/* SPDX-License-Identifier: MIT */
/* Code of the user's own that a provider's config holds, such as transformResponse; it runs in the script workers. */
#pragma once
#include "provider/type.h"

/* Whether the code is a function in itself, and not an expression or lines that end with a return. */
bool fh_user_code_is_function(const char *code);

/* Runs inline JavaScript (an expression, a function, or lines with a return) or file://x.js[:fn], file://x.py[:fn].
 * names, args: what the code sees; call_with: the arguments of an inline function. *ret: what it returned, a new
 * reference; when it failed, the response is an error and *ret is not set. what: the setting, for messages. */
int fh_user_code_run(const struct fh_provider *p, const char *what, const char *code, const char *const *names,
                     const char *call_with, json_t *args, json_t **ret, struct fh_provider_response *response,
                     struct fh_error *err);

/* Fills the response from a transform's result: the output, or an object with further members of the response. */
void fh_user_code_take(json_t *value, struct fh_provider_response *ret);
