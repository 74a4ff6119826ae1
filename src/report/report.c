/* SPDX-License-Identifier: MIT */
#include "report/report.h"

#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "fumehood/sandbox.h"
#include "judge/rows/estimate.h"
#include "store/judged.h"

enum { TEXT_MAX = 4000, LABEL_MAX = 80, COLUMNS_MAX = 64, CELLS_MAX = 8 };

int fh_report_form_for(const char *path, const struct fh_report_form **ret, struct fh_error *err)
{
	static const struct fh_report_form *const forms[] = { &fh_report_html, &fh_report_markdown };
	size_t n = strlen(path);
	for (size_t i = 0; i < FH_ARRAY_SIZE(forms); i++) {
		size_t e = strlen(forms[i]->extension);
		if ((n > e && strcmp(path + n - e, forms[i]->extension) == 0) || strcmp(path, forms[i]->extension + 1) == 0) {
			*ret = forms[i];
			return 0;
		}
	}
	fh_error_set(err, FH_E_ARGUMENT, "a report is written as .html or .md; %s is neither", path);
	return -FH_E_ARGUMENT;
}

/* ------------------------------------------------------------------------------- what a walk over the cells finds */

struct column {
	uint64_t passed, failed, errors, tokens;
	double score, latency_ms, cost;
};

struct findings {
	const struct fh_store_eval *eval;
	const struct fh_report_form *form;
	const struct fh_store_documents *documents;
	struct column columns[COLUMNS_MAX];
	size_t column_count;
	json_t *integrity, *layers; /* name -> number of runs that report it */
	json_t *verdicts;           /* of a judgement: name -> number of samples */
	uint64_t runs, isolated;    /* runs that report their isolation; those of them in which every layer holds */
	json_t *limits;             /* limits of the first run that reports them; NULL: none does */
	json_t *places;             /* task -> its index in tasks */
	struct fh_task_count *tasks;
	size_t task_count, task_capacity;
	uint64_t failures, failures_max;
	struct fh_buf failed; /* the section on failures, already formatted */
};

static void count_one(json_t *counts, const char *name)
{
	json_object_set_new(counts, name, json_integer(fh_json_int(counts, name, 0) + 1));
}

/* Counts what a sandbox run reports about itself, wherever in the data it is. */
static void note_run(struct findings *f, const json_t *run)
{
	const char *integrity = fh_json_str(run, "integrity", NULL), *name;
	json_t *isolation = json_object_get(run, "isolation"), *holds;
	bool all = true;
	if (integrity)
		count_one(f->integrity, integrity);
	if (!f->limits && json_is_object(json_object_get(run, "limits")))
		f->limits = json_incref(json_object_get(run, "limits"));
	if (!json_is_object(isolation))
		return;
	json_object_foreach(isolation, name, holds)
	{
		all = all && json_is_true(holds);
		if (!json_is_true(holds))
			count_one(f->layers, name);
	}
	f->runs++;
	f->isolated += all;
}

static void note_task(struct findings *f, const json_t *data, bool passed)
{
	fh_auto_free char *name = fh_judged_task(data);
	int64_t place = fh_json_int(f->places, name, -1);
	if (place < 0) {
		place = (int64_t)f->task_count;
		json_object_set_new(f->places, name, json_integer(place));
		(void)FH_PUSH(f->tasks, f->task_count, f->task_capacity);
	}
	f->tasks[place].samples++;
	f->tasks[place].passed += passed;
}

/* At most max bytes, cut between characters. */
static struct fh_str cut_at(const char *text, size_t max)
{
	size_t n = strlen(text);
	if (n > max)
		for (n = max; n && ((unsigned char)text[n] & 0xc0) == 0x80;)
			n--;
	return (struct fh_str){ text, n };
}

static struct fh_str cut(const char *text)
{
	return cut_at(text, TEXT_MAX);
}

static void block_of(struct findings *f, const char *label, const json_t *value)
{
	fh_auto_free char *made = value && !json_is_string(value) && !json_is_null(value) ? fh_json_text(value, 2) : NULL;
	const char *text = made ? made : json_is_string(value) ? json_string_value(value) : "";
	if (*text)
		f->form->block(&f->failed, label, cut(text));
	if (strlen(text) > TEXT_MAX) {
		fh_auto_free char *rest = fh_xasprintf("(%zu bytes more)", strlen(text) - cut(text).n);
		f->form->paragraph(&f->failed, fh_str(rest));
	}
}

static void tell_failure(struct findings *f, const struct fh_store_cell *cell, const json_t *data)
{
	const json_t *grading = json_object_get(data, "gradingResult"), *test = json_object_get(data, "testCase");
	const json_t *head = json_array_get(f->documents->columns, cell->column);
	fh_auto_free char *task = fh_judged_task(data);
	const char *what = fh_json_str(test, "description", task);
	const char *of_run =
	    fh_json_str(json_object_get(data, "error"), "message", fh_json_str(data, "reason", cell->status));
	const char *reason = fh_json_str(data, "error", fh_json_str(grading, "reason", of_run));
	fh_auto_free char *title =
	    fh_xasprintf("Row %u, %s%s%s", cell->row, fh_json_str(head, "provider", "column"), *what ? ": " : "", what);
	f->form->heading(&f->failed, 3, fh_str(title));
	f->form->paragraph(&f->failed, cut(*reason ? reason : "failed"));
	block_of(f, "Variables", json_object_size(json_object_get(data, "vars")) ? json_object_get(data, "vars") : NULL);
	block_of(f, "Answer", json_object_get(json_object_get(data, "response"), "output"));
	block_of(f, "Program", json_object_get(data, f->eval->kind == FH_STORE_RUN ? "code" : "program"));
	block_of(f, "Standard output", json_object_get(data, "stdout"));
	block_of(f, "Standard error", json_object_get(data, "stderr"));
	const json_t *checks = json_object_get(grading, "componentResults");
	for (size_t i = 0; i < json_array_size(checks); i++) {
		const json_t *m = json_object_get(json_array_get(checks, i), "metadata");
		block_of(f, "Standard output", json_object_get(m, "stdout"));
		block_of(f, "Standard error", json_object_get(m, "stderr"));
	}
}

static int look(void *context, const struct fh_store_cell *cell, struct fh_error *err)
{
	struct findings *f = context;
	fh_auto_json json_t *data = fh_json_parse((struct fh_str){ cell->data, cell->data_n }, NULL, NULL);
	const json_t *checks = json_object_get(json_object_get(data, "gradingResult"), "componentResults");
	if (cell->column < f->column_count) {
		struct column *c = &f->columns[cell->column];
		*(cell->success ? &c->passed : cell->failure == 2 ? &c->errors : &c->failed) += 1;
		c->score += cell->score;
		c->latency_ms += cell->latency_ms;
		c->cost += cell->cost;
		c->tokens += (uint64_t)(cell->tokens > 0 ? cell->tokens : 0);
	}
	note_run(f, data);
	for (size_t i = 0; i < json_array_size(checks); i++)
		note_run(f, json_object_get(json_array_get(checks, i), "metadata"));
	if (f->eval->kind == FH_STORE_JUDGE) {
		count_one(f->verdicts, cell->status);
		if (fh_judged_counts(f->documents->config, data))
			note_task(f, data, cell->success);
	}
	if (!cell->success && f->failures++ < f->failures_max)
		tell_failure(f, cell, data);
	return 0;
}

/* ------------------------------------------------------------------------------------------------ writing it down */

/* One row of a table; its cells are formatted one after another. */
struct line {
	char *text[CELLS_MAX];
	size_t count;
};

static void say(struct line *l, const char *format, ...) FH_PRINTF(2, 3);
static void say(struct line *l, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	if (l->count == CELLS_MAX || vasprintf(&l->text[l->count], format, args) < 0)
		abort();
	l->count++;
	va_end(args);
}

static void write_line(const struct fh_report_form *form, struct fh_buf *out, struct line *l)
{
	struct fh_str cells[CELLS_MAX];
	for (size_t i = 0; i < l->count; i++)
		cells[i] = fh_str(l->text[i]);
	form->row(out, cells, l->count);
	while (l->count)
		free(l->text[--l->count]);
}

/* Wilson's interval of a rate, 95 % (Wilson 1927; Newcombe 1998, method 3). */
static void interval(double passed, double n, double *ret_low, double *ret_high)
{
	const double z = 1.959964;
	double p = n > 0 ? passed / n : 0, middle = n > 0 ? (p + z * z / (2 * n)) / (1 + z * z / n) : .5;
	double half = n > 0 ? z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n)) : .5;
	*ret_low = fmax(0, middle - half);
	*ret_high = fmin(1, middle + half);
}

static void write_results(const struct findings *f, struct fh_buf *out)
{
	static const char *const names[] = { "Column",     "Passed",       "Errors", "Rate, 95 % interval",
		                                 "Mean score", "Mean latency", "Cost",   "Tokens" };
	f->form->heading(out, 2, fh_str("Results"));
	f->form->table(out, names, FH_ARRAY_SIZE(names));
	for (size_t i = 0; i < f->column_count; i++) {
		const struct column *c = &f->columns[i];
		const json_t *head = json_array_get(f->documents->columns, i);
		double n = (double)(c->passed + c->failed + c->errors), low, high;
		struct line l = { 0 };
		interval((double)c->passed, n, &low, &high);
		struct fh_str label = cut_at(fh_json_str(head, "label", ""), LABEL_MAX);
		say(&l, "%s: %.*s", fh_json_str(head, "provider", ""), FH_STR_ARGS(label));
		say(&l, "%llu of %.0f", (unsigned long long)c->passed, n);
		say(&l, "%llu", (unsigned long long)c->errors);
		say(&l, "%.1f %% (%.1f to %.1f)", n > 0 ? 100 * (double)c->passed / n : 0, 100 * low, 100 * high);
		say(&l, "%.3f", n > 0 ? c->score / n : 0);
		say(&l, "%.0f ms", n > 0 ? c->latency_ms / n : 0);
		say(&l, c->cost > 0 ? "$%.4f" : "–", c->cost);
		say(&l, "%llu", (unsigned long long)c->tokens);
		write_line(f->form, out, &l);
	}
	f->form->table_end(out);
}

static void say_estimate(struct line *l, const struct fh_estimate *e)
{
	say(l, "%.1f %%", 100 * e->value);
	if (e->has_interval)
		say(l, "%.1f to %.1f", 100 * e->low, 100 * e->high);
	else
		say(l, "none: it takes two tasks");
}

/* The chances that at least one of k samples passes, and that all of them do. */
static void write_pass_at_k(const struct findings *f, struct fh_buf *out)
{
	static const char *const names[] = { "k",      "Tasks",
		                                 "pass@k", "95 % interval over tasks",
		                                 "pass^k", "95 % interval over tasks" };
	static const uint64_t ks[] = { 1, 2, 5, 10, 100 };
	if (f->eval->kind != FH_STORE_JUDGE)
		return;
	f->form->heading(out, 2, fh_str("pass@k"));
	if (!fh_judged_has_figures(f->documents->config)) {
		f->form->paragraph(out, fh_str("No figure is given: the self-check failed."));
		return;
	}
	f->form->table(out, names, FH_ARRAY_SIZE(names));
	for (size_t i = 0; i < FH_ARRAY_SIZE(ks); i++) {
		struct fh_estimate e = { 0 };
		struct line l = { 0 };
		fh_estimate_pass_at_k(f->tasks, f->task_count, ks[i], &e);
		if (!e.tasks)
			break;
		say(&l, "%llu", (unsigned long long)ks[i]);
		say(&l, "%zu", e.tasks);
		say_estimate(&l, &e);
		fh_estimate_pass_hat_k(f->tasks, f->task_count, ks[i], &e);
		say_estimate(&l, &e);
		write_line(f->form, out, &l);
	}
	f->form->table_end(out);
}

static void fact(const struct fh_report_form *form, struct fh_buf *out, const char *name, const char *value)
{
	const struct fh_str cells[] = { fh_str(name), fh_str(value) };
	form->row(out, cells, 2);
}

/* Counts as text: "split: 18, in-process: 2". */
static char *counts_text(const json_t *counts)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(0);
	const char *name;
	json_t *n;
	json_object_foreach((json_t *)(uintptr_t)counts, name, n)
	    fh_buf_addf(&text, "%s%s: %lld", text.n ? ", " : "", name, (long long)json_integer_value(n));
	return fh_buf_take(&text, NULL);
}

/* A limit as people say it. LIMIT is { value, unit, enforced } as runs report it, or in older stores a plain value. */
static void limit_text(struct fh_buf *out, const char *name, const json_t *limit)
{
	const char *unit = fh_json_str(limit, "unit", "");
	const json_t *value = json_is_object(limit) ? json_object_get(limit, "value") : limit;
	long long n = json_integer_value(value);
	fh_buf_addf(out, "%s%s: ", out->n ? ", " : "", name);
	if (!json_is_integer(value)) {
		fh_auto_free char *text = json_is_null(value) ? fh_xstrdup("none") : fh_json_text(value, 0);
		fh_buf_adds(out, text);
		return;
	}
	if (fh_streq(unit, "bytes") && n >= 1 << 20)
		fh_buf_addf(out, "%g MiB", (double)n / (1 << 20));
	else if (fh_streq(unit, "ms"))
		fh_buf_addf(out, "%g s", (double)n / 1000);
	else
		fh_buf_addf(out, "%lld%s%s", n, *unit ? " " : "", unit);
	fh_buf_addf(out, " (%s)", fh_json_str(limit, "enforced", "not told how"));
}

static char *limits_text(const json_t *limits)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(0);
	const char *name;
	json_t *limit;
	json_object_foreach((json_t *)(uintptr_t)limits, name, limit) limit_text(&text, name, limit);
	return fh_buf_take(&text, NULL);
}

/* Writes the judge's settings and tools. */
static void write_judge(const struct findings *f, struct fh_buf *out)
{
	static const struct {
		const char *name, *label;
	} facts[] = { { "problems", "Problems" },
		          { "samples", "Samples" },
		          { "tasks_without_samples", "Tasks without a sample, which no figure counts" },
		          { "tools", "Tools" },
		          { "self_check", "Self-check" },
		          { "limits", "Limits asked for" },
		          { "repeat", "Times each sample is judged" },
		          { "seed", "Seed" },
		          { "packages", "Installed packages are visible" },
		          { "fumehood", "Written by fumehood" } };
	for (size_t i = 0; i < FH_ARRAY_SIZE(facts); i++) {
		const json_t *value = json_object_get(f->documents->config, facts[i].name);
		fh_auto_free char *made = value && !json_is_null(value) ? fh_json_text(value, 0) : NULL;
		if (made)
			fact(f->form, out, facts[i].label, json_is_string(value) ? json_string_value(value) : made);
	}
	if (f->eval->kind == FH_STORE_JUDGE && json_is_null(json_object_get(f->documents->config, "self_check")))
		fact(f->form, out, "Self-check", "left out");
	if (f->eval->kind == FH_STORE_JUDGE)
		fact(f->form, out, "In-process samples",
		     fh_json_bool(f->documents->config, "allow_in_process", false) ? "counted in pass@k"
		                                                                   : "not counted in pass@k");
}

static void write_method(const struct findings *f, struct fh_buf *out)
{
	static const char *const names[] = { "What", "Value" };
	const struct fh_store_eval *e = f->eval;
	char began[32], now[32];
	fh_auto_free char *size =
	    fh_xasprintf("%llu results, %llu rows, %zu columns", (unsigned long long)(e->passed + e->failed + e->errors),
	                 (unsigned long long)e->rows, f->column_count);
	fh_auto_free char *integrity = counts_text(f->integrity), *missing = counts_text(f->layers);
	fh_auto_free char *verdicts = counts_text(f->verdicts);
	fh_auto_free char *isolated =
	    f->runs == 0 ? fh_xstrdup("the results do not tell")
	                 : fh_xasprintf("every layer held in %llu of %llu runs, read back from the kernel%s%s",
	                                (unsigned long long)f->isolated, (unsigned long long)f->runs,
	                                *missing ? "; missing: " : "", missing);
	fh_auto_free char *limits = f->limits ? limits_text(f->limits) : NULL;
	fh_auto_free char *options = fh_json_text(f->documents->options, 0);
	f->form->heading(out, 2, fh_str("Method"));
	f->form->table(out, names, FH_ARRAY_SIZE(names));
	fact(f->form, out, "Id", e->id);
	fact(f->form, out, "Kind", fh_store_kind_name(e->kind));
	fact(f->form, out, "State", fh_store_state_name(e->state));
	fact(f->form, out, "Began", fh_iso_time(e->created_ms, began));
	fact(f->form, out, "Size", size);
	if (*verdicts)
		fact(f->form, out, "Verdicts", verdicts);
	fact(f->form, out, "Integrity of verdicts", *integrity ? integrity : "the results do not tell");
	fact(f->form, out, "Isolation", isolated);
	fact(f->form, out, "Limits of the first run", limits ? limits : "the results do not tell");
	fact(f->form, out, "Started with", options);
	if (f->eval->kind != FH_STORE_EVAL)
		write_judge(f, out);
	fact(f->form, out, "Intervals", "of rates: Wilson's, 95 %; of pass@k: over tasks, 95 %");
	fact(f->form, out, "Report", fh_iso_time(fh_wall_ms(), now));
	fact(f->form, out, "fumehood", fh_version());
	f->form->table_end(out);
}

static void write_failures(const struct findings *f, struct fh_buf *out)
{
	f->form->heading(out, 2, fh_str("Failures"));
	if (f->failures == 0)
		f->form->paragraph(out, fh_str("There are none."));
	fh_buf_add_str(out, fh_buf_str(&f->failed));
	if (f->failures > f->failures_max) {
		fh_auto_free char *rest = fh_xasprintf("And %llu more.", (unsigned long long)(f->failures - f->failures_max));
		f->form->paragraph(out, fh_str(rest));
	}
}

static void release(struct findings *f)
{
	json_decref(f->integrity);
	json_decref(f->layers);
	json_decref(f->verdicts);
	json_decref(f->limits);
	json_decref(f->places);
	free(f->tasks);
	fh_buf_release(&f->failed);
}

int fh_report_write(const struct fh_report_source *source, const struct fh_report_form *form, uint64_t failures_max,
                    struct fh_buf *out, struct fh_error *err)
{
	const struct fh_store_eval *eval = source->eval;
	struct findings f = { .eval = eval,
		                  .form = form,
		                  .documents = source->documents,
		                  .column_count = FH_MIN(eval->columns, (uint64_t)COLUMNS_MAX),
		                  .integrity = json_object(),
		                  .layers = json_object(),
		                  .verdicts = json_object(),
		                  .places = json_object(),
		                  .failures_max = failures_max,
		                  .failed = FH_BUF_INIT(0) };
	int r = source->each(source->context, look, &f, err);
	if (r == 0) {
		form->begin(out, fh_str(*eval->description ? eval->description : eval->id));
		write_results(&f, out);
		write_pass_at_k(&f, out);
		write_method(&f, out);
		write_failures(&f, out);
		form->end(out);
		if (out->overflowed || f.failed.overflowed)
			r = fh_error_set(err, FH_E_LIMIT, "the report is larger than 1 GiB: ask for fewer failures");
	}
	release(&f);
	return r;
}

struct stored {
	struct fh_store *store;
	int64_t number;
};

static int each_stored(void *context, int (*take)(void *, const struct fh_store_cell *, struct fh_error *),
                       void *take_context, struct fh_error *err)
{
	const struct stored *s = context;
	return fh_store_each_cell(s->store, s->number, true, take, take_context, err);
}

int fh_report_write_stored(struct fh_store *s, const struct fh_store_eval *eval, const struct fh_report_form *form,
                           uint64_t failures_max, struct fh_buf *out, struct fh_error *err)
{
	struct fh_store_documents d = { 0 };
	struct stored from = { s, eval->number };
	const struct fh_report_source source = { eval, &d, each_stored, &from };
	int r = fh_store_documents(s, eval->number, &d, err);
	if (r < 0)
		return r;
	r = fh_report_write(&source, form, failures_max, out, err);
	fh_store_documents_release(&d);
	return r;
}
