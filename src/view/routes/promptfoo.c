/* SPDX-License-Identifier: MIT */
/* Routes of promptfoo's server about one eval: its table, the rating of a result, its name. */
#include "base/clock.h"
#include "view/cell_json.h"
#include "view/eval_stats.h"
#include "view/filtered_metrics.h"
#include "view/routes/export.h"
#include "view/reply.h"
#include "view/row_filter.h"
#include "view/routes.h"
#include "view/state.h"

enum { ID_MAX = 200, COMPARED_MAX = 8 };

/* ---------------------------------------------------------------------------------------------------------- table */

/* One cell of promptfoo's table: the members of the cell's result, under the names that the table has for them. */
static json_t *output_json(const struct fh_store_eval *e, const struct fh_store_cell *c, const json_t *data)
{
	static const char *const taken[] = { "id",       "gradingResult", "metadata",      "namedScores",
		                                 "response", "testCase",      "failureReason", "promptId" };
	fh_auto_free char *made = NULL;
	json_t *error = json_object_get(data, "error"), *provider = json_object_get(data, "provider");
	const char *label = fh_json_str(provider, "label", ""), *text = fh_view_answer(e->kind, data, &made);
	json_t *o = json_pack("{s:b, s:b, s:f, s:f, s:f, s:i, s:i, s:b, s:O?}", "pass", c->success, "success", c->success,
	                      "score", c->score, "latencyMs", c->latency_ms, "cost", c->cost, "testIdx", (int)c->row,
	                      "promptIdx", (int)c->column, "persisted", 1, "error", error);
	if (!error)
		json_object_set_new(o, "error", json_null());
	json_object_set_new(o, "evalId", fh_json_bytes(fh_str(e->id)));
	for (size_t i = 0; i < FH_ARRAY_SIZE(taken); i++) {
		json_t *v = json_object_get(data, taken[i]);
		if (v)
			json_object_set(o, taken[i], v);
	}
	/* Where there is no answer, promptfoo shows the error. */
	json_object_set_new(o, "text", fh_json_bytes(fh_str(*text ? text : fh_json_str(data, "error", ""))));
	json_object_set_new(o, "prompt", json_string(fh_json_str(json_object_get(data, "prompt"), "raw", "")));
	json_object_set_new(o, "provider", json_string(*label ? label : fh_json_str(provider, "id", "")));
	return o;
}

static json_t *body_vars(const json_t *data, const json_t *names)
{
	json_t *list = json_array();
	for (size_t i = 0; i < json_array_size(names); i++) {
		const char *name = json_string_value(json_array_get(names, i));
		json_t *v = json_object_get(json_object_get(data, "vars"), name ? name : "");
		fh_auto_free char *text = v && !json_is_string(v) ? fh_json_text(v, 0) : NULL;
		json_array_append_new(list, text ? json_string(text) : v ? json_incref(v) : json_string(""));
	}
	return list;
}

static json_t *body_row(const struct fh_store_eval *e, const struct fh_store_cell *cells, size_t count,
                        const json_t *names)
{
	json_t *row = json_object(), *outputs = json_array();
	for (uint64_t i = 0; i < e->columns; i++)
		json_array_append_new(outputs, json_null());
	for (size_t i = 0; i < count; i++) {
		fh_auto_json json_t *data = fh_json_parse((struct fh_str){ cells[i].data, cells[i].data_n }, NULL, NULL);
		json_t *test = json_object_get(data, "testCase");
		if (cells[i].column < e->columns)
			json_array_set_new(outputs, cells[i].column, output_json(e, &cells[i], data));
		if (i > 0)
			continue;
		if (json_object_get(test, "description"))
			json_object_set(row, "description", json_object_get(test, "description"));
		json_object_set_new(row, "vars", body_vars(data, names));
		json_object_set_new(row, "test", test ? json_incref(test) : json_object());
		json_object_set_new(row, "testIdx", json_integer(cells[i].row));
	}
	json_object_set_new(row, "outputs", outputs);
	return row;
}

static json_t *table_json(const struct fh_view_visit *v, const struct fh_store_documents *d,
                          const struct fh_store_cells *found)
{
	json_t *body = json_array();
	for (size_t i = 0, n; i < found->count; i += n) {
		for (n = 1; i + n < found->count && found->items[i + n].row == found->items[i].row;)
			n++;
		json_array_append_new(body, body_row(&v->eval, &found->items[i], n, d->vars));
	}
	return json_pack("{s:{s:O, s:O}, s:o}", "head", "prompts", d->columns, "vars", d->vars, "body", body);
}

/* ------------------------------------------------------------------------------------------- beside other evals */

/* The columns of an eval under labels that name it, as promptfoo labels those of a comparison. */
static void add_heads(json_t *heads, const char *eval, const json_t *columns)
{
	for (size_t i = 0; i < json_array_size(columns); i++) {
		json_t *head = json_copy(json_array_get(columns, i));
		fh_auto_free char *label = fh_xasprintf("[%s] %s", eval, fh_json_str(head, "label", ""));
		json_object_set_new(head, "label", fh_json_bytes(fh_str(label)));
		json_array_append_new(heads, head);
	}
}

/* Adds the cells that another eval has in the rows of the table; null where it has none. */
static int add_outputs(const struct fh_view_visit *other, json_t *rows, struct fh_error *err)
{
	for (size_t i = 0; i < json_array_size(rows); i++) {
		json_t *row = json_array_get(rows, i), *outputs = json_object_get(row, "outputs");
		for (uint32_t k = 0; k < other->eval.columns; k++) {
			struct fh_store_cell c;
			int e =
			    fh_store_cell(other->store, other->eval.number, (uint32_t)fh_json_int(row, "testIdx", 0), k, &c, err);
			if (e == -FH_E_NOT_FOUND) {
				json_array_append_new(outputs, json_null());
				continue;
			}
			if (e < 0)
				return e;
			fh_auto_json json_t *data = fh_json_parse((struct fh_str){ c.data, c.data_n }, NULL, NULL);
			json_array_append_new(outputs, output_json(&other->eval, &c, data));
			fh_store_cell_release(&c);
		}
	}
	return 0;
}

/* Puts the evals of the query's comparisonEvalIds beside the table's own. False: it has replied with an error. */
static bool add_compared(struct fh_http_request *r, const struct fh_view_visit *v, json_t *table)
{
	json_t *head = json_object_get(table, "head"), *heads = json_array();
	struct fh_error err = FH_ERROR_INIT;
	const char *id;
	bool ok = true;
	add_heads(heads, v->eval.id, json_object_get(head, "prompts"));
	for (size_t i = 0; ok && (id = fh_http_query_nth(r, "comparisonEvalIds", i)); i++) {
		fh_auto_visit struct fh_view_visit other = { 0 };
		struct fh_store_documents d = { 0 };
		if (i == COMPARED_MAX) {
			fh_view_fail(r, 400, "at most %d evals can be compared with another", COMPARED_MAX);
			ok = false;
		} else if (!fh_view_visit_named(r, id, &other)) {
			ok = false;
		} else if (fh_store_documents(other.store, other.eval.number, &d, &err) < 0 ||
		           add_outputs(&other, json_object_get(table, "body"), &err) < 0) {
			fh_view_fail_from(r, &err);
			ok = false;
		} else {
			add_heads(heads, other.eval.id, d.columns);
		}
		fh_store_documents_release(&d);
	}
	json_object_set_new(head, "prompts", heads);
	return ok;
}

/* What /table answers for a page: the table, and what stands beside it. */
static json_t *page_json(const struct fh_view_visit *v, const struct fh_store_documents *d,
                         const struct fh_store_cells *found, json_t *table, FH_OWN json_t *filtered)
{
	return json_pack("{s:O, s:I, s:I, s:o, s:O, s:n, s:i, s:s, s:o}", "table", table, "totalCount",
	                 (json_int_t)found->total, "filteredCount", (json_int_t)found->matched, "filteredMetrics", filtered,
	                 "config", d->config, "author", "version", 4, "id", v->eval.id, "stats",
	                 fh_view_stats_json(&v->eval, d->columns));
}

static void get_table(struct fh_http_request *r, struct fh_str body)
{
	fh_auto_visit struct fh_view_visit v = { 0 };
	struct fh_store_row_filter filter;
	struct fh_store_page page;
	struct fh_store_cells found = { 0 };
	struct fh_store_documents d = { 0 };
	struct fh_error err = FH_ERROR_INIT;
	const char *format = fh_http_query(r, "format");
	bool compares = fh_http_query(r, "comparisonEvalIds") != NULL;
	if (fh_streq(format, "csv") && compares) {
		fh_view_fail(r, 400, "CSV holds one eval; ask for format=json, or leave comparisonEvalIds out");
		return;
	}
	if (fh_streq(format, "csv")) {
		fh_view_export_reply(r, "promptfoo-csv");
		return;
	}
	if (format && strcmp(format, "json") != 0) {
		fh_view_fail(r, 400, "format %s is not known: use csv or json, or leave it out for a page", format);
		return;
	}
	if (!fh_view_row_filter(r, &filter, &page) || !fh_view_visit(r, &v))
		return;
	if (fh_store_documents(v.store, v.eval.number, &d, &err) < 0 ||
	    fh_store_rows(v.store, v.eval.number, &filter, &page, &found, &err) < 0) {
		fh_view_fail_from(r, &err);
	} else {
		fh_auto_json json_t *table = table_json(&v, &d, &found);
		json_t *filtered = json_null();
		if (compares && !add_compared(r, &v, table))
			; /* the function has sent the reply */
		else if (format)
			fh_http_reply_json(r, 200, json_incref(table));
		else if (!fh_view_row_filter_is_empty(&filter) &&
		         fh_view_filtered_metrics(v.store, &v.eval, &filter, &filtered, &err) < 0)
			fh_view_fail_from(r, &err);
		else
			fh_http_reply_json(r, 200, page_json(&v, &d, &found, table, filtered));
	}
	fh_store_cells_release(&found);
	fh_store_documents_release(&d);
}

/* --------------------------------------------------------------------------------------------------------- rating */

struct search {
	const char *id;
	uint32_t row, column;
	bool found;
};

/* Finds a result by its id, which only the data contain. */
static int find(void *context, const struct fh_store_cell *cell, struct fh_error *err)
{
	struct search *s = context;
	if (!memmem(cell->data, cell->data_n, s->id, strlen(s->id)))
		return 0;
	fh_auto_json json_t *data = fh_json_parse((struct fh_str){ cell->data, cell->data_n }, NULL, NULL);
	if (strcmp(fh_json_str(data, "id", ""), s->id) != 0)
		return 0;
	*s = (struct search){ s->id, cell->row, cell->column, true };
	return -FH_E_CANCELLED; /* the result was found: a negative code ends the walk */
}

/* The body is a grading result in promptfoo's form; its `pass` becomes the thumb. */
static void post_rating(struct fh_http_request *r, struct fh_str body)
{
	fh_auto_visit struct fh_view_visit v = { 0 };
	fh_auto_store struct fh_store *s = NULL;
	fh_auto_json json_t *given = fh_json_parse(body, NULL, NULL);
	struct fh_error err = FH_ERROR_INIT;
	json_t *pass = json_object_get(given, "pass"), *score = json_object_get(given, "score");
	const char *comment = fh_json_str(given, "comment", "");
	struct search search = { .id = fh_http_segment(r, 1) };
	if (!json_is_object(given) || strlen(comment) > FH_COMMENT_MAX || !*search.id || strlen(search.id) > ID_MAX) {
		fh_view_fail(r, 400, "the body must be {\"pass\": …, \"score\": …, \"comment\": …}");
		return;
	}
	if (!fh_view_visit(r, &v) || !fh_view_writable(r, &s))
		return;
	int e = fh_store_each_cell(v.store, v.eval.number, true, find, &search, &err);
	if (e < 0 && !search.found) {
		fh_view_fail_from(r, &err);
		return;
	}
	if (!search.found) {
		fh_view_fail(r, 404, "the eval has no result %s", search.id);
		return;
	}
	struct fh_store_rating rating = { .thumb = json_is_true(pass)    ? 1
		                                       : json_is_false(pass) ? -1
		                                                             : 0,
		                              .has_score = json_is_number(score),
		                              .score = json_number_value(score),
		                              .comment = (char *)(uintptr_t)comment,
		                              .changed_ms = fh_wall_ms() };
	if (fh_store_rate(s, v.eval.number, search.row, search.column, &rating, &err) < 0)
		fh_view_fail_from(r, &err);
	else
		fh_http_reply_json(r, 200, json_pack("{s:s, s:b}", "id", search.id, "success", 1));
}

/* -------------------------------------------------------------------------------------------------------- metadata */

static void reply_metadata(struct fh_http_request *r, const char *member, FH_NULLABLE const char *key)
{
	fh_auto_visit struct fh_view_visit v = { 0 };
	struct fh_error err = FH_ERROR_INIT;
	json_t *names = NULL;
	if (!fh_view_visit(r, &v))
		return;
	if (fh_store_metadata(v.store, v.eval.number, key, &names, &err) < 0)
		fh_view_fail_from(r, &err);
	else
		fh_http_reply_json(r, 200, json_pack("{s:o}", member, names));
}

static void get_metadata_keys(struct fh_http_request *r, struct fh_str body)
{
	reply_metadata(r, "keys", NULL);
}

static void get_metadata_values(struct fh_http_request *r, struct fh_str body)
{
	const char *key = fh_http_query(r, "key");
	if (key && *key)
		reply_metadata(r, "values", key);
	else
		fh_view_fail(r, 400, "the query must be ?key=NAME, one of metadata-keys");
}

/* ---------------------------------------------------------------------------------------------------- a whole eval */

static void get_result(struct fh_http_request *r, struct fh_str body)
{
	fh_view_export_reply(r, "promptfoo");
}

/* --------------------------------------------------------------------------------------------------------- changes */

/* promptfoo's page renames an eval by sending its whole config with another description: only that may differ. */
static void patch_config(struct fh_http_request *r, struct fh_str body)
{
	fh_auto_visit struct fh_view_visit v = { 0 };
	fh_auto_store struct fh_store *s = NULL;
	struct fh_store_documents d = { 0 };
	struct fh_error err = FH_ERROR_INIT;
	fh_auto_json json_t *given = fh_json_parse(body, "the request", &err);
	json_t *config = json_object_get(given, "config");
	const char *description = fh_json_str(config, "description", NULL);
	if (!description || json_object_get(given, "table")) {
		fh_view_fail(r, 400, "the body must be {\"config\": {\"description\": …}}: answers and verdicts do not change");
		return;
	}
	if (!fh_view_visit(r, &v) || !fh_view_writable(r, &s))
		return;
	if (fh_store_documents(v.store, v.eval.number, &d, &err) < 0) {
		fh_view_fail_from(r, &err);
		return;
	}
	json_object_set(d.config, "description", json_object_get(config, "description"));
	if (json_object_size(config) > 1 && !json_equal(config, d.config))
		fh_view_fail(r, 400, "only the description of a stored eval can be changed; run another one with this config");
	else if (fh_store_describe(s, v.eval.number, description, &err) < 0)
		fh_view_fail_from(r, &err);
	else
		fh_http_reply_json(r, 200, json_pack("{s:s}", "message", "Eval updated successfully"));
	fh_store_documents_release(&d);
}

const struct fh_http_route fh_view_promptfoo_routes[] = {
	{ "GET", "/api/results/{id}", get_result },
	{ "GET", "/api/eval/{id}/metadata-keys", get_metadata_keys },
	{ "GET", "/api/eval/{id}/metadata-values", get_metadata_values },
	{ "GET", "/api/eval/{id}/table", get_table },
	{ "PATCH", "/api/eval/{id}", patch_config },
	{ "POST", "/api/eval/{id}/results/{result}/rating", post_rating },
	{ 0 },
};
