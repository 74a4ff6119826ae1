/* SPDX-License-Identifier: MIT */
#include "eval/grading/grade.h"
#include <stdio.h>
#include "eval/grading/assertion.h"

void fh_grade_release(struct fh_grade *g)
{
	free(g->reason);
	free(g->comment);
	json_decref(g->named_scores);
	json_decref(g->components);
	json_decref(g->tokens_used);
	json_decref(g->metadata);
	memset(g, 0, sizeof(*g));
}

int fh_grade_set(struct fh_grade *ret, const struct fh_assertion_call *call, bool holds, const char *reason, ...)
{
	ret->pass = holds != call->inverse;
	ret->score = ret->pass;
	free(ret->reason);
	if (ret->pass) {
		ret->reason = fh_xstrdup("Assertion passed");
		return 0;
	}
	struct fh_buf b = FH_BUF_INIT(0);
	va_list args;
	va_start(args, reason);
	fh_buf_vaddf(&b, reason, args);
	va_end(args);
	ret->reason = fh_buf_take(&b, NULL);
	return 0;
}

uint64_t fh_assertion_script_timeout(const struct fh_assertion_call *call)
{
	double ms = fh_json_num(call->config, "timeout", 0);
	return ms > 0 && ms < 1e12 ? (uint64_t)ms : 0;
}

/* An object that has metadata, which scripts look into without asking whether there is any. New reference. */
static json_t *with_metadata(const json_t *object)
{
	if (!object || json_object_get(object, "metadata"))
		return json_incref((json_t *)(uintptr_t)object);
	json_t *copy = json_copy((json_t *)(uintptr_t)object);
	json_object_set_new_nocheck(copy, "metadata", json_object());
	return copy;
}

json_t *fh_assertion_context(const struct fh_assertion_call *call)
{
	json_t *c = json_object();
	json_object_set_new(c, "prompt", json_string(call->prompt));
	json_object_set(c, "vars", (json_t *)(uintptr_t)call->vars);
	json_object_set_new(c, "test", with_metadata(call->test));
	json_object_set(c, "provider", (json_t *)(uintptr_t)call->provider);
	json_t *response = with_metadata(call->response), *metadata = json_object_get(response, "metadata");
	json_object_set_new(c, "providerResponse", response);
	json_t *log_probs = json_object_get(call->response, "logProbs");
	if (log_probs)
		json_object_set(c, "logProbs", log_probs);
	if (call->config)
		json_object_set(c, "config", (json_t *)(uintptr_t)call->config);
	if (metadata)
		json_object_set(c, "metadata", metadata);
	json_t *trace = json_object_get(metadata, "trace");
	if (trace)
		json_object_set(c, "trace", trace);
	return c;
}

json_t *fh_grade_json(const struct fh_grade *g, const json_t *assertion)
{
	json_t *o = json_object();
	const char *reason = g->reason ? g->reason : g->pass ? "Assertion passed" : "Assertion failed";
	json_object_set_new(o, "pass", json_boolean(g->pass));
	json_object_set_new(o, "score", json_real(g->score));
	json_object_set_new(o, "reason", fh_json_bytes(fh_str(reason)));
	if (g->named_scores)
		json_object_set(o, "namedScores", g->named_scores);
	if (g->tokens_used)
		json_object_set(o, "tokensUsed", g->tokens_used);
	if (g->comment)
		json_object_set_new(o, "comment", fh_json_bytes(fh_str(g->comment)));
	if (g->components)
		json_object_set(o, "componentResults", g->components);
	json_object_set(o, "assertion", (json_t *)(uintptr_t)assertion);
	if (g->metadata)
		json_object_set(o, "metadata", g->metadata);
	return o;
}

bool fh_grade_is_object(const json_t *value)
{
	return json_is_boolean(json_object_get(value, "pass")) && json_is_number(json_object_get(value, "score")) &&
	       json_is_string(json_object_get(value, "reason"));
}

static json_t *get_of_type(const json_t *object, const char *key, json_type type)
{
	json_t *v = json_object_get(object, key);
	return v && json_typeof(v) == type ? json_incref(v) : NULL;
}

void fh_grade_from_object(struct fh_grade *ret, const json_t *value)
{
	json_t *reason = json_object_get(value, "reason");
	ret->pass = json_is_true(json_object_get(value, "pass"));
	ret->score = json_number_value(json_object_get(value, "score"));
	free(ret->reason);
	ret->reason = fh_xstrndup(json_string_value(reason), json_string_length(reason));
	ret->named_scores = get_of_type(value, "namedScores", JSON_OBJECT);
	ret->components = get_of_type(value, "componentResults", JSON_ARRAY);
	ret->tokens_used = get_of_type(value, "tokensUsed", JSON_OBJECT);
	ret->metadata = get_of_type(value, "metadata", JSON_OBJECT);
	const char *comment = fh_json_str(value, "comment", NULL);
	if (comment) {
		free(ret->comment);
		ret->comment = fh_xstrdup(comment);
	}
}

int fh_call_value_text(const struct fh_assertion_call *call, char **ret, struct fh_error *err)
{
	if (json_is_string(call->value) && json_string_length(call->value) > 0) {
		*ret = fh_xstrndup(json_string_value(call->value), json_string_length(call->value));
		return 0;
	}
	if (json_is_number(call->value)) {
		struct fh_buf b = FH_BUF_INIT(0);
		fh_json_write_number(&b, json_number_value(call->value));
		*ret = fh_buf_take(&b, NULL);
		return 0;
	}
	return fh_error_set(err, FH_E_ARGUMENT, "\"%s\" assertion type must have a string or number value",
	                    call->kind->name);
}
