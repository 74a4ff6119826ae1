/* SPDX-License-Identifier: MIT */
#include "eval/outputs/output.h"
#include "base/escape.h"
#include "eval/text.h"

/* A row of the file per row of the plan: the variables, then for each column its output, status, score, named scores,
 * reason and comment. */

static void field(struct fh_buf *out, struct fh_str text, bool *first)
{
	fh_buf_adds(out, *first ? "" : ",");
	fh_escape_csv(out, text);
	*first = false;
}

static bool has_descriptions(const struct fh_eval_plan *p)
{
	for (size_t i = 0; i < p->row_count; i++)
		if (json_object_get(p->rows[i].test, "description"))
			return true;
	return false;
}

static void head(const struct fh_eval_plan *p, struct fh_buf *out, bool described)
{
	static const char *const more[] = { "Status", "Score", "Named Scores", "Grader Reason", "Comment" };
	bool first = true;
	if (described)
		field(out, fh_str("Description"), &first);
	for (size_t i = 0; i < p->var_count; i++)
		field(out, fh_str(p->vars[i]), &first);
	for (size_t i = 0; i < p->column_count; i++) {
		fh_auto_free char *name =
		    fh_xasprintf("[%s] %s", fh_eval_provider_name(p->columns[i].provider), p->columns[i].prompt->label);
		field(out, fh_str(name), &first);
		for (size_t j = 0; j < FH_ARRAY_SIZE(more); j++)
			field(out, fh_str(more[j]), &first);
	}
	fh_buf_adds(out, "\r\n");
}

static void json_field(struct fh_buf *out, const json_t *value, bool *first)
{
	fh_auto_free char *text = value && !json_is_null(value) ? fh_text_of_json(value) : fh_xstrdup("");
	field(out, fh_str(text), first);
}

static void result_fields(struct fh_buf *out, const struct fh_eval_result *r, bool *first)
{
	const char *status = !r || !r->done ? "" : r->success ? "PASS" : r->failure == FH_FAILURE_ERROR ? "ERROR" : "FAIL";
	struct fh_buf score = FH_BUF_INIT(0);
	if (r && r->done)
		fh_json_write_number(&score, r->score);
	json_field(out, r ? json_object_get(r->response, "output") : NULL, first);
	field(out, fh_str(status), first);
	field(out, fh_buf_str(&score), first);
	json_field(out, r ? json_object_get(r->grading, "namedScores") : NULL, first);
	const char *reason = r ? fh_json_str(r->grading, "reason", r->error ? r->error : "") : "";
	field(out, fh_str(reason), first);
	json_field(out, r ? json_object_get(r->grading, "comment") : NULL, first);
	fh_buf_release(&score);
}

static int write(const struct fh_output_data *d, struct fh_buf *out, struct fh_error *err)
{
	const struct fh_eval_plan *p = d->plan;
	bool described = has_descriptions(p);
	head(p, out, described);
	size_t cell = 0;
	for (size_t row = 0; row < p->row_count; row++) {
		const json_t *test = p->rows[row].test;
		bool first = true;
		if (described)
			field(out, fh_str(fh_json_str(test, "description", "")), &first);
		for (size_t i = 0; i < p->var_count; i++)
			json_field(out, json_object_get(json_object_get(test, "vars"), p->vars[i]), &first);
		for (size_t column = 0; column < p->column_count; column++) {
			bool here = cell < p->cell_count && p->cells[cell].row == row && p->cells[cell].column == column;
			result_fields(out, here ? &d->results->items[cell] : NULL, &first);
			cell += here;
		}
		fh_buf_adds(out, "\r\n");
	}
	return 0;
}

const struct fh_output fh_output_csv = { .extension = ".csv", .write = write };
