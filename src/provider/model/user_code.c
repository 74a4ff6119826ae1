/* SPDX-License-Identifier: MIT */
#include "provider/model/user_code.h"

#include "base/path.h"
#include "provider/response.h"
#include "script/script.h"

bool fh_user_code_is_function(const char *code)
{
	code += strspn(code, " \t\r\n");
	const char *arrow = strstr(code, "=>");
	if (fh_starts_with(code, "function") || fh_starts_with(code, "async function"))
		return true;
	/* An arrow function such as "(a, b) => …" or "a => …": there is nothing but parameters before the arrow. */
	return arrow && strspn(code, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$,(){} \t\r\n") >=
	                    (size_t)(arrow - code);
}

int fh_user_code_run(const struct fh_provider *p, const char *what, const char *code, const char *const *names,
                     const char *call_with, json_t *args, json_t **ret, struct fh_provider_response *response,
                     struct fh_error *err)
{
	fh_auto_free char *file = NULL, *function = NULL, *wrapped = NULL;
	enum fh_script_language language = FH_SCRIPT_JAVASCRIPT;
	if (!p->scripts)
		return fh_error_set(err, FH_E_ARGUMENT, "provider %s was opened without script workers", p->id);
	if (fh_starts_with(code, "file://")) {
		const char *path = code + strlen("file://"), *colon = strchr(path, ':');
		fh_auto_free char *name = fh_xstrndup(path, colon ? (size_t)(colon - path) : strlen(path));
		file = fh_path_join(p->base_dir, name);
		function = colon ? fh_xstrdup(colon + 1) : NULL;
		if (!fh_script_language_of(file, &language)) {
			fh_response_fail(response, "%s: %s is not a javascript or python file", what, file);
			return 0;
		}
		if (!function && language == FH_SCRIPT_PYTHON)
			function = fh_xstrdup("get_transform");
	} else if (fh_user_code_is_function(code)) {
		wrapped = fh_xasprintf("return (%s\n)(%s)", code, call_with);
	}
	struct fh_script_call call = { .language = language,
		                           .code = file      ? NULL
		                                   : wrapped ? wrapped
		                                             : code,
		                           .file = file,
		                           .function = function,
		                           .env = (const char *const *)p->granted,
		                           .names = names,
		                           .args = args };
	fh_auto_script_result struct fh_script_result result = { 0 };
	struct fh_error why = FH_ERROR_INIT;
	int r = fh_script_call(p->scripts, &call, &result, &why);
	if (r == -FH_E_CANCELLED)
		return fh_error_set(err, FH_E_CANCELLED, "cancelled");
	if (r < 0 || result.outcome != FH_SCRIPT_RETURNED)
		fh_response_fail(response, "%s failed: %s", what, r < 0 ? why.message : result.error_message);
	else
		*ret = json_incref(result.value);
	return 0;
}

void fh_user_code_take(json_t *value, struct fh_provider_response *ret)
{
	const json_t *usage = json_object_get(value, "tokenUsage");
	json_t *output = json_object_get(value, "output");
	const char *error = fh_json_str(value, "error", NULL);
	if (error && !output) {
		fh_response_fail(ret, "%s", error);
		return;
	}
	if (!output) {
		ret->output = json_incref(value);
		return;
	}
	ret->output = json_incref(output);
	ret->tokens.total = fh_json_int(usage, "total", -1);
	ret->tokens.prompt = fh_json_int(usage, "prompt", -1);
	ret->tokens.completion = fh_json_int(usage, "completion", -1);
	ret->cost = fh_json_num(value, "cost", -1);
	if (json_is_object(json_object_get(value, "metadata"))) { /* the script's metadata replaces that of the answer */
		json_decref(ret->metadata);
		ret->metadata = json_incref(json_object_get(value, "metadata"));
	}
}
