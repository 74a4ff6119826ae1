/* SPDX-License-Identifier: MIT */
/*
 * Mixed runs, a tenth of them hostile, several at a time, through one engine:
 *
 *     soak [--runs N] [--workers N] [--path fresh|zygote|parked|auto|session] [--seed N] [--kind NAME] [--faults]
 *          [--progress]
 *
 * Prints one JSON object: how runs ended, what was on the host early and at the end, and how long runs of one kind (an
 * echo) took among the first and the last thousand. With --kind all runs are of that kind, and the first and the last
 * ten thousand are compared. Exit status 1 when a run did not end as its kind does, or when something is left that
 * was not there before.
 *
 * With --control it leaves a descriptor open on purpose, and must find it.
 *
 * With --faults somebody breaks things meanwhile: then an engine that is lost is replaced, runs may end as engine
 * errors or not be answered, and what is wrong is only a run that is missing from the count, or a failing program that
 * passed.
 */
#include "soak.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "json/json.h"

enum {
	WARM_RUNS = 200,
	FIRST_MIXED = 1000,
	FIRST_OF_ONE_KIND = 10000,
	KIB_SLACK = 8 << 10,
	SETTLE_MS = 300,
	REOPEN_TRIES = 100
};

static struct {
	uint64_t runs, workers, seed;
	const char *path;
	enum fh_start start;
	const struct kind *kind; /* the only one; NULL: all, mixed */
	bool session, faults, progress, control;
} o = { .runs = 400, .workers = 8, .seed = 1, .path = "fresh", .start = FH_START_FRESH };

/* A client that several workers use; a new one takes its place when it breaks, and the last user closes it. */
struct holder {
	struct fh_client *client;
	unsigned users;
	bool broken;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct holder *current;
static struct fh_plan **plans;
static uint64_t next_run, ended_by[FH_STATUS_COUNT_], lost, unexpected, betrayed, done, reopened;
static uint32_t *timed_us;       /* by run, of the kind that is timed; 0: another, or it did not end well */
static json_t *stories, *losses; /* runs that did not end as they should; what connections broke of */

/* ---------------------------------------------------------------------------------------------------------- clients */

static struct holder *open_holder(void)
{
	struct fh_error err = FH_ERROR_INIT;
	struct holder *h = FH_NEW(struct holder);
	for (int i = 0; i < (o.faults ? REOPEN_TRIES : 1); i++) {
		if (fh_client_open(NULL, &h->client, &err) == 0)
			return h;
		fh_sleep_ns(50 * FH_NS_PER_MS);
	}
	fprintf(stderr, "soak: no engine: %s\n", err.message);
	exit(2);
}

static struct holder *take(void)
{
	pthread_mutex_lock(&lock);
	if (!current || current->broken) {
		reopened += current != NULL;
		current = open_holder();
	}
	struct holder *h = current;
	h->users++;
	pthread_mutex_unlock(&lock);
	return h;
}

static void give_back(struct holder *h, bool broken)
{
	pthread_mutex_lock(&lock);
	h->broken = h->broken || broken;
	bool last = --h->users == 0 && h->broken;
	if (last && current == h)
		current = NULL;
	pthread_mutex_unlock(&lock);
	if (last) {
		fh_client_close(h->client);
		free(h);
	}
}

/* ------------------------------------------------------------------------------------------------------------- runs */

static bool says_so(const struct kind *k, const void *p, size_t n)
{
	if (k->says)
		return n == strlen(k->says) && memcmp(p, k->says, n) == 0;
	return !k->bytes || n == k->bytes;
}

static int run_at_once(struct fh_client *client, const struct kind *k, const struct fh_plan *plan, struct ending *e,
                       struct fh_error *err)
{
	struct fh_result *r;
	int code = fh_run(client, plan, NULL, &r, err);
	if (code < 0)
		return code;
	e->answered = true;
	e->status = r->status;
	e->said = says_so(k, r->stream_data[FH_STDOUT], r->stream_size[FH_STDOUT]);
	e->brought = !k->out || (r->out_count == 1 && (r->outs[0].refused != NULL) == k->refused);
	snprintf(e->error, sizeof(e->error), "%.150s", r->error.message);
	fh_result_free(r);
	return 0;
}

static int feed_and_read(struct fh_process *p, const struct kind *k, struct ending *e, struct fh_error *err)
{
	fh_auto_free char *bytes = fh_xcalloc(k->fed + 1, 1), *said = fh_xcalloc(1 << 20, 1);
	size_t n = 0;
	ssize_t got = 0;
	(void)fh_process_write(p, bytes, k->fed, NULL); /* what nobody reads is not our business */
	(void)fh_process_close_stdin(p, NULL);
	while (n < 1 << 20 && (got = fh_process_read(p, FH_STDOUT, said + n, (1 << 20) - n, -1, err)) > 0)
		n += (size_t)got;
	e->said = says_so(k, said, n);
	return got < 0 ? (int)got : 0;
}

/* What an engine says of the sandbox is an answer; a broken connection is none. */
static int run_in_session(struct fh_client *client, const struct kind *k, const struct fh_plan *plan, struct ending *e,
                          struct fh_error *err)
{
	struct fh_sandbox *s = NULL;
	struct fh_process *p = NULL;
	struct fh_exit x;
	int code = fh_sandbox_create(client, plan, NULL, &s, err);
	if (code == 0)
		code = fh_process_spawn(s, NULL, &p, err);
	if (code == 0)
		code = feed_and_read(p, k, e, err);
	if (code == 0)
		code = fh_process_wait(p, -1, &x, err);
	if (code == 0) {
		uint8_t *data = NULL;
		size_t n;
		e->answered = true;
		e->status = x.status;
		bool refused = k->out && fh_sandbox_get_file(s, k->out, 1 << 20, &data, &n, NULL) < 0;
		e->brought = !k->out || refused == k->refused;
		free(data);
	}
	fh_process_free(p);
	if (s)
		(void)fh_sandbox_destroy(s, NULL);
	fh_sandbox_free(s);
	return code;
}

static const struct kind *timed_kind(void)
{
	return o.kind ? o.kind : &kinds[0];
}

static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ULL * (o.seed + 1); /* splitmix64 */
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

static size_t choose(uint64_t run)
{
	uint64_t r = mix(run);
	bool hostile = r % 10 == 0;
	size_t fitting[64], n = 0;
	for (size_t i = 0; i < kind_count; i++)
		if (kinds[i].hostile == hostile)
			fitting[n++] = i;
	return fitting[r / 10 % n];
}

static void tell(uint64_t run, const struct kind *k, const struct ending *e)
{
	if (json_array_size(stories) >= 20)
		return;
	json_array_append_new(stories, json_pack("{s:I, s:s, s:s, s:b, s:b, s:s}", "run", (json_int_t)run, "kind", k->name,
	                                         "status", e->answered ? fh_status_name(e->status) : "no answer", "said",
	                                         e->said, "brought", e->brought, "error", e->error));
}

static void note(uint64_t run, const struct kind *k, const struct ending *e, int64_t ns)
{
	pthread_mutex_lock(&lock);
	done++;
	if (e->answered)
		ended_by[e->status]++;
	else
		lost++;
	if (!e->answered && json_array_size(losses) < 10)
		json_array_append_new(losses, json_string(e->error));
	bool as_expected = kind_is_as_expected(k, e), bad = kind_is_betrayed(k, e);
	unexpected += !as_expected;
	betrayed += bad;
	if (bad || (!as_expected && !(o.faults && (!e->answered || e->status == FH_STATUS_ENGINE_ERROR))))
		tell(run, k, e);
	if (as_expected && k == timed_kind())
		timed_us[run] = (uint32_t)(ns / 1000);
	if (o.progress && done % 1000 == 0)
		fprintf(stderr, "soak: %llu runs\n", (unsigned long long)done);
	pthread_mutex_unlock(&lock);
}

static void run_one(uint64_t run)
{
	const struct kind *k = o.kind ? o.kind : &kinds[choose(run)];
	const struct fh_plan *plan = plans[k - kinds];
	struct ending e = { 0 };
	struct fh_error err = FH_ERROR_INIT;
	struct holder *h = take();
	int64_t began = fh_now_ns();
	int code = (o.session ? run_in_session : run_at_once)(h->client, k, plan, &e, &err);
	bool broken = code < 0 && err.sys != 0 && !e.answered && (err.code == FH_E_SYSTEM || err.code == FH_E_PROTOCOL);
	if (code < 0) {
		snprintf(e.error, sizeof(e.error), "%.20s: %.120s", fh_code_name(err.code), err.message);
		broken = broken || err.code == FH_E_PROTOCOL || err.code == FH_E_TIMEOUT;
		if (o.session && err.phase == FH_PHASE_CREATE) { /* the engine said no */
			e.answered = true;
			e.status = FH_STATUS_ENGINE_ERROR;
			broken = false;
		}
	}
	note(run, k, &e, fh_now_ns() - began);
	give_back(h, broken);
}

static void *work(void *last)
{
	for (;;) {
		pthread_mutex_lock(&lock);
		uint64_t run = next_run < *(uint64_t *)last ? next_run++ : UINT64_MAX;
		pthread_mutex_unlock(&lock);
		if (run == UINT64_MAX)
			return NULL;
		run_one(run);
	}
}

static void run_until(uint64_t last)
{
	fh_auto_free pthread_t *threads = fh_xcalloc(o.workers, sizeof(*threads));
	for (uint64_t i = 0; i < o.workers; i++)
		if (pthread_create(&threads[i], NULL, work, &last) != 0)
			exit(2);
	for (uint64_t i = 0; i < o.workers; i++)
		pthread_join(threads[i], NULL);
}

/* -------------------------------------------------------------------------------------------------------- verdict */

static int by_size(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return x < y ? -1 : x > y;
}

/* The middle of those that are timed among runs first … last - 1, in us; 0: there was none. */
static uint32_t median_timed(uint64_t first, uint64_t last)
{
	fh_auto_free uint32_t *some = fh_xcalloc(last - first + 1, sizeof(*some));
	size_t n = 0;
	for (uint64_t i = first; i < last; i++)
		if (timed_us[i])
			some[n++] = timed_us[i];
	qsort(some, n, sizeof(*some), by_size);
	return n ? some[n / 2] : 0;
}

static json_t *host_json(const struct host *h)
{
	json_t *j = json_object();
	const long *values = (const long *)(const void *)h;
	for (int i = 0; i < HOST_COUNT; i++)
		json_object_set_new(j, host_names[i], values[i] < 0 ? json_null() : json_integer(values[i]));
	return j;
}

/* What an engine may hold more of at the end than early on: memory, by what an allocator keeps; and where it keeps
 * interpreters warm, what a few more templates and their parked sandboxes are made of. A leak outgrows either in a long
 * run. */
static long allowance(const char *what)
{
	static const struct {
		const char *what;
		long always, warm;
	} table[] = {
		{ "engine_kib", KIB_SLACK, 0 }, { "engine_descriptors", 0, 256 }, { "processes", 0, 48 }, { "groups", 0, 64 }
	};
	bool warm = !o.session && o.start != FH_START_FRESH;
	for (size_t i = 0; i < FH_ARRAY_SIZE(table); i++)
		if (fh_streq(table[i].what, what))
			return table[i].always + (warm ? table[i].warm : 0);
	return 0;
}

static json_t *left_behind(const struct host *before, const struct host *after)
{
	const long *a = (const long *)(const void *)before, *b = (const long *)(const void *)after;
	json_t *left = json_array();
	for (int i = 0; i < HOST_COUNT; i++)
		if (b[i] > a[i] + allowance(host_names[i]))
			json_array_append_new(left, json_string(host_names[i]));
	return left;
}

static int report(const struct host *before, const struct host *after)
{
	fh_auto_json json_t *j = json_object(), *left = left_behind(before, after), *ends = json_object();
	uint64_t first_max = o.kind ? FIRST_OF_ONE_KIND : FIRST_MIXED;
	uint64_t first = FH_MIN(FH_MAX(o.runs / 3, (uint64_t)1), first_max), warm = FH_MIN((uint64_t)WARM_RUNS, o.runs / 2);
	for (int i = 0; i < FH_STATUS_COUNT_; i++)
		json_object_set_new(ends, fh_status_name((enum fh_status)i), json_integer((json_int_t)ended_by[i]));
	json_object_set_new(j, "path", json_string(o.path));
	json_object_set_new(j, "seed", json_integer((json_int_t)o.seed));
	json_object_set_new(j, "asked", json_integer((json_int_t)o.runs));
	json_object_set_new(j, "ended", json_integer((json_int_t)done));
	json_object_set(j, "statuses", ends);
	json_object_set_new(j, "not_answered", json_integer((json_int_t)lost));
	json_object_set_new(j, "engines_replaced", json_integer((json_int_t)reopened));
	json_object_set_new(j, "unexpected", json_integer((json_int_t)unexpected));
	json_object_set_new(j, "failing_that_passed", json_integer((json_int_t)betrayed));
	json_object_set(j, "stories", stories);
	json_object_set(j, "losses", losses);
	json_object_set_new(j, "early", host_json(before));
	json_object_set_new(j, "late", host_json(after));
	json_object_set(j, "left", left);
	json_object_set_new(j, "timed", json_string(timed_kind()->name));
	json_object_set_new(j, "us_first", json_integer(median_timed(warm, FH_MIN(warm + first, o.runs))));
	json_object_set_new(j, "us_last", json_integer(median_timed(o.runs - first, o.runs)));
	fh_auto_free char *text = fh_json_text(j, 0);
	printf("%s\n", text);
	bool wrong = o.faults ? betrayed > 0 : unexpected > 0 || json_array_size(left) > 0;
	return wrong || done != o.runs;
}

/* Ourselves after a pause: what a run leaves to the kernel to take down is gone by then. */
static void look(struct host *ret)
{
	fh_sleep_ns(SETTLE_MS * FH_NS_PER_MS);
	host_look(host_engine(), ret);
}

/* ----------------------------------------------------------------------------------------------------------- main */

static bool read_path(const char *word)
{
	o.path = word;
	o.session = fh_streq(word, "session");
	for (int i = 0; i < FH_START_COUNT_; i++)
		if (fh_streq(word, fh_start_name((enum fh_start)i))) {
			o.start = (enum fh_start)i;
			return true;
		}
	return o.session;
}

static bool read_kind(const char *word)
{
	for (size_t i = 0; i < kind_count; i++)
		if (fh_streq(kinds[i].name, word))
			o.kind = &kinds[i];
	return o.kind;
}

static bool read_options(char **argv)
{
	for (char **a = argv + 1; *a; a++) {
		uint64_t *number = fh_streq(*a, "--runs")      ? &o.runs
		                   : fh_streq(*a, "--workers") ? &o.workers
		                   : fh_streq(*a, "--seed")    ? &o.seed
		                                               : NULL;
		if (number && a[1])
			*number = strtoull(*++a, NULL, 10);
		else if (fh_streq(*a, "--faults"))
			o.faults = true;
		else if (fh_streq(*a, "--control"))
			o.control = true;
		else if (fh_streq(*a, "--progress"))
			o.progress = true;
		else if (!a[1] || !(fh_streq(*a, "--path")   ? read_path(*++a)
		                    : fh_streq(*a, "--kind") ? read_kind(*++a)
		                                             : false))
			return false;
	}
	return o.runs > 0 && o.workers > 0 && o.workers <= 1024;
}

int main(int argc, char **argv)
{
	struct host before, after;
	(void)argc;
	if (!read_options(argv)) {
		fprintf(stderr, "usage: soak [--runs N] [--workers N] [--path fresh|zygote|parked|auto|session] [--seed N] "
		                "[--kind NAME] [--faults] [--control] [--progress]\n");
		return 2;
	}
	plans = kinds_plan(o.start);
	timed_us = fh_xcalloc(o.runs, sizeof(*timed_us));
	stories = json_array();
	losses = json_array();
	run_until(FH_MIN((uint64_t)WARM_RUNS, o.runs / 2));
	look(&before);
	fh_auto_close int kept = o.control ? open("/dev/null", O_RDONLY | O_CLOEXEC) : -1;
	run_until(o.runs);
	look(&after);
	int status = report(&before, &after);
	if (current)
		fh_client_close(current->client);
	for (size_t i = 0; i < kind_count; i++)
		fh_plan_free(plans[i]);
	free(plans);
	free(timed_us);
	free(current);
	json_decref(stories);
	json_decref(losses);
	return status;
}
