/* SPDX-License-Identifier: MIT */
/* Numbers for the charts of an eval: for each column counts, histograms and quantiles, and a sample of its cells. */
#include <math.h>

#include "view/reply.h"
#include "view/routes.h"
#include "view/state.h"

enum { SCORE_BINS = 20, LATENCY_BINS = 24, POINTS_MAX = 1500, COLUMNS_MAX = 64 };

struct column {
	uint64_t passed, failed, errors;
	uint64_t scores[SCORE_BINS], latencies[LATENCY_BINS];
	double *latency; /* latencies of all cells, for the quantiles */
	size_t count, capacity;
};

struct numbers {
	struct column columns[COLUMNS_MAX];
	size_t column_count;
	uint64_t seen, step; /* every step-th cell is a point of the chart */
	json_t *points;
};

/* Scores are between 0 and 1; other scores, which users' own assertions can give, count in the outer bins. */
static size_t score_bin(double score)
{
	double at = floor(score * SCORE_BINS);
	return at < 0 || isnan(at) ? 0 : at >= SCORE_BINS ? SCORE_BINS - 1 : (size_t)at;
}

/* Bin i begins at 2^i / 8 ms. */
static size_t latency_bin(double ms)
{
	double at = ms > 0 ? floor(log2(ms * 8)) : 0;
	return at < 0 ? 0 : at >= LATENCY_BINS ? LATENCY_BINS - 1 : (size_t)at;
}

static int add(void *context, const struct fh_store_cell *cell, struct fh_error *err)
{
	struct numbers *n = context;
	if (cell->column >= n->column_count)
		return 0;
	struct column *c = &n->columns[cell->column];
	*(cell->success ? &c->passed : cell->failure == 2 ? &c->errors : &c->failed) += 1;
	c->scores[score_bin(cell->score)]++;
	c->latencies[latency_bin(cell->latency_ms)]++;
	FH_PUSH(c->latency, c->count, c->capacity) = cell->latency_ms;
	if (n->seen++ % n->step == 0)
		json_array_append_new(n->points, json_pack("[i, f, f, f, i]", (int)cell->column, cell->score, cell->latency_ms,
		                                           cell->cost, (int)cell->row));
	return 0;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static json_t *counts(const uint64_t *bins, size_t n)
{
	json_t *list = json_array();
	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, json_integer((json_int_t)bins[i]));
	return list;
}

static json_t *column_json(struct column *c)
{
	static const struct {
		const char *name;
		double part;
	} quantiles[] = { { "p50", .5 }, { "p90", .9 }, { "p99", .99 }, { "max", 1 } };
	json_t *latency = json_object();
	if (c->count)
		qsort(c->latency, c->count, sizeof(*c->latency), by_size);
	for (size_t i = 0; i < FH_ARRAY_SIZE(quantiles) && c->count; i++)
		json_object_set_new(latency, quantiles[i].name,
		                    json_real(c->latency[(size_t)(quantiles[i].part * (double)(c->count - 1) + .5)]));
	return json_pack("{s:I, s:I, s:I, s:o, s:o, s:o}", "passed", (json_int_t)c->passed, "failed", (json_int_t)c->failed,
	                 "errors", (json_int_t)c->errors, "scores", counts(c->scores, SCORE_BINS), "latencies",
	                 counts(c->latencies, LATENCY_BINS), "latency", latency);
}

static void get_numbers(struct fh_http_request *r, struct fh_str body)
{
	fh_auto_visit struct fh_view_visit v = { 0 };
	struct fh_error err = FH_ERROR_INIT;
	if (!fh_view_visit(r, &v))
		return;
	fh_auto_free struct numbers *n = FH_NEW(struct numbers);
	uint64_t done = v.eval.passed + v.eval.failed + v.eval.errors;
	n->column_count = FH_MIN(v.eval.columns, (uint64_t)COLUMNS_MAX);
	n->step = done / POINTS_MAX + 1;
	n->points = json_array();
	int e = fh_store_each_cell(v.store, v.eval.number, false, add, n, &err);
	json_t *columns = json_array();
	for (size_t i = 0; i < n->column_count; i++) {
		json_array_append_new(columns, column_json(&n->columns[i]));
		free(n->columns[i].latency);
	}
	json_t *all = json_pack("{s:o, s:o, s:I}", "columns", columns, "points", n->points, "every", (json_int_t)n->step);
	if (e < 0) {
		json_decref(all);
		fh_view_fail_from(r, &err);
	} else {
		fh_http_reply_json(r, 200, all);
	}
}

const struct fh_http_route fh_view_number_routes[] = {
	{ "GET", "/api/view/evals/{id}/numbers", get_numbers },
	{ 0 },
};
