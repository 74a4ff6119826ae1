/* SPDX-License-Identifier: MIT */
#include "base/escape.h"
#include "eval/outputs/output.h"

/* One HTML file without scripts and external resources. A Content-Security-Policy in its head forbids both, should an
 * answer ever get past the escaping. */

static const char head[] =
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n"
    "<style>\n"
    ":root{color-scheme:light dark}\n"
    "body{font:14px/1.5 system-ui,sans-serif;margin:1.5rem}\n"
    "table{border-collapse:collapse;margin:1rem 0;width:100%;table-layout:fixed}\n"
    "th,td{border:1px solid #8885;padding:.4rem .6rem;text-align:left;vertical-align:top;overflow-wrap:anywhere}\n"
    "th{position:sticky;top:0;background:Canvas}\n"
    "pre{white-space:pre-wrap;margin:.3rem 0;max-height:24rem;overflow:auto}\n"
    ".PASS>b{color:#15803d}.FAIL>b{color:#b91c1c}.ERROR>b{color:#b45309}\n"
    "summary{cursor:pointer}.dim{opacity:.7}\n"
    "</style>\n";

struct table {
	const struct fh_output_data *data;
	struct fh_output_stream *out;
	bool begun;
	uint32_t row, column;
};

static void escaped(struct fh_buf *out, const char *text)
{
	fh_escape_html(out, fh_str(text));
}

static void cell_of_text(struct fh_buf *out, const char *tag, const json_t *value)
{
	fh_auto_free char *text = fh_output_text(value);
	fh_buf_addf(out, "<%s>", tag);
	escaped(out, text);
	fh_buf_addf(out, "</%s>", tag);
}

static void assertions(struct fh_buf *out, const json_t *row)
{
	const json_t *parts = json_object_get(json_object_get(row, "gradingResult"), "componentResults");
	if (json_array_size(parts) == 0)
		return;
	fh_buf_addf(out, "<details><summary class=\"dim\">%zu assertions</summary><ul>", json_array_size(parts));
	for (size_t i = 0; i < json_array_size(parts); i++) {
		const json_t *part = json_array_get(parts, i);
		bool pass = json_is_true(json_object_get(part, "pass"));
		fh_buf_addf(out, "<li class=\"%s\"><b>%s</b> ", pass ? "PASS" : "FAIL", pass ? "PASS" : "FAIL");
		escaped(out, fh_json_str(json_object_get(part, "assertion"), "type", ""));
		fh_buf_adds(out, ": ");
		escaped(out, fh_json_str(part, "reason", ""));
		fh_buf_adds(out, "</li>");
	}
	fh_buf_adds(out, "</ul></details>");
}

static void end_row(struct table *t)
{
	if (!t->begun)
		return;
	for (; t->column < json_array_size(t->data->columns); t->column++)
		fh_buf_adds(&t->out->text, "<td></td>");
	fh_buf_adds(&t->out->text, "</tr>\n");
	fh_output_flush(t->out);
}

static void begin_row(struct table *t, uint32_t row, const json_t *v)
{
	struct fh_buf *out = &t->out->text;
	t->begun = true;
	t->row = row;
	t->column = 0;
	fh_buf_addf(out, "<tr id=\"r%u\"><td>%u ", row, row);
	escaped(out, fh_json_str(json_object_get(v, "testCase"), "description", ""));
	fh_buf_adds(out, "</td>");
	for (size_t i = 0; i < json_array_size(t->data->vars); i++)
		cell_of_text(out, "td",
		             json_object_get(json_object_get(v, "vars"), json_string_value(json_array_get(t->data->vars, i))));
}

static int write_cell(void *context, uint32_t row, uint32_t column, struct fh_str text, struct fh_error *err)
{
	struct table *t = context;
	struct fh_buf *out = &t->out->text;
	fh_auto_json json_t *v = fh_json_parse(text, NULL, NULL);
	if (!t->begun || row != t->row) {
		end_row(t);
		begin_row(t, row, v);
	}
	for (; t->column < column; t->column++)
		fh_buf_adds(out, "<td></td>");
	t->column = column + 1;
	const char *status = fh_output_status(v);
	fh_auto_free char *answer = fh_output_answer(v);
	fh_buf_addf(out, "<td class=\"%s\"><b>%s</b> <span class=\"dim\">", status, status);
	fh_json_write_number(out, fh_json_num(v, "score", 0));
	fh_buf_addf(out, " · %.0f ms</span>", fh_json_num(v, "latencyMs", 0));
	if (strcmp(status, "PASS") != 0) {
		fh_buf_adds(out, "<pre>");
		escaped(out, fh_output_reason(v));
		fh_buf_adds(out, "</pre>");
	}
	fh_buf_adds(out, "<pre>");
	escaped(out, answer);
	fh_buf_adds(out, "</pre>");
	assertions(out, v);
	fh_buf_adds(out, "</td>");
	return 0;
}

static void sums(struct fh_buf *out, const struct fh_output_data *d)
{
	fh_buf_adds(out,
	            "<table><tr><th>Column</th><th>Passed</th><th>Failed</th><th>Errors</th><th>Score</th><th>Tokens</th>"
	            "<th>Cost</th></tr>\n");
	for (uint32_t i = 0; i < json_array_size(d->columns); i++) {
		const json_t *m = json_object_get(json_array_get(d->columns, i), "metrics");
		fh_auto_free char *name = fh_output_column_name(d, i);
		fh_buf_adds(out, "<tr><td>");
		escaped(out, name);
		fh_buf_addf(out, "</td><td>%lld</td><td>%lld</td><td>%lld</td><td>%.2f</td><td>%lld</td><td>%.4f</td></tr>\n",
		            (long long)fh_json_int(m, "testPassCount", 0), (long long)fh_json_int(m, "testFailCount", 0),
		            (long long)fh_json_int(m, "testErrorCount", 0), fh_json_num(m, "score", 0),
		            (long long)fh_json_int(json_object_get(m, "tokenUsage"), "total", 0), fh_json_num(m, "cost", 0));
	}
	fh_buf_adds(out, "</table>\n");
}

static int write_all(const struct fh_output_data *d, struct fh_output_stream *stream, struct fh_error *err)
{
	struct fh_buf *out = &stream->text;
	struct table t = { .data = d, .out = stream };
	const char *description = fh_json_str(d->config, "description", "");
	fh_buf_adds(out, head);
	fh_buf_adds(out, "<title>");
	escaped(out, *description ? description : d->id);
	fh_buf_adds(out, "</title></head><body>\n<h1>");
	escaped(out, *description ? description : d->id);
	fh_buf_addf(out, "</h1>\n<p>%llu passed, %llu failed, %llu errors, %.1f s</p>\n", (unsigned long long)d->successes,
	            (unsigned long long)d->failures, (unsigned long long)d->errors, (double)d->duration_ms / 1000);
	sums(out, d);
	fh_buf_adds(out, "<table><tr><th>Test</th>");
	for (size_t i = 0; i < json_array_size(d->vars); i++)
		cell_of_text(out, "th", json_array_get(d->vars, i));
	for (uint32_t i = 0; i < json_array_size(d->columns); i++) {
		fh_auto_free char *name = fh_output_column_name(d, i);
		fh_buf_adds(out, "<th>");
		escaped(out, name);
		fh_buf_adds(out, "</th>");
	}
	fh_buf_adds(out, "</tr>\n");
	int r = d->each(d->context, write_cell, &t, err);
	end_row(&t);
	fh_buf_adds(out, "</table>\n</body></html>\n");
	return r;
}

const struct fh_output_kind fh_output_html = { .extension = ".html",
	                                           .write = write_all,
	                                           .sign = "Content-Security-Policy" };
