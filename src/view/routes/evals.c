/* SPDX-License-Identifier: MIT */
/* The list of evals, and information about one eval except its rows. */
#include "base/clock.h"
#include "view/reply.h"
#include "view/routes.h"
#include "view/state.h"

enum { LIST_DEFAULT = 100, LIST_MAX = 1000, DELETE_MAX = 10000, DESCRIPTION_MAX = 4096 };

static void set_text(json_t *o, const char *name, const char *text)
{
	json_object_set_new(o, name, fh_json_bytes(fh_str(text)));
}

static void set_time(json_t *o, const char *name, int64_t ms)
{
	char text[32];
	json_object_set_new(o, name, json_string(fh_iso_time(ms, text)));
}

static json_t *eval_json(const struct fh_store_eval *e)
{
	json_t *o = json_object();
	set_text(o, "id", e->id);
	set_text(o, "description", e->description);
	set_time(o, "createdAt", e->created_ms);
	json_object_update_new(
	    o, json_pack("{s:s, s:s, s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:I}", "kind",
	                 fh_store_kind_name(e->kind), "state", fh_store_state_name(e->state), "running",
	                 e->state == FH_STORE_RUNNING, "total", (json_int_t)e->total, "rows", (json_int_t)e->rows,
	                 "columns", (json_int_t)e->columns, "successes", (json_int_t)e->passed, "failures",
	                 (json_int_t)e->failed, "errors", (json_int_t)e->errors, "durationMs", (json_int_t)e->duration_ms,
	                 "score", e->score, "cost", e->cost, "latencyMs", e->latency_ms, "tokens", (json_int_t)e->tokens));
	return o;
}

/* A page of the list, with each eval's tags and the tags that evals of the kind have. */
struct page {
	struct fh_store_eval_list found;
	json_t *tags; /* array: one object for each eval found */
	json_t *used; /* array of fh_store_tags_used */
};

static void page_release(struct page *p)
{
	fh_store_eval_list_release(&p->found);
	json_decref(p->tags);
	json_decref(p->used);
}

static int read_tags(struct fh_store *s, const struct fh_store_eval_filter *filter, struct page *p,
                     struct fh_error *err)
{
	json_t *tags;
	int r = fh_store_tags_used(s, filter->kind, &p->used, err);
	p->tags = json_array();
	for (size_t i = 0; i < p->found.count && r == 0; i++)
		if ((r = fh_store_tags(s, p->found.items[i].number, &tags, err)) == 0)
			json_array_append_new(p->tags, tags);
	return r;
}

/* Reads a page of the list. A missing store counts as empty. */
static bool list(struct fh_http_request *r, const struct fh_store_eval_filter *filter, uint64_t limit, struct page *ret)
{
	struct fh_view *v = fh_http_context(r);
	struct fh_error err = FH_ERROR_INIT;
	struct fh_store *store = NULL;
	int e = fh_view_stores_take(&v->stores, &store, &err);
	if (e == -FH_E_NOT_FOUND)
		return true;
	if (e == 0)
		e = fh_store_evals(store, filter, (uint64_t)fh_view_query_int(r, "offset", 0, 0, INT32_MAX), limit, &ret->found,
		                   &err);
	if (e == 0)
		e = read_tags(store, filter, ret, &err);
	fh_view_stores_give(&v->stores, store);
	if (e < 0)
		fh_view_fail_from(r, &err);
	return e == 0;
}

static void get_evals(struct fh_http_request *r, struct fh_str body)
{
	const char *kind = fh_http_query(r, "kind"), *search = fh_http_query(r, "search"), *tag = fh_http_query(r, "tag");
	struct fh_store_eval_filter filter = { .kind = kind && *kind ? kind : NULL,
		                                   .text = search && *search ? search : NULL,
		                                   .tag = tag && *tag ? tag : NULL };
	struct page page = { 0 };
	if (list(r, &filter, (uint64_t)fh_view_query_int(r, "limit", LIST_DEFAULT, 1, LIST_MAX), &page)) {
		json_t *evals = json_array();
		for (size_t i = 0; i < page.found.count; i++) {
			json_t *o = eval_json(&page.found.items[i]);
			json_object_set(o, "tags", json_array_get(page.tags, i));
			json_array_append_new(evals, o);
		}
		fh_http_reply_json(r, 200,
		                   json_pack("{s:I, s:o, s:o}", "total", (json_int_t)page.found.total, "evals", evals, "tags",
		                             page.used ? json_incref(page.used) : json_array()));
	}
	page_release(&page);
}

static const char *const WISHES[] = {
	[FH_STORE_GO_ON] = "go-on", [FH_STORE_PAUSE] = "pause", [FH_STORE_CANCEL] = "cancel"
};

static void get_eval(struct fh_http_request *r, struct fh_str body)
{
	enum fh_store_wish wish = FH_STORE_GO_ON;
	fh_auto_visit struct fh_view_visit v = { 0 };
	struct fh_store_documents d = { 0 };
	struct fh_error err = FH_ERROR_INIT;
	fh_auto_json json_t *facets = NULL;
	if (!fh_view_visit(r, &v))
		return;
	if (fh_store_documents(v.store, v.eval.number, &d, &err) < 0 ||
	    fh_store_wished(v.store, v.eval.number, &wish, &err) < 0 ||
	    fh_store_facets(v.store, v.eval.number, &facets, &err) < 0) {
		fh_view_fail_from(r, &err);
	} else {
		json_t *o = eval_json(&v.eval);
		json_object_set(o, "vars", d.vars);
		json_object_set(o, "columnHeads", d.columns);
		json_object_set(o, "tags", d.tags);
		json_object_set(o, "facets", facets);
		json_object_set_new(o, "wish", json_string(WISHES[wish]));
		/* Whether `fumehood retry` can run its cells: it was made here, by `fumehood eval`. */
		json_object_set_new(o, "again",
		                    json_boolean(v.eval.kind == FH_STORE_EVAL && json_object_get(d.options, "argv")));
		fh_http_reply_json(r, 200, o);
	}
	fh_store_documents_release(&d);
}

/* What the filter by tag can be given. */
static void get_tags(struct fh_http_request *r, struct fh_str body)
{
	fh_auto_visit struct fh_view_visit v = { 0 };
	struct fh_error err = FH_ERROR_INIT;
	json_t *tags = NULL;
	if (!fh_view_visit(r, &v))
		return;
	if (fh_store_row_tags(v.store, v.eval.number, &tags, &err) < 0)
		fh_view_fail_from(r, &err);
	else
		fh_http_reply_json(r, 200, json_pack("{s:o}", "tags", tags));
}

static void get_config(struct fh_http_request *r, struct fh_str body)
{
	fh_auto_visit struct fh_view_visit v = { 0 };
	struct fh_store_documents d = { 0 };
	struct fh_error err = FH_ERROR_INIT;
	if (!fh_view_visit(r, &v))
		return;
	if (fh_store_documents(v.store, v.eval.number, &d, &err) < 0)
		fh_view_fail_from(r, &err);
	else
		fh_http_reply_json(r, 200, json_pack("{s:O, s:O}", "config", d.config, "options", d.options));
	fh_store_documents_release(&d);
}

/* -------------------------------------------------------------------------------------------------------- changes */

static int delete_one(struct fh_store *s, const char *id, struct fh_error *err)
{
	struct fh_store_eval e = { 0 };
	int r = fh_store_find(s, id, &e, err);
	if (r < 0)
		return r;
	/* Deleting needs the complete id, not its beginning or "latest", which other commands accept. */
	r = fh_streq(e.id, id) ? fh_store_delete(s, e.number, err)
	                       : fh_error_set(err, FH_E_NOT_FOUND, "there is no eval %s", id);
	fh_store_eval_release(&e);
	return r;
}

static void delete_eval(struct fh_http_request *r, struct fh_str body)
{
	struct fh_error err = FH_ERROR_INIT;
	fh_auto_store struct fh_store *s = NULL;
	if (!fh_view_writable(r, &s))
		return;
	if (delete_one(s, fh_http_segment(r, 0), &err) < 0)
		fh_view_fail_from(r, &err);
	else
		fh_http_reply_json(r, 200, json_pack("{s:s}", "message", "Eval deleted successfully"));
}

static void delete_evals(struct fh_http_request *r, struct fh_str body)
{
	struct fh_error err = FH_ERROR_INIT;
	fh_auto_store struct fh_store *s = NULL;
	fh_auto_json json_t *given = fh_json_parse(body, "the request", &err);
	const json_t *ids = json_object_get(given, "ids");
	if (!json_is_array(ids) || json_array_size(ids) > DELETE_MAX) {
		fh_view_fail(r, 400, "the body must be {\"ids\": [\"eval-…\"]}");
		return;
	}
	if (!fh_view_writable(r, &s))
		return;
	for (size_t i = 0; i < json_array_size(ids); i++) {
		const char *id = json_string_value(json_array_get(ids, i));
		if (!id || delete_one(s, id, &err) < 0) {
			fh_view_fail_from(r, &err);
			return;
		}
	}
	fh_http_reply_empty(r, 204);
}

/* The request's body is {description?, tags?: {name: value or null}}. */
static void patch_eval(struct fh_http_request *r, struct fh_str body)
{
	fh_auto_visit struct fh_view_visit v = { 0 };
	fh_auto_store struct fh_store *s = NULL;
	struct fh_error err = FH_ERROR_INIT;
	fh_auto_json json_t *given = fh_json_parse(body, "the request", &err);
	const char *description = fh_json_str(given, "description", NULL), *name;
	json_t *tags = json_object_get(given, "tags"), *value;
	if (!json_is_object(given) || (description && strlen(description) > DESCRIPTION_MAX)) {
		fh_view_fail(r, 400, "the body must be {\"description\": …, \"tags\": {…}}, with at most %d bytes of it",
		             DESCRIPTION_MAX);
		return;
	}
	if (!fh_view_visit(r, &v) || !fh_view_writable(r, &s))
		return;
	int e = description ? fh_store_describe(s, v.eval.number, description, &err) : 0;
	json_object_foreach(tags, name, value) if (e == 0) e =
	    fh_store_tag(s, v.eval.number, name, json_string_value(value), &err);
	if (e < 0)
		fh_view_fail_from(r, &err);
	else
		fh_http_reply_json(r, 200, json_pack("{s:s}", "message", "changed"));
}

/* The request's body is {wish: "pause", "go-on" or "cancel"}. */
static void post_wish(struct fh_http_request *r, struct fh_str body)
{
	fh_auto_visit struct fh_view_visit v = { 0 };
	fh_auto_store struct fh_store *s = NULL;
	struct fh_error err = FH_ERROR_INIT;
	fh_auto_json json_t *given = fh_json_parse(body, NULL, NULL);
	const char *wish = fh_json_str(given, "wish", "");
	size_t i = 0;
	while (i < FH_ARRAY_SIZE(WISHES) && strcmp(WISHES[i], wish) != 0)
		i++;
	if (i == FH_ARRAY_SIZE(WISHES)) {
		fh_view_fail(r, 400, "\"wish\" is pause, go-on or cancel");
		return;
	}
	if (!fh_view_visit(r, &v) || !fh_view_writable(r, &s))
		return;
	if (fh_store_wish(s, v.eval.number, (enum fh_store_wish)i, &err) < 0)
		fh_view_fail_from(r, &err);
	else
		fh_http_reply_json(r, 200, json_pack("{s:s}", "wish", WISHES[i]));
}

const struct fh_http_route fh_view_eval_routes[] = {
	{ "GET", "/api/view/evals", get_evals },
	{ "GET", "/api/view/evals/{id}", get_eval },
	{ "GET", "/api/view/evals/{id}/config", get_config },
	{ "GET", "/api/view/evals/{id}/tags", get_tags },
	{ "PATCH", "/api/view/evals/{id}", patch_eval },
	{ "POST", "/api/view/evals/{id}/wish", post_wish },
	{ "DELETE", "/api/eval/{id}", delete_eval },
	{ "DELETE", "/api/eval", delete_evals },
	{ 0 },
};
