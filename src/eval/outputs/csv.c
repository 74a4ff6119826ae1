/* SPDX-License-Identifier: MIT */
#include "eval/outputs/output.h"

#include <math.h>
#include <stdio.h>

#include "base/escape.h"

/* One line for each row of the eval: the variables, then for each column its output, status, score, named scores (all
 * as JSON, then each in a field of its own), reason and comment. */

struct table {
	const struct fh_output_data *data;
	struct fh_output_stream *out;
	bool described;  /* a test has a description, so the file has a column of them */
	bool begun;      /* a line is begun and not ended */
	uint32_t row;    /* the eval's row of that line */
	uint32_t column; /* the next column to write */
	char ***metrics; /* for each column the names of its rows' named scores, sorted; NULL-terminated */
};

/* A number with two decimals as JavaScript's toFixed(2) writes it: unlike printf, it rounds ties away from zero. A tie
 * between two such numbers is an odd multiple of an eighth. */
static void two_decimals(double n, char ret[32])
{
	if (fabs(fmod(n * 8, 2)) == 1)
		n = nextafter(n, n > 0 ? INFINITY : -INFINITY);
	snprintf(ret, 32, fabs(n) < 1e15 ? "%.2f" : "%g", n);
}

static int by_name(const void *a, const void *b)
{
	const char *x = *(char *const *)a, *y = *(char *const *)b;
	int r = strcasecmp(x, y);
	return r ? r : strcmp(y, x); /* small letters first, as in promptfoo's order */
}

/* The names of the named scores that rows of a column have; derived metrics, which no row has, are not counted. */
static char **metric_names(const json_t *column)
{
	const json_t *counts = json_object_get(json_object_get(column, "metrics"), "namedScoresCount");
	char **names = fh_xcalloc(json_object_size(counts) + 1, sizeof(*names));
	size_t n = 0;
	const char *name;
	json_t *count;
	json_object_foreach((json_t *)(uintptr_t)counts, name, count) if (json_number_value(count) > 0) names[n++] =
	    fh_xstrdup(name);
	qsort(names, n, sizeof(*names), by_name);
	return names;
}

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
	static const char *const before[] = { "Status", "Score", "Named Scores" }, *const after[] = { "Grader Reason",
		                                                                                          "Comment" };
	bool first = true;
	struct fh_buf *out = &t->out->text;
	if (t->described)
		field(out, fh_str("Description"), &first);
	for (size_t i = 0; i < json_array_size(t->data->vars); i++)
		field(out, fh_str(json_string_value(json_array_get(t->data->vars, i))), &first);
	for (size_t i = 0; i < json_array_size(t->data->columns); i++) {
		fh_auto_free char *name = fh_output_column_name(t->data, (uint32_t)i);
		field(out, fh_str(name), &first);
		for (size_t j = 0; j < FH_ARRAY_SIZE(before); j++)
			field(out, fh_str(before[j]), &first);
		for (char **metric = t->metrics[i]; *metric; metric++) {
			fh_auto_free char *title = fh_xasprintf("Metric: %s", *metric);
			field(out, fh_str(title), &first);
		}
		for (size_t j = 0; j < FH_ARRAY_SIZE(after); j++)
			field(out, fh_str(after[j]), &first);
	}
	fh_buf_adds(out, "\r\n");
}

static void json_field(struct fh_buf *out, const json_t *value, bool *first)
{
	fh_auto_free char *text = fh_output_text(value);
	field(out, fh_str(text), first);
}

/* All named scores of a row, rounded to two decimals; empty when it has none. */
static void named_scores_field(struct fh_buf *out, const json_t *scores, bool *first)
{
	fh_auto_json json_t *rounded = json_object();
	const char *name;
	json_t *score;
	char text[32];
	json_object_foreach((json_t *)(uintptr_t)scores, name, score)
	{
		if (!json_is_number(score))
			continue;
		two_decimals(json_number_value(score), text);
		json_object_set_new(rounded, name, json_real(strtod(text, NULL)));
	}
	json_field(out, json_object_size(rounded) > 0 ? rounded : NULL, first);
}

static void number_field(struct fh_buf *out, const json_t *number, bool *first)
{
	char text[32] = "";
	if (json_is_number(number))
		two_decimals(json_number_value(number), text);
	field(out, fh_str(text), first);
}

static void result_fields(struct fh_buf *out, char *const *metrics, const json_t *row, bool *first)
{
	const json_t *grading = json_object_get(row, "gradingResult"), *scores = json_object_get(row, "namedScores");
	json_field(out, json_object_get(json_object_get(row, "response"), "output"), first);
	field(out, fh_str(row ? fh_output_status(row) : ""), first);
	number_field(out, json_object_get(row, "score"), first);
	named_scores_field(out, scores, first);
	for (; *metrics; metrics++)
		number_field(out, json_object_get(scores, *metrics), first);
	field(out, fh_str(row ? fh_output_reason(row) : ""), first);
	json_field(out, json_object_get(grading, "comment"), first);
}

static void empty_fields_to(struct table *t, uint32_t column)
{
	bool first = false;
	for (; t->column < column; t->column++)
		result_fields(&t->out->text, t->metrics[t->column], NULL, &first);
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
	for (size_t i = 0; i < json_array_size(t->data->vars); i++) {
		const char *name = json_string_value(json_array_get(t->data->vars, i));
		const json_t *value = json_object_get(json_object_get(test, "vars"), name);
		if (json_is_null(value))
			field(&t->out->text, fh_str("null"), &first);
		else
			json_field(&t->out->text, value, &first);
	}
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
	result_fields(&t->out->text, t->metrics[column], v, &first);
	t->column = column + 1;
	return 0;
}

static int write_all(const struct fh_output_data *d, struct fh_output_stream *out, struct fh_error *err)
{
	size_t columns = json_array_size(d->columns);
	struct table t = { .data = d, .out = out, .metrics = fh_xcalloc(columns + 1, sizeof(*t.metrics)) };
	for (size_t i = 0; i < columns; i++)
		t.metrics[i] = metric_names(json_array_get(d->columns, i));
	int r = d->each(d->context, look_for_description, &t, err);
	head(&t);
	if (r == 0)
		r = d->each(d->context, write_cell, &t, err);
	end_row(&t);
	for (size_t i = 0; i < columns; i++) {
		for (char **metric = t.metrics[i]; *metric; metric++)
			free(*metric);
		free(t.metrics[i]);
	}
	free(t.metrics);
	return r;
}

const struct fh_output_kind fh_output_csv = { .extension = ".csv", .write = write_all };
