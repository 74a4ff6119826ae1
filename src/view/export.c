/* SPDX-License-Identifier: MIT */
/* Exports the rows that a table shows, with its filters: as CSV, as JSON, or as YAML tests for another eval. Rows are
 * read by the page while the client receives them, so an export needs the memory of one page. */
#include "base/escape.h"
#include "view/cell_json.h"
#include "view/reply.h"
#include "view/row_filter.h"
#include "view/routes.h"
#include "view/state.h"

enum { PAGE_ROWS = 200, PAGE_BYTES_MAX = 1 << 30 };

struct export;
struct form {
	const char *name, *type, *extension;
	void (*begin)(struct export *x);
	void (*row)(struct export *x, const struct fh_store_cell *cells, size_t count);
	const char *end;
};

struct export
{
	const struct form *form;
	struct fh_view_visit visit;
	struct fh_store_documents documents;
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

static void csv_begin(struct export *x)
{
	const json_t *vars = x->documents.vars, *columns = x->documents.columns;
	field(x, "row", true);
	field(x, "description", false);
	for (size_t i = 0; i < json_array_size(vars); i++)
		field(x, json_string_value(json_array_get(vars, i)), false);
	for (size_t i = 0; i < json_array_size(columns); i++) {
		const json_t *head = json_array_get(columns, i);
		fh_auto_free char *name =
		    fh_xasprintf("[%s] %s", fh_json_str(head, "provider", ""), fh_json_str(head, "label", ""));
		field(x, "result", false);
		field(x, "score", false);
		field(x, name, false);
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

static void csv_row(struct export *x, const struct fh_store_cell *cells, size_t count)
{
	fh_auto_json json_t *data = parse(&cells[0]);
	const json_t *vars = x->documents.vars;
	fh_buf_addf(&x->out, "%u", cells[0].row);
	field(x, fh_json_str(json_object_get(data, "testCase"), "description", fh_json_str(data, "task_id", "")), false);
	for (size_t i = 0; i < json_array_size(vars); i++) {
		const char *name = json_string_value(json_array_get(vars, i));
		const json_t *v = json_object_get(json_object_get(data, "vars"), name ? name : "");
		fh_auto_free char *made = v && !json_is_string(v) ? fh_json_text(v, 0) : NULL;
		field(x, made ? made : v ? json_string_value(v) : "", false);
	}
	for (size_t k = 0, i = 0; k < json_array_size(x->documents.columns); k++) {
		bool has = i < count && cells[i].column == k;
		csv_answer(x, has ? &cells[i] : NULL);
		i += has;
	}
	fh_buf_adds(&x->out, "\r\n");
}

/* ----------------------------------------------------------------------------------------------------------- JSON,
 * YAML
 */

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
	fh_json_write(&x->out, test, 0);
	fh_buf_addc(&x->out, '\n');
}

static const struct form forms[] = {
	{ "csv", "text/csv; charset=utf-8", ".csv", csv_begin, csv_row, "" },
	{ "json", "application/json", ".json", json_begin, json_row, "\n]\n" },
	{ "yaml", "application/yaml", ".yaml", yaml_begin, yaml_row, "" },
};

/* ------------------------------------------------------------------------------------------------------------
 * streaming
 */

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
	fh_buf_release(&x->out);
	free(x);
}

static void get_export(struct fh_http_request *r, struct fh_str body)
{
	const char *name = fh_http_query(r, "form");
	struct fh_error err = FH_ERROR_INIT;
	size_t i = 0;
	while (i < FH_ARRAY_SIZE(forms) && !fh_streq(forms[i].name, name ? name : "csv"))
		i++;
	if (i == FH_ARRAY_SIZE(forms)) {
		fh_view_fail(r, 400, "form %s is not one of csv, json, yaml", name);
		return;
	}
	struct export *x = FH_NEW(struct export);
	x->form = &forms[i];
	x->out = (struct fh_buf)FH_BUF_INIT(PAGE_BYTES_MAX);
	if (!fh_view_row_filter(r, &x->filter, &x->page) || !fh_view_visit(r, &x->visit)) {
		release(x);
		return;
	}
	x->page.offset = 0;
	x->page.limit = PAGE_ROWS;
	if (fh_store_documents(x->visit.store, x->visit.eval.number, &x->documents, &err) < 0) {
		fh_view_fail_from(r, &err);
		release(x);
		return;
	}
	fh_auto_free char *disposition = fh_view_attachment(x->visit.eval.id, x->form->extension);
	fh_http_reply_header(r, "Content-Disposition", disposition);
	struct fh_http_source source = { read_export, release, x, FH_HTTP_SIZE_UNKNOWN };
	fh_http_reply_source(r, 200, x->form->type, &source);
}

const struct fh_http_route fh_view_export_routes[] = {
	{ "GET", "/api/view/evals/{id}/export", get_export },
	{ 0 },
};
