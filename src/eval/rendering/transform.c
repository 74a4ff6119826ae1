/* SPDX-License-Identifier: MIT */
#include "eval/rendering/transform.h"
#include "eval/common/text.h"
#include "script/script.h"

/* Code as workers read it. They take one line for an expression, which a block of YAML (`transform: |`) with one line
 * that returns is not: it is the body of a function, as several lines are. NULL: as it is; free() it. */
static char *block_of_a_line(const char *code)
{
	struct fh_str line = fh_text_trim(fh_str(code));
	bool returns = line.n > 6 && memcmp(line.p, "return", 6) == 0 && strchr(" \t({[", line.p[6]);
	return returns && strchr(code, '\n') && !memchr(line.p, '\n', line.n) ? fh_xasprintf("\n%s", code) : NULL;
}

int fh_transform(struct fh_script_pool *scripts, const char *config_dir, const char *code, const char *name,
                 const json_t *value, const json_t *context, json_t **ret, struct fh_error *err)
{
	fh_auto_free char *file = NULL;
	fh_auto_free char *function = NULL;
	enum fh_script_language language = FH_SCRIPT_JAVASCRIPT;
	if (fh_text_is_file(code)) {
		fh_text_split_file(code, config_dir, &file, &function);
		if (!fh_script_language_of(file, &language))
			return fh_error_set(err, FH_E_CONFIG, "transform %s: only .js and .py files can be called", code);
	}
	fh_auto_free char *block = file ? NULL : block_of_a_line(code);
	bool python = language == FH_SCRIPT_PYTHON;
	const char *names[] = { name, "context", NULL };
	fh_auto_json json_t *args = json_pack("[O, O]", value, context);
	fh_auto_script_result struct fh_script_result result = { 0 };
	struct fh_script_call call = { .language = language,
		                           .code = file    ? NULL
		                                   : block ? block
		                                           : code,
		                           .file = file,
		                           .function = function ? function
		                                       : python ? "get_transform"
		                                                : NULL,
		                           .names = names,
		                           .args = args };
	int r = fh_script_call(scripts, &call, &result, err);
	if (r < 0)
		return r;
	if (result.outcome != FH_SCRIPT_RETURNED)
		return fh_error_set(err, FH_E_ARGUMENT, "Transform failed (%s): %s%s%s", code,
		                    result.error_name ? result.error_name : "",
		                    result.error_name && *result.error_name ? ": " : "", result.error_message);
	if (json_is_null(result.value))
		return fh_error_set(err, FH_E_ARGUMENT, "Transform function did not return a value (%s)", code);
	*ret = json_incref(result.value);
	return 0;
}
