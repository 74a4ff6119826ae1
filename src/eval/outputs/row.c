/* SPDX-License-Identifier: MIT */
#include "eval/outputs/output.h"
#include <stdio.h>
#include <sys/random.h>

static json_t *uuid(void)
{
	unsigned char b[16] = { 0 };
	char text[40];
	if (getrandom(b, sizeof(b), 0) != sizeof(b))
		b[0] = 0;
	b[6] = (unsigned char)((b[6] & 0x0f) | 0x40);
	b[8] = (unsigned char)((b[8] & 0x3f) | 0x80);
	snprintf(text, sizeof(text), "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1],
	         b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
	return json_string(text);
}

/* promptfoo parses strings that hold a JSON object or list, when it looks for secrets in them, and writes them back
 * without spaces; rows compare equal only when ours do the same. */
static json_t *compacted(const char *text, size_t n)
{
	if (n >= 2 && (*text == '{' || *text == '[')) {
		fh_auto_json json_t *value = fh_json_parse((struct fh_str){ text, n }, NULL, NULL);
		if (value) {
			fh_auto_free char *compact = fh_json_text(value, 0);
			return json_string(compact);
		}
	}
	return fh_json_bytes((struct fh_str){ text, n });
}

static json_t *vars_json(json_t *vars)
{
	bool plain = true;
	const char *key;
	json_t *v;
	json_object_foreach(vars, key, v) plain =
	    plain && !(json_is_string(v) && strchr("{[", *json_string_value(v)) && json_string_length(v) > 1);
	if (plain)
		return json_incref(vars);
	json_t *o = json_object();
	json_object_foreach(vars, key, v) json_object_set_new(
	    o, key, json_is_string(v) ? compacted(json_string_value(v), json_string_length(v)) : json_incref(v));
	return o;
}

json_t *fh_output_row(const struct fh_output_data *data, size_t i)
{
	const struct fh_eval_plan *plan = data->plan;
	const struct fh_eval_result *r = &data->results->items[i];
	const struct fh_eval_cell *cell = &plan->cells[i];
	const struct fh_eval_row *row = &plan->rows[cell->row];
	const struct fh_eval_column *column = &plan->columns[cell->column];
	const struct fh_eval_provider *provider = row->provider ? row->provider : column->provider;
	json_t *o = json_object();
	json_object_set_new(o, "cost", json_real(r->cost));
	if (r->error)
		json_object_set_new(o, "error", fh_json_bytes(fh_str(r->error)));
	json_object_set_new(o, "gradingResult", r->grading ? json_incref(r->grading) : json_null());
	json_object_set_new(o, "id", uuid());
	json_object_set_new(o, "latencyMs", json_integer((json_int_t)(r->latency_ms + .5)));
	json_object_set_new(o, "namedScores", r->named_scores ? json_incref(r->named_scores) : json_object());
	json_t *prompt = json_pack("{s:o, s:o}", "raw", compacted(r->prompt, strlen(r->prompt)), "label",
	                           fh_json_bytes(fh_str(column->prompt->label)));
	if (r->prompt_config || column->prompt->config)
		json_object_set(prompt, "config", r->prompt_config ? r->prompt_config : column->prompt->config);
	json_object_set_new(o, "prompt", prompt);
	json_object_set_new(o, "promptId", json_string(column->prompt->id));
	json_object_set_new(o, "promptIdx", json_integer(cell->column));
	json_object_set_new(o, "provider", json_pack("{s:s, s:s}", "id", provider->id, "label", provider->label));
	if (r->response)
		json_object_set(o, "response", r->response);
	json_object_set_new(o, "score", json_real(r->score));
	json_object_set_new(o, "success", json_boolean(r->success));
	json_object_set(o, "testCase", row->test);
	json_object_set_new(o, "testIdx", json_integer(cell->row));
	unsigned asked = r->response != NULL;
	bool counted = r->tokens.total > 0 || r->tokens.prompt > 0 || r->tokens.completion > 0 || r->tokens.cached > 0;
	json_object_set_new(o, "tokenUsage",
	                    counted ? fh_eval_tokens_json(&r->tokens, asked)
	                            : json_incref(data->results->no_tokens[asked]));
	json_object_set_new(o, "vars", vars_json(r->vars ? r->vars : json_object_get(row->test, "vars")));
	json_object_set_new(o, "metadata", r->metadata ? json_incref(r->metadata) : json_object());
	json_object_set_new(o, "failureReason", json_integer(r->failure));
	return o;
}
