/* SPDX-License-Identifier: MIT */
/*
 * Reading the rows of one eval of the store: pages with filters and order, and single cells.
 *
 * A row is a test (of a judgement: a sample); it has a cell for each column that was run. Filters and order look at
 * small values that lie apart from the data; only the cells of the page that is returned are read whole. `text` and
 * `regexp` alone read the data of every row of the eval.
 */
#pragma once
#include "store/store.h"

enum fh_store_show {
	FH_STORE_SHOW_ALL,
	FH_STORE_SHOW_PASSED,
	FH_STORE_SHOW_FAILED,    /* an assertion, or the verdict */
	FH_STORE_SHOW_ERRORS,    /* no verdict could be had */
	FH_STORE_SHOW_NOT_GOOD,  /* failed or error */
	FH_STORE_SHOW_DIFFERENT, /* rows whose columns do not agree on passing */
	FH_STORE_SHOW_RATED,
	FH_STORE_SHOW_COUNT_
};
const char *fh_store_show_name(enum fh_store_show s); /* "all", "passed", "failed", "errors", "not-good", … */
bool fh_store_show_of_name(const char *name, enum fh_store_show *ret);

/* Which rows: those with a cell for which everything that is set holds. All zero (column: -1): all. */
struct fh_store_row_filter {
	enum fh_store_show show;
	int column;                     /* only cells of this column are looked at; -1: any */
	FH_NULLABLE const char *text;   /* in a text of the row, case aside */
	FH_NULLABLE const char *regexp; /* PCRE2; check it with fh_search_check (store/search.h) first */
	FH_NULLABLE const char *metric; /* cells that have this named score … */
	bool has_metric_min, has_metric_max;
	double metric_min, metric_max;    /* … within these bounds */
	FH_NULLABLE const char *status;   /* how the program ended, or the verdict: "passed", "memory_limit" … */
	FH_NULLABLE const char *language; /* "python" … */
	FH_NULLABLE const char *tag;      /* of the test: one of its metadata.tags, or "key=value" of its metadata */
};
#define FH_STORE_ROW_FILTER_INIT                                                                                       \
	{                                                                                                                  \
		.column = -1                                                                                                   \
	}

enum fh_store_order {
	FH_STORE_BY_INDEX,
	FH_STORE_BY_SCORE,
	FH_STORE_BY_LATENCY,
	FH_STORE_BY_COST,
	FH_STORE_BY_TOKENS,
	FH_STORE_ORDER_COUNT_
};
bool fh_store_order_of_name(const char *name, enum fh_store_order *ret); /* "index", "score", "latency", … */

struct fh_store_page {
	enum fh_store_order order; /* of a row's cells (those of the filter's column) the sum counts */
	bool descending;
	uint64_t offset, limit; /* in rows; limit 0: 50 */
};

struct fh_store_cell {
	uint32_t row, column;
	bool success;
	int failure; /* 0 none, 1 an assertion or the verdict, 2 an error */
	double score, latency_ms, cost;
	int64_t tokens;
	char *status, *language; /* "" where there is none */
	char *key;               /* of its content: what the cell was asked, and how it was checked (hex) */
	char *data;              /* JSON object, as text; data_n bytes */
	size_t data_n;
	struct fh_store_rating rating; /* changed_ms 0: none */
};
void fh_store_cell_release(struct fh_store_cell *c);

struct fh_store_cells {
	struct fh_store_cell *items; /* row by row in the order asked for; of a row, column by column */
	size_t count, capacity;
	uint64_t matched; /* rows that the filter lets through */
	uint64_t total;   /* rows that there are */
};
void fh_store_cells_release(struct fh_store_cells *c);

/* One page. A row comes with the cells of all of its columns. */
int fh_store_rows(struct fh_store *s, int64_t eval, const struct fh_store_row_filter *f, const struct fh_store_page *p,
                  struct fh_store_cells *ret, struct fh_error *err);
/* FH_E_NOT_FOUND when the cell is not there. */
int fh_store_cell(struct fh_store *s, int64_t eval, uint32_t row, uint32_t column, struct fh_store_cell *ret,
                  struct fh_error *err);

/* Every cell of an eval, in the order row, column; `data` only when `with_data`. The callback borrows the cell and ends
 * the walk by a negative code, which is returned. The memory needed is that of one cell. */
int fh_store_each_cell(struct fh_store *s, int64_t eval, bool with_data,
                       int (*each)(void *context, const struct fh_store_cell *cell, struct fh_error *err),
                       void *context, struct fh_error *err);

/* What the filters of an eval can be: {status: {name: cells}, language: {…}, metrics: [names]}. New reference. */
int fh_store_facets(struct fh_store *s, int64_t eval, FH_OWN json_t **ret, struct fh_error *err);
