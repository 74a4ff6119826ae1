/* SPDX-License-Identifier: MIT */
#include "eval/run.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/random.h>
#include <time.h>
#include "base/clock.h"
#include "eval/graders.h"
#include "eval/memory.h"
#include "eval/outputs/output.h"
#include "eval/select.h"

#define THREAD_STACK ((size_t)1 << 20)

struct pool {
	const struct fh_eval_run *run;
	struct fh_eval_result *results;
	const size_t *order; /* which cell comes when */
	size_t end;          /* of the order, for the phase that is on */
	int64_t deadline;    /* in fh_now_ns; INT64_MAX: none */
	atomic_size_t next;
	pthread_mutex_t lock; /* guards the counts and on_progress */
	size_t done, passed, failed, errors;
};

static void count(struct pool *p, const struct fh_eval_result *r)
{
	pthread_mutex_lock(&p->lock);
	p->done++;
	p->passed += r->success;
	p->errors += r->failure == FH_FAILURE_ERROR;
	p->failed += !r->success && r->failure != FH_FAILURE_ERROR;
	if (p->run->on_progress)
		p->run->on_progress(p->run->context, p->done, p->passed, p->failed, p->errors);
	pthread_mutex_unlock(&p->lock);
}

/* A cell that the eval's time did not suffice for. */
static void run_out(const struct fh_eval_plan *plan, const struct fh_eval_cell *cell, struct fh_eval_result *ret)
{
	*ret = (struct fh_eval_result){ .done = true, .failure = FH_FAILURE_ERROR, .tokens = FH_TOKENS_INIT };
	ret->error = fh_xasprintf("Evaluation exceeded max duration of %llums", (unsigned long long)plan->time_ms);
	ret->prompt = fh_xstrdup(plan->columns[cell->column].prompt->raw);
	ret->metadata = json_object();
}

static void *worker(void *argument)
{
	struct pool *p = argument;
	const struct fh_eval_plan *plan = p->run->plan;
	while (!(p->run->cancel && *p->run->cancel)) {
		size_t at = atomic_fetch_add(&p->next, 1);
		if (at >= p->end)
			break;
		size_t i = p->order[at];
		if (fh_now_ns() >= p->deadline)
			run_out(plan, &plan->cells[i], &p->results[i]);
		else if (fh_eval_cell_run(p->run, &plan->cells[i], &p->results[i]) < 0)
			continue;
		count(p, &p->results[i]);
	}
	return NULL;
}

/* The calling thread works too; what cannot be started leaves more for the others. */
static void run_phase(struct pool *p, size_t begin, size_t end, unsigned threads)
{
	fh_auto_free pthread_t *ids = fh_xcalloc(threads, sizeof(*ids));
	unsigned started = 0;
	pthread_attr_t attributes;
	atomic_store(&p->next, begin);
	p->end = end;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, THREAD_STACK);
	while (started + 1 < threads && pthread_create(&ids[started], &attributes, worker, p) == 0)
		started++;
	pthread_attr_destroy(&attributes);
	worker(p);
	for (unsigned i = 0; i < started; i++)
		pthread_join(ids[i], NULL);
}

/* Cells that run alone first, one after the other; then all others. */
static void run_all(struct pool *p, unsigned threads)
{
	const struct fh_eval_plan *plan = p->run->plan;
	fh_auto_free size_t *order = fh_xcalloc(plan->cell_count + 1, sizeof(*order));
	size_t n = 0, serial = 0;
	for (int alone = 1; alone >= 0; alone--) {
		for (size_t i = 0; i < plan->cell_count; i++)
			if (plan->rows[plan->cells[i].row].serial == alone)
				order[n++] = i;
		serial = alone ? n : serial;
	}
	p->order = order;
	run_phase(p, 0, serial, 1);
	run_phase(p, serial, n, threads);
}

static void make_id(struct fh_eval_results *r)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
	unsigned char random[3] = { 0 };
	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		random[0] = (unsigned char)fh_now_ns();
	char time[32];
	fh_iso_time(r->started_wall_ms, time);
	time[19] = '\0'; /* whole seconds */
	snprintf(r->id, sizeof(r->id), "eval-%c%c%c-%s", letters[random[0] % 62], letters[random[1] % 62],
	         letters[random[2] % 62], time);
}

/* afterAll sees the rows as the results files have them. What it does wrong is told when they are written. */
static void call_after_all(const struct fh_eval_run *run, struct fh_eval_results *r)
{
	const struct fh_eval_plan *plan = run->plan;
	if (!fh_eval_extensions_want(&plan->extensions, FH_HOOK_AFTER_ALL))
		return;
	struct fh_output_data data = { .plan = plan, .results = r };
	json_t *rows = json_array(), *prompts = json_array();
	for (size_t i = 0; i < r->count; i++) {
		fh_auto_buf struct fh_buf row = FH_BUF_INIT(0);
		if (!r->items[i].done)
			continue;
		fh_output_row(&data, i, &row);
		json_array_append_new(rows, fh_json_parse(fh_buf_str(&row), NULL, NULL));
	}
	for (size_t i = 0; i < plan->column_count; i++)
		json_array_append_new(prompts, json_pack("{s:s, s:s, s:s, s:O}", "raw", plan->columns[i].prompt->raw, "label",
		                                         plan->columns[i].prompt->label, "provider",
		                                         fh_eval_provider_name(plan->columns[i].provider), "metrics",
		                                         json_array_get(r->metrics, i)));
	fh_auto_json json_t *context = json_pack("{s:o, s:o, s:o, s:s, s:O}", "suite", fh_eval_plan_suite(plan), "results",
	                                         rows, "prompts", prompts, "evalId", r->id, "config", plan->config.root);
	fh_auto_json json_t *ignored = NULL;
	fh_eval_extensions_call(&plan->extensions, fh_services_scripts(run->services), FH_HOOK_AFTER_ALL, context, &ignored,
	                        &r->hook_error);
}

int fh_eval_run(const struct fh_eval_run *run, struct fh_eval_results *ret, struct fh_error *err)
{
	const struct fh_eval_plan *plan = run->plan;
	struct fh_eval_results results = { .count = plan->cell_count, .started_wall_ms = fh_wall_ms() };
	int64_t start = fh_now_ns();
	make_id(&results);
	results.items = fh_xcalloc(results.count + 1, sizeof(*results.items));
	struct fh_eval_run own = *run;
	own.memory = fh_eval_memory_new();
	own.graders = fh_graders_new(plan);
	own.id = results.id;
	struct pool pool = { .run = &own,
		                 .results = results.items,
		                 .deadline = plan->time_ms ? start + (int64_t)plan->time_ms * FH_NS_PER_MS : INT64_MAX };
	pthread_mutex_init(&pool.lock, NULL);
	run_all(&pool, (unsigned)FH_MAX(FH_MIN(plan->concurrency, plan->cell_count), 1));
	pthread_mutex_destroy(&pool.lock);
	results.interrupted = pool.done < results.count;
	fh_eval_select(&own, &results);
	fh_eval_memory_free(own.memory);
	fh_graders_free(own.graders);
	int r = fh_eval_results_sum(plan, &results, err);
	results.duration_ms = (uint64_t)((fh_now_ns() - start) / FH_NS_PER_MS);
	if (r < 0) {
		fh_eval_results_release(&results);
		return r;
	}
	call_after_all(run, &results);
	*ret = results;
	return 0;
}
