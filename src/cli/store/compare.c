/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/text/sha256.h"
#include "cli/store/store.h"
#include "cli/shared/options.h"
#include "cli/shared/print.h"
#include "store/paired.h"
#include "store/rows.h"

#define LISTED_MAX 50

static bool as_json;
static const struct fh_opt options[] = {
	{ .name = "json",
	  .kind = FH_OPT_FLAG,
	  .target = &as_json,
	  .help = "Print one JSON object: {tasks, a, b, mcnemar, difference, regressions, fixes …}." },
	{ 0 },
};
static const struct fh_command_line command_line = {
	.program = "fumehood compare",
	.synopsis = "[--json] A[:COLUMN] B[:COLUMN]",
	.about = "Compares two evals of the store, or two columns of one, task by task: what passed in A and not in B "
	         "(regressions), "
	         "what passes only in B (fixes), and whether the difference can be chance.",
	.details = "Tasks are paired by their variables and description (in a judgement by task_id), repeats of one "
	           "counting as one "
	           "task. Where every task has one result in both, McNemar's exact test gives p; the interval of the "
	           "difference is a "
	           "bootstrap over tasks. A task that met an error in A or B is left out, and counted.\n\n"
	           "Examples:\n"
	           "  fumehood compare eval-aBc eval-xYz\n"
	           "  fumehood compare latest:0 latest:1\n\n"
	           "Exit status: 0; 1 when they cannot be read or have no task in common; 2 the command line is wrong.",
	.options = options,
};

struct task {
	char *name;
	unsigned count[2], passed[2];
	uint32_t row[2];
	bool error;
};

struct pairs {
	struct task *items;
	size_t count, capacity;
	json_t *index; /* hash of a task -> its index */
	int side;
	int column; /* compare only this column of the eval; -1: all columns */
};

static void hash_task(const json_t *row, char ret_hex[FH_SHA256_HEX])
{
	struct fh_sha256 h = FH_SHA256_INIT;
	const json_t *test = json_object_get(row, "testCase"), *vars = json_object_get(test, "vars"),
	             *id = json_object_get(row, "task_id");
	const char *description = fh_json_str(test, "description", "");
	char *text = json_dumps(id ? id : vars, JSON_ENCODE_ANY | JSON_COMPACT | JSON_SORT_KEYS);
	fh_sha256_add_field(&h, fh_str(text ? text : ""));
	/* "Row #3" is a place in a file, which changes when tests are moved. */
	fh_sha256_add_field(&h, fh_str(fh_starts_with(description, "Row #") ? "" : description));
	fh_sha256_hex(&h, ret_hex);
	free(text);
}

static char *name_task(const json_t *row)
{
	const json_t *test = json_object_get(row, "testCase"), *id = json_object_get(row, "task_id");
	const char *description = fh_json_str(test, "description", "");
	if (id)
		return json_is_string(id) ? fh_xstrdup(json_string_value(id)) : fh_json_text(id, 0);
	if (*description)
		return fh_xstrdup(description);
	fh_auto_free char *vars = fh_json_text(json_object_get(test, "vars"), 0);
	return strlen(vars) > 120 ? fh_xasprintf("%.*s...", 120, vars) : FH_TAKE_PTR(vars);
}

static int add_cell(void *context, const struct fh_store_cell *cell, struct fh_error *err)
{
	struct pairs *p = context;
	char hash[FH_SHA256_HEX];
	if (p->column >= 0 && cell->column != (uint32_t)p->column)
		return 0;
	fh_auto_json json_t *row = fh_json_parse((struct fh_str){ cell->data, cell->data_n }, NULL, NULL);
	hash_task(row, hash);
	const json_t *known = json_object_get(p->index, hash);
	struct task *t;
	if (known) {
		t = &p->items[json_integer_value(known)];
	} else {
		json_object_set_new_nocheck(p->index, hash, json_integer((json_int_t)p->count));
		t = &FH_PUSH(p->items, p->count, p->capacity);
		t->name = name_task(row);
	}
	if (t->count[p->side]++ == 0)
		t->row[p->side] = cell->row;
	t->passed[p->side] += cell->success;
	t->error = t->error || cell->failure == 2;
	return 0;
}

/* Adds an eval given as "ID" or "ID:COLUMN". An id contains colons itself (in its time), so the last part is a column
 * only if the eval has one of that number. */
static int add_side(struct fh_store *s, const char *name, struct pairs *p, struct fh_store_eval *ret,
                    struct fh_error *err)
{
	const char *colon = strrchr(name, ':');
	p->column = -1;
	struct fh_error own = FH_ERROR_INIT;
	int r = fh_store_find(s, name, ret, &own);
	if (r < 0 && colon && colon[1] && strspn(colon + 1, "0123456789") == strlen(colon + 1)) {
		fh_auto_free char *id = fh_xstrndup(name, (size_t)(colon - name));
		r = fh_store_find(s, id, ret, &own);
		p->column = atoi(colon + 1);
		if (r == 0 && (uint64_t)p->column >= ret->columns)
			r = fh_error_set(&own, FH_E_ARGUMENT, "%s has no column %d: it has %llu, counted from 0", id, p->column,
			                 (unsigned long long)ret->columns);
	}
	if (r < 0) {
		if (err)
			*err = own;
		return r;
	}
	return fh_store_each_cell(s, ret->number, true, add_cell, p, err);
}

/* ---------------------------------------------------------------------------------------------------------- figures */

struct figures {
	size_t tasks, errors, only_a, only_b; /* tasks in both; of these with an error; in one only */
	size_t both, neither;
	json_t *regressions, *fixes; /* lists of {task, a, b} */
	bool single;                 /* each task has one result in each eval */
	double rate[2];
	struct fh_paired_interval difference;
};

static void figure(const struct pairs *p, struct figures *f)
{
	fh_auto_free double *differences = fh_xcalloc(p->count + 1, sizeof(*differences));
	*f = (struct figures){ .regressions = json_array(), .fixes = json_array(), .single = true };
	for (size_t i = 0; i < p->count; i++) {
		const struct task *t = &p->items[i];
		f->only_a += t->count[1] == 0;
		f->only_b += t->count[0] == 0;
		if (t->count[0] == 0 || t->count[1] == 0)
			continue;
		if (t->error) {
			f->errors++;
			continue;
		}
		double a = (double)t->passed[0] / t->count[0], b = (double)t->passed[1] / t->count[1];
		f->single = f->single && t->count[0] == 1 && t->count[1] == 1;
		f->rate[0] += a;
		f->rate[1] += b;
		f->both += a == 1 && b == 1;
		f->neither += a == 0 && b == 0;
		differences[f->tasks++] = b - a;
		if (a != b)
			json_array_append_new(a > b ? f->regressions : f->fixes,
			                      json_pack("{s:o, s:f, s:f, s:I, s:I}", "task", fh_json_bytes(fh_str(t->name)), "a", a,
			                                "b", b, "row_a", (json_int_t)t->row[0], "row_b", (json_int_t)t->row[1]));
	}
	for (int i = 0; i < 2 && f->tasks; i++)
		f->rate[i] /= (double)f->tasks;
	if (f->tasks)
		f->difference = fh_paired_bootstrap(differences, f->tasks);
}

static double mcnemar(const struct figures *f)
{
	return fh_paired_mcnemar(json_array_size(f->regressions), json_array_size(f->fixes));
}

static void print_json(const struct figures *f, const struct fh_store_eval e[2])
{
	fh_auto_json json_t *out = json_object();
	for (int i = 0; i < 2; i++)
		json_object_set_new(out, i ? "b" : "a", json_pack("{s:s, s:f}", "id", e[i].id, "pass_rate", f->rate[i]));
	json_object_set_new(out, "tasks", json_integer((json_int_t)f->tasks));
	json_object_set_new(out, "tasks_with_errors", json_integer((json_int_t)f->errors));
	json_object_set_new(out, "tasks_only_in_a", json_integer((json_int_t)f->only_a));
	json_object_set_new(out, "tasks_only_in_b", json_integer((json_int_t)f->only_b));
	json_object_set_new(
	    out, "difference",
	    json_pack("{s:f, s:f, s:f}", "mean", f->difference.mean, "low", f->difference.low, "high", f->difference.high));
	json_object_set_new(out, "mcnemar", f->single ? json_pack("{s:f}", "p", mcnemar(f)) : json_null());
	json_object_set(out, "regressions", f->regressions);
	json_object_set(out, "fixes", f->fixes);
	fh_store_print_json(out);
}

static void put_list(struct fh_buf *out, const char *title, const json_t *list)
{
	if (json_array_size(list) == 0)
		return;
	fh_buf_addf(out, "\n%s (%zu)\n", title, json_array_size(list));
	for (size_t i = 0; i < FH_MIN(json_array_size(list), (size_t)LISTED_MAX); i++) {
		const json_t *t = json_array_get(list, i);
		fh_buf_addf(out, "  row %lld -> %lld  %.2f -> %.2f  ", (long long)fh_json_int(t, "row_a", 0),
		            (long long)fh_json_int(t, "row_b", 0), fh_json_num(t, "a", 0), fh_json_num(t, "b", 0));
		fh_escape_terminal(out, fh_str(fh_json_str(t, "task", "")), false);
		fh_buf_addc(out, '\n');
	}
	if (json_array_size(list) > LISTED_MAX)
		fh_buf_addf(out, "  ... and %zu more; --json lists all\n", json_array_size(list) - LISTED_MAX);
}

static void print_text(const struct figures *f, const struct fh_store_eval e[2])
{
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(0);
	for (int i = 0; i < 2; i++) {
		fh_buf_addf(&out, "%c  %6.2f%%  ", 'A' + i, 100 * f->rate[i]);
		fh_escape_terminal(&out, fh_str(e[i].id), false);
		fh_buf_adds(&out, "  ");
		fh_escape_terminal(&out, fh_str(e[i].description), false);
		fh_buf_addc(&out, '\n');
	}
	fh_buf_addf(&out, "B - A  %+.2f%%, 95%% interval %+.2f%% to %+.2f%% (bootstrap over %zu tasks)\n",
	            100 * f->difference.mean, 100 * f->difference.low, 100 * f->difference.high, f->tasks);
	if (f->single)
		fh_buf_addf(&out,
		            "McNemar's exact test: p = %.4g (%zu only in A, %zu only in B, %zu in both, %zu in neither)\n",
		            mcnemar(f), json_array_size(f->regressions), json_array_size(f->fixes), f->both, f->neither);
	if (f->errors)
		fh_buf_addf(&out, "left out: %zu tasks with errors\n", f->errors);
	if (f->only_a || f->only_b)
		fh_buf_addf(&out, "not paired: %zu tasks only in A, %zu only in B\n", f->only_a, f->only_b);
	put_list(&out, "Regressions", f->regressions);
	put_list(&out, "Fixes", f->fixes);
	fh_print(&out);
}

static int compare(const char *const names[2], struct fh_error *err)
{
	fh_auto_store struct fh_store *s = NULL;
	struct fh_store_eval evals[2] = { { 0 } };
	struct pairs p = { .index = json_object() };
	struct figures f = { 0 };
	int r = fh_store_open(NULL, true, &s, err);
	for (p.side = 0; p.side < 2 && r == 0; p.side++)
		r = add_side(s, names[p.side], &p, &evals[p.side], err);
	if (r == 0) {
		figure(&p, &f);
		if (f.tasks == 0)
			r = fh_error_set(err, FH_E_ARGUMENT, "%s and %s have no task in common that ended without an error in both",
			                 evals[0].id, evals[1].id);
	}
	if (r == 0)
		(as_json ? print_json : print_text)(&f, evals);
	json_decref(f.regressions);
	json_decref(f.fixes);
	for (size_t i = 0; i < p.count; i++)
		free(p.items[i].name);
	free(p.items);
	json_decref(p.index);
	for (int i = 0; i < 2; i++)
		fh_store_eval_release(&evals[i]);
	return r;
}

int fh_store_command_compare(int argc, char **argv)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_opt_list args = { 0 };
	enum fh_help help = FH_HELP_NONE;
	int r = fh_options_parse(&command_line, argc, argv, false, &args, &help, &err), status = FH_EXIT_OK;
	if (r == 0 && !help && args.count != 2)
		r = fh_error_set(&err, FH_E_ARGUMENT, "compare needs two evals, A and B");
	if (r < 0)
		status = fh_command_failed(&err, FH_EXIT_USAGE);
	else if (help)
		fh_options_help(&command_line, help);
	else if (compare(args.items, &err) < 0)
		status = fh_command_failed(&err, FH_EXIT_FAILED);
	fh_opt_list_release(&args);
	return status;
}
