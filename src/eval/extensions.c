/* SPDX-License-Identifier: MIT */
#include "eval/extensions.h"
#include "base/path.h"
#include "eval/text.h"

static const char *const hook_names[FH_HOOK_COUNT_] = { "beforeAll", "beforeEach", "afterEach", "afterAll" };

static int load_one(const struct fh_eval_config *c, const char *text, const char *place, struct fh_eval_extension *ret,
                    struct fh_error *err)
{
	const struct fh_document *d = c->document;
	struct fh_eval_extension x = { .only = FH_HOOK_COUNT_ };
	int r = 0;
	if (!fh_text_is_file(text))
		return fh_document_error(d, place, err, "an extension is file://FILE.py:FUNCTION or file://FILE.js:FUNCTION");
	fh_text_split_file(text, c->dir, &x.file, &x.function);
	for (int i = 0; i < FH_HOOK_COUNT_; i++)
		if (fh_streq(x.function, hook_names[i]))
			x.only = i;
	if (!fh_script_language_of(x.file, &x.language))
		r = fh_document_error(d, place, err, "extension %s: only .js and .py files can be called", text);
	else if (!fh_path_exists(x.file))
		r = fh_document_error(d, place, err, "no such file: %s", x.file);
	else if (x.language == FH_SCRIPT_PYTHON && !x.function)
		r = fh_document_error(d, place, err, "extension %s names no function of the file", text);
	if (r < 0) {
		free(x.file);
		free(x.function);
		return r;
	}
	*ret = x;
	return 0;
}

int fh_eval_extensions_load(const struct fh_eval_config *c, struct fh_eval_extensions *ret, struct fh_error *err)
{
	const json_t *list = json_object_get(c->root, "extensions");
	struct fh_eval_extensions all = { 0 };
	int r = 0;
	if (list && !json_is_null(list) && !json_is_array(list))
		return fh_document_error(c->document, "extensions", err, "\"extensions\" must be a list");
	for (size_t i = 0; i < json_array_size(list) && r == 0; i++) {
		fh_auto_free char *place = fh_xasprintf("extensions/%zu", i);
		const char *text = json_string_value(json_array_get(list, i));
		struct fh_eval_extension one;
		r = load_one(c, text ? text : "", place, &one, err);
		if (r == 0)
			FH_PUSH(all.items, all.count, all.capacity) = one;
	}
	if (r < 0) {
		fh_eval_extensions_release(&all);
		return r;
	}
	*ret = all;
	return 0;
}

void fh_eval_extensions_release(struct fh_eval_extensions *x)
{
	for (size_t i = 0; i < x->count; i++) {
		free(x->items[i].file);
		free(x->items[i].function);
	}
	free(x->items);
	*x = (struct fh_eval_extensions){ 0 };
}

static bool wants(const struct fh_eval_extension *x, enum fh_hook hook)
{
	return x->only == FH_HOOK_COUNT_ || x->only == hook;
}

bool fh_eval_extensions_want(const struct fh_eval_extensions *x, enum fh_hook hook)
{
	for (size_t i = 0; i < x->count; i++)
		if (wants(&x->items[i], hook))
			return true;
	return false;
}

static int call_one(const struct fh_eval_extension *x, struct fh_script_pool *scripts, enum fh_hook hook,
                    json_t **context, struct fh_error *err)
{
	const char *name = hook < FH_HOOK_COUNT_ ? hook_names[hook] : ""; /* gcc 14 thinks of a hook that is none */
	fh_auto_json json_t *args =
	    x->only == hook ? json_pack("[O, {s:s}]", *context, "hookName", name) : json_pack("[s, O]", name, *context);
	fh_auto_script_result struct fh_script_result result = { 0 };
	struct fh_script_call call = { .language = x->language, .file = x->file, .function = x->function, .args = args };
	int r = fh_script_call(scripts, &call, &result, err);
	if (r < 0)
		return r;
	if (result.outcome != FH_SCRIPT_RETURNED)
		return fh_error_set(err, FH_E_CONFIG, "extension %s%s%s, %s: %s", x->file, x->function ? ":" : "",
		                    x->function ? x->function : "", name, result.error_message);
	if (json_is_object(result.value)) {
		json_decref(*context);
		*context = json_incref(result.value);
	}
	return 0;
}

int fh_eval_extensions_call(const struct fh_eval_extensions *x, struct fh_script_pool *scripts, enum fh_hook hook,
                            const json_t *context, json_t **ret, struct fh_error *err)
{
	json_t *now = json_incref((json_t *)(uintptr_t)context);
	for (size_t i = 0; i < x->count; i++) {
		int r = wants(&x->items[i], hook) ? call_one(&x->items[i], scripts, hook, &now, err) : 0;
		if (r < 0) {
			json_decref(now);
			return r;
		}
	}
	*ret = now;
	return 0;
}
