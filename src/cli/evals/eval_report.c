/* SPDX-License-Identifier: MIT */
#include "cli/evals/eval_report.h"
#include "base/escape.h"
#include "base/utf8.h"
#include "cli/shared/term.h"
#include "eval/common/text.h"
#include "eval/results/repeats.h"

#define HEAD_MAX 60 /* bytes of a prompt's label that a column's name shows */

/* ------------------------------------------------------------------------------------------------------------ grid */

/* The text cut to max bytes, between characters, with "..." if it was longer. */
static char *shortened(const char *text, size_t max)
{
	size_t n = strlen(text);
	if (n <= max)
		return fh_xstrdup(text);
	n = max;
	while (n > 0 && ((unsigned char)text[n] & 0xC0) == 0x80)
		n--;
	return fh_xasprintf("%.*s...", (int)n, text);
}

/* A column's name with each run of white space replaced by one space. */
static char *column_name(const struct fh_eval_column *c, size_t max)
{
	struct fh_buf line = FH_BUF_INIT(0);
	for (const char *p = c->prompt->label; *p && line.n <= max; p++) {
		bool space = strchr(" \t\r\n", *p) != NULL;
		if (!space || (line.n > 0 && line.p[line.n - 1] != ' '))
			fh_buf_addc(&line, space ? ' ' : *p);
	}
	fh_auto_free char *cut = shortened(fh_buf_cstr(&line), max);
	fh_buf_release(&line);
	return fh_xasprintf("[%s] %s", fh_eval_provider_name(c->provider), cut);
}

static void plain_cell(struct fh_table *t, enum fh_style style, const char *text, size_t max)
{
	fh_auto_free char *cut = shortened(text, max);
	fh_table_cell(t, style, NULL, fh_str(cut));
}

/* Adds a cell of the grid. `r` NULL: the cell has no result, since it has not run yet (`planned`) or will not run. */
static void result_cell(struct fh_table *t, const struct fh_eval_result *r, bool planned, size_t max)
{
	const json_t *output = r ? json_object_get(r->response, "output") : NULL;
	fh_auto_free char *answer = output && !json_is_null(output) ? fh_text_of_json(output) : fh_xstrdup("");
	if (!r) {
		fh_table_cell(t, FH_STYLE_DIM, NULL, fh_str(planned ? "(not run)" : ""));
	} else if (r->success) {
		fh_auto_free char *cut = shortened(answer, max);
		fh_table_cell(t, FH_STYLE_GOOD, "[PASS]", fh_str(cut));
	} else {
		bool failed = r->failure != FH_FAILURE_ERROR;
		const char *error = r->error ? r->error : "";
		error += fh_starts_with(error, "Error: ") ? strlen("Error: ") : 0; /* the cell already begins with ERROR */
		fh_auto_free char *reason = shortened(error, max);
		fh_auto_free char *cut = shortened(answer, max);
		fh_auto_free char *text = failed && *cut ? fh_xasprintf("%s\n---\n%s", reason, cut) : fh_xstrdup(reason);
		fh_table_cell(t, failed ? FH_STYLE_BAD : FH_STYLE_WARN, failed ? "[FAIL]" : "[ERROR]", fh_str(text));
	}
}

static void grid_head(const struct fh_eval_plan *p, struct fh_table *t, size_t max)
{
	for (size_t i = 0; i < p->var_count; i++)
		plain_cell(t, FH_STYLE_BOLD, p->vars[i], max);
	for (size_t i = 0; i < p->column_count; i++) {
		fh_auto_free char *name = column_name(&p->columns[i], HEAD_MAX);
		plain_cell(t, FH_STYLE_BOLD, name, max);
	}
	fh_table_row_end(t);
}

void fh_report_table(const struct fh_eval_plan *p, struct fh_eval_results *r, const struct fh_report_options *o,
                     struct fh_buf *out)
{
	struct fh_table *t = fh_table_new((unsigned)(p->var_count + p->column_count));
	grid_head(p, t, o->cell_max);
	size_t cell = 0;
	for (size_t row = 0; row < FH_MIN(p->row_count, o->rows_max); row++) {
		const json_t *vars = json_object_get(p->rows[row].test, "vars");
		for (size_t i = 0; i < p->var_count; i++) {
			const json_t *v = json_object_get(vars, p->vars[i]);
			fh_auto_free char *text = v && !json_is_null(v) ? fh_text_of_json(v) : fh_xstrdup("");
			plain_cell(t, FH_STYLE_NONE, text, o->cell_max);
		}
		for (size_t column = 0; column < p->column_count; column++) {
			bool here = cell < p->cell_count && p->cells[cell].row == row && p->cells[cell].column == column;
			struct fh_eval_result result = { 0 };
			bool done = here && fh_eval_results_read(r, cell, &result);
			result_cell(t, done ? &result : NULL, here, o->cell_max);
			fh_eval_result_release(&result);
			cell += here;
		}
		fh_table_row_end(t);
	}
	fh_table_print(t, out, o->width, o->color);
	fh_table_free(t);
	if (p->row_count > o->rows_max)
		fh_buf_addf(out, "... %zu more rows\n", p->row_count - o->rows_max);
}

/* --------------------------------------------------------------------------------------------------------- reasons */

void fh_report_reasons(const struct fh_eval_results *r, const struct fh_report_options *o, struct fh_buf *out)
{
	enum { SHOWN = 20, LENGTH_MAX = 300 };
	if (r->reason_count == 0)
		return;
	fh_buf_adds(out, "Why tests did not pass:\n");
	for (size_t i = 0; i < FH_MIN(r->reason_count, (size_t)SHOWN); i++) {
		const struct fh_eval_reason *reason = &r->reasons[i];
		fh_auto_free char *cut = shortened(reason->text, LENGTH_MAX);
		const char *mark = reason->error ? "[ERROR]" : "[FAIL]";
		if (o->color)
			fh_buf_addf(out, "%7zu x \033[%sm%s\033[0m ", reason->count, reason->error ? "33" : "31", mark);
		else
			fh_buf_addf(out, "%7zu x %s ", reason->count, mark);
		fh_escape_terminal(out, fh_str(cut), false);
		fh_buf_addc(out, '\n');
	}
	if (r->reason_count > SHOWN || r->reasons_left_out)
		fh_buf_addf(out, "  ... and %zu other reasons%s\n", r->reason_count - FH_MIN(r->reason_count, (size_t)SHOWN),
		            r->reasons_left_out ? ", and more" : "");
	fh_buf_addc(out, '\n');
}

/* --------------------------------------------------------------------------------------------------------- summary */

static double percent(size_t n, size_t of)
{
	return of ? 100.0 * (double)n / (double)of : 0;
}

static void line(struct fh_buf *out, bool color, const char *paint, const char *format, ...) FH_PRINTF(4, 5);
static void line(struct fh_buf *out, bool color, const char *paint, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	if (color && *paint)
		fh_buf_addf(out, "\033[%sm", paint);
	fh_buf_vaddf(out, format, args);
	fh_buf_adds(out, color && *paint ? "\033[0m\n" : "\n");
	va_end(args);
}

static void named_scores(const struct fh_eval_plan *p, const struct fh_eval_results *r, struct fh_buf *out)
{
	for (size_t i = 0; i < p->column_count; i++) {
		const json_t *metrics = json_array_get(r->metrics, i), *named = json_object_get(metrics, "namedScores");
		const char *name;
		json_t *v;
		if (json_object_size(named) == 0)
			continue;
		fh_buf_adds(out, "  ");
		fh_escape_terminal(out, fh_str(fh_eval_provider_name(p->columns[i].provider)), false);
		fh_buf_adds(out, ":");
		json_object_foreach((json_t *)(uintptr_t)named, name, v)
		{
			double count = fh_json_num(json_object_get(metrics, "namedScoresCount"), name, 0);
			fh_buf_adds(out, " ");
			fh_escape_terminal(out, fh_str(name), false);
			if (json_is_null(v))
				fh_buf_adds(out, " -");
			else
				fh_buf_addf(out, " %.2f", json_number_value(v));
			if (count > 0)
				fh_buf_addf(out, "/%g", count);
		}
		fh_buf_addc(out, '\n');
	}
}

/* With several columns, one line for each tells how well its model did. */
static void columns(const struct fh_eval_plan *p, const struct fh_eval_results *r, struct fh_buf *out)
{
	for (size_t i = 0; p->column_count > 1 && i < p->column_count; i++) {
		const json_t *m = json_array_get(r->metrics, i);
		size_t pass = (size_t)fh_json_int(m, "testPassCount", 0);
		size_t all = pass + (size_t)fh_json_int(m, "testFailCount", 0) + (size_t)fh_json_int(m, "testErrorCount", 0);
		fh_auto_free char *name = column_name(&p->columns[i], HEAD_MAX);
		fh_buf_addf(out, "  %6.2f%%  %zu/%zu  ", percent(pass, all), pass, all);
		fh_escape_terminal(out, fh_str(name), false);
		fh_buf_addc(out, '\n');
	}
}

/* With repeats, one line for each column. */
static void repeats(const struct fh_eval_plan *p, const struct fh_eval_results *r, struct fh_buf *out)
{
	for (size_t i = 0; i < p->column_count; i++) {
		fh_auto_buf struct fh_buf text = FH_BUF_INIT(0);
		if (!fh_eval_repeats_line(&text, json_array_get(r->metrics, i)))
			continue;
		fh_buf_addf(out, "  %s", fh_buf_cstr(&text));
		if (p->column_count > 1) {
			fh_auto_free char *name = column_name(&p->columns[i], HEAD_MAX);
			fh_buf_adds(out, "  ");
			fh_escape_terminal(out, fh_str(name), false);
		}
		fh_buf_addc(out, '\n');
	}
}

void fh_report_summary(const struct fh_eval_plan *p, const struct fh_eval_results *r, const struct fh_report_options *o,
                       struct fh_buf *out)
{
	size_t done = r->done;
	if (r->interrupted)
		line(out, o->color, "33", "Interrupted: %zu of %zu tests were run (ID: %s)", done, r->count, r->id);
	else
		line(out, o->color, "", "Eval complete (ID: %s)", r->id);
	if (r->tokens.total > 0)
		line(out, o->color, "", "Total Tokens: %lld (%lld prompt, %lld completion)", (long long)r->tokens.total,
		     (long long)r->tokens.prompt, (long long)r->tokens.completion);
	fh_buf_adds(out, "\nResults:\n");
	bool ascii = fh_term_is_ascii();
	line(out, o->color, r->successes ? "32" : "", "  %s %zu passed (%.2f%%)", ascii ? "+" : "✓", r->successes,
	     percent(r->successes, done));
	line(out, o->color, r->failures ? "31" : "", "  %s %zu failed (%.2f%%)", ascii ? "x" : "✗", r->failures,
	     percent(r->failures, done));
	line(out, o->color, r->errors ? "33" : "", "  %zu errors (%.2f%%)", r->errors, percent(r->errors, done));
	columns(p, r, out);
	repeats(p, r, out);
	named_scores(p, r, out);
	if (r->cost > 0)
		fh_buf_addf(out, "Cost: $%.4f\n", r->cost);
	fh_buf_addf(out, "Duration: %.3gs (concurrency: %u)\n", (double)r->duration_ms / 1000, p->concurrency);
}
