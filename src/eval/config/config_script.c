/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include "base/path.h"
#include "eval/config/config_internal.h"
#include "script/script.h"

bool fh_eval_config_is_script(const char *path)
{
	enum fh_script_language language;
	return fh_script_language_of(path, &language) && language == FH_SCRIPT_JAVASCRIPT;
}

int fh_eval_config_run(const char *path, struct fh_script_pool *scripts, struct fh_document **ret, struct fh_error *err)
{
	fh_auto_json json_t *none = json_array();
	fh_auto_free char *absolute = realpath(path, NULL);
	fh_auto_script_result struct fh_script_result result = { 0 };
	struct fh_script_call call = {
		.language = FH_SCRIPT_JAVASCRIPT, .file = absolute ? absolute : path, .module = true, .args = none
	};
	int r = fh_script_call(scripts, &call, &result, err);
	if (r < 0)
		return r;
	if (result.outcome != FH_SCRIPT_RETURNED)
		return fh_error_at(err, path, 0, 0, "%s%s%s", result.error_name ? result.error_name : "",
		                   result.error_name && *result.error_name ? ": " : "", result.error_message);
	*ret = fh_document_new(path, json_incref(result.value));
	return 0;
}
