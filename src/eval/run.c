/* SPDX-License-Identifier: MIT */
#include "eval/run.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include "base/clock.h"
#include "base/process/launcher.h"
#include "eval/compare_columns.h"
#include "eval/checking/graders.h"
#include "eval/memory.h"
#include "eval/outputs/row.h"

#define THREAD_STACK ((size_t)1 << 20)
#define PAUSE_LOOK_NS (FH_NS_PER_S / 10)

struct pool {
	const struct fh_eval_run *run;
	const size_t *order; /* indices of cells, in the order in which they run */
	size_t end;          /* index in `order` at which the current phase ends */
	int64_t deadline;    /* end of the eval's time limit, in fh_now_ns; INT64_MAX: no limit */
	atomic_size_t next;
	atomic_bool broken;   /* storing a row failed; no more rows are stored */
	atomic_bool lost;     /* no program can be started any more */
	pthread_mutex_t lock; /* guards the members below, and calls of on_progress */
	struct fh_eval_results *results;
	struct fh_output_secrets *secrets;
	/* Finished cells of rows whose columns are compared; they wait for the last cell of their row. NULL: no row is
	 * compared. */
	struct fh_eval_result **waiting;
};

/* ------------------------------------------------------------------------------------------------- a cell is done */

/* What the sandbox reported about the program, from the first assertion that ran one. */
static const char *reported(const struct fh_eval_result *r, const char *what)
{
	const json_t *parts = json_object_get(r->grading, "componentResults");
	for (size_t i = 0; i < json_array_size(parts); i++) {
		const char *text = fh_json_str(json_object_get(json_array_get(parts, i), "metadata"), what, NULL);
		if (text)
			return text;
	}
	return NULL;
}

/* Brings a row to the sinks. */
static void deliver(struct pool *p, size_t cell, const struct fh_eval_result *result, struct fh_str text, bool again)
{
	const struct fh_eval_cell *at = &p->run->plan->cells[cell];
	struct fh_error err = FH_ERROR_INIT;
	if (!p->run->sinks || atomic_load(&p->broken))
		return;
	fh_auto_free char *named = json_object_size(result->named_scores) ? fh_json_text(result->named_scores, 0) : NULL;
	const struct fh_row row = { .index = cell,
		                        .row = at->row,
		                        .column = at->column,
		                        .again = again,
		                        .success = result->success,
		                        .failure = result->failure,
		                        .score = result->score,
		                        .latency_ms = result->latency_ms,
		                        .cost = result->cost,
		                        .tokens = FH_MAX(result->tokens.total, 0),
		                        .status = reported(result, "verdict"),
		                        .language = reported(result, "language"),
		                        .integrity = reported(result, "integrity"),
		                        .named = named,
		                        .text = text };
	if (fh_sinks_row(p->run->sinks, &row, &err) == 0)
		return;
	pthread_mutex_lock(&p->lock);
	if (!atomic_exchange(&p->broken, true))
		p->results->sink_error = err;
	pthread_mutex_unlock(&p->lock);
}

/* Writes the finished cell as a row, counts it, and releases its result. */
static void finish(struct pool *p, size_t cell, struct fh_eval_result *result, bool kept)
{
	const struct fh_eval_run *run = p->run;
	fh_auto_buf struct fh_buf row = FH_BUF_INIT(0);
	fh_output_row(run->plan, cell, result, p->secrets, p->results->no_tokens, &row);
	pthread_mutex_lock(&p->lock);
	fh_eval_results_add(run->plan, p->results, cell, result, fh_buf_str(&row));
	pthread_mutex_unlock(&p->lock);
	if (kept)
		deliver(p, cell, result, fh_buf_str(&row), false);
	pthread_mutex_lock(&p->lock);
	if (run->on_progress)
		run->on_progress(run->context, p->results);
	pthread_mutex_unlock(&p->lock);
	fh_eval_result_release(result);
}

/* The range of the cells in the same row as `cell`: from *ret_start to the returned end, which is not included. */
static size_t row_cells(const struct fh_eval_plan *plan, size_t cell, size_t *ret_start)
{
	size_t start = cell, end = cell;
	while (start > 0 && plan->cells[start - 1].row == plan->cells[cell].row)
		start--;
	while (end < plan->cell_count && plan->cells[end].row == plan->cells[cell].row)
		end++;
	*ret_start = start;
	return end;
}

/* Keeps a finished cell of a row whose columns are compared; the last cell of the row starts the comparison. */
static void finish_compared(struct pool *p, size_t cell, struct fh_eval_result *result)
{
	const struct fh_eval_plan *plan = p->run->plan;
	size_t start, end = row_cells(plan, cell, &start), n = end - start;
	bool whole = true;
	pthread_mutex_lock(&p->lock);
	p->waiting[cell] = fh_xmemdup(result, sizeof(*result));
	for (size_t i = start; i < end; i++)
		whole = whole && p->waiting[i];
	pthread_mutex_unlock(&p->lock);
	if (!whole)
		return;
	fh_auto_free struct fh_eval_result *cells = fh_xcalloc(n, sizeof(*cells));
	for (size_t i = 0; i < n; i++) {
		cells[i] = *p->waiting[start + i];
		free(p->waiting[start + i]);
		p->waiting[start + i] = NULL;
	}
	fh_eval_compare_columns(p->run, plan->rows[plan->cells[cell].row].test, cells, n);
	for (size_t i = 0; i < n; i++)
		finish(p, start + i, &cells[i], true);
}

/* Finishes cells that wait for a comparison when the eval ended before the rest of their row. Their rows are shown but
 * not stored, so that a continued eval runs them again. */
static void finish_waiting(struct pool *p)
{
	for (size_t i = 0; p->waiting && i < p->run->plan->cell_count; i++)
		if (p->waiting[i]) {
			finish(p, i, p->waiting[i], false);
			free(p->waiting[i]);
		}
}

/* ---------------------------------------------------------------------------------------------------- the workers */

static bool is_set(const volatile int *flag)
{
	return flag && *flag;
}

static bool ends(const struct pool *p)
{
	return is_set(p->run->cancel) || is_set(p->run->stop) || atomic_load(&p->broken) || atomic_load(&p->lost);
}

/* Whether a cell did not pass because the launcher was killed, and all that it started with it. That is no result: the
 * eval ends, and runs the cell again when it is continued. */
static bool is_lost(struct pool *p, struct fh_eval_result *result)
{
	if (result->success || !fh_launcher_lost())
		return false;
	if (!atomic_exchange(&p->lost, true)) {
		fh_error_set(&p->results->sink_error, FH_E_SYSTEM,
		             "the process that starts programs for this eval was killed: it ended before all tests were run");
		fh_error_hint(&p->results->sink_error, "what was done is kept: eval --resume goes on");
	}
	fh_eval_result_release(result);
	return true;
}

/* Makes an error of a cell that was not begun within the eval's time limit. */
static void run_out(const struct fh_eval_plan *plan, const struct fh_eval_cell *cell, struct fh_eval_result *ret)
{
	*ret = (struct fh_eval_result){ .failure = FH_FAILURE_ERROR, .tokens = FH_TOKENS_INIT };
	ret->error = fh_xasprintf("Evaluation exceeded max duration of %llums", (unsigned long long)plan->time_ms);
	ret->prompt = fh_xstrdup(plan->columns[cell->column].prompt->raw);
	ret->metadata = json_object();
}

static void *worker(void *argument)
{
	struct pool *p = argument;
	const struct fh_eval_plan *plan = p->run->plan;
	for (;;) {
		while (is_set(p->run->pause) && !ends(p))
			fh_sleep_ns(PAUSE_LOOK_NS);
		size_t at = ends(p) ? p->end : atomic_fetch_add(&p->next, 1);
		if (at >= p->end)
			return NULL;
		size_t i = p->order[at];
		struct fh_eval_result result;
		if (fh_now_ns() >= p->deadline)
			run_out(plan, &plan->cells[i], &result);
		else if (fh_eval_cell_run(p->run, &plan->cells[i], &result) < 0)
			continue;
		else if (is_lost(p, &result))
			continue;
		if (p->waiting && fh_eval_compares_columns(plan->rows[plan->cells[i].row].test))
			finish_compared(p, i, &result);
		else
			finish(p, i, &result, true);
	}
}

/* Runs a range of cells with several threads, of which the caller is one. If threads cannot be started, the others do
 * their work. */
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

/* Runs the cells that have to run alone one after another, then all others. */
static void run_all(struct pool *p, unsigned threads)
{
	const struct fh_eval_plan *plan = p->run->plan;
	fh_auto_free size_t *order = fh_xcalloc(plan->cell_count + 1, sizeof(*order));
	size_t n = 0, serial = 0;
	for (int alone = 1; alone >= 0; alone--) {
		for (size_t i = 0; i < plan->cell_count; i++)
			if (plan->rows[plan->cells[i].row].serial == alone && !p->results->marks[i].done)
				order[n++] = i;
		serial = alone ? n : serial;
	}
	p->order = order;
	run_phase(p, 0, serial, 1);
	run_phase(p, serial, n, threads);
}

/* Counts the cells that an earlier run of the eval finished, and brings their rows to the sinks. */
static void take_over(struct pool *p)
{
	const struct fh_eval_run *run = p->run;
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(0);
	for (size_t i = 0; run->sinks && i < run->plan->cell_count; i++) {
		struct fh_eval_result result;
		if (!fh_sinks_recall(run->sinks, i, &text))
			continue;
		fh_auto_json json_t *row = fh_json_parse(fh_buf_str(&text), NULL, NULL);
		if (!row)
			continue;
		fh_eval_result_of_row(row, &result);
		fh_eval_cell_recall(run, &run->plan->cells[i], &result);
		fh_eval_results_add(run->plan, p->results, i, &result, fh_buf_str(&text));
		deliver(p, i, &result, fh_buf_str(&text), true);
		fh_eval_result_release(&result);
	}
}

/* ------------------------------------------------------------------------------------------------------- the eval */

/* Calls the afterAll hooks with the rows in the form of the results files. An error is kept in the results and reported
 * when they are written. */
static void call_after_all(const struct fh_eval_run *run, struct fh_eval_results *r)
{
	const struct fh_eval_plan *plan = run->plan;
	if (!fh_eval_extensions_want(&plan->extensions, FH_HOOK_AFTER_ALL))
		return;
	json_t *rows = json_array(), *prompts = json_array();
	fh_auto_buf struct fh_buf row = FH_BUF_INIT(0);
	for (size_t i = 0; i < r->count; i++)
		if (fh_eval_rows_get(r->rows, i, &row))
			json_array_append_new(rows, fh_json_parse(fh_buf_str(&row), NULL, NULL));
	for (size_t i = 0; i < plan->column_count; i++)
		json_array_append_new(prompts, json_pack("{s:s, s:s, s:s, s:O}", "raw", plan->columns[i].prompt->raw, "label",
		                                         plan->columns[i].prompt->label, "provider",
		                                         fh_eval_provider_name(plan->columns[i].provider), "metrics",
		                                         json_array_get(r->metrics, i)));
	fh_auto_json json_t *context = json_pack("{s:O, s:o, s:o, s:s, s:O}", "suite", plan->suite, "results", rows,
	                                         "prompts", prompts, "evalId", r->id, "config", plan->config.root);
	fh_auto_json json_t *ignored = NULL;
	fh_eval_extensions_call(&plan->extensions, fh_services_scripts(run->services), FH_HOOK_AFTER_ALL, context, &ignored,
	                        &r->hook_error);
}

static bool compares(const struct fh_eval_plan *plan)
{
	for (size_t i = 0; i < plan->row_count; i++)
		if (fh_eval_compares_columns(plan->rows[i].test))
			return true;
	return false;
}

int fh_eval_run(const struct fh_eval_run *run, struct fh_eval_results *ret, struct fh_error *err)
{
	const struct fh_eval_plan *plan = run->plan;
	struct fh_eval_results results = { .started_wall_ms = run->started_wall_ms };
	int64_t start = fh_now_ns();
	snprintf(results.id, sizeof(results.id), "%s", run->id);
	fh_eval_results_begin(plan, &results);
	struct fh_eval_run own = *run;
	own.memory = fh_eval_memory_new();
	own.graders = fh_graders_new(plan);
	struct pool pool = { .run = &own,
		                 .results = &results,
		                 .secrets = fh_output_secrets_find(),
		                 .deadline = plan->time_ms ? start + (int64_t)plan->time_ms * FH_NS_PER_MS : INT64_MAX };
	if (compares(plan))
		pool.waiting = fh_xcalloc(plan->cell_count + 1, sizeof(*pool.waiting));
	pthread_mutex_init(&pool.lock, NULL);
	take_over(&pool);
	run_all(&pool, (unsigned)FH_MAX(FH_MIN(plan->concurrency, plan->cell_count), 1));
	finish_waiting(&pool);
	pthread_mutex_destroy(&pool.lock);
	free(pool.waiting);
	fh_output_secrets_free(pool.secrets);
	results.interrupted = results.done < results.count;
	fh_eval_memory_free(own.memory);
	fh_graders_free(own.graders);
	int r = fh_eval_results_finish(plan, &results, err);
	results.duration_ms = (uint64_t)((fh_now_ns() - start) / FH_NS_PER_MS);
	if (r < 0) {
		fh_eval_results_release(&results);
		return r;
	}
	call_after_all(run, &results);
	*ret = results;
	return 0;
}
