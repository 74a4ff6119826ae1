/* SPDX-License-Identifier: MIT */
#include "base/escape.h"
#include "eval/outputs/output.h"
#include "eval/results/repeats.h"

/* For a pull request or a CI summary: the totals, then each test that did not pass, with reason and answer. */

#define SHOWN_MAX 200
#define TEXT_MAX 2000

struct list {
	struct fh_output_stream *out;
	const struct fh_output_data *data;
	size_t shown, left_out;
};

static void percent(struct fh_buf *out, double part, double all)
{
	fh_buf_addf(out, "%.1f %%", all > 0 ? 100 * part / all : 0);
}

static void columns(struct fh_buf *out, const struct fh_output_data *d)
{
	fh_buf_adds(out, "| column | passed | failed | errors | rate | score | tokens | cost |\n"
	                 "|---|--:|--:|--:|--:|--:|--:|--:|\n");
	for (uint32_t i = 0; i < json_array_size(d->columns); i++) {
		const json_t *m = json_object_get(json_array_get(d->columns, i), "metrics");
		double pass = fh_json_num(m, "testPassCount", 0), fail = fh_json_num(m, "testFailCount", 0),
		       error = fh_json_num(m, "testErrorCount", 0);
		fh_auto_free char *name = fh_output_column_name(d, i);
		fh_buf_adds(out, "| ");
		fh_escape_markdown(out, fh_str(name));
		fh_buf_addf(out, " | %g | %g | %g | ", pass, fail, error);
		percent(out, pass, pass + fail + error);
		fh_buf_addf(out, " | %.2f | %lld | %.4f |\n", fh_json_num(m, "score", 0),
		            (long long)fh_json_int(json_object_get(m, "tokenUsage"), "total", 0), fh_json_num(m, "cost", 0));
	}
}

/* Writes pass@k and flaky tests of repeats, one item for each column. */
static void repeats(struct fh_buf *out, const struct fh_output_data *d)
{
	for (uint32_t i = 0; i < json_array_size(d->columns); i++) {
		fh_auto_buf struct fh_buf text = FH_BUF_INIT(0);
		if (!fh_eval_repeats_line(&text, json_object_get(json_array_get(d->columns, i), "metrics")))
			continue;
		fh_auto_free char *name = fh_output_column_name(d, i);
		fh_buf_adds(out, "\n");
		fh_escape_markdown(out, fh_str(name));
		fh_buf_adds(out, ": ");
		fh_escape_markdown(out, fh_buf_str(&text));
		fh_buf_adds(out, "\n");
	}
}

/* Writes a block of code. Its fence is longer than any in the text, which therefore cannot end the block. */
static void block(struct fh_buf *out, const char *text)
{
	size_t longest = 2, run = 0, n = FH_MIN(strlen(text), (size_t)TEXT_MAX);
	for (size_t i = 0; i < n; i++) {
		run = text[i] == '`' ? run + 1 : 0;
		longest = FH_MAX(longest, run);
	}
	for (int end = 0; end < 2; end++) {
		fh_buf_addc(out, '\n');
		for (size_t i = 0; i <= longest; i++)
			fh_buf_addc(out, '`');
		fh_buf_adds(out, end ? "\n" : "text\n");
		if (!end)
			fh_escape_terminal(out, (struct fh_str){ text, n }, true);
	}
}

static int write_problem(void *context, uint32_t row, uint32_t column, struct fh_str text, struct fh_error *err)
{
	struct list *l = context;
	struct fh_buf *out = &l->out->text;
	fh_auto_json json_t *v = fh_json_parse(text, NULL, NULL);
	if (json_is_true(json_object_get(v, "success")))
		return 0;
	if (l->shown == SHOWN_MAX) {
		l->left_out++;
		return 0;
	}
	fh_buf_adds(out, l->shown++ ? "\n" : "\n## Not passed\n\n");
	const char *description = fh_json_str(json_object_get(v, "testCase"), "description", "");
	fh_auto_free char *name = fh_output_column_name(l->data, column), *answer = fh_output_answer(v);
	fh_buf_addf(out, "### %s: test %u ", fh_output_status(v), row);
	fh_escape_markdown(out, fh_str(description));
	fh_buf_adds(out, "\n\n");
	fh_escape_markdown(out, fh_str(name));
	fh_buf_addc(out, '\n');
	block(out, fh_output_reason(v));
	if (*answer) {
		fh_buf_adds(out, "\nAnswer:\n");
		block(out, answer);
	}
	fh_output_flush(l->out);
	return 0;
}

static int write_all(const struct fh_output_data *d, struct fh_output_stream *out, struct fh_error *err)
{
	struct list l = { .out = out, .data = d };
	uint64_t all = d->successes + d->failures + d->errors;
	const char *description = fh_json_str(d->config, "description", "");
	fh_buf_adds(&out->text, "# ");
	fh_escape_markdown(&out->text, fh_str(*description ? description : d->id));
	fh_buf_addf(&out->text, "\n\n%llu of %llu passed (", (unsigned long long)d->successes, (unsigned long long)all);
	percent(&out->text, (double)d->successes, (double)all);
	fh_buf_addf(&out->text, "), %llu failed, %llu errors, %.1f s.\n\n", (unsigned long long)d->failures,
	            (unsigned long long)d->errors, (double)d->duration_ms / 1000);
	columns(&out->text, d);
	repeats(&out->text, d);
	int r = d->each(d->context, write_problem, &l, err);
	if (l.left_out)
		fh_buf_addf(&out->text, "\n... and %zu more that did not pass.\n", l.left_out);
	return r;
}

const struct fh_output_kind fh_output_markdown = { .extension = ".md",
	                                               .write = write_all,
	                                               .sign = "| column | passed |" };
