/* SPDX-License-Identifier: MIT */
#include "eval/outputs/row.h"
#include <stdio.h>
#include "eval/common/env.h"
#include "eval/common/uuid.h"

/* promptfoo parses strings that hold a JSON object or list when it searches them for secrets, and writes them without
 * spaces. Ours must do the same, or equal rows would differ. */
static json_t *compacted(const char *text, size_t n);

/* compacted() for each string within a value. New reference. */
static json_t *compacted_below(const json_t *value)
{
	if (json_is_string(value))
		return compacted(json_string_value(value), json_string_length(value));
	json_t *copy = json_is_object(value) ? json_object() : json_is_array(value) ? json_array() : NULL, *v;
	const char *key;
	if (!copy)
		return json_incref((json_t *)(uintptr_t)value);
	for (size_t i = 0; i < json_array_size(value); i++)
		json_array_append_new(copy, compacted_below(json_array_get(value, i)));
	json_object_foreach((json_t *)(uintptr_t)value, key, v) json_object_set_new(copy, key, compacted_below(v));
	return copy;
}

static bool may_be_json(const char *text)
{
	text += strspn(text, " \t\r\n");
	return (*text == '{' || *text == '[') && text[1];
}

static json_t *compacted(const char *text, size_t n)
{
	if (may_be_json(text)) {
		fh_auto_json json_t *value = fh_json_parse((struct fh_str){ text, n }, NULL, NULL);
		if (value) {
			fh_auto_json json_t *inner = compacted_below(value);
			fh_auto_free char *compact = fh_json_text(inner, 0);
			return json_string(compact);
		}
	}
	return fh_json_bytes((struct fh_str){ text, n });
}

static bool holds_json_text(const json_t *value)
{
	bool found = json_is_string(value) && may_be_json(json_string_value(value));
	const char *key;
	json_t *v;
	for (size_t i = 0; i < json_array_size(value); i++)
		found = found || holds_json_text(json_array_get(value, i));
	json_object_foreach((json_t *)(uintptr_t)value, key, v) found = found || holds_json_text(v);
	return found;
}

static json_t *compacted_value(json_t *value)
{
	return holds_json_text(value) ? compacted_below(value) : json_incref(value);
}

/* Rows are written as text and not built as a tree of JSON values, which would cost as much time as the rest of an
 * eval. */
static void key(struct fh_buf *out, const char *name)
{
	fh_buf_adds(out, out->p[out->n - 1] == '{' ? "\"" : ",\"");
	fh_buf_adds(out, name);
	fh_buf_add(out, "\":", 2);
}

static void member(struct fh_buf *out, const char *name, const json_t *value)
{
	key(out, name);
	fh_json_write(out, value, 0);
}

static void member_new(struct fh_buf *out, const char *name, FH_OWN json_t *value)
{
	member(out, name, value);
	json_decref(value);
}

static void member_text(struct fh_buf *out, const char *name, const char *text)
{
	key(out, name);
	fh_json_write_string(out, fh_str(text));
}

static void member_number(struct fh_buf *out, const char *name, double n)
{
	key(out, name);
	fh_json_write_number(out, n);
}

static void or_empty(struct fh_buf *out, const char *name, const json_t *object)
{
	key(out, name);
	if (object)
		fh_json_write(out, object, 0);
	else
		fh_buf_adds(out, "{}");
}

static void write_prompt(struct fh_buf *out, const struct fh_eval_result *r, const struct fh_eval_prompt *prompt)
{
	const json_t *config = r->prompt_config ? r->prompt_config : prompt->config;
	key(out, "prompt");
	fh_buf_addc(out, '{');
	if (fh_env_on("PROMPTFOO_STRIP_PROMPT_TEXT"))
		member_text(out, "raw", "[prompt stripped]");
	else
		member_new(out, "raw", compacted(r->prompt, strlen(r->prompt)));
	member_new(out, "label", compacted(prompt->label, strlen(prompt->label)));
	or_empty(out, "config", config);
	fh_buf_addc(out, '}');
}

static void write_response(struct fh_buf *out, const json_t *response)
{
	if (!fh_env_on("PROMPTFOO_STRIP_RESPONSE_OUTPUT")) {
		member(out, "response", response);
		return;
	}
	json_t *copy = json_copy((json_t *)(uintptr_t)response);
	json_object_set_new(copy, "output", json_string("[output stripped]"));
	json_object_del(copy, "raw");
	member_new(out, "response", copy);
}

static void write_test(struct fh_buf *out, json_t *test)
{
	if (!fh_env_on("PROMPTFOO_STRIP_TEST_VARS")) {
		member_new(out, "testCase", compacted_value(test));
		return;
	}
	fh_auto_json json_t *copy = json_copy(test);
	json_object_del(copy, "vars");
	member_new(out, "testCase", compacted_value(copy));
}

static void write_tokens(struct fh_buf *out, char *const no_tokens[2], const struct fh_eval_result *r)
{
	unsigned asked = r->asked;
	const struct fh_eval_graded g = fh_eval_graded_of(r->grading);
	bool counted = r->tokens.total > 0 || r->tokens.prompt > 0 || r->tokens.completion > 0 || r->tokens.cached > 0;
	if (counted || g.total || g.prompt || g.completion || g.cached || g.requests) {
		member_new(out, "tokenUsage", fh_eval_tokens_json(&r->tokens, asked, &g));
		return;
	}
	key(out, "tokenUsage");
	fh_buf_adds(out, no_tokens[asked]);
}
static void write_grade(struct fh_buf *out, const struct fh_output_secrets *secrets, const json_t *grade)
{
	fh_auto_json json_t *clean = fh_output_redact_grade(secrets, grade);
	fh_json_write(out, clean, 0);
}

void fh_output_row(const struct fh_eval_plan *plan, size_t i, const struct fh_eval_result *r,
                   const struct fh_output_secrets *secrets, char *const no_tokens[2], struct fh_buf *out)
{
	const struct fh_eval_cell *cell = &plan->cells[i];
	const struct fh_eval_row *row = &plan->rows[cell->row];
	const struct fh_eval_column *column = &plan->columns[cell->column];
	const struct fh_eval_provider *provider = column->provider; /* not the test's own provider, if it has one */
	fh_auto_json json_t *test = fh_output_redact_test(secrets, r->test ? r->test : row->test);
	fh_buf_addc(out, '{');
	member_number(out, "cost", r->cost);
	if (r->error)
		member_text(out, "error", r->error);
	key(out, "gradingResult");
	if (r->grading && !fh_env_on("PROMPTFOO_STRIP_GRADING_RESULT"))
		write_grade(out, secrets, r->grading);
	else
		fh_buf_adds(out, "null");
	member_new(out, "id", fh_eval_uuid());
	member_number(out, "latencyMs", (double)(int64_t)(r->latency_ms + .5));
	or_empty(out, "namedScores", r->named_scores);
	write_prompt(out, r, column->prompt);
	member_text(out, "promptId", column->prompt->id);
	member_number(out, "promptIdx", cell->column);
	key(out, "provider");
	fh_buf_addc(out, '{');
	member_text(out, "id", provider->id);
	member_text(out, "label", provider->label);
	fh_buf_addc(out, '}');
	if (r->response)
		write_response(out, r->response);
	member_number(out, "score", r->score);
	key(out, "success");
	fh_buf_adds(out, r->success ? "true" : "false");
	write_test(out, test);
	member_number(out, "testIdx", cell->row);
	write_tokens(out, no_tokens, r);
	if (fh_env_on("PROMPTFOO_STRIP_TEST_VARS"))
		or_empty(out, "vars", NULL);
	else
		member_new(out, "vars", compacted_value(json_object_get(test, "vars")));
	or_empty(out, "metadata", fh_env_on("PROMPTFOO_STRIP_METADATA") ? NULL : r->metadata);
	member_number(out, "failureReason", r->failure);
	fh_buf_addc(out, '}');
}
