/* SPDX-License-Identifier: MIT */
#include "store/rows.h"

#include "store/db.h"
#include "store/queries.h"

static const char *const shows[] = { "all", "passed", "failed", "errors", "not-good", "different", "rated" };
static const char *const orders[] = { "index", "score", "latency", "cost", "tokens" };

const char *fh_store_show_name(enum fh_store_show s)
{
	return s < FH_ARRAY_SIZE(shows) ? shows[s] : "all";
}

bool fh_store_show_of_name(const char *name, enum fh_store_show *ret)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(shows); i++)
		if (fh_streq(shows[i], name)) {
			*ret = (enum fh_store_show)i;
			return true;
		}
	return false;
}

bool fh_store_order_of_name(const char *name, enum fh_store_order *ret)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(orders); i++)
		if (fh_streq(orders[i], name)) {
			*ret = (enum fh_store_order)i;
			return true;
		}
	return false;
}

void fh_store_cell_release(struct fh_store_cell *c)
{
	free(c->status);
	free(c->language);
	free(c->key);
	free(c->data);
	free(c->rating.comment);
	*c = (struct fh_store_cell){ 0 };
}

void fh_store_cells_release(struct fh_store_cells *c)
{
	for (size_t i = 0; i < c->count; i++)
		fh_store_cell_release(&c->items[i]);
	free(c->items);
	*c = (struct fh_store_cells){ 0 };
}

static char *text_of(const struct fh_db_statement *q, int column)
{
	struct fh_str s = fh_db_text(q, column);
	return fh_xstrndup(s.p, s.n);
}

/* Reads columns in the order of CELL_COLUMNS in queries.c, followed by the data. */
static void read_cell(const struct fh_db_statement *q, bool with_data, struct fh_store_cell *ret)
{
	*ret = (struct fh_store_cell){
		.row = (uint32_t)fh_db_int(q, 0),
		.column = (uint32_t)fh_db_int(q, 1),
		.success = fh_db_int(q, 2) != 0,
		.failure = (int)fh_db_int(q, 3),
		.score = fh_db_real(q, 4),
		.latency_ms = fh_db_real(q, 5),
		.cost = fh_db_real(q, 6),
		.tokens = fh_db_int(q, 7),
		.status = text_of(q, 8),
		.language = text_of(q, 9),
		.key = text_of(q, 10),
		.rating = { .thumb = (int)fh_db_int(q, 11),
		            .has_score = !fh_db_is_null(q, 12),
		            .score = fh_db_real(q, 12),
		            .comment = text_of(q, 13),
		            .changed_ms = fh_db_int(q, 14) },
	};
	if (with_data) {
		struct fh_str data = fh_db_text(q, 15);
		ret->data = fh_xmemdup(data.p, data.n);
		ret->data_n = data.n;
	}
}

/* Whether a filter selects all rows, so that they need not be counted. */
static bool lets_all(const struct fh_store_row_filter *f)
{
	return f->show == FH_STORE_SHOW_ALL && f->column < 0 && !f->text && !f->regexp && !f->metric && !f->status &&
	       !f->language && !f->tag;
}

static int total_rows(struct fh_store *s, int64_t eval, struct fh_store_cells *c, struct fh_error *err)
{
	struct fh_db_statement *q = NULL;
	int r = fh_db_ask(fh_store_db(s), fh_q_rows_total, &q, err, "i", eval);
	if (r == 0 && (r = fh_db_next(q, err)) == 1)
		c->total = c->matched = (uint64_t)fh_db_int(q, 0);
	fh_db_done(q);
	return r < 0 ? r : 0;
}

static int count_rows(struct fh_store *s, int64_t eval, const struct fh_store_row_filter *f, struct fh_store_cells *c,
                      struct fh_error *err)
{
	struct fh_db_statement *q = NULL;
	int r = total_rows(s, eval, c, err);
	if (r < 0 || lets_all(f))
		return r;
	r = fh_q_rows_count(fh_store_db(s), eval, f, &q, err);
	if (r == 0 && (r = fh_db_next(q, err)) == 1)
		c->matched = (uint64_t)fh_db_int(q, 0);
	fh_db_done(q);
	return r < 0 ? r : 0;
}

static int read_row(struct fh_store *s, int64_t eval, int64_t row, struct fh_store_cells *c, struct fh_error *err)
{
	struct fh_db_statement *q = NULL;
	int r = fh_db_ask(fh_store_db(s), fh_q_cells_of_row, &q, err, "ii", eval, row);
	while (r >= 0 && (r = fh_db_next(q, err)) == 1)
		read_cell(q, true, &FH_PUSH(c->items, c->count, c->capacity));
	fh_db_done(q);
	return r;
}

/* A filter that has to read the data runs once: all matching rows are counted, and those of the page are read. */
static int search_rows(struct fh_store *s, int64_t eval, const struct fh_store_row_filter *f,
                       const struct fh_store_page *p, struct fh_store_cells *c, struct fh_error *err)
{
	struct fh_db_statement *q = NULL;
	struct fh_store_page all = { .order = p->order, .descending = p->descending, .limit = INT32_MAX };
	uint64_t limit = p->limit ? p->limit : 50;
	int r = total_rows(s, eval, c, err);
	c->matched = 0;
	if (r == 0)
		r = fh_q_rows(fh_store_db(s), eval, f, &all, &q, err);
	while (r >= 0 && (r = fh_db_next(q, err)) == 1) {
		if (c->matched >= p->offset && c->matched < p->offset + limit)
			r = read_row(s, eval, fh_db_int(q, 0), c, err);
		c->matched++;
	}
	fh_db_done(q);
	return r < 0 ? r : 0;
}

int fh_store_rows(struct fh_store *s, int64_t eval, const struct fh_store_row_filter *f, const struct fh_store_page *p,
                  struct fh_store_cells *ret, struct fh_error *err)
{
	struct fh_store_cells c = { 0 };
	struct fh_db_statement *q = NULL;
	bool searches = f->text || f->regexp || f->tag;
	int r = searches ? search_rows(s, eval, f, p, &c, err) : count_rows(s, eval, f, &c, err);
	if (r == 0 && !searches) {
		r = fh_q_rows(fh_store_db(s), eval, f, p, &q, err);
		while (r >= 0 && (r = fh_db_next(q, err)) == 1)
			r = read_row(s, eval, fh_db_int(q, 0), &c, err);
		fh_db_done(q);
	}
	if (r < 0) {
		fh_store_cells_release(&c);
		return r;
	}
	*ret = c;
	return 0;
}

int fh_store_cell(struct fh_store *s, int64_t eval, uint32_t row, uint32_t column, struct fh_store_cell *ret,
                  struct fh_error *err)
{
	struct fh_db_statement *q = NULL;
	int r = fh_db_ask(fh_store_db(s), fh_q_cell, &q, err, "iii", eval, (int64_t)row, (int64_t)column);
	if (r == 0 && (r = fh_db_next(q, err)) == 1)
		read_cell(q, true, ret);
	else if (r == 0)
		r = fh_error_set(err, FH_E_NOT_FOUND, "there is no result in row %u, column %u", row, column);
	fh_db_done(q);
	return r < 0 ? r : 0;
}

/* Calls `each` with the cells that a query returns, counts them and ends the query. */
static int walk(FH_OWN struct fh_db_statement *q, bool with_data,
                int (*each)(void *context, const struct fh_store_cell *cell, struct fh_error *err), void *context,
                uint64_t *count, struct fh_error *err)
{
	int r = 0;
	while (r >= 0 && (r = fh_db_next(q, err)) == 1) {
		struct fh_store_cell c;
		read_cell(q, with_data, &c);
		r = each(context, &c, err);
		fh_store_cell_release(&c);
		++*count;
	}
	fh_db_done(q);
	return r < 0 ? r : 0;
}

/* How many cells an eval has by its columns, which count them. */
static int cells_noted(struct fh_store *s, int64_t eval, uint64_t *ret, struct fh_error *err)
{
	struct fh_db_statement *q = NULL;
	int r = fh_db_ask(fh_store_db(s), fh_q_cells_noted, &q, err, "i", eval);
	if (r == 0 && (r = fh_db_next(q, err)) == 1)
		*ret = (uint64_t)fh_db_int(q, 0);
	fh_db_done(q);
	return r < 0 ? r : 0;
}

/* To SQLite a damaged page may look as if there was no more. An eval that is being written only grows; one that was
 * deleted meanwhile has none. */
static int check_count(struct fh_store *s, int64_t eval, uint64_t noted, uint64_t count, struct fh_error *err)
{
	uint64_t now = 0;
	int r = count < noted ? cells_noted(s, eval, &now, err) : 0;
	if (r < 0 || count >= FH_MIN(noted, now))
		return r;
	fh_error_set(err, FH_E_CONFIG, "the store %s is damaged: %llu of %llu results can be read", fh_store_path(s),
	             (unsigned long long)count, (unsigned long long)noted);
	fh_error_hint(err, "the program sqlite3 may recover more of it (.recover)");
	return -FH_E_CONFIG;
}

int fh_store_each_cell(struct fh_store *s, int64_t eval, bool with_data,
                       int (*each)(void *context, const struct fh_store_cell *cell, struct fh_error *err),
                       void *context, struct fh_error *err)
{
	struct fh_db_statement *q = NULL;
	uint64_t noted = 0, count = 0;
	int r = cells_noted(s, eval, &noted, err);
	if (r == 0)
		r = fh_db_ask(fh_store_db(s), with_data ? fh_q_cells_each : fh_q_cells_each_small, &q, err, "i", eval);
	if (r == 0)
		r = walk(FH_TAKE_PTR(q), with_data, each, context, &count, err);
	return r < 0 ? r : check_count(s, eval, noted, count, err);
}

int fh_store_each_match(struct fh_store *s, int64_t eval, const struct fh_store_row_filter *f,
                        int (*each)(void *context, const struct fh_store_cell *cell, struct fh_error *err),
                        void *context, struct fh_error *err)
{
	struct fh_db_statement *q = NULL;
	int r = fh_q_cells_matching(fh_store_db(s), eval, f, &q, err);
	uint64_t count = 0;
	return r < 0 ? r : walk(FH_TAKE_PTR(q), true, each, context, &count, err);
}

/* Adds (name, count) of each row to an object, or the names alone to an array. `key` is the query's second parameter,
 * if it has one. */
static int count_by(struct fh_store *s, const char *sql, int64_t eval, FH_NULLABLE const char *key, json_t *ret,
                    struct fh_error *err)
{
	struct fh_db_statement *q = NULL;
	int r = key ? fh_db_ask(fh_store_db(s), sql, &q, err, "is", eval, key)
	            : fh_db_ask(fh_store_db(s), sql, &q, err, "i", eval);
	while (r >= 0 && (r = fh_db_next(q, err)) == 1) {
		fh_auto_free char *name = text_of(q, 0);
		if (json_is_array(ret))
			json_array_append_new(ret, fh_json_bytes(fh_str(name)));
		else
			json_object_set_new(ret, name, json_integer(fh_db_int(q, 1)));
	}
	fh_db_done(q);
	return r;
}

int fh_store_facets(struct fh_store *s, int64_t eval, json_t **ret, struct fh_error *err)
{
	fh_auto_json json_t *status = json_object(), *language = json_object(), *metrics = json_array();
	int r = count_by(s, fh_q_facet_status, eval, NULL, status, err);
	if (r >= 0)
		r = count_by(s, fh_q_facet_language, eval, NULL, language, err);
	if (r >= 0)
		r = count_by(s, fh_q_facet_metrics, eval, NULL, metrics, err);
	if (r < 0)
		return r;
	*ret = json_pack("{s:O, s:O, s:O}", "status", status, "language", language, "metrics", metrics);
	return 0;
}

int fh_store_row_tags(struct fh_store *s, int64_t eval, json_t **ret, struct fh_error *err)
{
	fh_auto_json json_t *tags = json_object();
	int r = count_by(s, fh_q_facet_tags, eval, NULL, tags, err);
	if (r < 0)
		return r;
	*ret = json_incref(tags);
	return 0;
}

int fh_store_metadata(struct fh_store *s, int64_t eval, const char *key, json_t **ret, struct fh_error *err)
{
	fh_auto_json json_t *names = json_array();
	int r = count_by(s, key ? fh_q_facet_values : fh_q_facet_keys, eval, key, names, err);
	if (r < 0)
		return r;
	*ret = json_incref(names);
	return 0;
}
