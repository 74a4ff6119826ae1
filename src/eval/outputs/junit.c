/* SPDX-License-Identifier: MIT */
#include "base/escape.h"
#include "eval/outputs/output.h"

/* JUnit XML, which CI systems read: a suite for each column, a case for each test. */

struct suite {
	const struct fh_output_data *data;
	struct fh_output_stream *out;
	uint32_t column;
	const char *name;
};

static void attribute(struct fh_buf *out, const char *name, const char *text)
{
	fh_buf_addf(out, " %s=\"", name);
	fh_escape_html(out, fh_str(text));
	fh_buf_addc(out, '"');
}

static void problem(struct fh_buf *out, const json_t *row)
{
	bool error = strcmp(fh_output_status(row), "ERROR") == 0;
	const char *reason = fh_output_reason(row);
	fh_auto_free char *first = fh_xstrndup(reason, strcspn(reason, "\n"));
	fh_auto_free char *answer = fh_output_answer(row);
	fh_buf_adds(out, error ? "\n      <error" : "\n      <failure");
	attribute(out, "type", error ? "error" : "assertion");
	attribute(out, "message", first);
	fh_buf_addc(out, '>');
	fh_escape_html(out, fh_str(reason));
	if (*answer) {
		fh_buf_adds(out, "\n\nOutput:\n");
		fh_escape_html(out, fh_str(answer));
	}
	fh_buf_adds(out, error ? "</error>\n    " : "</failure>\n    ");
}

static int write_case(void *context, uint32_t row, uint32_t column, struct fh_str text, struct fh_error *err)
{
	struct suite *s = context;
	struct fh_buf *out = &s->out->text;
	if (column != s->column)
		return 0;
	fh_auto_json json_t *v = fh_json_parse(text, NULL, NULL);
	const char *description = fh_json_str(json_object_get(v, "testCase"), "description", "");
	fh_auto_free char *name = fh_xasprintf(*description ? "test %u: %s" : "test %u%s", row + 1, description);
	fh_buf_adds(out, "    <testcase");
	attribute(out, "name", name);
	attribute(out, "classname", s->name);
	fh_buf_addf(out, " time=\"%.3f\">", fh_json_num(v, "latencyMs", 0) / 1000);
	if (!json_is_true(json_object_get(v, "success")))
		problem(out, v);
	fh_buf_adds(out, "</testcase>\n");
	fh_output_flush(s->out);
	return 0;
}

static void totals(struct fh_buf *out, uint64_t tests, uint64_t failures, uint64_t errors, double seconds)
{
	fh_buf_addf(out, " tests=\"%llu\" failures=\"%llu\" errors=\"%llu\" skipped=\"0\" time=\"%.3f\">\n",
	            (unsigned long long)tests, (unsigned long long)failures, (unsigned long long)errors, seconds);
}

/* "[provider] prompt N": the N-th column of that provider. free() it. */
static char *name_of(const json_t *columns, uint32_t column)
{
	const char *provider = fh_json_str(json_array_get(columns, column), "provider", "");
	unsigned n = 1;
	for (uint32_t i = 0; i < column; i++)
		n += strcmp(fh_json_str(json_array_get(columns, i), "provider", ""), provider) == 0;
	return fh_xasprintf("[%s] prompt %u", provider, n);
}

static int write_all(const struct fh_output_data *d, struct fh_output_stream *out, struct fh_error *err)
{
	int r = 0;
	fh_buf_adds(&out->text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites");
	attribute(&out->text, "name", "promptfoo");
	totals(&out->text, d->successes + d->failures + d->errors, d->failures, d->errors, (double)d->duration_ms / 1000);
	for (uint32_t i = 0; i < json_array_size(d->columns) && r == 0; i++) {
		const json_t *m = json_object_get(json_array_get(d->columns, i), "metrics");
		uint64_t fail = (uint64_t)fh_json_int(m, "testFailCount", 0),
		         error = (uint64_t)fh_json_int(m, "testErrorCount", 0);
		fh_auto_free char *name = name_of(d->columns, i);
		struct suite s = { .data = d, .out = out, .column = i, .name = name };
		fh_buf_adds(&out->text, "  <testsuite");
		attribute(&out->text, "name", name);
		totals(&out->text, (uint64_t)fh_json_int(m, "testPassCount", 0) + fail + error, fail, error,
		       fh_json_num(m, "totalLatencyMs", 0) / 1000);
		r = d->each(d->context, write_case, &s, err);
		fh_buf_adds(&out->text, "  </testsuite>\n");
	}
	fh_buf_adds(&out->text, "</testsuites>\n");
	return r;
}

const struct fh_output_kind fh_output_junit = { .extension = ".junit.xml", .write = write_all, .sign = "<testsuites" };
