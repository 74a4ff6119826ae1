/* SPDX-License-Identifier: MIT */
#include "eval/checking/check.h"
#include "base/fd.h"
#include "base/path.h"
#include "eval/common/document.h"
#include "eval/common/env.h"
#include "eval/common/text.h"
#include "eval/grading/grade.h"
#include "eval/grading/score.h"
#include "eval/rendering/template_host.h"
#include "eval/rendering/transform.h"
#include "script/script.h"

/* ----------------------------------------------------------------------------------------------------------- value */

/* The expected value that a script returned; a boolean or a grading result is refused. */
static int value_from_script(const struct fh_assertion_call *call, const char *path, const char *function,
                             enum fh_script_language language, json_t **ret, struct fh_error *err)
{
	fh_auto_json json_t *args = json_pack("[O, o]", call->output, fh_assertion_context(call));
	fh_auto_script_result struct fh_script_result result = { 0 };
	struct fh_script_call c = { .language = language,
		                        .file = path,
		                        .args = args,
		                        .repeatable = true,
		                        .function = function                           ? function
		                                    : language != FH_SCRIPT_JAVASCRIPT ? "get_assert"
		                                                                       : NULL };
	int r = fh_script_call(fh_services_scripts(call->services), &c, &result, err);
	if (r < 0)
		return r;
	if (result.outcome != FH_SCRIPT_RETURNED)
		return fh_error_set(err, FH_E_ARGUMENT, "%s: %s", path, result.error_message);
	const char *what = json_is_boolean(result.value)           ? "a boolean"
	                   : json_object_get(result.value, "pass") ? "a GradingResult"
	                   : fh_streq(result.type, "function")     ? "a function"
	                                                           : NULL;
	if (what)
		return fh_error_set(err, FH_E_ARGUMENT,
		                    "Script for \"%s\" assertion returned %s. Only javascript and python assertions can return "
		                    "that; for other types, return the expected value",
		                    call->kind->name, what);
	*ret = json_incref(result.value);
	return 0;
}

static int load_value(const struct fh_assertion_call *call, const char *text, json_t **ret, struct fh_error *err)
{
	fh_auto_free char *path = NULL;
	fh_auto_free char *function = NULL;
	fh_text_split_file(text, call->config_dir, &path, &function);
	const char *extension = fh_path_ext(path);
	enum fh_script_language language;
	if (fh_script_language_of(path, &language))
		return value_from_script(call, path, function, language, ret, err);
	if (strcmp(extension, ".json") == 0 || strcmp(extension, ".yaml") == 0 || strcmp(extension, ".yml") == 0) {
		struct fh_document *d = NULL;
		int r = fh_document_load(path, &d, err);
		if (r == 0)
			*ret = json_incref(d->root);
		fh_document_free_list(d);
		return r;
	}
	fh_auto_buf struct fh_buf content = FH_BUF_INIT(FH_VALUE_FILE_MAX);
	int r = fh_file_read(path, &content, err);
	if (r == 0) {
		struct fh_str trimmed = fh_text_trim(fh_buf_str(&content));
		*ret = fh_json_bytes(trimmed);
	}
	return r;
}

/* Whether a file:// value is a script, which an assertion that runs scripts calls; any other file has its code. */
static bool names_script(const struct fh_assertion_call *call, const char *text)
{
	enum fh_script_language language;
	fh_auto_free char *path = NULL;
	fh_auto_free char *function = NULL;
	fh_text_split_file(text, call->config_dir, &path, &function);
	return fh_script_language_of(path, &language);
}

static int render_string(const struct fh_assertion_call *call, const json_t *vars, const json_t *value, json_t **ret,
                         struct fh_error *err)
{
	const char *text = json_string_value(value);
	size_t n = json_string_length(value);
	if (fh_text_is_file(text) && (!call->kind->raw_file_value || !names_script(call, text)))
		return load_value(call, text, ret, err);
	if (fh_text_is_file(text) || !memchr(text, '{', n)) {
		*ret = json_incref((json_t *)(uintptr_t)value);
		return 0;
	}
	fh_auto_free char *rendered = NULL;
	int r = fh_render_text((struct fh_str){ text, n }, vars, &rendered, err);
	if (r == 0)
		*ret = json_string(rendered);
	return r;
}

static int render_value(const struct fh_assertion_call *call, const json_t *vars, const json_t *value, json_t **ret,
                        struct fh_error *err)
{
	if (json_is_string(value))
		return render_string(call, vars, value, ret, err);
	if (!json_is_array(value)) {
		*ret = json_incref((json_t *)(uintptr_t)value);
		return 0;
	}
	fh_auto_json json_t *list = json_array();
	for (size_t i = 0; i < json_array_size(value); i++) {
		const json_t *item = json_array_get(value, i);
		json_t *rendered = NULL;
		int r = json_is_string(item) ? render_string(call, vars, item, &rendered, err) : 0;
		if (r < 0)
			return r;
		json_array_append_new(list, rendered ? rendered : json_incref((json_t *)(uintptr_t)item));
	}
	*ret = json_incref(list);
	return 0;
}

/* ------------------------------------------------------------------------------------------------------- assertion */

static int transform_output(const struct fh_check *c, const json_t *assertion, json_t **ret, struct fh_error *err)
{
	const char *code = fh_json_str(assertion, "transform", NULL);
	if (!code || !*code) {
		*ret = json_incref((json_t *)(uintptr_t)c->output);
		return 0;
	}
	json_t *metadata = json_object_get(c->response, "metadata");
	fh_auto_json json_t *context = json_pack("{s:O, s:{s:s}, s:o}", "vars", c->vars, "prompt", "label", c->prompt,
	                                         "metadata", metadata ? json_incref(metadata) : json_object());
	return fh_transform(fh_services_scripts(c->services), c->plan->config.dir, code, "output", c->output, context, ret,
	                    err);
}

static double weight_of(const json_t *assertion)
{
	return fh_json_num(assertion, "weight", 1);
}

/* Adds the rendered value to the grade's metadata, which outputs show, when rendering changed it. */
static void note_rendered(struct fh_grade *g, const json_t *written, const json_t *rendered)
{
	if (!json_is_string(rendered) || rendered == written || json_equal(rendered, written))
		return;
	json_t *metadata = g->metadata ? json_copy(g->metadata) : json_object();
	json_object_set(metadata, "renderedAssertionValue", (json_t *)(uintptr_t)rendered);
	json_decref(g->metadata);
	g->metadata = metadata;
}

static int check_one(const struct fh_check *c, const json_t *assertion, json_t **ret, struct fh_error *err)
{
	const char *type = fh_json_str(assertion, "type", "");
	bool inverse = fh_starts_with(type, "not-");
	const struct fh_assertion *kind = fh_assertion_find(type + (inverse ? 4 : 0));
	if (!kind)
		return fh_error_set(err, FH_E_ARGUMENT, "Unknown assertion type: %s", type);
	fh_auto_json json_t *output = NULL;
	int r = transform_output(c, assertion, &output, err);
	if (r < 0)
		return r;
	fh_auto_free char *text = json_is_string(output) ? NULL : fh_json_text(output, 0);
	const json_t *threshold = json_object_get(assertion, "threshold"), *written = json_object_get(assertion, "value");
	struct fh_assertion_call call = {
		.kind = kind,
		.inverse = inverse,
		.assertion = assertion,
		.config = json_object_get(assertion, "config"),
		.has_threshold = json_is_number(threshold),
		.threshold = json_number_value(threshold),
		.output = output,
		.provider_output = c->provider_output,
		.output_text = text ? fh_str(text) : (struct fh_str){ json_string_value(output), json_string_length(output) },
		.prompt = c->prompt,
		.vars = c->vars,
		.test = c->test,
		.provider = c->provider,
		.response = c->response,
		.latency_ms = c->latency_ms,
		.kept = c->kept,
		.config_dir = c->plan->config.dir,
		.services = c->services,
		.graders = c->graders
	};
	fh_auto_json json_t *value = NULL;
	if (written && !json_is_null(written) && (r = render_value(&call, c->vars, written, &value, err)) < 0)
		return r;
	call.value = value;
	FH_CLEANUP(fh_grade_release) struct fh_grade grade = { 0 };
	r = kind->check(&call, &grade, err);
	if (r < 0)
		return r;
	note_rendered(&grade, written, value);
	if (weight_of(assertion) == 0)
		grade.pass = true; /* an assertion of weight 0 only measures */
	*ret = fh_grade_json(&grade, assertion);
	return 0;
}

/* ------------------------------------------------------------------------------------------------------------ lists */

static bool is_graded(const json_t *list)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *assertion = json_array_get(list, i);
		const char *type = fh_json_str(assertion, "type", "");
		const struct fh_assertion *kind = fh_assertion_find(fh_starts_with(type, "not-") ? type + 4 : type);
		if ((kind && kind->graded) ||
		    (strcmp(type, "assert-set") == 0 && is_graded(json_object_get(assertion, "assert"))))
			return true;
	}
	return false;
}

bool fh_check_is_graded(const json_t *test)
{
	return is_graded(json_object_get(test, "assert"));
}

static int add_result(const struct fh_check *c, struct fh_score *score, const json_t *assertion, json_t *result,
                      struct fh_error *err)
{
	const char *metric = fh_json_str(assertion, "metric", NULL);
	fh_auto_free char *name = NULL;
	if (metric && strchr(metric, '{')) {
		int r = fh_render_text(fh_str(metric), c->vars, &name, err);
		if (r < 0)
			return r;
	}
	fh_score_add(score, result, name ? name : metric, weight_of(assertion));
	return 0;
}

static int check_list(const struct fh_check *c, const json_t *list, const json_t *threshold, json_t **ret,
                      struct fh_error *err);

static int check_set(const struct fh_check *c, const json_t *set, json_t **ret, struct fh_error *err)
{
	static const char *const copied[] = { "metric", "threshold", "weight" };
	json_t *result = NULL;
	int r = check_list(c, json_object_get(set, "assert"), json_object_get(set, "threshold"), &result, err);
	if (r < 0)
		return r;
	json_t *about = json_pack("{s:s, s:I}", "type", "assert-set", "assertionCount",
	                          (json_int_t)json_array_size(json_object_get(set, "assert")));
	for (size_t i = 0; i < FH_ARRAY_SIZE(copied); i++) {
		json_t *v = json_object_get(set, copied[i]);
		if (v)
			json_object_set(about, copied[i], v);
	}
	json_object_set_new(result, "metadata", json_pack("{s:o}", "assertionSet", about));
	*ret = result;
	return 0;
}

static int check_list(const struct fh_check *c, const json_t *list, const json_t *threshold, json_t **ret,
                      struct fh_error *err)
{
	FH_CLEANUP(fh_score_release) struct fh_score score;
	fh_auto_free char *of_set = NULL; /* why the last set failed that did: told before what failed outside of sets */
	fh_score_init(&score, threshold);
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *assertion = json_array_get(list, i);
		const char *type = fh_json_str(assertion, "type", "");
		if (strcmp(type, "max-score") == 0 || fh_starts_with(type, "select-"))
			continue; /* judged when the whole row is finished (select.h) */
		fh_auto_json json_t *result = NULL;
		bool set = strcmp(type, "assert-set") == 0;
		int r = set ? check_set(c, assertion, &result, err) : check_one(c, assertion, &result, err);
		if (r == 0 && !json_is_true(json_object_get(result, "pass")) &&
		    fh_env_on("PROMPTFOO_SHORT_CIRCUIT_TEST_FAILURES"))
			r = fh_error_set(err, FH_E_ARGUMENT, "%s", fh_json_str(result, "reason", "an assertion failed"));
		if (r == 0)
			r = add_result(c, &score, assertion, result, err);
		if (r < 0)
			return r;
		if (set && !json_is_true(json_object_get(result, "pass"))) {
			free(of_set);
			of_set = fh_xstrdup(fh_json_str(result, "reason", ""));
		}
	}
	if (of_set) {
		free(score.failed);
		score.failed = FH_TAKE_PTR(of_set);
	}
	*ret = fh_score_finish(&score);
	return 0;
}

/* assertScoringFunction: file://x.js[:fn] or file://x.py[:fn] (default "func") computes the row's grade from its named
 * scores. An error of the function fails the row. */
static int apply_scoring(const struct fh_check *c, const char *text, json_t *grading, struct fh_error *err)
{
	fh_auto_free char *path = NULL;
	fh_auto_free char *function = NULL;
	enum fh_script_language language = FH_SCRIPT_JAVASCRIPT;
	fh_text_split_file(text, c->plan->config.dir, &path, &function);
	if (!fh_script_language_of(path, &language))
		return fh_error_set(err, FH_E_CONFIG, "assertScoringFunction %s: only .js, .py and .rb files can be called",
		                    text);
	json_t *about =
	    json_pack("{s:O?, s:O?, s:O?}", "threshold", json_object_get(c->test, "threshold"), "componentResults",
	              json_object_get(grading, "componentResults"), "tokensUsed", json_object_get(grading, "tokensUsed"));
	fh_auto_json json_t *args = json_pack("[O, o]", json_object_get(grading, "namedScores"), about);
	fh_auto_script_result struct fh_script_result result = { 0 };
	struct fh_script_call call = { .language = language,
		                           .file = path,
		                           .args = args,
		                           .repeatable = true,
		                           .function = function                           ? function
		                                       : language != FH_SCRIPT_JAVASCRIPT ? "func"
		                                                                          : NULL };
	int r = fh_script_call(fh_services_scripts(c->services), &call, &result, err);
	if (r < 0)
		return r;
	bool fine = result.outcome == FH_SCRIPT_RETURNED && fh_grade_is_object(result.value);
	if (fine) {
		json_object_update(grading, result.value);
		return 0;
	}
	json_object_set_new(grading, "pass", json_false());
	json_object_set_new(grading, "score", json_integer(0));
	json_object_set_new(grading, "reason",
	                    json_sprintf("Scoring function error: %s", result.outcome == FH_SCRIPT_RETURNED
	                                                                   ? "assertion scoring function must return a "
	                                                                     "GradingResult"
	                                                                   : result.error_message));
	return 0;
}

int fh_check_all(const struct fh_check *c, json_t **ret, struct fh_error *err)
{
	const json_t *list = json_object_get(c->test, "assert");
	if (json_array_size(list) == 0) {
		*ret = fh_score_none();
		return 0;
	}
	int r = check_list(c, list, json_object_get(c->test, "threshold"), ret, err);
	const char *scoring = fh_json_str(c->test, "assertScoringFunction", NULL);
	if (r < 0 || !scoring || !*scoring)
		return r;
	r = apply_scoring(c, scoring, *ret, err);
	if (r < 0) {
		json_decref(*ret);
		*ret = NULL;
	}
	return r;
}
