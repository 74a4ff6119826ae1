/* SPDX-License-Identifier: MIT */
#include "judge/problems/truth.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <zlib.h>

#include "base/text/base64.h"
#include "base/host/data.h"
#include "base/fd.h"
#include "code/program_text.h"
#include "judge/common/seed.h"

#define TEXT_MAX (1 << 20)
#define LITERAL_MAX ((size_t)256 << 10) /* maximum bytes of JSON that a test contains as a literal */
#define THREADS_MAX 64
#define CPU_MS 60000
#define WALL_MS 240000
#define OUTPUT_BYTES ((uint64_t)64 << 20)

void fh_judge_truth_free(struct fh_judge_truth *t)
{
	if (!t)
		return;
	fh_buf_release(&t->inputs);
	free(t);
}

void fh_judge_truth_hash(const struct fh_judge_truth *t, struct fh_sha256 *h)
{
	char numbers[64];
	snprintf(numbers, sizeof(numbers), "%zu %.17g", t->count, t->atol);
	fh_sha256_add_field(h, fh_str(numbers));
	fh_sha256_add_field(h, fh_str(t->oracle));
	fh_sha256_add_field(h, fh_buf_str(&t->inputs));
}

struct work {
	const struct fh_judge_settings *settings;
	struct fh_client *client;
	struct fh_buf driver, test;
	struct fh_judge_problem **items;
	size_t count, capacity;
	atomic_size_t next;
	pthread_mutex_t lock; /* guards the fields below */
	size_t done;
	int failed;
	struct fh_error error;
};

static int read_text(const char *name, struct fh_buf *out, struct fh_error *err)
{
	fh_auto_free char *path = NULL;
	int r = fh_data_path(name, &path, err);
	return r < 0 ? r : fh_file_read(path, out, err);
}

/* ---------------------------------------------------------------------------------------------------- the reference */

/* Marks the problem as impossible to judge; the others continue. */
static int failed(struct fh_judge_problem *p, const char *why)
{
	fh_buf_truncate(&p->tail, 0);
	free(p->fault);
	p->fault = fh_xasprintf("its reference gives no expected values: %.300s", why);
	return 0;
}

/* Limits for the reference, which processes all inputs of a problem in one run and returns all results. */
static const struct {
	enum fh_limit limit;
	uint64_t value;
} enough[] = {
	{ FH_LIMIT_CPU_TIME, CPU_MS },
	{ FH_LIMIT_WALL_TIME, WALL_MS },
	{ FH_LIMIT_OUTPUT, OUTPUT_BYTES },
};

static int run_reference(struct work *w, const struct fh_judge_problem *p, struct fh_result **ret, struct fh_error *err)
{
	fh_auto_buf struct fh_buf input = FH_BUF_INIT(0);
	struct fh_request request;
	struct fh_run_options options = FH_RUN_OPTIONS_INIT;
	struct fh_plan *plan = NULL;
	size_t head = p->reference_is_whole ? 0 : p->head.n;
	fh_buf_addf(&input, "%015zu\n%015zu\n%015zu\n", head + p->reference.n, strlen(p->entry_point), p->truth->inputs.n);
	fh_buf_add(&input, p->head.p, head);
	fh_buf_add(&input, p->reference.p, p->reference.n);
	fh_buf_adds(&input, p->entry_point);
	fh_buf_add(&input, p->truth->inputs.p, p->truth->inputs.n);
	fh_request_init(&request);
	request.language = "python";
	request.hash_secret = fh_judge_hash_secret(0);
	request.code = (struct fh_bytes){ w->driver.p, w->driver.n };
	request.stdin_data = (struct fh_bytes){ input.p, input.n };
	request.limits = w->settings->limits;
	for (size_t i = 0; i < FH_ARRAY_SIZE(enough); i++)
		request.limits.value[enough[i].limit] = FH_MAX(request.limits.value[enough[i].limit], enough[i].value);
	request.interpreter = w->settings->interpreter;
	request.standard_library_only = !w->settings->packages;
	options.cancel = w->settings->cancel;
	int r = fh_plan_build(&request, &plan, err);
	if (r >= 0)
		r = fh_run(w->client, plan, &options, ret, err);
	fh_plan_free(plan);
	return r;
}

/* Adds the values compressed, to be unpacked by the test: millions of values as a literal are too much for Python's
 * compiler. */
static int add_packed(struct fh_buf *out, struct fh_str json)
{
	uLongf n = compressBound(json.n);
	fh_auto_free Bytef *packed = fh_xcalloc(n, 1);
	if (compress2(packed, &n, (const Bytef *)json.p, json.n, Z_BEST_SPEED) != Z_OK)
		return -FH_E_CONFIG;
	fh_buf_adds(out, "unpacked(\"");
	fh_base64_encode(out, (struct fh_str){ (const char *)packed, n });
	fh_buf_adds(out, "\")");
	return 0;
}

/* Reduces values to whether there is one, for the oracle that asks for nothing else. */
static json_t *which_are_there(const json_t *values)
{
	json_t *there = json_array(), *value;
	size_t i;
	json_array_foreach(values, i, value) json_array_append_new(there, json_boolean(!json_is_null(value)));
	return there;
}

static int write_test(struct work *w, struct fh_judge_problem *p, struct fh_str json, const json_t *values)
{
	const struct fh_judge_truth *t = p->truth;
	fh_auto_buf struct fh_buf results = FH_BUF_INIT(FH_JUDGE_PROBLEM_MAX);
	fh_auto_json json_t *there = fh_streq(t->oracle, FH_ORACLE_IS_THERE) ? which_are_there(values) : NULL;
	int r = fh_python_of_value(&results, there ? there : values, NULL);
	if (r >= 0 && !there && json.n > LITERAL_MAX) {
		fh_buf_truncate(&results, 0);
		results.overflowed = false;
		r = add_packed(&results, json);
	}
	if (json_array_size(values) != t->count || r < 0)
		return failed(p, "a value that cannot be written as program text");
	fh_buf_add(&p->tail, w->test.p, w->test.n);
	fh_buf_addf(&p->tail, "check_plus(%s,\n\t", p->entry_point);
	fh_buf_add(&p->tail, t->inputs.p, t->inputs.n);
	fh_buf_adds(&p->tail, ",\n\t");
	fh_buf_add(&p->tail, results.p, results.n);
	fh_buf_addf(&p->tail, ", %.17g, ", t->atol);
	fh_python_string(&p->tail, fh_str(t->oracle));
	fh_buf_adds(&p->tail, ")\n");
	if (results.overflowed || p->head.n + p->tail.n > FH_JUDGE_PROBLEM_MAX)
		return failed(p, "inputs and values are larger than a problem may be");
	return 0;
}

static int complete(struct work *w, struct fh_judge_problem *p, struct fh_error *err)
{
	struct fh_result *result = NULL;
	int r = run_reference(w, p, &result, err);
	if (r < 0)
		return r;
	struct fh_str out = { (const char *)result->stream_data[FH_STDOUT], result->stream_size[FH_STDOUT] };
	struct fh_str said = { (const char *)result->stream_data[FH_STDERR], result->stream_size[FH_STDERR] };
	fh_auto_json json_t *values = result->status == FH_STATUS_OK && out.n ? fh_json_parse(out, NULL, NULL) : NULL;
	if (values) {
		r = write_test(w, p, out, values);
	} else {
		while (said.n > 0 && said.p[said.n - 1] == '\n')
			said.n--;
		const char *line = said.n > 0 ? memrchr(said.p, '\n', said.n) : NULL;
		const char *end =
		    result->status == FH_STATUS_OK ? "it left before it gave them" : fh_status_name(result->status);
		fh_auto_free char *why = fh_xasprintf("%s%s%.*s%s", end, said.n ? ", " : "",
		                                      (int)FH_MIN(line ? said.p + said.n - line - 1 : (ptrdiff_t)said.n, 200),
		                                      line     ? line + 1
		                                      : said.n ? said.p
		                                               : "",
		                                      result->error.message);
		r = failed(p, why);
	}
	fh_result_free(result);
	return r;
}

/* ---------------------------------------------------------------------------------------------------------- threads */

static void *work(void *argument)
{
	struct work *w = argument;
	size_t i;
	while ((i = atomic_fetch_add(&w->next, 1)) < w->count) {
		struct fh_error err = FH_ERROR_INIT;
		int r = complete(w, w->items[i], &err);
		pthread_mutex_lock(&w->lock);
		w->done++;
		if (r >= 0 && w->settings->on_step)
			w->settings->on_step(w->settings->context, "expected values", w->done, w->count);
		if (r < 0 && w->failed == 0) {
			w->failed = r;
			w->error = err;
		}
		pthread_mutex_unlock(&w->lock);
		if (r < 0)
			atomic_store(&w->next, w->count);
	}
	return NULL;
}

static int run_threads(struct work *w, struct fh_error *err)
{
	cpu_set_t set;
	pthread_t threads[THREADS_MAX];
	size_t wanted = sched_getaffinity(0, sizeof(set), &set) == 0 ? (size_t)CPU_COUNT(&set) : 1, n = 0;
	wanted = FH_MIN(FH_MIN(wanted, (size_t)THREADS_MAX), w->count);
	while (n < wanted && pthread_create(&threads[n], NULL, work, w) == 0)
		n++;
	if (n == 0)
		work(w);
	while (n > 0)
		pthread_join(threads[--n], NULL);
	if (w->failed < 0 && err)
		*err = w->error;
	return w->failed;
}

static void find_wanted(struct work *w, struct fh_judge_problems *problems, const struct fh_judge_samples *samples)
{
	fh_auto_free bool *seen = fh_xcalloc(problems->count, sizeof(*seen));
	for (size_t i = 0; i < samples->count; i++) {
		size_t at = samples->items[i].problem;
		struct fh_judge_problem *p = &problems->items[at];
		if (!seen[at] && p->truth && p->tail.n == 0)
			FH_PUSH(w->items, w->count, w->capacity) = p;
		seen[at] = true;
	}
}

int fh_judge_truth_complete(const struct fh_judge_settings *settings, struct fh_judge_problems *problems,
                            const struct fh_judge_samples *samples, struct fh_error *err)
{
	struct work w = {
		.settings = settings,
		.driver = FH_BUF_INIT(TEXT_MAX),
		.test = FH_BUF_INIT(TEXT_MAX),
		.lock = PTHREAD_MUTEX_INITIALIZER,
	};
	find_wanted(&w, problems, samples);
	int r = w.count == 0 ? 0 : read_text("guest/python/truth.py", &w.driver, err);
	if (w.count > 0 && r >= 0)
		r = read_text("guest/python/test_plus.py", &w.test, err);
	if (w.count > 0 && r >= 0)
		r = fh_client_open(settings->client, &w.client, err);
	if (w.count > 0 && r >= 0 && settings->on_step)
		settings->on_step(settings->context, "expected values", 0, w.count);
	if (w.count > 0 && r >= 0)
		r = run_threads(&w, err);
	if (w.client)
		fh_client_close(w.client);
	free(w.items);
	fh_buf_release(&w.driver);
	fh_buf_release(&w.test);
	return r;
}
