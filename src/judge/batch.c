/* SPDX-License-Identifier: MIT */
#include "judge/batch.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>

#define JOBS_MAX 512

struct batch {
	const struct fh_judgement *judgement;
	const struct fh_sinks *sinks;
	struct fh_judge_rows *rows;
	const struct fh_batch_options *options;
	bool *before;        /* for each sample: whether a sink already had its row */
	const size_t *order; /* indexes of the samples in the order of judging */
	atomic_size_t next;
	atomic_bool stop;

	pthread_mutex_t lock; /* guards the fields below, and on_done */
	size_t done;
	int failed; /* code of the first error */
	struct fh_error error;
};

static void note_failure(struct batch *b, int code, const struct fh_error *err)
{
	atomic_store(&b->stop, true);
	pthread_mutex_lock(&b->lock);
	/* If the judging was cancelled because of an error, that error is reported, and not the cancellation. */
	if (b->failed == 0 || b->failed == -FH_E_CANCELLED) {
		b->failed = code;
		b->error = *err;
	}
	pthread_mutex_unlock(&b->lock);
}

/* Judges a sample `repeat` times. The outcome is the first that is not a pass, or else the first. */
static int judge_often(struct batch *b, const struct fh_judge_problem *problem, const struct fh_judge_sample *sample,
                       struct fh_judge_outcome *ret, struct fh_error *err)
{
	unsigned passed = 0;
	bool differ = false;
	struct fh_judge_outcome kept = { 0 };
	for (unsigned i = 0; i < FH_MAX(b->options->repeat, 1U); i++) {
		struct fh_judge_outcome o = { 0 };
		int r = fh_judge_turn(b->judgement->session, problem, sample, i, &o, err);
		if (r < 0) {
			fh_judge_outcome_release(&kept);
			return r;
		}
		passed += o.verdict == FH_VERDICT_PASSED;
		differ = differ || (i > 0 && o.verdict != kept.verdict);
		if (i == 0 || (kept.verdict == FH_VERDICT_PASSED && o.verdict != FH_VERDICT_PASSED)) {
			fh_judge_outcome_release(&kept);
			kept = o;
		} else {
			fh_judge_outcome_release(&o);
		}
	}
	if (b->options->repeat > 1) {
		kept.repeats = b->options->repeat;
		kept.repeats_passed = passed;
		kept.flaky = differ;
	}
	*ret = kept;
	return 0;
}

static int judge_sample(struct batch *b, size_t index, struct fh_error *err)
{
	const struct fh_judge_sample *sample = &b->judgement->samples->items[index];
	const struct fh_judge_problem *problem = &b->judgement->problems->items[sample->problem];
	struct fh_judge_outcome o = { 0 };
	struct fh_judge_row row;
	int r = judge_often(b, problem, sample, &o, err);
	if (r < 0)
		return r;
	fh_judge_row_make(b->rows, index, &o, &row);
	r = fh_sinks_row(b->sinks, &row.row, err);
	fh_judge_row_release(&row);
	pthread_mutex_lock(&b->lock);
	b->done++;
	if (r >= 0 && b->options->on_done)
		b->options->on_done(b->options->context, b->done, o.verdict);
	pthread_mutex_unlock(&b->lock);
	fh_judge_outcome_release(&o);
	return r;
}

/* Brings the rows that an earlier run finished to all sinks. */
static int take_over(struct batch *b, struct fh_error *err)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(0);
	int r = 0;
	for (size_t i = 0; i < b->judgement->samples->count && r >= 0; i++) {
		struct fh_judge_row row;
		if (!fh_sinks_recall(b->sinks, i, &text))
			continue;
		fh_judge_row_recall(b->rows, i, fh_buf_str(&text), &row);
		r = fh_sinks_row(b->sinks, &row.row, err);
		fh_judge_row_release(&row);
		b->before[i] = true;
		b->done++;
	}
	return r;
}

static void *work(void *argument)
{
	struct batch *b = argument;
	size_t place;
	while (!atomic_load(&b->stop) && (place = atomic_fetch_add(&b->next, 1)) < b->judgement->samples->count) {
		size_t index = b->order[place];
		if (b->before[index])
			continue;
		struct fh_error err = FH_ERROR_INIT;
		int r = judge_sample(b, index, &err);
		if (r < 0)
			note_failure(b, r, &err);
	}
	return NULL;
}

/* The first sample of each task, then the second of each, and so on. What belongs to a task is compiled only once, and
 * threads that need the same would have to wait for it. */
static FH_OWN size_t *order_of(const struct fh_judge_problems *problems, const struct fh_judge_samples *samples)
{
	fh_auto_free size_t *seen = fh_xcalloc(problems->count + 1, sizeof(size_t));
	fh_auto_free size_t *rank = fh_xcalloc(samples->count + 1, sizeof(size_t));
	/* where the samples of each rank begin */
	fh_auto_free size_t *place = fh_xcalloc(samples->count + 2, sizeof(size_t));
	size_t *order = fh_xcalloc(samples->count + 1, sizeof(size_t));
	for (size_t i = 0; i < samples->count; i++) {
		rank[i] = seen[samples->items[i].problem]++;
		place[rank[i] + 1]++;
	}
	for (size_t i = 1; i <= samples->count; i++)
		place[i] += place[i - 1];
	for (size_t i = 0; i < samples->count; i++)
		order[place[rank[i]]++] = i;
	return order;
}

static unsigned processors(void)
{
	cpu_set_t set;
	int n = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
	return n > 0 ? n : 1;
}

/* Starts workers with all signals blocked, because the waiting thread handles signals. */
static unsigned start(void *(*work_on)(void *), void *argument, pthread_t *threads, unsigned wanted)
{
	sigset_t all, before;
	unsigned n = 0;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	while (n < wanted && pthread_create(&threads[n], NULL, work_on, argument) == 0)
		n++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return n;
}

int fh_batch_threads(void *(*work_on)(void *argument), void *argument, unsigned jobs, size_t most, struct fh_error *err)
{
	pthread_t threads[JOBS_MAX];
	unsigned wanted = (unsigned)FH_MIN(FH_MIN(jobs ? jobs : processors(), JOBS_MAX), most);
	unsigned n = start(work_on, argument, threads, wanted);
	if (n == 0 && most > 0)
		return fh_error_set(err, FH_E_SYSTEM, "cannot start a thread");
	for (unsigned i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

static int run(struct batch *b, struct fh_error *err)
{
	int r = take_over(b, err);
	if (r >= 0)
		r = fh_batch_threads(work, b, b->options->jobs, b->judgement->samples->count - b->done, err);
	if (r >= 0 && b->failed < 0) {
		r = b->failed;
		if (err)
			*err = b->error;
	}
	return r;
}

int fh_batch_run(const struct fh_judgement *judgement, const struct fh_sinks *sinks,
                 const struct fh_batch_options *options, struct fh_error *err)
{
	fh_auto_free size_t *order = order_of(judgement->problems, judgement->samples);
	fh_auto_free bool *before = fh_xcalloc(judgement->samples->count + 1, sizeof(*before));
	struct batch b = { .judgement = judgement,
		               .sinks = sinks,
		               .rows = fh_judge_rows_new(judgement),
		               .options = options,
		               .before = before,
		               .order = order,
		               .lock = PTHREAD_MUTEX_INITIALIZER };
	int r = run(&b, err);
	fh_judge_rows_free(b.rows);
	return r;
}
