/* SPDX-License-Identifier: MIT */
#include "view/cell_json.h"

#include "store/judged.h"

enum { ANSWER_MAX = 700, VARIABLE_MAX = 300, REASON_MAX = 240 };

/* At most max bytes of text, cut between characters. */
static json_t *cut(const char *text, size_t max)
{
	size_t n = strlen(text);
	if (n > max)
		for (n = max; n && ((unsigned char)text[n] & 0xc0) == 0x80;)
			n--;
	return fh_json_bytes((struct fh_str){ text, n });
}

/* A string unchanged, any other value as JSON text. */
static const char *as_text(const json_t *v, char **ret_made)
{
	if (!v || json_is_null(v))
		return "";
	if (json_is_string(v))
		return json_string_value(v);
	return *ret_made = fh_json_text(v, 0);
}

const char *fh_view_answer(enum fh_store_kind kind, const json_t *data, char **ret_made)
{
	static const char *const names[] = { [FH_STORE_JUDGE] = "program", [FH_STORE_RUN] = "stdout" };
	const json_t *of_response = json_object_get(json_object_get(data, "response"), "output");
	return as_text(kind == FH_STORE_EVAL ? of_response : json_object_get(data, names[kind]), ret_made);
}

static json_t *rating_json(const struct fh_store_rating *r)
{
	if (!r->changed_ms)
		return json_null();
	return json_pack("{s:i, s:o, s:o}", "thumb", r->thumb, "score", r->has_score ? json_real(r->score) : json_null(),
	                 "comment", fh_json_bytes(fh_str(r->comment ? r->comment : "")));
}

static json_t *numbers_json(const struct fh_store_cell *c)
{
	json_t *o = json_pack("{s:i, s:i, s:b, s:i, s:f, s:f, s:f, s:I}", "row", (int)c->row, "column", (int)c->column,
	                      "pass", c->success, "failure", c->failure, "score", c->score, "latencyMs", c->latency_ms,
	                      "cost", c->cost, "tokens", (json_int_t)c->tokens);
	json_object_set_new(o, "status", fh_json_bytes(fh_str(c->status ? c->status : "")));
	json_object_set_new(o, "language", fh_json_bytes(fh_str(c->language ? c->language : "")));
	json_object_set_new(o, "rating", rating_json(&c->rating));
	return o;
}

FH_OWN json_t *fh_view_cell_json(const struct fh_store_cell *c)
{
	json_t *o = numbers_json(c), *data = fh_json_parse((struct fh_str){ c->data, c->data_n }, NULL, NULL);
	json_object_set_new(o, "data", data ? data : json_null());
	return o;
}

static const char *reason_of(const json_t *data, const char *status)
{
	const json_t *error = json_object_get(data, "error");
	const char *reason = fh_json_str(data, "error", fh_json_str(error, "message", NULL));
	if (!reason)
		reason = fh_json_str(json_object_get(data, "gradingResult"), "reason", NULL);
	return reason ? reason : fh_json_str(data, "reason", status ? status : "");
}

static json_t *short_cell(enum fh_store_kind kind, const struct fh_store_cell *c, const json_t *data)
{
	fh_auto_free char *made = NULL;
	json_t *o = numbers_json(c), *named = json_object_get(data, "namedScores");
	const char *answer = fh_view_answer(kind, data, &made);
	json_object_set_new(o, "text", cut(answer, ANSWER_MAX));
	json_object_set_new(o, "size", json_integer((json_int_t)strlen(answer)));
	if (!c->success)
		json_object_set_new(o, "reason", cut(reason_of(data, c->status), REASON_MAX));
	if (json_object_size(named) > 0)
		json_object_set(o, "named", named);
	return o;
}

static json_t *variable_texts(const json_t *data, const json_t *vars)
{
	const json_t *values = json_object_get(data, "vars");
	json_t *texts = json_array();
	for (size_t i = 0; i < json_array_size(vars); i++) {
		fh_auto_free char *made = NULL;
		const char *name = json_string_value(json_array_get(vars, i));
		json_array_append_new(texts, cut(as_text(json_object_get(values, name ? name : ""), &made), VARIABLE_MAX));
	}
	return texts;
}

FH_OWN json_t *fh_view_row_json(enum fh_store_kind kind, const struct fh_store_cell *cells, size_t count,
                                size_t columns, const json_t *vars)
{
	json_t *shown = json_array(), *row = json_object();
	for (size_t i = 0; i < columns; i++)
		json_array_append_new(shown, json_null());
	for (size_t i = 0; i < count; i++) {
		fh_auto_json json_t *data = fh_json_parse((struct fh_str){ cells[i].data, cells[i].data_n }, NULL, NULL);
		if (cells[i].column < columns)
			json_array_set_new(shown, cells[i].column, short_cell(kind, &cells[i], data));
		if (i > 0)
			continue;
		fh_auto_free char *task = fh_judged_task(data);
		json_object_set_new(row, "row", json_integer(cells[i].row));
		json_object_set_new(row, "description",
		                    cut(fh_json_str(json_object_get(data, "testCase"), "description", task), VARIABLE_MAX));
		json_object_set_new(row, "vars", variable_texts(data, vars));
	}
	json_object_set_new(row, "cells", shown);
	return row;
}
