/* SPDX-License-Identifier: MIT */
#include "eval/plan/extensions.h"
#include "base/path.h"
#include "eval/common/text.h"

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

int fh_eval_extensions_load(const struct fh_eval_config *c, const json_t *first, struct fh_eval_extensions *ret,
                            struct fh_error *err)
{
	const json_t *own = json_object_get(c->root, "extensions");
	fh_auto_json json_t *both = json_array();
	json_array_extend(both, (json_t *)(uintptr_t)first);
	json_array_extend(both, (json_t *)(uintptr_t)own);
	const json_t *list = own && !json_is_null(own) && !json_is_array(own) ? own : both;
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

static void lay_over(json_t *object, const char *key, const json_t *more)
{
	json_t *before = json_object_get(object, key);
	json_t *both = json_is_object(before) ? json_copy(before) : json_object();
	json_object_update(both, (json_t *)(uintptr_t)more);
	json_object_set_new(object, key, both);
}

/* Adds finite named scores and metadata that afterEach returned; a hook cannot change the rest of a result. */
static void take_result(json_t **context, const json_t *given)
{
	json_t *old = json_object_get(*context, "result"), *response = json_object_get(old, "response"), *v;
	if (!json_is_object(given) || !json_is_object(old))
		return;
	json_t *result = json_copy(old), *scores = json_object();
	const char *name;
	json_object_foreach(json_object_get(given, "namedScores"), name, v)
	{
		if (json_is_number(v))
			json_object_set(scores, name, v);
	}
	lay_over(result, "namedScores", scores);
	json_decref(scores);
	lay_over(result, "metadata", json_object_get(given, "metadata"));
	const json_t *more = json_object_get(json_object_get(given, "response"), "metadata");
	if (json_is_object(response) && json_is_object(more)) {
		json_t *copy = json_copy(response);
		lay_over(copy, "metadata", more);
		json_object_set_new(result, "response", copy);
	}
	json_t *next = json_copy(*context);
	json_object_set_new(next, "result", result);
	json_decref(*context);
	*context = next;
}

static int call_one(const struct fh_eval_extension *x, struct fh_script_pool *scripts, enum fh_hook hook,
                    json_t **context, struct fh_error *err)
{
	const char *name = hook < FH_HOOK_COUNT_ ? hook_names[hook] : ""; /* gcc 14 warns of a[i] without the check */
	fh_auto_json json_t *args =
	    x->only == hook ? json_pack("[O, {s:s}]", *context, "hookName", name) : json_pack("[s, O]", name, *context);
	fh_auto_script_result struct fh_script_result result = { 0 };
	struct fh_script_call call = { .language = x->language,
		                           .file = x->file,
		                           .function = x->function,
		                           .args = args,
		                           .in_place = hook == FH_HOOK_AFTER_ALL ? 0
		                                       : x->only == hook         ? 1
		                                                                 : 2 };
	int r = fh_script_call(scripts, &call, &result, err);
	if (r < 0)
		return r;
	if (result.outcome != FH_SCRIPT_RETURNED)
		return fh_error_set(err, FH_E_CONFIG, "extension %s%s%s, %s: %s", x->file, x->function ? ":" : "",
		                    x->function ? x->function : "", name, result.error_message);
	if (json_equal(result.value, *context))
		return 0;
	if (hook == FH_HOOK_AFTER_EACH)
		take_result(context, json_object_get(result.value, "result"));
	else if (json_is_object(result.value)) {
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
