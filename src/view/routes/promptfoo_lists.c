/* SPDX-License-Identifier: MIT */
/* Routes of promptfoo's server that list evals, prompts and data sets, in its form. Prompts and data sets have their
 * SHA-256 as id, so the same ones of several evals are one. */
#include "base/clock.h"
#include "view/hashes.h"
#include "view/reply.h"
#include "view/routes.h"
#include "view/state.h"

enum { EVALS_READ = 100 /* the newest evals, from which promptfoo makes its history, prompts and data sets */ };

/* An eval that a list is made from. */
struct entry {
	const struct fh_store_eval *eval;
	const struct fh_store_documents *documents;
	const char *dataset; /* SHA-256 of its tests, in hexadecimal */
};

/* ----------------------------------------------------------------------------------------------- what entries hold */

static json_t *description_json(const struct fh_store_eval *e)
{
	return *e->description ? fh_json_bytes(fh_str(e->description)) : json_null();
}

static json_t *time_json(int64_t ms)
{
	char text[32];
	return json_string(fh_iso_time(ms, text));
}

/* A column as promptfoo's prompt with its id; ret_hex gets the id. */
static json_t *prompt_json(const json_t *column, char ret_hex[FH_SHA256_HEX])
{
	json_t *o = json_copy((json_t *)(uintptr_t)column);
	fh_view_hash(fh_str(fh_json_str(column, "raw", "")), ret_hex);
	if (!json_object_get(o, "id"))
		json_object_set_new(o, "id", json_string(ret_hex));
	return o;
}

static json_t *provider_json(const char *id, const json_t *options)
{
	const json_t *label = json_object_get(options, "label");
	return json_pack("{s:o, s:o}", "id", fh_json_bytes(fh_str(id)), "label",
	                 label ? json_incref((json_t *)(uintptr_t)label) : json_null());
}

/* The providers of a config: "id", {id, label} or {"id": options}. */
static json_t *providers_json(const json_t *config)
{
	const json_t *given = json_object_get(config, "providers");
	json_t *list = json_array();
	if (json_is_string(given))
		json_array_append_new(list, provider_json(json_string_value(given), NULL));
	for (size_t i = 0; i < json_array_size(given); i++) {
		json_t *p = json_array_get(given, i);
		const char *first = json_object_iter_key(json_object_iter(p));
		if (json_is_string(p))
			json_array_append_new(list, provider_json(json_string_value(p), NULL));
		else if (json_object_size(p) == 1 && strcmp(first, "id") != 0)
			json_array_append_new(list, provider_json(first, json_object_get(p, first)));
		else if (json_is_object(p))
			json_array_append_new(list, provider_json(fh_json_str(p, "id", "unknown"), p));
	}
	return list;
}

/* -------------------------------------------------------------------------------------------------------- the walk */

/* Calls `each` for evals, the newest first; limit 0: all. False: it has replied with an error. A missing store counts
 * as empty. */
static bool each_eval(struct fh_http_request *r, const struct fh_store_eval_filter *filter, uint64_t limit,
                      void (*each)(void *context, const struct entry *e), void *context)
{
	struct fh_view *v = fh_http_context(r);
	struct fh_error err = FH_ERROR_INIT;
	struct fh_store *store = NULL;
	struct fh_store_eval_list found = { 0 };
	int e = fh_view_stores_take(&v->stores, &store, &err);
	if (e == -FH_E_NOT_FOUND)
		return true;
	if (e == 0)
		e = fh_store_evals(store, filter, 0, limit, &found, &err);
	for (size_t i = 0; i < found.count && e == 0; i++) {
		struct fh_store_documents d = { 0 };
		char dataset[FH_SHA256_HEX];
		e = fh_store_documents(store, found.items[i].number, &d, &err);
		/* an eval that another program has just deleted is left out */
		bool gone = e == -FH_E_NOT_FOUND;
		if (e == 0) {
			fh_view_dataset_hash(d.config, dataset);
			each(context, &(struct entry){ &found.items[i], &d, dataset });
		}
		fh_store_documents_release(&d);
		e = gone ? 0 : e;
	}
	fh_store_eval_list_release(&found);
	fh_view_stores_give(&v->stores, store);
	if (e < 0)
		fh_view_fail_from(r, &err);
	return e == 0;
}

static void reply_data(struct fh_http_request *r, bool ok, FH_OWN json_t *data)
{
	if (ok)
		fh_http_reply_json(r, 200, json_pack("{s:O}", "data", data));
	json_decref(data);
}

/* ----------------------------------------------------------------------------------------------------------- evals */

struct results {
	json_t *list;
	bool providers;
	FH_NULLABLE const char *dataset; /* only evals with these tests */
};

/* passRate is in percent. */
static void add_result(void *context, const struct entry *x)
{
	struct results *results = context;
	const struct fh_store_eval *e = x->eval;
	uint64_t done = e->passed + e->failed + e->errors;
	if (results->dataset && strcmp(results->dataset, x->dataset) != 0)
		return;
	fh_auto_free char *label = *e->description ? fh_xasprintf("%s (%s)", e->description, e->id) : fh_xstrdup(e->id);
	json_array_append_new(results->list,
	                      json_pack("{s:o, s:I, s:o, s:I, s:s, s:b, s:f, s:o, s:o}", "evalId",
	                                fh_json_bytes(fh_str(e->id)), "createdAt", (json_int_t)e->created_ms, "description",
	                                description_json(e), "numTests", (json_int_t)e->rows, "datasetId", x->dataset,
	                                "isRedteam", 0, "passRate", done ? 100.0 * (double)e->passed / (double)done : 0.0,
	                                "label", fh_json_bytes(fh_str(label)), "providers",
	                                results->providers ? providers_json(x->documents->config) : json_array()));
}

static void get_results(struct fh_http_request *r, struct fh_str body)
{
	/* There are no red-team evals: a list of them alone is empty. */
	bool redteam = fh_streq(fh_http_query(r, "type"), "redteam");
	struct fh_store_eval_filter filter = { .kind = redteam ? "redteam" : "eval" };
	struct results results = { json_array(), fh_streq(fh_http_query(r, "includeProviders"), "true"),
		                       fh_http_query(r, "datasetId") };
	bool ok = each_eval(r, &filter, 0, add_result, &results);
	reply_data(r, ok, results.list);
}

struct history {
	json_t *list;
	FH_NULLABLE const char *description;
};

/* A UUID that stays the same for a column of an eval: promptfoo makes a new one for each answer. */
static json_t *uuid_json(const char *id, size_t column)
{
	char hex[FH_SHA256_HEX];
	fh_auto_free char *name = fh_xasprintf("%s %zu", id, column);
	fh_view_hash(fh_str(name), hex);
	fh_auto_free char *uuid = fh_xasprintf("%.8s-%.4s-8%.3s-8%.3s-%.12s", hex, hex + 8, hex + 12, hex + 16, hex + 20);
	return json_string(uuid);
}

static void add_history(void *context, const struct entry *x)
{
	struct history *history = context;
	if (history->description && strcmp(history->description, x->eval->description) != 0)
		return;
	for (size_t i = 0; i < json_array_size(x->documents->columns); i++) {
		char hex[FH_SHA256_HEX];
		fh_auto_json json_t *prompt = prompt_json(json_array_get(x->documents->columns, i), hex);
		json_t *o =
		    json_pack("{s:o, s:o, s:s, s:s, s:I, s:b, s:{}, s:{}}", "evalId", fh_json_bytes(fh_str(x->eval->id)),
		              "description", description_json(x->eval), "promptId", hex, "datasetId", x->dataset, "createdAt",
		              (json_int_t)x->eval->created_ms, "isRedteam", 0, "pluginPassCount", "pluginFailCount");
		json_object_update(o, prompt);
		json_object_set_new(o, "uuid", uuid_json(x->eval->id, i));
		json_array_append_new(history->list, o);
	}
}

static void get_history(struct fh_http_request *r, struct fh_str body)
{
	const char *name = fh_http_query(r, "tagName"), *value = fh_http_query(r, "tagValue");
	const char *description = fh_http_query(r, "description");
	fh_auto_free char *tag = name && *name && value && *value ? fh_xasprintf("%s=%s", name, value) : NULL;
	struct fh_store_eval_filter filter = { .kind = "eval", .tag = tag };
	struct history history = { json_array(), description && *description ? description : NULL };
	bool ok = each_eval(r, &filter, EVALS_READ, add_history, &history);
	reply_data(r, ok, history.list);
}

/* ------------------------------------------------------------------------------------------- prompts and data sets */

struct groups {
	json_t *by_id;                   /* object: id -> entry of the answer, in the order in which they were met */
	FH_NULLABLE const char *dataset; /* only evals with these tests */
};

static void count_up(json_t *group)
{
	json_object_set_new(group, "count", json_integer(fh_json_int(group, "count", 0) + 1));
}

static void reply_groups(struct fh_http_request *r, bool ok, struct groups *g)
{
	const char *id;
	json_t *group, *list = json_array();
	json_object_foreach(g->by_id, id, group) json_array_append(list, group);
	json_decref(g->by_id);
	reply_data(r, ok, list);
}

static void add_prompts(void *context, const struct entry *x)
{
	struct groups *g = context;
	bool has_tests = json_object_get(x->documents->config, "tests") != NULL;
	if (g->dataset && strcmp(g->dataset, x->dataset) != 0)
		return;
	for (size_t i = 0; i < json_array_size(x->documents->columns); i++) {
		char hex[FH_SHA256_HEX];
		fh_auto_json json_t *prompt = prompt_json(json_array_get(x->documents->columns, i), hex);
		json_t *group = json_object_get(g->by_id, hex), *metrics = json_object_get(prompt, "metrics");
		if (!group) {
			group =
			    json_pack("{s:i, s:s, s:O, s:o, s:o, s:[]}", "count", 0, "id", hex, "prompt", prompt, "recentEvalDate",
			              time_json(x->eval->created_ms), "recentEvalId", fh_json_bytes(fh_str(x->eval->id)), "evals");
			json_object_set_new(g->by_id, hex, group);
		}
		count_up(group);
		json_array_append_new(json_object_get(group, "evals"),
		                      json_pack("{s:o, s:s, s:O?}", "id", fh_json_bytes(fh_str(x->eval->id)), "datasetId",
		                                has_tests ? x->dataset : "-", "metrics", metrics));
	}
}

static void get_prompts(struct fh_http_request *r, struct fh_str body)
{
	struct fh_store_eval_filter filter = { .kind = "eval" };
	struct groups g = { .by_id = json_object() };
	bool ok = each_eval(r, &filter, EVALS_READ, add_prompts, &g);
	reply_groups(r, ok, &g);
}

/* Prompts of the evals that had one data set, whose id is in the path. */
static void get_prompts_of(struct fh_http_request *r, struct fh_str body)
{
	struct fh_store_eval_filter filter = { .kind = "eval" };
	struct groups g = { .by_id = json_object(), .dataset = fh_http_segment(r, 0) };
	bool ok = each_eval(r, &filter, EVALS_READ, add_prompts, &g);
	reply_groups(r, ok, &g);
}

static bool has_prompt(const json_t *prompts, const char *id)
{
	for (size_t i = 0; i < json_array_size(prompts); i++)
		if (fh_streq(fh_json_str(json_array_get(prompts, i), "id", ""), id))
			return true;
	return false;
}

static void add_dataset(void *context, const struct entry *x)
{
	struct groups *g = context;
	json_t *tests = json_object_get(x->documents->config, "tests"), *group = json_object_get(g->by_id, x->dataset);
	if (!json_is_array(tests) && !json_is_string(tests))
		return;
	if (!group) {
		group = json_pack("{s:s, s:i, s:O, s:o, s:o, s:[]}", "id", x->dataset, "count", 0, "testCases", tests,
		                  "recentEvalDate", time_json(x->eval->created_ms), "recentEvalId",
		                  fh_json_bytes(fh_str(x->eval->id)), "prompts");
		json_object_set_new(g->by_id, x->dataset, group);
	}
	count_up(group);
	json_t *prompts = json_object_get(group, "prompts");
	for (size_t i = 0; i < json_array_size(x->documents->columns); i++) {
		char hex[FH_SHA256_HEX];
		json_t *prompt = prompt_json(json_array_get(x->documents->columns, i), hex);
		if (has_prompt(prompts, hex))
			json_decref(prompt);
		else
			json_array_append_new(prompts, json_pack("{s:s, s:o, s:o}", "id", hex, "prompt", prompt, "evalId",
			                                         fh_json_bytes(fh_str(x->eval->id))));
	}
}

static void get_datasets(struct fh_http_request *r, struct fh_str body)
{
	struct fh_store_eval_filter filter = { .kind = "eval" };
	struct groups g = { .by_id = json_object() };
	bool ok = each_eval(r, &filter, EVALS_READ, add_dataset, &g);
	reply_groups(r, ok, &g);
}

const struct fh_http_route fh_view_promptfoo_list_routes[] = {
	{ "GET", "/api/results", get_results },   { "GET", "/api/history", get_history },
	{ "GET", "/api/prompts", get_prompts },   { "GET", "/api/prompts/{dataset}", get_prompts_of },
	{ "GET", "/api/datasets", get_datasets }, { 0 },
};
