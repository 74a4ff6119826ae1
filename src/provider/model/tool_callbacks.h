/* SPDX-License-Identifier: MIT */
/* config.functionToolCallbacks: functions of the user's that answer the calls of tools in a model's answer. */
#pragma once
#include "provider/type.h"

/* Where the answer calls tools that have a callback, the output becomes what these returned, one below the other. A
 * callback is JavaScript, or file://x.js:fn, and gets the call's arguments as the model wrote them. The output stays
 * when no call has a callback or one of them fails. */
int fh_tool_callbacks_apply(const struct fh_provider *p, const json_t *config, struct fh_provider_response *ret,
                            struct fh_error *err);
