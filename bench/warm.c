/* SPDX-License-Identifier: MIT */
/*
 * One kind of run over and over through libfumehood: how long each takes, and how many in a second.
 *
 *     warm [-n RUNS] [-j CLIENTS] [-s START] [-p MODULE]… [-t SECONDS] LANGUAGE CODE EXPECTED
 *
 * CLIENTS threads share one engine; each run's output, exit status and start are verified, and what is wrong is counted
 * and its first instance printed. The first tenth warms up and is not counted. Prints one JSON object. With -t the runs
 * go on for that long, and the medians of the first and the last tenth are told, to see whether it stays fast.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fumehood/sandbox.h"

enum { MODULES_MAX = 16 };

static struct {
	size_t runs, next, clients;
	double seconds;
	const char *expected;
	struct fh_client *client;
	struct fh_plan *plan;
	uint32_t *us; /* microseconds of each run */
	double began;
	size_t wrong, starts[FH_START_COUNT_];
	pthread_mutex_t lock;
} bench = { .runs = 1000, .clients = 1, .lock = PTHREAD_MUTEX_INITIALIZER };

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool is_right(const struct fh_result *r)
{
	size_t n = strlen(bench.expected);
	return r->status == FH_STATUS_OK && r->exit_code == 0 && r->stream_size[FH_STDOUT] == n &&
	       memcmp(r->stream_data[FH_STDOUT], bench.expected, n) == 0 && r->stream_size[FH_STDERR] == 0 &&
	       r->usage.wall_us > 0;
}

static void count(size_t i, double began, const struct fh_result *r, const struct fh_error *err)
{
	double took = now() - began;
	pthread_mutex_lock(&bench.lock);
	bench.us[i] = (uint32_t)(took * 1e6);
	if (r)
		bench.starts[r->start]++;
	if ((!r || !is_right(r)) && bench.wrong++ == 0)
		fprintf(stderr, "warm: run %zu is wrong: %s, %s, stdout %.80s, stderr %.200s\n", i,
		        r ? fh_status_name(r->status) : "no result", r ? r->error.message : err->message,
		        r ? (const char *)r->stream_data[FH_STDOUT] : "", r ? (const char *)r->stream_data[FH_STDERR] : "");
	pthread_mutex_unlock(&bench.lock);
}

static void *work(void *unused)
{
	(void)unused;
	for (;;) {
		pthread_mutex_lock(&bench.lock);
		size_t i = bench.next;
		bool more = i < bench.runs && (bench.seconds == 0 || now() - bench.began < bench.seconds);
		bench.next += more;
		pthread_mutex_unlock(&bench.lock);
		if (!more)
			return NULL;
		struct fh_error err = FH_ERROR_INIT;
		struct fh_result *r = NULL;
		double began = now();
		(void)fh_run(bench.client, bench.plan, NULL, &r, &err);
		count(i, began, r, &err);
		fh_result_free(r);
	}
}

static int by_size(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return x < y ? -1 : x > y;
}

static double at(const uint32_t *sorted, size_t n, double part)
{
	size_t i = (size_t)(part * (double)n);
	return n ? sorted[i < n ? i : n - 1] / 1000.0 : 0;
}

static double median_of(const uint32_t *us, size_t n)
{
	uint32_t *copy = malloc((n + 1) * sizeof(*copy));
	memcpy(copy, us, n * sizeof(*copy));
	qsort(copy, n, sizeof(*copy), by_size);
	double m = at(copy, n, 0.5);
	free(copy);
	return m;
}

static void report(double took, size_t warm_up)
{
	size_t done = bench.next, counted = done - warm_up, tenth = counted / 10 ? counted / 10 : counted;
	uint32_t *us = bench.us + warm_up;
	double first = median_of(us, tenth), last = median_of(us + counted - tenth, tenth);
	qsort(us, counted, sizeof(*us), by_size);
	printf("{\"runs\": %zu, \"wrong\": %zu, \"clients\": %zu, \"p50_ms\": %.3f, \"p90_ms\": %.3f, \"p99_ms\": %.3f, "
	       "\"max_ms\": %.3f, \"per_second\": %.0f, \"first_tenth_p50_ms\": %.3f, \"last_tenth_p50_ms\": %.3f, "
	       "\"starts\": {\"fresh\": %zu, \"zygote\": %zu, \"parked\": %zu}}\n",
	       counted, bench.wrong, bench.clients, at(us, counted, 0.5), at(us, counted, 0.9), at(us, counted, 0.99),
	       at(us, counted, 1), (double)counted / took, first, last, bench.starts[FH_START_FRESH],
	       bench.starts[FH_START_ZYGOTE], bench.starts[FH_START_PARKED]);
}

static void run_all(void)
{
	pthread_t threads[256];
	for (size_t i = 0; i < bench.clients; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (size_t i = 0; i < bench.clients; i++)
		pthread_join(threads[i], NULL);
}

/* Replaces "\n" in an argument by a line end. */
static char *unescape(char *s)
{
	char *to = s;
	for (const char *p = s; *p; p++)
		*to++ = *p == '\\' && p[1] == 'n' ? (p++, '\n') : *p;
	*to = 0;
	return s;
}

static enum fh_start start_of(const char *name)
{
	for (int i = 0; i < FH_START_COUNT_; i++)
		if (strcmp(fh_start_name((enum fh_start)i), name) == 0)
			return (enum fh_start)i;
	return FH_START_AUTO;
}

int main(int argc, char **argv)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_request request;
	const char *modules[MODULES_MAX + 1] = { NULL };
	size_t module_count = 0;
	struct fh_client_options local = FH_CLIENT_OPTIONS_INIT;
	local.placement = "local";
	fh_request_init(&request);
	for (int c; (c = getopt(argc, argv, "n:j:s:p:t:")) != -1;) {
		if (c == 'n')
			bench.runs = strtoul(optarg, NULL, 10);
		else if (c == 'j')
			bench.clients = strtoul(optarg, NULL, 10);
		else if (c == 's')
			request.start = start_of(optarg);
		else if (c == 't')
			bench.seconds = strtod(optarg, NULL);
		else if (c == 'p' && module_count < MODULES_MAX)
			modules[module_count++] = optarg;
	}
	if (argc - optind != 3 || bench.clients < 1 || bench.clients > 256 || bench.runs < 10 || bench.runs > 10000000) {
		fprintf(stderr,
		        "usage: warm [-n RUNS] [-j CLIENTS] [-s START] [-p MODULE] [-t SECONDS] LANGUAGE CODE EXPECTED\n");
		return 2;
	}
	char *code = unescape(argv[optind + 1]);
	request.language = argv[optind];
	request.code = (struct fh_bytes){ code, strlen(code) };
	request.preload = modules;
	bench.expected = unescape(argv[optind + 2]);
	bench.us = calloc(bench.runs, sizeof(*bench.us));
	if (fh_plan_build(&request, &bench.plan, &err) < 0 || fh_client_open(&local, &bench.client, &err) < 0) {
		fprintf(stderr, "warm: %s\n", err.message);
		return 1;
	}
	size_t all = bench.runs, warm_up = all / 10;
	double seconds = bench.seconds;
	bench.runs = warm_up;
	bench.seconds = 0;
	run_all();
	bench.runs = all;
	bench.seconds = seconds;
	memset(bench.starts, 0, sizeof(bench.starts));
	bench.began = now();
	run_all();
	report(now() - bench.began, warm_up);
	fh_client_close(bench.client);
	fh_plan_free(bench.plan);
	free(bench.us);
	return bench.wrong ? 1 : 0;
}
