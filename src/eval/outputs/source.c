/* SPDX-License-Identifier: MIT */
#include "eval/outputs/source.h"
#include "eval/common/env.h"

#include "eval/outputs/stored_row.h"
#include "store/rows.h"

void fh_output_source_release(struct fh_output_source *s)
{
	free(s->id);
	json_decref(s->config);
	json_decref(s->columns);
	json_decref(s->vars);
	json_decref(s->tokens);
	json_decref(s->options);
	*s = (struct fh_output_source){ 0 };
}

static void point(struct fh_output_source *s)
{
	s->data.id = s->id;
	s->data.config = s->config;
	s->data.columns = s->columns;
	s->data.vars = s->vars;
	s->data.tokens = s->tokens;
	s->data.options = s->options;
	s->data.context = s;
}

/* ------------------------------------------------------------------------------------------- an eval that has run */

static json_t *column_json(const struct fh_eval_column *c, const json_t *metrics)
{
	json_t *o = json_pack(
	    "{s:o, s:s, s:o, s:s}", "raw",
	    fh_json_bytes(fh_str(fh_env_on("PROMPTFOO_STRIP_PROMPT_TEXT") ? "[prompt stripped]" : c->prompt->raw)), "id",
	    c->prompt->id, "label", fh_json_bytes(fh_str(c->prompt->label)), "provider",
	    fh_eval_provider_name(c->provider));
	if (c->prompt->config)
		json_object_set(o, "config", c->prompt->config);
	if (metrics)
		json_object_set(o, "metrics", (json_t *)(uintptr_t)metrics);
	return o;
}

json_t *fh_output_columns(const struct fh_eval_plan *plan, const json_t *metrics)
{
	json_t *list = json_array();
	for (size_t i = 0; i < plan->column_count; i++)
		json_array_append_new(list, column_json(&plan->columns[i], json_array_get(metrics, i)));
	return list;
}

json_t *fh_output_config(const struct fh_eval_plan *plan, const char *description, const char *const *paths)
{
	fh_auto_json json_t *shared = fh_output_redact(plan->config.root);
	json_t *config = json_copy(shared);
	json_t *list = json_array();
	for (; paths && *paths; paths++)
		json_array_append_new(list, fh_json_bytes(fh_str(*paths)));
	if (description)
		json_object_set_new(config, "description", fh_json_bytes(fh_str(description)));
	json_object_set_new(config, "outputPath", list);
	if (!json_object_get(config, "extensions"))
		json_object_set_new(config, "extensions", json_array());
	return config;
}

json_t *fh_output_vars(const struct fh_eval_plan *plan, const struct fh_eval_results *results)
{
	json_t *vars = json_array();
	for (size_t i = 0; i < plan->var_count; i++)
		json_array_append_new(vars, fh_json_bytes(fh_str(plan->vars[i])));
	if (results && results->hook_vars)
		json_array_extend(vars, results->hook_vars);
	return vars;
}

static int each_result(void *context, fh_output_row_fn *row, void *row_context, struct fh_error *err)
{
	struct fh_output_source *s = context;
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(0);
	int r = 0;
	for (size_t i = 0; i < s->results->count && r == 0; i++) {
		const struct fh_eval_cell *at = &s->plan->cells[i];
		if (!s->results->marks[i].done)
			continue;
		if (!fh_eval_rows_get(s->results->rows, i, &text))
			return fh_error_set(err, FH_E_SYSTEM, "the row of test %u cannot be read back", at->row);
		r = row(row_context, at->row, at->column, fh_buf_str(&text), err);
	}
	return r;
}

void fh_output_source_of_results(const struct fh_eval_plan *plan, struct fh_eval_results *results, json_t *config,
                                 struct fh_output_source *ret)
{
	*ret = (struct fh_output_source){
		.id = fh_xstrdup(results->id),
		.config = json_incref(config),
		.columns = fh_output_columns(plan, results->metrics),
		.vars = fh_output_vars(plan, results),
		.tokens = fh_eval_tokens_json(&results->tokens, results->requests, &results->graded),
		.options = json_pack("{s:s, s:I, s:I, s:b}", "eventSource", "cli", "repeat", (json_int_t)plan->repeat,
		                     "maxConcurrency", (json_int_t)plan->concurrency, "cache", 0),
		.plan = plan,
		.results = results,
		.data = { .started_wall_ms = results->started_wall_ms,
		          .duration_ms = results->duration_ms,
		          .successes = results->successes,
		          .failures = results->failures,
		          .errors = results->errors,
		          .each = each_result },
	};
	point(ret);
}

/* ----------------------------------------------------------------------------------------------- one of the store */

struct walk {
	fh_output_row_fn *row;
	void *context;
	enum fh_store_kind kind;
};

static int give_cell(void *context, const struct fh_store_cell *cell, struct fh_error *err)
{
	const struct walk *w = context;
	fh_auto_json json_t *v = fh_json_parse((struct fh_str){ cell->data, cell->data_n }, NULL, NULL);
	if (w->kind != FH_STORE_EVAL) {
		v = fh_output_stored_row(w->kind, cell, v);
		fh_auto_free char *made = fh_json_text(v, 0);
		return w->row(w->context, cell->row, cell->column, fh_str(made), err);
	}
	/* The test was moved in the config since it ran: the row gets its current place. */
	if (fh_json_int(v, "testIdx", cell->row) == cell->row && fh_json_int(v, "promptIdx", cell->column) == cell->column)
		return w->row(w->context, cell->row, cell->column, (struct fh_str){ cell->data, cell->data_n }, err);
	json_object_set_new(v, "testIdx", json_integer(cell->row));
	json_object_set_new(v, "promptIdx", json_integer(cell->column));
	fh_auto_free char *text = fh_json_text(v, 0);
	return w->row(w->context, cell->row, cell->column, fh_str(text), err);
}

static int each_stored(void *context, fh_output_row_fn *row, void *row_context, struct fh_error *err)
{
	struct fh_output_source *s = context;
	struct walk w = { row, row_context, s->kind };
	return fh_store_each_cell(s->store, s->eval, true, give_cell, &w, err);
}

static json_t *kept(const json_t *v)
{
	return json_incref((json_t *)(uintptr_t)v);
}

/* Tokens summed over all columns. */
static json_t *all_tokens(const json_t *columns)
{
	json_t *sum = json_object();
	for (size_t i = 0; i < json_array_size(columns); i++) {
		const char *name;
		json_t *v;
		const json_t *metrics = json_object_get(json_array_get(columns, i), "metrics");
		json_object_foreach(json_object_get(metrics, "tokenUsage"), name, v)
		{
			if (json_is_integer(v))
				json_object_set_new(sum, name, json_integer(fh_json_int(sum, name, 0) + json_integer_value(v)));
			else if (!json_object_get(sum, name))
				json_object_set(sum, name, v);
		}
	}
	return sum;
}

int fh_output_source_of_store(struct fh_store *s, const struct fh_store_eval *e, struct fh_output_source *ret,
                              struct fh_error *err)
{
	struct fh_store_documents d;
	int r = fh_store_documents(s, e->number, &d, err);
	if (r < 0)
		return r;
	json_t *options = json_object_get(d.options, "runtime");
	*ret = (struct fh_output_source){
		.id = fh_xstrdup(e->id),
		.config = kept(d.config),
		.columns = kept(d.columns),
		.vars = e->kind == FH_STORE_JUDGE ? json_pack("[s]", "task_id") : kept(d.vars),
		.tokens = all_tokens(d.columns),
		.options = options ? kept(options) : json_object(),
		.store = s,
		.eval = e->number,
		.kind = e->kind,
		.data = { .started_wall_ms = e->created_ms,
		          .duration_ms = (uint64_t)e->duration_ms,
		          .successes = e->passed,
		          .failures = e->failed,
		          .errors = e->errors,
		          .each = each_stored },
	};
	if (*e->description && !json_object_get(ret->config, "description"))
		json_object_set_new(ret->config, "description", fh_json_bytes(fh_str(e->description)));
	fh_store_documents_release(&d);
	point(ret);
	return 0;
}
