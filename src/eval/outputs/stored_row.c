/* SPDX-License-Identifier: MIT */
#include "eval/outputs/stored_row.h"

#include "store/judged.h"

static const struct {
	const char *provider, *prompt, *answer, *assertion; /* prompt, answer: members of data; the others: names */
} forms[FH_STORE_KIND_COUNT_] = {
	[FH_STORE_JUDGE] = { "judge", NULL, "program", "judge" },
	[FH_STORE_RUN] = { "run", "code", "stdout", "run" },
};

/* What a sandbox run reports (status, usage …), as metadata of the assertion. */
static json_t *metadata(const json_t *data)
{
	static const char *const names[] = { "verdict", "status",  "integrity", "language", "exit_code",    "signal",
		                                 "stdout",  "stderr",  "usage",     "limits",   "fired",        "isolation",
		                                 "argv",    "repeats", "flaky",     "seed",     "raised_limits" };
	json_t *o = json_object();
	for (size_t i = 0; i < FH_ARRAY_SIZE(names); i++)
		if (json_object_get(data, names[i]))
			json_object_set(o, names[i], json_object_get(data, names[i]));
	return o;
}

static json_t *grading(enum fh_store_kind kind, const struct fh_store_cell *c, const json_t *data, const char *reason)
{
	json_t *said = fh_json_bytes(fh_str(reason));
	json_t *check = json_pack("{s:b, s:f, s:O, s:{s:s}, s:o}", "pass", c->success, "score", c->score, "reason", said,
	                          "assertion", "type", forms[kind].assertion, "metadata", metadata(data));
	return json_pack("{s:b, s:f, s:o, s:[o]}", "pass", c->success, "score", c->score, "reason", said,
	                 "componentResults", check);
}

/* A member of data as a new reference; "" when it is missing. */
static json_t *member(const json_t *data, const char *name)
{
	json_t *v = name ? json_object_get(data, name) : NULL;
	return v ? json_incref(v) : json_string("");
}

json_t *fh_output_stored_row(enum fh_store_kind kind, const struct fh_store_cell *c, json_t *data)
{
	if (kind == FH_STORE_EVAL || !json_is_object(data))
		return data;
	fh_auto_free char *task = fh_judged_task(data);
	/* A copy, because its source is replaced below. */
	fh_auto_free char *reason =
	    fh_xstrdup(fh_json_str(json_object_get(data, "error"), "message", fh_json_str(data, "reason", c->status)));
	json_t *vars = json_object();
	if (kind == FH_STORE_JUDGE)
		json_object_set_new(vars, "task_id", fh_json_bytes(fh_str(task)));
	json_object_set_new(data, "testIdx", json_integer(c->row));
	json_object_set_new(data, "promptIdx", json_integer(c->column));
	json_object_set_new(data, "success", json_boolean(c->success));
	json_object_set_new(data, "score", json_real(c->score));
	json_object_set_new(data, "failureReason", json_integer(c->failure));
	json_object_set_new(data, "latencyMs", json_real(c->latency_ms));
	json_object_set_new(data, "cost", json_real(c->cost));
	json_object_set_new(data, "namedScores", json_object());
	json_object_set_new(data, "provider", json_pack("{s:s, s:s}", "id", forms[kind].provider, "label", ""));
	json_object_set_new(data, "prompt", json_pack("{s:o, s:s}", "raw", member(data, forms[kind].prompt), "label", ""));
	json_object_set_new(data, "response", json_pack("{s:o}", "output", member(data, forms[kind].answer)));
	json_object_set_new(data, "gradingResult", grading(kind, c, data, reason));
	if (c->failure == 2)
		json_object_set_new(data, "error", fh_json_bytes(fh_str(reason)));
	json_object_set(data, "vars", vars);
	json_object_set_new(data, "testCase",
	                    json_pack("{s:o, s:o}", "description", fh_json_bytes(fh_str(task)), "vars", vars));
	return data;
}
