/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <unistd.h>

#include "base/escape.h"
#include "cli/evals/eval_show.h"
#include "cli/store/store.h"
#include "cli/shared/options.h"
#include "cli/shared/print.h"
#include "cli/shared/term.h"
#include "eval/outputs/output.h"
#include "eval/outputs/stored_row.h"
#include "eval/results/repeats.h"
#include "store/judged.h"
#include "store/rows.h"
#include "store/search.h"

#define CELL_MAX 250  /* bytes of a cell's text that are shown */
#define LABEL_MAX 120 /* bytes of a prompt that are shown above its column's results */

static bool as_json, row_given, column_given, min_given, max_given;
static uint64_t row_index, column_index, offset, limit;
static double metric_min, metric_max;
static const char *show_name, *order_name, *text, *regexp, *metric, *status, *language, *tag;

#define TEXT_OPT(name_, target_, argument_, help_)                                                                     \
	{                                                                                                                  \
		.name = name_, .kind = FH_OPT_STRING, .target = target_, .argument = argument_, .help = help_                  \
	}
static const struct fh_opt options[] = {
	{ .name = "row",
	  .kind = FH_OPT_U64,
	  .target = &row_index,
	  .given = &row_given,
	  .argument = "N",
	  .help = "Show the results of this test in detail (0 is the first)." },
	{ .name = "column",
	  .kind = FH_OPT_U64,
	  .target = &column_index,
	  .given = &column_given,
	  .argument = "N",
	  .help = "Look at this column only (0 is the first)." },
	{ .name = "show",
	  .kind = FH_OPT_STRING,
	  .target = &show_name,
	  .argument = "WHICH",
	  .help = "all, passed, failed, errors, not-good, different or rated.",
	  .default_words = "not-good, of a run all" },
	TEXT_OPT("text", &text, "TEXT", "Rows that contain this text; case is ignored."),
	TEXT_OPT("regexp", &regexp, "REGEX", "Rows that match this regular expression."),
	TEXT_OPT("metric", &metric, "NAME", "Rows that have this named score."),
	{ .name = "metric-min",
	  .kind = FH_OPT_DOUBLE,
	  .target = &metric_min,
	  .given = &min_given,
	  .argument = "X",
	  .help = "With --metric: of at least X." },
	{ .name = "metric-max",
	  .kind = FH_OPT_DOUBLE,
	  .target = &metric_max,
	  .given = &max_given,
	  .argument = "X",
	  .help = "With --metric: of at most X." },
	TEXT_OPT("status", &status, "NAME", "Rows whose program ended in this way: passed, memory_limit …"),
	TEXT_OPT("language", &language, "NAME", "Rows in this programming language."),
	TEXT_OPT("tag", &tag, "TAG", "Tests with this tag, or KEY=VALUE in their metadata."),
	{ .name = "sort",
	  .kind = FH_OPT_STRING,
	  .target = &order_name,
	  .argument = "BY",
	  .help = "index, score, latency, cost or tokens.",
	  .default_text = "index" },
	{ .name = "limit",
	  .letter = 'n',
	  .kind = FH_OPT_U64,
	  .target = &limit,
	  .argument = "N",
	  .help = "Show at most N rows.",
	  .default_text = "25" },
	{ .name = "offset", .kind = FH_OPT_U64, .target = &offset, .argument = "N", .help = "Leave out the first N rows." },
	{ .name = "json",
	  .kind = FH_OPT_FLAG,
	  .target = &as_json,
	  .help = "Print one JSON object: {eval, columns, rows …}." },
	{ 0 },
};
static const struct fh_command_line command_line = {
	.program = "fumehood show",
	.synopsis = "[OPTIONS] [ID]",
	.about =
	    "Shows an eval, a judgement or a run of the store (default: the latest eval): its totals and the rows that did "
	    "not pass, or one row in detail.",
	.details = "Examples:\n"
	           "  fumehood show\n"
	           "  fumehood show eval-aBc --show different\n"
	           "  fumehood show eval-aBc --row 3\n\n"
	           "Exit status: 0; 1 when it cannot be read; 2 when the command line is wrong.",
	.options = options,
};

static json_t *cell_json(const struct fh_store_cell *c)
{
	json_t *o = json_pack("{s:I, s:I, s:b, s:i, s:f, s:s, s:s}", "row", (json_int_t)c->row, "column",
	                      (json_int_t)c->column, "success", c->success, "failure", c->failure, "score", c->score,
	                      "status", c->status, "language", c->language);
	json_t *data = fh_json_parse((struct fh_str){ c->data, c->data_n }, NULL, NULL);
	json_object_set_new(o, "data", data ? data : json_null());
	if (c->rating.changed_ms)
		json_object_set_new(o, "rating",
		                    json_pack("{s:i, s:o, s:s}", "thumb", c->rating.thumb, "score",
		                              c->rating.has_score ? json_real(c->rating.score) : json_null(), "comment",
		                              c->rating.comment));
	return o;
}

static void print_head(const struct fh_store_eval *e, const struct fh_store_documents *d)
{
	char when[32];
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(0);
	fh_escape_terminal(&out, fh_str(e->id), false);
	fh_buf_addf(&out, "  %s, %s, %.1f s\n", fh_store_when(e->created_ms, when), fh_store_state_name(e->state),
	            (double)e->duration_ms / 1000);
	if (*e->description) {
		fh_escape_terminal(&out, fh_str(e->description), false);
		fh_buf_addc(&out, '\n');
	}
	fh_buf_addf(&out, "%llu passed, %llu failed, %llu errors; %lld tokens, $%.4f\n", (unsigned long long)e->passed,
	            (unsigned long long)e->failed, (unsigned long long)e->errors, (long long)e->tokens, e->cost);
	for (size_t i = 0; i < json_array_size(d->columns); i++) {
		const json_t *c = json_array_get(d->columns, i), *m = json_object_get(c, "metrics");
		const char *label = fh_json_str(c, "label", "");
		fh_buf_addf(&out, "  column %zu: %lld passed, %lld failed, %lld errors  [", i,
		            (long long)fh_json_int(m, "testPassCount", 0), (long long)fh_json_int(m, "testFailCount", 0),
		            (long long)fh_json_int(m, "testErrorCount", 0));
		fh_escape_terminal(&out, fh_str(fh_json_str(c, "provider", "")), false);
		fh_buf_adds(&out, "] ");
		char shown[LABEL_MAX];
		fh_auto_free char *first = fh_xstrndup(label, strcspn(label, "\n"));
		fh_escape_terminal_line(shown, sizeof(shown), fh_str(first));
		fh_buf_addf(&out, "%s%s", shown, strlen(label) >= sizeof(shown) ? " …" : "");
		fh_auto_buf struct fh_buf repeats = FH_BUF_INIT(0);
		fh_buf_addc(&out, '\n');
		if (fh_eval_repeats_line(&repeats, m))
			fh_buf_addf(&out, "    %s\n", fh_buf_cstr(&repeats));
	}
	fh_print(&out);
}

static char *cut(const char *s)
{
	size_t n = strlen(s);
	if (n <= CELL_MAX)
		return fh_xstrdup(s);
	for (n = CELL_MAX; n > 0 && ((unsigned char)s[n] & 0xC0) == 0x80;)
		n--;
	return fh_xasprintf("%.*s...", (int)n, s);
}

static void print_row(struct fh_table *t, enum fh_store_kind kind, const struct fh_store_cell *c)
{
	char place[48];
	fh_auto_json json_t *v =
	    fh_output_stored_row(kind, c, fh_json_parse((struct fh_str){ c->data, c->data_n }, NULL, NULL));
	const json_t *vars = json_object_get(json_object_get(v, "testCase"), "vars");
	fh_auto_free char *shown_vars = vars && kind != FH_STORE_JUDGE ? fh_json_text(vars, 0) : fh_judged_task(v);
	fh_auto_free char *answer = fh_output_answer(v), *short_vars = cut(shown_vars);
	const char *reason = c->success ? "" : fh_json_str(v, "reason", fh_output_reason(v));
	fh_auto_free char *whole = fh_xasprintf("%s%s%s", reason, *reason && *answer ? "\n---\n" : "", answer);
	fh_auto_free char *short_whole = cut(whole);
	snprintf(place, sizeof(place), "%u:%u", c->row, c->column);
	fh_table_text(t, FH_STYLE_NONE, place);
	fh_table_text(t, FH_STYLE_NONE, short_vars);
	fh_table_cell(t,
	              c->success        ? FH_STYLE_GOOD
	              : c->failure == 2 ? FH_STYLE_WARN
	                                : FH_STYLE_BAD,
	              c->success        ? "[PASS]"
	              : c->failure == 2 ? "[ERROR]"
	                                : "[FAIL]",
	              fh_str(short_whole));
	fh_table_row_end(t);
}

static void print_rows(enum fh_store_kind kind, const struct fh_store_cells *cells)
{
	static const char *const heads[] = { "ROW", "TEST", "RESULT" };
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(0);
	struct fh_table *t = fh_table_headed(FH_STYLE_BOLD, heads, FH_ARRAY_SIZE(heads));
	uint64_t rows = 0;
	for (size_t i = 0; i < cells->count; i++) {
		rows += i == 0 || cells->items[i].row != cells->items[i - 1].row;
		if (!column_given || cells->items[i].column == column_index)
			print_row(t, kind, &cells->items[i]);
	}
	if (cells->count)
		fh_table_print(t, &out, fh_term_width(STDOUT_FILENO), fh_term_color(STDOUT_FILENO, FH_COLOR_AUTO));
	fh_table_free(t);
	fh_buf_addf(&out, "%llu of %llu rows match (--show %s)%s\n", (unsigned long long)cells->matched,
	            (unsigned long long)cells->total, show_name,
	            cells->matched > offset + rows ? "; --offset and -n show more" : "");
	fh_print(&out);
}

static int show_list(struct fh_store *s, const struct fh_store_eval *e, const struct fh_store_documents *d,
                     const struct fh_store_row_filter *f, const struct fh_store_page *page, struct fh_error *err)
{
	struct fh_store_cells cells;
	int r = fh_store_rows(s, e->number, f, page, &cells, err);
	if (r < 0)
		return r;
	if (as_json) {
		json_t *rows = json_array();
		for (size_t i = 0; i < cells.count; i++)
			json_array_append_new(rows, cell_json(&cells.items[i]));
		fh_auto_json json_t *out = json_pack("{s:o, s:O, s:O, s:O, s:I, s:I, s:o}", "eval", fh_store_eval_json(e),
		                                     "columns", d->columns, "vars", d->vars, "tags", d->tags, "matched",
		                                     (json_int_t)cells.matched, "rows", (json_int_t)cells.total, "cells", rows);
		fh_store_print_json(out);
	} else {
		print_head(e, d);
		print_rows(e->kind, &cells);
	}
	fh_store_cells_release(&cells);
	return 0;
}

static int show_detail(struct fh_store *s, const struct fh_store_eval *e, struct fh_error *err)
{
	fh_auto_json json_t *list = json_array();
	bool color = fh_term_color(STDOUT_FILENO, FH_COLOR_AUTO);
	uint64_t first = column_given ? column_index : 0, end = column_given ? column_index + 1 : FH_MAX(e->columns, 1);
	for (uint64_t i = first; i < end; i++) {
		struct fh_store_cell c;
		int r = fh_store_cell(s, e->number, (uint32_t)row_index, (uint32_t)i, &c, err);
		if (r == -FH_E_NOT_FOUND && !column_given && i + 1 < end)
			continue;
		if (r < 0)
			return r;
		fh_auto_json json_t *v =
		    fh_output_stored_row(e->kind, &c, fh_json_parse((struct fh_str){ c.data, c.data_n }, NULL, NULL));
		if (as_json)
			json_array_append_new(list, cell_json(&c));
		else
			fh_eval_show_row(v, row_index, color);
		fh_store_cell_release(&c);
	}
	if (as_json)
		fh_store_print_json(list);
	return 0;
}

static int check(struct fh_store_row_filter *f, struct fh_store_page *page, struct fh_error *err)
{
	if (show_name && !fh_store_show_of_name(show_name, &f->show))
		return fh_error_set(err, FH_E_ARGUMENT,
		                    "--show %s: not one of all, passed, failed, errors, not-good, different and rated",
		                    show_name);
	if (!fh_store_order_of_name(order_name, &page->order))
		return fh_error_set(err, FH_E_ARGUMENT, "--sort %s: not one of index, score, latency, cost and tokens",
		                    order_name);
	return regexp ? fh_search_check(regexp, err) : 0;
}

int fh_store_command_show(int argc, char **argv)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_opt_list args = { 0 };
	struct fh_store_row_filter f = FH_STORE_ROW_FILTER_INIT;
	struct fh_store_page page = { 0 };
	enum fh_help help = FH_HELP_NONE;
	int r = fh_options_parse(&command_line, argc, argv, false, &args, &help, &err);
	size_t first = args.count && fh_streq(args.items[0], "eval"); /* accepts promptfoo's form: show eval ID */
	if (r == 0 && !help)
		r = check(&f, &page, &err);
	if (r == 0 && args.count > first + 1)
		r = fh_error_set(&err, FH_E_ARGUMENT, "show takes one id");
	fh_auto_free char *name = fh_xstrdup(args.count > first ? args.items[first] : "latest");
	fh_opt_list_release(&args);
	if (r < 0)
		return fh_command_failed(&err, FH_EXIT_USAGE);
	if (help) {
		fh_options_help(&command_line, help);
		return FH_EXIT_OK;
	}
	f.column = column_given ? (int)FH_MIN(column_index, (uint64_t)INT32_MAX) : -1;
	f.text = text, f.regexp = regexp, f.metric = metric, f.status = status, f.language = language, f.tag = tag;
	f.has_metric_min = min_given, f.has_metric_max = max_given, f.metric_min = metric_min, f.metric_max = metric_max;
	page.offset = offset, page.limit = limit;
	fh_auto_store struct fh_store *s = NULL;
	struct fh_store_eval e = { 0 };
	struct fh_store_documents d = { 0 };
	r = fh_store_open(NULL, true, &s, &err);
	if (r == 0)
		r = fh_store_find(s, name, &e, &err);
	if (r == 0)
		r = fh_store_documents(s, e.number, &d, &err);
	if (r == 0 && !show_name) {
		f.show = e.kind == FH_STORE_RUN ? FH_STORE_SHOW_ALL : FH_STORE_SHOW_NOT_GOOD;
		show_name = fh_store_show_name(f.show);
	}
	if (r == 0)
		r = row_given ? show_detail(s, &e, &err) : show_list(s, &e, &d, &f, &page, &err);
	fh_store_documents_release(&d);
	fh_store_eval_release(&e);
	return r < 0 ? fh_command_failed(&err, FH_EXIT_FAILED) : FH_EXIT_OK;
}
