/* SPDX-License-Identifier: MIT */
/* The results of a judgement by task: how many samples passed; and pass@k over all tasks, with intervals. */
#include "judge/rows/estimate.h"
#include "store/judged.h"
#include "view/reply.h"
#include "view/routes.h"
#include "view/state.h"

enum { TASKS_MAX = 100000 };

struct task {
	uint64_t samples, passed;
	struct fh_task_count count; /* counts of the task's samples that count for pass@k */
	json_t *rows;               /* the task's samples: [row, passed, status] for each */
};

struct tasks {
	const json_t *config; /* configuration of the judgement */
	json_t *places;       /* task_id -> index in items */
	json_t *names;
	struct task *items;
	size_t count, capacity;
};

static int add(void *context, const struct fh_store_cell *cell, struct fh_error *err)
{
	struct tasks *t = context;
	fh_auto_json json_t *data = fh_json_parse((struct fh_str){ cell->data, cell->data_n }, NULL, NULL);
	fh_auto_free char *name = fh_judged_task(data);
	const json_t *place = json_object_get(t->places, name);
	if (!place && t->count == TASKS_MAX)
		return fh_error_set(err, FH_E_LIMIT, "there are more than %d tasks", TASKS_MAX);
	if (!place) {
		FH_PUSH(t->items, t->count, t->capacity).rows = json_array();
		json_object_set_new(t->places, name, json_integer((json_int_t)t->count - 1));
		json_array_append_new(t->names, json_string(name));
		place = json_object_get(t->places, name);
	}
	struct task *task = &t->items[json_integer_value(place)];
	task->samples++;
	task->passed += cell->success;
	if (fh_judged_counts(t->config, data)) {
		task->count.samples++;
		task->count.passed += cell->success;
	}
	json_array_append_new(task->rows,
	                      json_pack("[i, b, s]", (int)cell->row, cell->success, cell->status ? cell->status : ""));
	return 0;
}

/* pass@k for k = 1, 2, 5, 10, … while there are tasks with as many samples. */
static json_t *curve(const struct tasks *t)
{
	static const uint64_t ks[] = { 1, 2, 3, 5, 10, 20, 50, 100, 200 };
	fh_auto_free struct fh_task_count *counts = fh_xcalloc(t->count + 1, sizeof(*counts));
	json_t *list = json_array();
	for (size_t i = 0; i < t->count; i++)
		counts[i] = t->items[i].count;
	for (size_t i = 0; i < FH_ARRAY_SIZE(ks) && fh_judged_has_figures(t->config); i++) {
		struct fh_estimate e = { 0 };
		fh_estimate_pass_at_k(counts, t->count, ks[i], &e);
		if (e.tasks == 0)
			break;
		json_t *o =
		    json_pack("{s:I, s:I, s:f}", "k", (json_int_t)ks[i], "tasks", (json_int_t)e.tasks, "value", e.value);
		if (e.has_interval) {
			json_object_set_new(o, "low", json_real(e.low));
			json_object_set_new(o, "high", json_real(e.high));
		}
		json_array_append_new(list, o);
	}
	return list;
}

static void release(struct tasks *t)
{
	for (size_t i = 0; i < t->count; i++)
		json_decref(t->items[i].rows);
	free(t->items);
	json_decref(t->places);
	json_decref(t->names);
}

static void get_tasks(struct fh_http_request *r, struct fh_str body)
{
	fh_auto_visit struct fh_view_visit v = { 0 };
	struct fh_error err = FH_ERROR_INIT;
	struct fh_store_documents d = { 0 };
	if (!fh_view_visit(r, &v))
		return;
	struct tasks t = { .places = json_object(), .names = json_array() };
	int e = fh_store_documents(v.store, v.eval.number, &d, &err);
	t.config = d.config;
	if (e < 0 || fh_store_each_cell(v.store, v.eval.number, true, add, &t, &err) < 0) {
		fh_view_fail_from(r, &err);
	} else {
		json_t *tasks = json_array();
		for (size_t i = 0; i < t.count; i++)
			json_array_append_new(tasks, json_pack("{s:O, s:I, s:I, s:O}", "task", json_array_get(t.names, i),
			                                       "samples", (json_int_t)t.items[i].samples, "passed",
			                                       (json_int_t)t.items[i].passed, "rows", t.items[i].rows));
		fh_http_reply_json(r, 200, json_pack("{s:o, s:o}", "tasks", tasks, "passAtK", curve(&t)));
	}
	fh_store_documents_release(&d);
	release(&t);
}

const struct fh_http_route fh_view_task_routes[] = {
	{ "GET", "/api/view/evals/{id}/tasks", get_tasks },
	{ 0 },
};
