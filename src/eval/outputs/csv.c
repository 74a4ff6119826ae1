/* SPDX-License-Identifier: MIT */
#include "eval/outputs/output.h"
#include "base/escape.h"

/* One line for each row of the eval: the variables, then for each column its output, status, score, named scores,
 * reason and comment. */

struct table {
	const struct fh_output_data *data;
	struct fh_output_stream *out;
	bool described;  /* a test has a description, so the file has a column of them */
	bool begun;      /* a line is begun and not ended */
	uint32_t row;    /* the eval's row of that line */
	uint32_t column; /* the next column to write */
};

static void field(struct fh_buf *out, struct fh_str text, bool *first)
{
	fh_buf_adds(out, *first ? "" : ",");
	fh_escape_csv(out, text);
	*first = false;
}

static int look_for_description(void *context, uint32_t row, uint32_t column, struct fh_str text, struct fh_error *err)
{
	struct table *t = context;
	if (t->described || !memmem(text.p, text.n, "\"description\"", 13))
		return 0;
	fh_auto_json json_t *v = fh_json_parse(text, NULL, NULL);
	t->described = json_object_get(json_object_get(v, "testCase"), "description") != NULL;
	return 0;
}

static void head(struct table *t)
{
	static const char *const more[] = { "Status", "Score", "Named Scores", "Grader Reason", "Comment" };
	bool first = true;
	struct fh_buf *out = &t->out->text;
	if (t->described)
		field(out, fh_str("Description"), &first);
	for (size_t i = 0; i < json_array_size(t->data->vars); i++)
		field(out, fh_str(json_string_value(json_array_get(t->data->vars, i))), &first);
	for (size_t i = 0; i < json_array_size(t->data->columns); i++) {
		fh_auto_free char *name = fh_output_column_name(t->data, (uint32_t)i);
		field(out, fh_str(name), &first);
		for (size_t j = 0; j < FH_ARRAY_SIZE(more); j++)
			field(out, fh_str(more[j]), &first);
	}
	fh_buf_adds(out, "\r\n");
}

static void json_field(struct fh_buf *out, const json_t *value, bool *first)
{
	fh_auto_free char *text = fh_output_text(value);
	field(out, fh_str(text), first);
}

static void result_fields(struct fh_buf *out, const json_t *row, bool *first)
{
	const json_t *grading = json_object_get(row, "gradingResult");
	fh_auto_buf struct fh_buf score = FH_BUF_INIT(0);
	if (row)
		fh_json_write_number(&score, fh_json_num(row, "score", 0));
	json_field(out, json_object_get(json_object_get(row, "response"), "output"), first);
	field(out, fh_str(row ? fh_output_status(row) : ""), first);
	field(out, fh_buf_str(&score), first);
	json_field(out, json_object_get(grading, "namedScores"), first);
	field(out, fh_str(row ? fh_output_reason(row) : ""), first);
	json_field(out, json_object_get(grading, "comment"), first);
}

static void empty_fields_to(struct table *t, uint32_t column)
{
	bool first = false;
	for (; t->column < column; t->column++)
		result_fields(&t->out->text, NULL, &first);
}

static void end_row(struct table *t)
{
	if (!t->begun)
		return;
	empty_fields_to(t, (uint32_t)json_array_size(t->data->columns));
	fh_buf_adds(&t->out->text, "\r\n");
	fh_output_flush(t->out);
}

static void begin_row(struct table *t, uint32_t row, const json_t *test)
{
	bool first = true;
	t->begun = true;
	t->row = row;
	t->column = 0;
	if (t->described)
		field(&t->out->text, fh_str(fh_json_str(test, "description", "")), &first);
	for (size_t i = 0; i < json_array_size(t->data->vars); i++)
		json_field(&t->out->text,
		           json_object_get(json_object_get(test, "vars"), json_string_value(json_array_get(t->data->vars, i))),
		           &first);
}

static int write_cell(void *context, uint32_t row, uint32_t column, struct fh_str text, struct fh_error *err)
{
	struct table *t = context;
	fh_auto_json json_t *v = fh_json_parse(text, NULL, NULL);
	if (!t->begun || row != t->row) {
		end_row(t);
		begin_row(t, row, json_object_get(v, "testCase"));
	}
	bool first = json_array_size(t->data->vars) == 0 && !t->described && t->column == 0 && column == 0;
	empty_fields_to(t, column);
	result_fields(&t->out->text, v, &first);
	t->column = column + 1;
	return 0;
}

static int write_all(const struct fh_output_data *d, struct fh_output_stream *out, struct fh_error *err)
{
	struct table t = { .data = d, .out = out };
	int r = d->each(d->context, look_for_description, &t, err);
	head(&t);
	if (r == 0)
		r = d->each(d->context, write_cell, &t, err);
	end_row(&t);
	return r;
}

const struct fh_output fh_output_csv = { .extension = ".csv", .write = write_all };
