/* SPDX-License-Identifier: MIT */
#include "eval/results/repeats.h"

#include <stdio.h>
#include "judge/rows/estimate.h"

/* The values of k that are reported; the largest number of samples of any task is added to them. */
static const uint64_t usual[] = { 1, 2, 5, 10, 20, 50, 100 };

typedef void estimator(const struct fh_task_count *tasks, size_t count, uint64_t k, struct fh_estimate *ret);

static void add_estimate(json_t *to, estimator *estimate, const struct fh_task_count *tasks, size_t count, uint64_t k)
{
	char key[24];
	struct fh_estimate e;
	estimate(tasks, count, k, &e);
	snprintf(key, sizeof(key), "%llu", (unsigned long long)k);
	json_object_set_new(to, key,
	                    json_pack("{s:f, s:I, s:o, s:o}", "value", e.value, "tasks", (json_int_t)e.tasks, "low",
	                              e.has_interval ? json_real(e.low) : json_null(), "high",
	                              e.has_interval ? json_real(e.high) : json_null()));
}

static json_t *estimates(estimator *estimate, const struct fh_task_count *tasks, size_t count, uint64_t most)
{
	json_t *made = json_object();
	for (size_t i = 0; i < FH_ARRAY_SIZE(usual) && usual[i] < most; i++)
		add_estimate(made, estimate, tasks, count, usual[i]);
	add_estimate(made, estimate, tasks, count, most);
	return made;
}

static json_t *of_column(const struct fh_task_count *tasks, size_t count)
{
	uint64_t most = 0;
	json_int_t flaky = 0, seen = 0;
	for (size_t i = 0; i < count; i++) {
		most = FH_MAX(most, tasks[i].samples);
		seen += tasks[i].samples > 0;
		flaky += tasks[i].passed > 0 && tasks[i].passed < tasks[i].samples;
	}
	if (most < 2)
		return json_null();
	return json_pack("{s:I, s:I, s:o, s:o}", "tasks", seen, "flaky", flaky, "passAtK",
	                 estimates(fh_estimate_pass_at_k, tasks, count, most), "passHatK",
	                 estimates(fh_estimate_pass_hat_k, tasks, count, most));
}

json_t *fh_eval_repeats(const struct fh_eval_plan *plan, const struct fh_eval_mark *marks)
{
	json_t *list = json_array();
	bool repeated = false;
	for (size_t i = 0; i < plan->row_count && !repeated; i++)
		repeated = plan->rows[i].repeat > 0;
	struct fh_task_count *tasks =
	    repeated ? fh_xcalloc(plan->column_count * plan->task_count + 1, sizeof(*tasks)) : NULL;
	for (size_t i = 0; tasks && i < plan->cell_count; i++) {
		const struct fh_eval_cell *cell = &plan->cells[i];
		struct fh_task_count *task = &tasks[cell->column * plan->task_count + plan->rows[cell->row].task];
		bool counts = marks[i].done && marks[i].failure != FH_FAILURE_ERROR;
		task->samples += counts;
		task->passed += counts && marks[i].success;
	}
	for (size_t i = 0; i < plan->column_count; i++)
		json_array_append_new(list, tasks ? of_column(tasks + i * plan->task_count, plan->task_count) : json_null());
	free(tasks);
	return list;
}

static void add_figure(struct fh_buf *out, const char *name, const char *k, const json_t *e, json_int_t all)
{
	long long tasks = fh_json_int(e, "tasks", 0);
	fh_buf_addf(out, "%s%s %.1f %%", name, k, 100 * fh_json_num(e, "value", 0));
	if (tasks < all) /* the other tasks have fewer samples */
		fh_buf_addf(out, " of %lld test%s", tasks, tasks == 1 ? "" : "s");
	if (json_is_number(json_object_get(e, "low")))
		fh_buf_addf(out, " (%.1f to %.1f)", 100 * fh_json_num(e, "low", 0), 100 * fh_json_num(e, "high", 0));
}

bool fh_eval_repeats_line(struct fh_buf *out, const json_t *metrics)
{
	const json_t *r = json_object_get(metrics, "repeats"), *at = json_object_get(r, "passAtK"), *e;
	const char *key, *last = NULL;
	json_object_foreach((json_t *)(uintptr_t)at, key, e) last = key; /* the largest k is the last member */
	if (!last)
		return false;
	json_int_t all = fh_json_int(r, "tasks", 0);
	add_figure(out, "pass@", "1", json_object_get(at, "1"), all);
	fh_buf_adds(out, ", ");
	add_figure(out, "pass@", last, json_object_get(at, last), all);
	fh_buf_adds(out, ", ");
	add_figure(out, "pass^", last, json_object_get(json_object_get(r, "passHatK"), last), all);
	fh_buf_addf(out, "; %lld test%s, %lld flaky", (long long)all, all == 1 ? "" : "s",
	            (long long)fh_json_int(r, "flaky", 0));
	return true;
}
