/* SPDX-License-Identifier: MIT */
/* Compares two evals, one column of each: rows are paired by their numbers and sorted, the worst first. */
#include "store/paired.h"
#include "view/cell_json.h"
#include "view/reply.h"
#include "view/routes.h"
#include "view/row_filter.h"
#include "view/state.h"

enum { PAGE_MAX = 500 };

/* The outcomes of a pair of rows, in the order in which they are shown. */
enum kind { REGRESSED, FIXED, NEITHER, BOTH, ONLY_FIRST, ONLY_SECOND, KINDS };
static const char *const kind_names[KINDS] = { "regressed", "fixed", "neither", "both", "only-first", "only-second" };

struct outcome {
	uint32_t row;
	bool success;
};

struct outcomes {
	uint32_t column;
	struct outcome *items;
	size_t count, capacity;
};

struct pair {
	uint32_t row;
	enum kind kind;
};

struct pairs {
	struct pair *items;
	size_t count, capacity;
	uint64_t of_kind[KINDS];
};

static int add(void *context, const struct fh_store_cell *cell, struct fh_error *err)
{
	struct outcomes *o = context;
	if (cell->column == o->column)
		FH_PUSH(o->items, o->count, o->capacity) = (struct outcome){ cell->row, cell->success };
	return 0;
}

static void note(struct pairs *p, uint32_t row, enum kind kind)
{
	FH_PUSH(p->items, p->count, p->capacity) = (struct pair){ row, kind };
	p->of_kind[kind]++;
}

/* Pairs the rows of two lists, which are both sorted by row. */
static void pair_up(const struct outcomes *a, const struct outcomes *b, struct pairs *ret)
{
	for (size_t i = 0, k = 0; i < a->count || k < b->count;) {
		const struct outcome *x = i < a->count ? &a->items[i] : NULL, *y = k < b->count ? &b->items[k] : NULL;
		if (!y || (x && x->row < y->row)) {
			note(ret, x->row, ONLY_FIRST);
			i++;
		} else if (!x || y->row < x->row) {
			note(ret, y->row, ONLY_SECOND);
			k++;
		} else {
			note(ret, x->row, x->success ? (y->success ? BOTH : REGRESSED) : y->success ? FIXED : NEITHER);
			i++;
			k++;
		}
	}
}

static int by_kind(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;
	return x->kind != y->kind ? (int)x->kind - (int)y->kind : (x->row > y->row) - (x->row < y->row);
}

static json_t *side(const struct fh_view_visit *v, const json_t *vars, uint32_t row, uint32_t column)
{
	struct fh_store_cell cell = { 0 };
	if (fh_store_cell(v->store, v->eval.number, row, column, &cell, NULL) < 0)
		return json_null();
	json_t *o = fh_view_row_json(v->eval.kind, &cell, 1, v->eval.columns, vars);
	json_t *cells = json_object_get(o, "cells");
	json_object_set(o, "cell", json_array_get(cells, column));
	json_object_del(o, "cells");
	fh_store_cell_release(&cell);
	return o;
}

struct two {
	struct fh_view_visit v[2];
	struct fh_store_documents d[2];
	struct outcomes o[2];
	struct pairs pairs;
};

static void release(struct two *t)
{
	for (int i = 0; i < 2; i++) {
		fh_view_visit_end(&t->v[i]);
		fh_store_documents_release(&t->d[i]);
		free(t->o[i].items);
	}
	free(t->pairs.items);
}

static json_t *rows_json(struct fh_http_request *r, const struct two *t, uint64_t *ret_matched)
{
	const char *kind = fh_http_query(r, "kind");
	uint64_t offset = (uint64_t)fh_view_query_int(r, "offset", 0, 0, INT32_MAX), at = 0;
	uint64_t limit = (uint64_t)fh_view_query_int(r, "limit", FH_VIEW_PAGE_DEFAULT, 1, PAGE_MAX);
	json_t *rows = json_array();
	for (size_t i = 0; i < t->pairs.count; i++) {
		const struct pair *p = &t->pairs.items[i];
		if (kind && *kind && strcmp(kind_names[p->kind], kind) != 0)
			continue;
		if (at++ < offset || at > offset + limit)
			continue;
		json_t *o = json_pack("{s:i, s:s}", "row", (int)p->row, "kind", kind_names[p->kind]);
		json_object_set_new(o, "first", side(&t->v[0], t->d[0].vars, p->row, t->o[0].column));
		json_object_set_new(o, "second", side(&t->v[1], t->d[1].vars, p->row, t->o[1].column));
		json_array_append_new(rows, o);
	}
	*ret_matched = at;
	return rows;
}

static void reply(struct fh_http_request *r, const struct two *t)
{
	const uint64_t *n = t->pairs.of_kind;
	struct fh_paired_interval d;
	uint64_t matched;
	json_t *counts = json_object(), *rows = rows_json(r, t, &matched), *sides = json_array();
	for (size_t i = 0; i < KINDS; i++)
		json_object_set_new(counts, kind_names[i], json_integer((json_int_t)n[i]));
	for (int i = 0; i < 2; i++)
		json_array_append_new(sides, json_pack("{s:s, s:o, s:O, s:O, s:i}", "id", t->v[i].eval.id, "description",
		                                       fh_json_bytes(fh_str(t->v[i].eval.description)), "columnHeads",
		                                       t->d[i].columns, "vars", t->d[i].vars, "column", (int)t->o[i].column));
	fh_paired_difference(n[REGRESSED], n[FIXED], n[BOTH] + n[NEITHER] + n[FIXED] + n[REGRESSED], &d);
	fh_http_reply_json(r, 200,
	                   json_pack("{s:o, s:o, s:f, s:f, s:f, s:f, s:I, s:o}", "sides", sides, "counts", counts,
	                             "difference", d.mean, "low", d.low, "high", d.high, "p",
	                             fh_paired_mcnemar(n[REGRESSED], n[FIXED]), "matched", (json_int_t)matched, "rows",
	                             rows));
}

static void get_comparison(struct fh_http_request *r, struct fh_str body)
{
	static const char *const names[] = { "first", "second" };
	struct two t = { 0 };
	struct fh_error err = FH_ERROR_INIT;
	int e = 0;
	for (int i = 0; i < 2 && e == 0; i++) {
		if (!fh_view_visit_named(r, fh_http_segment(r, (size_t)i), &t.v[i])) {
			release(&t);
			return;
		}
		t.o[i].column = (uint32_t)fh_view_query_int(r, names[i], 0, 0, INT32_MAX);
		e = fh_store_documents(t.v[i].store, t.v[i].eval.number, &t.d[i], &err);
		if (e == 0)
			e = fh_store_each_cell(t.v[i].store, t.v[i].eval.number, false, add, &t.o[i], &err);
	}
	if (e < 0) {
		fh_view_fail_from(r, &err);
	} else {
		pair_up(&t.o[0], &t.o[1], &t.pairs);
		if (t.pairs.count)
			qsort(t.pairs.items, t.pairs.count, sizeof(*t.pairs.items), by_kind);
		reply(r, &t);
	}
	release(&t);
}

const struct fh_http_route fh_view_compare_routes[] = {
	{ "GET", "/api/view/compare/{first}/{second}", get_comparison },
	{ 0 },
};
