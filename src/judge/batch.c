/* SPDX-License-Identifier: MIT */
#include "judge/batch.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>

#define JOBS_MAX 512

struct batch {
	struct fh_judge_session *session;
	const struct fh_judge_problems *problems;
	const struct fh_judge_samples *samples;
	struct fh_results *results;
	const struct fh_batch_options *options;
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
	/* The error that led to the cancellation matters more than the cancellation. */
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
		int r = fh_judge_turn(b->session, problem, sample, i, &o, err);
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
	const struct fh_judge_sample *sample = &b->samples->items[index];
	const struct fh_judge_problem *problem = &b->problems->items[sample->problem];
	struct fh_judge_outcome o = { 0 };
	int r = judge_often(b, problem, sample, &o, err);
	if (r < 0)
		return r;
	r = fh_results_put(b->results, index, problem, &o, err);
	if (r >= 0 && b->options->on_row)
		r = b->options->on_row(b->options->context, index, &o, err);
	pthread_mutex_lock(&b->lock);
	b->done++;
	if (r >= 0 && b->options->on_done)
		b->options->on_done(b->options->context, b->done, o.verdict);
	pthread_mutex_unlock(&b->lock);
	fh_judge_outcome_release(&o);
	return r;
}

static void *work(void *argument)
{
	struct batch *b = argument;
	size_t place;
	while (!atomic_load(&b->stop) && (place = atomic_fetch_add(&b->next, 1)) < b->samples->count) {
		size_t index = b->order[place];
		if (fh_results_row(b->results, index).present)
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
static unsigned start(void *(*run)(void *), void *argument, pthread_t *threads, unsigned wanted)
{
	sigset_t all, before;
	unsigned n = 0;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	while (n < wanted && pthread_create(&threads[n], NULL, run, argument) == 0)
		n++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return n;
}

int fh_batch_threads(void *(*run)(void *argument), void *argument, unsigned jobs, size_t most, struct fh_error *err)
{
	pthread_t threads[JOBS_MAX];
	unsigned wanted = FH_MIN(FH_MIN(jobs ? jobs : processors(), JOBS_MAX), most);
	unsigned n = start(run, argument, threads, wanted);
	if (n == 0 && most > 0)
		return fh_error_set(err, FH_E_SYSTEM, "cannot start a thread");
	for (unsigned i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

int fh_batch_run(struct fh_judge_session *session, const struct fh_judge_problems *problems,
                 const struct fh_judge_samples *samples, struct fh_results *results,
                 const struct fh_batch_options *options, struct fh_error *err)
{
	fh_auto_free size_t *order = order_of(problems, samples);
	struct batch b = {
		.session = session,
		.problems = problems,
		.samples = samples,
		.results = results,
		.options = options,
		.order = order,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.done = fh_results_kept(results),
	};
	int r = fh_batch_threads(work, &b, options->jobs, samples->count - b.done, err);
	if (r < 0)
		return r;
	if (b.failed < 0) {
		if (err)
			*err = b.error;
		struct fh_error ignored = FH_ERROR_INIT;
		fh_results_sync(results, &ignored);
		return b.failed;
	}
	return 0;
}
