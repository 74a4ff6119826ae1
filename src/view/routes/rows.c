/* SPDX-License-Identifier: MIT */
/* The rows of an eval by the page, single cells, and their ratings. */
#include "base/clock.h"
#include "view/cell_json.h"
#include "view/reply.h"
#include "view/row_filter.h"
#include "view/routes.h"
#include "view/state.h"

/* A page of rows as JSON. The cells of a row follow each other in `found`. */
static json_t *page_json(enum fh_store_kind kind, const struct fh_store_cells *found, size_t columns,
                         const json_t *vars)
{
	json_t *rows = json_array();
	for (size_t i = 0, n; i < found->count; i += n) {
		for (n = 1; i + n < found->count && found->items[i + n].row == found->items[i].row;)
			n++;
		json_array_append_new(rows, fh_view_row_json(kind, &found->items[i], n, columns, vars));
	}
	return rows;
}

static void get_rows(struct fh_http_request *r, struct fh_str body)
{
	fh_auto_visit struct fh_view_visit v = { 0 };
	struct fh_store_row_filter filter;
	struct fh_store_page page;
	struct fh_store_cells found = { 0 };
	struct fh_store_documents d = { 0 };
	struct fh_error err = FH_ERROR_INIT;
	if (!fh_view_row_filter(r, &filter, &page) || !fh_view_visit(r, &v))
		return;
	if (fh_store_documents(v.store, v.eval.number, &d, &err) < 0 ||
	    fh_store_rows(v.store, v.eval.number, &filter, &page, &found, &err) < 0)
		fh_view_fail_from(r, &err);
	else
		fh_http_reply_json(r, 200,
		                   json_pack("{s:I, s:I, s:o}", "total", (json_int_t)found.total, "matched",
		                             (json_int_t)found.matched, "rows",
		                             page_json(v.eval.kind, &found, v.eval.columns, d.vars)));
	fh_store_cells_release(&found);
	fh_store_documents_release(&d);
}

static bool read_place(struct fh_http_request *r, uint32_t *ret_row, uint32_t *ret_column)
{
	uint32_t *const to[] = { ret_row, ret_column };
	for (size_t i = 0; i < FH_ARRAY_SIZE(to); i++) {
		char *end;
		const char *text = fh_http_segment(r, i + 1);
		unsigned long n = strtoul(text, &end, 10);
		if (*text < '0' || *text > '9' || *end || n > INT32_MAX) {
			fh_view_fail(r, 400, "a cell is named by the numbers of its row and column");
			return false;
		}
		*to[i] = (uint32_t)n;
	}
	return true;
}

static void get_cell(struct fh_http_request *r, struct fh_str body)
{
	fh_auto_visit struct fh_view_visit v = { 0 };
	struct fh_store_cell cell = { 0 };
	struct fh_error err = FH_ERROR_INIT;
	uint32_t row, column;
	if (!read_place(r, &row, &column) || !fh_view_visit(r, &v))
		return;
	if (fh_store_cell(v.store, v.eval.number, row, column, &cell, &err) < 0)
		fh_view_fail_from(r, &err);
	else
		fh_http_reply_json(r, 200, fh_view_cell_json(&cell));
	fh_store_cell_release(&cell);
}

/* The request's body is {thumb: 1, -1 or 0, score: number or null, comment: text}, which replaces the earlier rating.
 */
static void put_rating(struct fh_http_request *r, struct fh_str body)
{
	fh_auto_visit struct fh_view_visit v = { 0 };
	fh_auto_store struct fh_store *s = NULL;
	fh_auto_json json_t *given = fh_json_parse(body, NULL, NULL);
	struct fh_error err = FH_ERROR_INIT;
	const char *comment = fh_json_str(given, "comment", "");
	int64_t thumb = fh_json_int(given, "thumb", 0);
	json_t *score = json_object_get(given, "score");
	uint32_t row, column;
	if (!json_is_object(given) || thumb < -1 || thumb > 1 || strlen(comment) > FH_COMMENT_MAX) {
		fh_view_fail(r, 400, "the body must be {\"thumb\": 1, 0 or -1, \"score\": …, \"comment\": …}");
		return;
	}
	struct fh_store_rating rating = { .thumb = (int)thumb,
		                              .has_score = json_is_number(score),
		                              .score = json_number_value(score),
		                              .comment = (char *)(uintptr_t)comment,
		                              .changed_ms = fh_wall_ms() };
	if (!read_place(r, &row, &column) || !fh_view_visit(r, &v) || !fh_view_writable(r, &s))
		return;
	if (fh_store_rate(s, v.eval.number, row, column, &rating, &err) < 0)
		fh_view_fail_from(r, &err);
	else
		fh_http_reply_json(r, 200, json_pack("{s:s}", "message", "rated"));
}

const struct fh_http_route fh_view_row_routes[] = {
	{ "GET", "/api/view/evals/{id}/rows", get_rows },
	{ "GET", "/api/view/evals/{id}/cells/{row}/{column}", get_cell },
	{ "PUT", "/api/view/evals/{id}/cells/{row}/{column}/rating", put_rating },
	{ 0 },
};
