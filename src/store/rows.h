/* SPDX-License-Identifier: MIT */
/*
 * Reads the rows of one stored eval: pages with filters and order, and single cells. A row is a test (of a judgement: a
 * sample); it has a cell for each column that was run.
 *
 * Filters and order use small values that are stored apart from the data; only the cells on the returned page are read
 * completely. Only `text` and `regexp` read the data of every row of the eval.
 */
#pragma once
#include "store/store.h"

enum fh_store_show {
	FH_STORE_SHOW_ALL,
	FH_STORE_SHOW_PASSED,
	FH_STORE_SHOW_FAILED,    /* an assertion failed, or the verdict is failed */
	FH_STORE_SHOW_ERRORS,    /* rows without a verdict: the provider or the harness failed */
	FH_STORE_SHOW_NOT_GOOD,  /* rows that failed or met an error */
	FH_STORE_SHOW_DIFFERENT, /* rows of which some columns passed and others did not */
	FH_STORE_SHOW_RATED,
	FH_STORE_SHOW_COUNT_
};
const char *fh_store_show_name(enum fh_store_show s); /* "all", "passed", "failed", "errors", "not-good", … */
bool fh_store_show_of_name(const char *name, enum fh_store_show *ret);

/* Selects rows that have a cell for which every set member holds. All zero (and column -1): all rows. */
struct fh_store_row_filter {
	enum fh_store_show show;
	int column;                     /* filter by cells of this column; -1: of any column */
	FH_NULLABLE const char *text;   /* text within any text of the row; ASCII case is ignored */
	FH_NULLABLE const char *regexp; /* PCRE2; check it with fh_search_check (store/search.h) first */
	FH_NULLABLE const char *metric; /* cells that have this named score … */
	bool has_metric_min, has_metric_max;
	double metric_min, metric_max;    /* … within these bounds */
	FH_NULLABLE const char *status;   /* how the program ended, or the verdict: "passed", "memory_limit" … */
	FH_NULLABLE const char *language; /* language of the program, such as "python" */
	FH_NULLABLE const char *tag;      /* tag of the test: one of its metadata.tags, or "key=value" of its metadata */
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
	enum fh_store_order order; /* sorts by the sum over a row's cells (those of the filter's column) */
	bool descending;
	uint64_t offset, limit; /* numbers of rows; limit 0: 50 */
};

struct fh_store_cell {
	uint32_t row, column;
	bool success;
	int failure; /* enum fh_failure (sink/row.h) */
	double score, latency_ms, cost;
	int64_t tokens;
	char *status, *language; /* status of the program, and its language; "" when not known */
	char *key;               /* hash of its content (hex): what the cell asked and how it was checked */
	char *data;              /* JSON object, as text; data_n bytes */
	size_t data_n;
	struct fh_store_rating rating; /* changed_ms 0: not rated */
};
void fh_store_cell_release(struct fh_store_cell *c);

struct fh_store_cells {
	struct fh_store_cell *items; /* row by row in the requested order, column by column within a row */
	size_t count, capacity;
	uint64_t matched; /* rows that the filter selects */
	uint64_t total;   /* number of all rows of the eval */
};
void fh_store_cells_release(struct fh_store_cells *c);

/* Reads one page. Each row comes with its cells of all columns. */
int fh_store_rows(struct fh_store *s, int64_t eval, const struct fh_store_row_filter *f, const struct fh_store_page *p,
                  struct fh_store_cells *ret, struct fh_error *err);
/* Reads a cell. FH_E_NOT_FOUND: there is no such cell. */
int fh_store_cell(struct fh_store *s, int64_t eval, uint32_t row, uint32_t column, struct fh_store_cell *ret,
                  struct fh_error *err);

/* Calls `each` with every cell of an eval, ordered by row and column; `data` is set only if `with_data`. The callback
 * borrows the cell; its negative code ends the walk and is returned. Needs the memory of one cell. */
int fh_store_each_cell(struct fh_store *s, int64_t eval, bool with_data,
                       int (*each)(void *context, const struct fh_store_cell *cell, struct fh_error *err),
                       void *context, struct fh_error *err);

/* Calls `each` in the same way with every cell for which the filter holds, with its data. Cells beside it in the same
 * row, for which it does not hold, are left out. */
int fh_store_each_match(struct fh_store *s, int64_t eval, const struct fh_store_row_filter *f,
                        int (*each)(void *context, const struct fh_store_cell *cell, struct fh_error *err),
                        void *context, struct fh_error *err);

/* The values that filters of an eval can have: {status: {name: cells}, language: {…}, metrics: [names]}. New
 * reference. */
int fh_store_facets(struct fh_store *s, int64_t eval, FH_OWN json_t **ret, struct fh_error *err);
/* What the filter `tag` of an eval can be: {"hard": cells, "level=2": cells, …}, the most frequent first, at most 200.
 * Reads the data of every row. New reference. */
int fh_store_row_tags(struct fh_store *s, int64_t eval, FH_OWN json_t **ret, struct fh_error *err);
/* The names in the metadata of an eval's cells, or with `key` the values of that name: an array of texts, at most 1000.
 * Reads the data of every row. New reference. */
int fh_store_metadata(struct fh_store *s, int64_t eval, FH_NULLABLE const char *key, FH_OWN json_t **ret,
                      struct fh_error *err);
