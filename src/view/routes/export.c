/* SPDX-License-Identifier: MIT */
/* Exports the rows that a table shows, with its filters: as CSV, as JSON, or as YAML tests for another eval. Rows are
 * read by the page while the client receives them, so an export needs the memory of one page. */
#include "view/routes/export.h"

#include "base/clock.h"
#include "base/escape.h"
#include "view/cell_json.h"
#include "view/eval_stats.h"
#include "view/hashes.h"
#include "view/reply.h"
#include "view/row_filter.h"
#include "view/routes.h"
#include "view/state.h"

enum { PAGE_ROWS = 200, PAGE_BYTES_MAX = 1 << 30 };

struct export;
struct form {
	const char *name, *type;
	FH_NULLABLE const char
	    *extension; /* file name extension of the download; NULL: it is not a download but an answer to a script */
	void (*begin)(struct export *x);
	void (*row)(struct export *x, const struct fh_store_cell *cells, size_t count);
	const char *end;
};

struct export
{
	const struct form *form;
	struct fh_view_visit visit;
	struct fh_store_documents documents;
	json_t *facets;                    /* the values that the eval's filters can have (fh_store_facets) */
	struct fh_store_row_filter filter; /* its texts are borrowed from the request, which lives longer */
	struct fh_store_page page;
	struct fh_buf out;
	bool begun, ended;
	uint64_t rows;
};

static json_t *parse(const struct fh_store_cell *c)
{
	return fh_json_parse((struct fh_str){ c->data, c->data_n }, NULL, NULL);
}

/* ------------------------------------------------------------------------------------------------------------ CSV */

static void field(struct export *x, const char *text, bool first)
{
	if (!first)
		fh_buf_addc(&x->out, ',');
	fh_escape_csv(&x->out, fh_str(text));
}

static void csv_var_names(struct export *x)
{
	for (size_t i = 0; i < json_array_size(x->documents.vars); i++)
		field(x, json_string_value(json_array_get(x->documents.vars, i)), false);
}

static void csv_column_name(struct export *x, const json_t *column)
{
	fh_auto_free char *name =
	    fh_xasprintf("[%s] %s", fh_json_str(column, "provider", ""), fh_json_str(column, "label", ""));
	field(x, name, false);
}

static void csv_begin(struct export *x)
{
	const json_t *columns = x->documents.columns;
	field(x, "row", true);
	field(x, "description", false);
	csv_var_names(x);
	for (size_t i = 0; i < json_array_size(columns); i++) {
		field(x, "result", false);
		field(x, "score", false);
		csv_column_name(x, json_array_get(columns, i));
	}
	fh_buf_adds(&x->out, "\r\n");
}

static void csv_answer(struct export *x, const struct fh_store_cell *c)
{
	fh_auto_free char *made = NULL;
	fh_auto_json json_t *data = c ? parse(c) : NULL;
	fh_auto_free char *score = c ? fh_xasprintf("%.6g", c->score) : fh_xstrdup("");
	field(x, !c ? "" : c->success ? "PASS" : c->failure == 2 ? "ERROR" : "FAIL", false);
	fh_buf_addf(&x->out, ",%s", score); /* numbers need no protection against formulas, even negative ones */
	field(x, c ? fh_view_answer(x->visit.eval.kind, data, &made) : "", false);
}

static void csv_vars(struct export *x, const json_t *data)
{
	const json_t *vars = x->documents.vars;
	for (size_t i = 0; i < json_array_size(vars); i++) {
		const char *name = json_string_value(json_array_get(vars, i));
		const json_t *v = json_object_get(json_object_get(data, "vars"), name ? name : "");
		fh_auto_free char *made = v && !json_is_string(v) ? fh_json_text(v, 0) : NULL;
		field(x, made ? made : v ? json_string_value(v) : "", false);
	}
}

static void csv_row(struct export *x, const struct fh_store_cell *cells, size_t count)
{
	fh_auto_json json_t *data = parse(&cells[0]);
	fh_buf_addf(&x->out, "%u", cells[0].row);
	field(x, fh_json_str(json_object_get(data, "testCase"), "description", fh_json_str(data, "task_id", "")), false);
	csv_vars(x, data);
	for (size_t k = 0, i = 0; k < json_array_size(x->documents.columns); k++) {
		bool has = i < count && cells[i].column == k;
		csv_answer(x, has ? &cells[i] : NULL);
		i += has;
	}
	fh_buf_adds(&x->out, "\r\n");
}

/* ------------------------------------------------------------------------------------------------------ JSON, YAML */

static void json_begin(struct export *x)
{
	fh_buf_addc(&x->out, '[');
}

static void json_row(struct export *x, const struct fh_store_cell *cells, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		fh_buf_adds(&x->out, x->rows || i ? ",\n" : "\n");
		fh_buf_add(&x->out, cells[i].data, cells[i].data_n);
	}
}

static void yaml_begin(struct export *x)
{
	fh_buf_adds(&x->out, "# Tests of an eval, for `tests: file://FILE` of another. JSON is YAML.\n");
}

static void yaml_row(struct export *x, const struct fh_store_cell *cells, size_t count)
{
	fh_auto_json json_t *data = parse(&cells[0]);
	const json_t *test = json_object_get(data, "testCase");
	if (!json_is_object(test))
		return;
	fh_buf_adds(&x->out, "- ");
	size_t from = x->out.n;
	fh_json_write(&x->out, test, 0);
	fh_escape_json_for_yaml(&x->out, from);
	fh_buf_addc(&x->out, '\n');
}

/* -------------------------------------------------------------------------------------------- promptfoo's forms */

/* A member of the object that is being written, with a comma behind it. */
static void member(struct export *x, const char *name, FH_OWN json_t *value)
{
	fh_buf_addf(&x->out, "\"%s\":", name);
	fh_json_write(&x->out, value, 0);
	fh_buf_addc(&x->out, ',');
	json_decref(value);
}

/* The answer of /api/results/ID up to its rows. */
static void whole_begin(struct export *x)
{
	const struct fh_store_documents *d = &x->documents;
	char time[32], dataset[FH_SHA256_HEX];
	const char *created = fh_iso_time(x->visit.eval.created_ms, time);
	fh_buf_adds(&x->out, "{\"data\":{\"version\":4,");
	member(x, "createdAt", json_string(created));
	member(x, "config", json_incref(d->config));
	member(x, "author", json_null());
	member(x, "prompts", json_incref(d->columns));
	member(x, "vars", json_incref(d->vars));
	fh_view_dataset_hash(d->config, dataset);
	member(x, "datasetId", json_string(dataset));
	fh_buf_adds(&x->out, "\"results\":{\"version\":3,");
	member(x, "timestamp", json_string(created));
	member(x, "prompts", json_incref(d->columns));
	member(x, "stats", fh_view_stats_json(&x->visit.eval, d->columns));
	fh_buf_adds(&x->out, "\"results\":[");
}

static const json_t *metrics(const struct export *x)
{
	return json_object_get(x->facets, "metrics");
}

static void table_begin(struct export *x)
{
	const json_t *columns = x->documents.columns;
	field(x, "Description", true);
	csv_var_names(x);
	for (size_t i = 0; i < json_array_size(columns); i++) {
		csv_column_name(x, json_array_get(columns, i));
		fh_buf_adds(&x->out, ",Status,Score,Named Scores");
		for (size_t k = 0; k < json_array_size(metrics(x)); k++) {
			fh_auto_free char *metric = fh_xasprintf("Metric: %s", json_string_value(json_array_get(metrics(x), k)));
			field(x, metric, false);
		}
		fh_buf_adds(&x->out, ",Grader Reason,Comment");
	}
	fh_buf_adds(&x->out, "\r\n");
}

static void table_answer(struct export *x, const struct fh_store_cell *c)
{
	fh_auto_free char *made = NULL;
	fh_auto_json json_t *data = parse(c);
	json_t *named = json_object_get(data, "namedScores"), *graded = json_object_get(data, "gradingResult");
	fh_auto_free char *scores = json_object_size(named) ? fh_json_text(named, 0) : fh_xstrdup("");
	const char *answer = fh_view_answer(x->visit.eval.kind, data, &made);
	field(x, *answer ? answer : fh_json_str(data, "error", ""), false);
	fh_buf_addf(&x->out, ",%s,%.2f", c->success ? "PASS" : c->failure == 2 ? "ERROR" : "FAIL", c->score);
	field(x, scores, false);
	for (size_t k = 0; k < json_array_size(metrics(x)); k++) {
		const json_t *v = json_object_get(named, json_string_value(json_array_get(metrics(x), k)));
		fh_buf_addc(&x->out, ',');
		if (json_is_number(v))
			fh_buf_addf(&x->out, "%.2f", json_number_value(v));
	}
	field(x, fh_json_str(graded, "reason", fh_json_str(data, "error", "")), false);
	field(x, c->rating.comment ? c->rating.comment : "", false);
}

static void table_row(struct export *x, const struct fh_store_cell *cells, size_t count)
{
	fh_auto_json json_t *data = parse(&cells[0]);
	field(x, fh_json_str(json_object_get(data, "testCase"), "description", ""), true);
	csv_vars(x, data);
	for (size_t k = 0, i = 0; k < json_array_size(x->documents.columns); k++) {
		bool has = i < count && cells[i].column == k;
		if (has)
			table_answer(x, &cells[i]);
		else
			for (size_t n = 6 + json_array_size(metrics(x)); n > 0; n--)
				fh_buf_addc(&x->out, ',');
		i += has;
	}
	fh_buf_adds(&x->out, "\r\n");
}

static const struct form forms[] = {
	{ "csv", "text/csv; charset=utf-8", ".csv", csv_begin, csv_row, "" },
	{ "json", "application/json", ".json", json_begin, json_row, "\n]\n" },
	{ "yaml", "application/yaml", ".yaml", yaml_begin, yaml_row, "" },
	{ "promptfoo", "application/json", NULL, whole_begin, json_row, "\n]}}}\n" },
	{ "promptfoo-csv", "text/csv; charset=utf-8", ".csv", table_begin, table_row, "" },
};
enum { FORMS_OF_EXPORT = 3 }; /* those that /export offers come first */

/* ------------------------------------------------------------------------------------------------------- streaming */

static int next_page(struct export *x)
{
	struct fh_store_cells found = { 0 };
	if (fh_store_rows(x->visit.store, x->visit.eval.number, &x->filter, &x->page, &found, NULL) < 0)
		return -1;
	for (size_t i = 0, n; i < found.count; i += n, x->rows++) {
		for (n = 1; i + n < found.count && found.items[i + n].row == found.items[i].row;)
			n++;
		x->form->row(x, &found.items[i], n);
	}
	x->page.offset += PAGE_ROWS;
	if (x->page.offset >= found.matched) {
		fh_buf_adds(&x->out, x->form->end);
		x->ended = true;
	}
	fh_store_cells_release(&found);
	return x->out.overflowed ? -1 : 0;
}

static ssize_t read_export(void *context, char *buffer, size_t n)
{
	struct export *x = context;
	if (!x->begun)
		x->form->begin(x);
	x->begun = true;
	while (x->out.n == 0 && !x->ended)
		if (next_page(x) < 0)
			return -1; /* the connection is cut, so that the client cannot take the part for the whole */
	n = FH_MIN(n, x->out.n);
	if (n)
		memcpy(buffer, x->out.p, n);
	fh_buf_drop(&x->out, n);
	return (ssize_t)n;
}

static void release(void *context)
{
	struct export *x = context;
	fh_view_visit_end(&x->visit);
	fh_store_documents_release(&x->documents);
	json_decref(x->facets);
	fh_buf_release(&x->out);
	free(x);
}

void fh_view_export_reply(struct fh_http_request *r, const char *form)
{
	struct fh_error err = FH_ERROR_INIT;
	size_t i = 0;
	while (i < FH_ARRAY_SIZE(forms) - 1 && !fh_streq(forms[i].name, form))
		i++;
	struct export *x = FH_NEW(struct export);
	x->form = &forms[i];
	x->out = (struct fh_buf)FH_BUF_INIT(PAGE_BYTES_MAX);
	if (!fh_view_row_filter(r, &x->filter, &x->page) || !fh_view_visit(r, &x->visit)) {
		release(x);
		return;
	}
	x->page.offset = 0;
	x->page.limit = PAGE_ROWS;
	if (fh_store_documents(x->visit.store, x->visit.eval.number, &x->documents, &err) < 0 ||
	    fh_store_facets(x->visit.store, x->visit.eval.number, &x->facets, &err) < 0) {
		fh_view_fail_from(r, &err);
		release(x);
		return;
	}
	if (x->form->extension) {
		fh_auto_free char *disposition = fh_view_attachment(x->visit.eval.id, x->form->extension);
		fh_http_reply_header(r, "Content-Disposition", disposition);
	}
	struct fh_http_source source = { read_export, release, x, FH_HTTP_SIZE_UNKNOWN };
	fh_http_reply_source(r, 200, x->form->type, &source);
}

static void get_export(struct fh_http_request *r, struct fh_str body)
{
	const char *name = fh_http_query(r, "form") ? fh_http_query(r, "form") : "csv";
	size_t i = 0;
	while (i < FORMS_OF_EXPORT && !fh_streq(forms[i].name, name))
		i++;
	if (i == FORMS_OF_EXPORT)
		fh_view_fail(r, 400, "form %s is not one of csv, json, yaml", name);
	else
		fh_view_export_reply(r, name);
}

const struct fh_http_route fh_view_export_routes[] = {
	{ "GET", "/api/view/evals/{id}/export", get_export },
	{ 0 },
};
