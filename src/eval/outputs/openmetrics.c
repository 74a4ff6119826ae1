/* SPDX-License-Identifier: MIT */
#include "eval/outputs/output.h"

/* The totals of each column as OpenMetrics 1.0 text, for Prometheus' textfile collector and similar readers. */

static const struct metric {
	const char *name, *help, *key;
	bool of_tokens;
} metrics[] = {
	{ "fumehood_eval_passed", "Tests that passed.", "testPassCount", false },
	{ "fumehood_eval_failed", "Tests that failed an assertion.", "testFailCount", false },
	{ "fumehood_eval_errors", "Tests that met an error.", "testErrorCount", false },
	{ "fumehood_eval_score", "Sum of the scores.", "score", false },
	{ "fumehood_eval_latency_milliseconds", "Sum of the providers' times.", "totalLatencyMs", false },
	{ "fumehood_eval_cost_dollars", "Sum of the costs.", "cost", false },
	{ "fumehood_eval_tokens", "Tokens used.", "total", true },
};

/* A label's value: backslash, quote and line end are escaped (OpenMetrics 1.0, ABNF), other control characters left
 * out.
 */
static void label(struct fh_buf *out, const char *name, const char *value)
{
	fh_buf_addf(out, "%s=\"", name);
	for (; *value; value++) {
		if (*value == '\\' || *value == '"')
			fh_buf_addf(out, "\\%c", *value);
		else if (*value == '\n')
			fh_buf_adds(out, "\\n");
		else if ((unsigned char)*value >= 0x20 && *value != 0x7f)
			fh_buf_addc(out, *value);
	}
	fh_buf_addc(out, '"');
}

/* Writes the labels of a sample. `metric` is a named score's name, or NULL; `k` that of pass@k, or NULL. */
static void labels(struct fh_buf *out, const struct fh_output_data *d, size_t column, const char *metric, const char *k)
{
	const json_t *c = json_array_get(d->columns, column);
	fh_buf_addc(out, '{');
	label(out, "eval", d->id);
	fh_buf_addf(out, ",column=\"%zu\",", column);
	label(out, "provider", fh_json_str(c, "provider", ""));
	fh_buf_addc(out, ',');
	label(out, "prompt", fh_json_str(c, "label", ""));
	if (metric) {
		fh_buf_addc(out, ',');
		label(out, "metric", metric);
	}
	if (k) {
		fh_buf_addc(out, ',');
		label(out, "k", k);
	}
	fh_buf_adds(out, "} ");
}

static void begin(struct fh_buf *out, const char *name, const char *help)
{
	fh_buf_addf(out, "# TYPE %s gauge\n# HELP %s %s\n", name, name, help);
}

/* Writes the metrics of repeats; nothing when there were no repeats. */
static void write_repeats(struct fh_buf *out, const struct fh_output_data *d)
{
	static const struct {
		const char *name, *help, *key;
	} families[] = {
		{ "fumehood_eval_pass_at_k", "Estimate of pass@k over repeats.", "passAtK" },
		{ "fumehood_eval_pass_hat_k", "Estimate of pass^k over repeats.", "passHatK" },
	};
	for (size_t i = 0; i < FH_ARRAY_SIZE(families); i++) {
		bool begun = false;
		for (size_t j = 0; j < json_array_size(d->columns); j++) {
			const json_t *of = json_object_get(json_array_get(d->columns, j), "metrics");
			const char *k;
			json_t *v;
			json_object_foreach(json_object_get(json_object_get(of, "repeats"), families[i].key), k, v)
			{
				if (!begun)
					begin(out, families[i].name, families[i].help);
				begun = true;
				fh_buf_adds(out, families[i].name);
				labels(out, d, j, NULL, k);
				fh_json_write_number(out, fh_json_num(v, "value", 0));
				fh_buf_addc(out, '\n');
			}
		}
	}
}

static int write_all(const struct fh_output_data *d, struct fh_output_stream *stream, struct fh_error *err)
{
	static const char named[] = "fumehood_eval_named_score";
	struct fh_buf *out = &stream->text;
	size_t n = json_array_size(d->columns);
	for (size_t i = 0; i < FH_ARRAY_SIZE(metrics); i++) {
		const struct metric *m = &metrics[i];
		begin(out, m->name, m->help);
		for (size_t j = 0; j < n; j++) {
			const json_t *of = json_object_get(json_array_get(d->columns, j), "metrics");
			fh_buf_adds(out, m->name);
			labels(out, d, j, NULL, NULL);
			fh_json_write_number(out, fh_json_num(m->of_tokens ? json_object_get(of, "tokenUsage") : of, m->key, 0));
			fh_buf_addc(out, '\n');
		}
	}
	begin(out, named, "Sums of the named scores.");
	for (size_t j = 0; j < n; j++) {
		const char *name;
		json_t *v;
		json_object_foreach(json_object_get(json_object_get(json_array_get(d->columns, j), "metrics"), "namedScores"),
		                    name, v)
		{
			fh_buf_adds(out, named);
			labels(out, d, j, name, NULL);
			if (json_is_null(v))
				fh_buf_adds(out, "NaN");
			else
				fh_json_write_number(out, json_number_value(v));
			fh_buf_addc(out, '\n');
		}
	}
	write_repeats(out, d);
	fh_buf_adds(out, "# EOF\n");
	return 0;
}

const struct fh_output_kind fh_output_openmetrics = { .extension = ".prom",
	                                                  .write = write_all,
	                                                  .sign = "# TYPE fumehood_eval_" };
