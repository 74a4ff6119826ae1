/* SPDX-License-Identifier: MIT */
#include "cli/evals/eval_again.h"

#include <errno.h>
#include <unistd.h>

#include "base/fd.h"
#include "store/rows.h"

enum { PROMPT_MAX = 16 << 20 };

void fh_eval_earlier_release(struct fh_eval_earlier *e)
{
	free(e->id);
	free(e->cwd);
	free(e->description);
	json_decref(e->argv);
	json_decref(e->cell);
	*e = (struct fh_eval_earlier){ 0 };
}

int fh_eval_earlier_find(const char *name, struct fh_eval_earlier *ret, struct fh_error *err)
{
	fh_auto_store struct fh_store *s = NULL;
	struct fh_store_eval e = { 0 };
	struct fh_store_documents d = { 0 };
	int r = fh_store_open(NULL, true, &s, err);
	if (r == 0)
		r = fh_store_find(s, name, &e, err);
	if (r == 0)
		r = fh_store_documents(s, e.number, &d, err);
	const json_t *argv = json_object_get(d.options, "argv");
	const char *cwd = fh_json_str(d.options, "cwd", NULL);
	if (r == 0 && (e.kind != FH_STORE_EVAL || json_array_size(argv) == 0 || !cwd)) {
		r = fh_error_set(err, FH_E_ARGUMENT, "%s was not made by `fumehood eval` here, so it cannot be continued",
		                 e.id);
		if (e.kind == FH_STORE_JUDGE)
			fh_error_hint(err, "to continue a judgement, call `fumehood judge` again with the same -o");
	} else if (r == 0) {
		*ret = (struct fh_eval_earlier){ .id = fh_xstrdup(e.id),
			                             .created_ms = e.created_ms,
			                             .argv = json_incref((json_t *)(uintptr_t)argv),
			                             .cwd = fh_xstrdup(cwd),
			                             .cell = json_incref(json_object_get(d.options, "cell")) };
		ret->description = ret->cell ? fh_xstrdup(e.description) : NULL;
	}
	fh_store_documents_release(&d);
	fh_store_eval_release(&e);
	return r;
}

/* ------------------------------------------------------------------------------------------------------- one cell */

static int read_place(const char *text, uint32_t *ret_row, uint32_t *ret_column, struct fh_error *err)
{
	char *end;
	unsigned long row = strtoul(text, &end, 10), column = *end == '.' ? strtoul(end + 1, &end, 10) : UINT32_MAX;
	if (*text < '0' || *text > '9' || *end || row > INT32_MAX || column > INT32_MAX)
		return fh_error_set(err, FH_E_ARGUMENT, "--cell %s: not of the form ROW.COLUMN, such as 0.0", text);
	*ret_row = (uint32_t)row;
	*ret_column = (uint32_t)column;
	return 0;
}

/* What the store has of a cell, in the form of eval/one_cell.h. */
static int describe_cell(struct fh_store *s, const struct fh_store_eval *eval, uint32_t row, uint32_t column,
                         json_t **ret, struct fh_error *err)
{
	struct fh_store_cell c = { 0 };
	struct fh_store_documents d = { 0 };
	int r = fh_store_cell(s, eval->number, row, column, &c, err);
	if (r < 0)
		return r;
	r = fh_store_documents(s, eval->number, &d, err);
	if (r == 0) {
		fh_auto_json json_t *data = fh_json_parse((struct fh_str){ c.data, c.data_n }, NULL, NULL);
		json_t *vars = json_object_get(json_object_get(data, "testCase"), "vars");
		*ret = json_pack("{s:s, s:i, s:i, s:s, s:o, s:o}", "eval", eval->id, "row", (int)row, "column", (int)column,
		                 "key", c.key ? c.key : "", "vars", vars ? json_incref(vars) : json_object(), "provider",
		                 json_incref(json_object_get(json_array_get(d.columns, column), "provider")));
		if (!*ret)
			r = fh_error_set(err, FH_E_NOT_FOUND, "%s does not say which provider its column %u asked", eval->id,
			                 column);
	}
	fh_store_documents_release(&d);
	fh_store_cell_release(&c);
	return r;
}

static int read_prompt(const char *path, json_t **ret, struct fh_error *err)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(PROMPT_MAX);
	int r = fh_streq(path, "-") ? fh_read_all(STDIN_FILENO, &text) : fh_file_read(path, &text, err);
	if (r < 0)
		return fh_streq(path, "-") ? fh_error_sys(err, errno, "cannot read the prompt") : r;
	if (text.overflowed || memchr(text.p ? text.p : "", '\0', text.n))
		return fh_error_set(err, FH_E_ARGUMENT, "%s: a prompt has at most %d MiB, and no NUL", path, PROMPT_MAX >> 20);
	*ret = fh_json_bytes(fh_buf_str(&text));
	return 0;
}

int fh_eval_earlier_take_cell(struct fh_eval_earlier *e, const struct fh_eval_options *given, struct fh_error *err)
{
	fh_auto_store struct fh_store *s = NULL;
	struct fh_store_eval eval = { 0 };
	json_t *prompt = NULL, *cell = NULL;
	uint32_t row = 0, column = 0;
	int r = read_place(given->cell, &row, &column, err);
	if (r == 0 && given->prompt_file)
		r = read_prompt(given->prompt_file, &prompt, err);
	if (r == 0)
		r = fh_store_open(NULL, true, &s, err);
	if (r == 0)
		r = fh_store_find(s, e->id, &eval, err);
	if (r == 0)
		r = describe_cell(s, &eval, row, column, &cell, err);
	if (r == 0 && e->cell) { /* an eval of one cell: its test is that of the eval which it came from */
		json_decref(cell);
		cell = json_copy(e->cell);
	}
	if (r == 0 && prompt)
		json_object_set(cell, "prompt", prompt);
	if (r == 0) {
		json_decref(e->cell);
		free(e->description);
		e->cell = cell;
		e->description = fh_xasprintf("%s: row %u again%s", *eval.description ? eval.description : eval.id,
		                              (unsigned)fh_json_int(cell, "row", 0), prompt ? ", with another prompt" : "");
	}
	json_decref(prompt);
	fh_store_eval_release(&eval);
	return r;
}

int fh_eval_earlier_options(const struct fh_eval_earlier *e, const struct fh_eval_options *given,
                            struct fh_eval_options *ret, struct fh_error *err)
{
	size_t n = json_array_size(e->argv);
	fh_auto_free char **argv = fh_xcalloc(n + 1, sizeof(*argv));
	for (size_t i = 0; i < n; i++)
		argv[i] = (char *)(uintptr_t)json_string_value(json_array_get(e->argv, i));
	if (chdir(e->cwd) < 0)
		return fh_error_sys(err, errno, "cannot change to %s, the folder in which %s was begun", e->cwd, e->id);
	int r = fh_eval_options_parse((int)n, argv, ret, err);
	if (r < 0)
		return fh_error_wrap(err, "the options of %s", e->id);
	ret->resume = ret->retry_errors = false;
	if (e->cell) { /* only this cell is run: asks the provider anew, writes no output file of the old eval */
		fh_opt_list_release(&ret->outputs);
		ret->description = e->description;
		ret->cache = false;
		ret->cache_given = true;
	}
	if (given->outputs.count) {
		fh_opt_list_release(&ret->outputs);
		for (size_t i = 0; i < given->outputs.count; i++)
			FH_PUSH(ret->outputs.items, ret->outputs.count, ret->outputs.capacity) = given->outputs.items[i];
	}
	if (given->jobs_given)
		ret->overrides.concurrency = ret->jobs = given->jobs;
	ret->table = ret->table && given->table;
	ret->progress_bar = ret->progress_bar && given->progress_bar;
	if (given->color_given) {
		ret->color = given->color;
		ret->color_given = true;
	}
	return 0;
}
