/* SPDX-License-Identifier: MIT */
#include "eval/one_cell.h"
#include "eval/common/text.h"

#include "eval/plan/content.h"

/* Whether the cell has the given hash. */
static bool has_key(struct fh_eval_content *c, size_t cell, const char *key)
{
	char own[FH_SHA256_HEX];
	fh_eval_content_key(c, cell, own);
	return fh_streq(own, key);
}

/* Whether the cell asks the same provider with the same variables as the wanted one did. */
static bool asks_the_same(const struct fh_eval_plan *p, const struct fh_eval_cell *at, const json_t *wanted)
{
	const json_t *vars = json_object_get(wanted, "vars");
	return json_equal(json_object_get(p->rows[at->row].test, "vars"), vars) &&
	       fh_streq(fh_eval_provider_name(p->columns[at->column].provider), fh_json_str(wanted, "provider", ""));
}

/* The index of the wanted cell; SIZE_MAX: the plan has none. */
static size_t find(const struct fh_eval_plan *p, const json_t *wanted)
{
	const char *key = fh_json_str(wanted, "key", "");
	int64_t row = fh_json_int(wanted, "row", -1), column = fh_json_int(wanted, "column", -1);
	size_t place = SIZE_MAX, found = SIZE_MAX;
	struct fh_eval_content *c = fh_eval_content_new(p);
	for (size_t i = 0; i < p->cell_count && place == SIZE_MAX; i++)
		if (p->cells[i].row == row && p->cells[i].column == column)
			place = i;
	if (place != SIZE_MAX && (has_key(c, place, key) || asks_the_same(p, &p->cells[place], wanted)))
		found = place;
	for (size_t i = 0; i < p->cell_count && found == SIZE_MAX; i++)
		if (has_key(c, i, key))
			found = i;
	fh_eval_content_free(c);
	return found;
}

/* Adds a prompt with this template; it keeps the config of the one that it replaces. */
static const struct fh_eval_prompt *add_prompt(struct fh_eval_plan *p, const char *raw,
                                               const struct fh_eval_prompt *replaced)
{
	size_t n = strlen(raw);
	struct fh_eval_prompt prompt = { .raw = fh_xstrdup(raw),
		                             .label = fh_xstrdup(raw),
		                             .config = json_incref(replaced->config) };
	struct fh_sha256 hash = FH_SHA256_INIT;
	fh_sha256_add(&hash, raw, n);
	fh_sha256_hex(&hash, prompt.id);
	prompt.parsed = fh_text_json((struct fh_str){ raw, n });
	FH_PUSH(p->prompts.items, p->prompts.count, p->prompts.capacity) = prompt;
	return &p->prompts.items[p->prompts.count - 1];
}

int fh_eval_plan_take_cell(struct fh_eval_plan *p, const json_t *cell, struct fh_error *err)
{
	size_t found = find(p, cell);
	const char *prompt = fh_json_str(cell, "prompt", NULL);
	if (found == SIZE_MAX) {
		fh_error_set(err, FH_E_ARGUMENT, "the test in row %lld, column %lld of %s has changed",
		             (long long)fh_json_int(cell, "row", 0), (long long)fh_json_int(cell, "column", 0),
		             fh_json_str(cell, "eval", "the eval"));
		fh_error_hint(err, "its config has changed since: run `fumehood eval` again");
		return -FH_E_ARGUMENT;
	}
	const struct fh_eval_cell at = p->cells[found];
	struct fh_eval_column column = p->columns[at.column];
	struct fh_eval_row row = p->rows[at.row];
	for (size_t i = 0; i < p->row_count; i++) {
		if (i == at.row)
			continue;
		json_decref(p->rows[i].test);
		json_decref(p->rows[i].fault);
	}
	if (prompt)
		column.prompt = add_prompt(p, prompt, column.prompt);
	row.repeat = row.task = 0;
	p->rows[0] = row;
	p->columns[0] = column;
	p->cells[0] = (struct fh_eval_cell){ 0 };
	p->row_count = p->column_count = p->cell_count = p->task_count = p->repeat = 1;
	return 0;
}
