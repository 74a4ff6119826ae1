/* SPDX-License-Identifier: MIT */
#include "provider/model/tool_callbacks.h"

#include "provider/model/user_code.h"
#include "provider/response.h"

#define FH_TOOL_CALLBACKS_TEXT_MAX ((size_t)16 << 20)

/* Appends what the callback of one call returned. *ret_done: there is one, and it did not fail. */
static int fh_tool_callbacks_call(const struct fh_provider *p, const json_t *callbacks, const json_t *call,
                                  struct fh_buf *to, bool *ret_done, bool *ret_failed, struct fh_error *err)
{
	static const char *const names[] = { "args", NULL };
	const json_t *function = json_object_get(call, "function");
	const char *name = fh_json_str(call, "name", fh_json_str(function, "name", NULL));
	const char *code = name ? fh_json_str(callbacks, name, NULL) : NULL;
	json_t *arguments = json_object_get(call, "arguments");
	arguments = arguments ? arguments : json_object_get(function, "arguments");
	*ret_done = *ret_failed = false;
	if (!code)
		return 0;
	fh_auto_json json_t *args = json_array(), *value = NULL;
	json_array_append(args, arguments ? arguments : json_null());
	fh_auto_provider_response struct fh_provider_response failure = { 0 };
	int r = fh_user_code_run(p, "functionToolCallbacks", code, names, "args", args, &value, &failure, err);
	if (r)
		return r;
	*ret_done = value != NULL;
	*ret_failed = !value;
	if (!value)
		return 0;
	fh_auto_free char *text = json_is_string(value) ? NULL : fh_json_text(value, 0);
	fh_buf_addc(to, '\n');
	fh_buf_add(to, text ? text : json_string_value(value), text ? strlen(text) : json_string_length(value));
	return 0;
}

int fh_tool_callbacks_apply(const struct fh_provider *p, const json_t *config, struct fh_provider_response *ret,
                            struct fh_error *err)
{
	const json_t *callbacks = json_object_get(config, "functionToolCallbacks");
	if (!json_is_object(callbacks) || ret->error || (!json_is_array(ret->output) && !json_is_object(ret->output)))
		return 0;
	json_t *inner = json_object_get(ret->output, "tool_calls"); /* the output is a message that says something, too */
	fh_auto_json json_t *calls = json_is_array(inner)         ? json_incref(inner)
	                             : json_is_array(ret->output) ? json_incref(ret->output)
	                                                          : json_pack("[O]", ret->output);
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(FH_TOOL_CALLBACKS_TEXT_MAX);
	bool any = false;
	for (size_t i = 0; i < json_array_size(calls); i++) {
		bool done, failed;
		int r = fh_tool_callbacks_call(p, callbacks, json_array_get(calls, i), &text, &done, &failed, err);
		if (r || failed || text.overflowed)
			return r;
		any = any || done;
	}
	if (!any)
		return 0;
	json_decref(ret->output);
	ret->output = fh_json_bytes((struct fh_str){ text.p + 1, text.n - 1 });
	return 0;
}
