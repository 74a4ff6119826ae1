/* SPDX-License-Identifier: MIT */
#include "eval/results/kept.h"

#include "eval/plan/content.h"
#include "store/rows.h"

/* A cell that the store already has, when an eval is continued. */
struct old {
	struct fh_store_place at;
	size_t cell; /* index of the plan's cell with the same hash; SIZE_MAX: the plan has no such cell */
	bool good;   /* the stored row is kept: the cell need not run again */
	size_t next; /* index of the next old cell with the same hash; SIZE_MAX: the last */
};

struct fh_eval_kept {
	const struct fh_eval_plan *plan;
	struct fh_store_writer *writer;
	struct fh_store *reader; /* reads rows of cells that need not run again; NULL: a new eval */
	int64_t eval;
	struct fh_eval_content *content;
	bool *kept; /* for each cell of the plan: it need not run again */
	size_t count;
	struct old *old;
	size_t old_count, old_capacity;
	json_t *by_key; /* hash -> index of the first old cell with it */
	enum fh_eval_again again;
};

/* ------------------------------------------------------------------------------------------------- what is there */

static int note_old(void *context, const struct fh_store_cell *cell, struct fh_error *err)
{
	struct fh_eval_kept *k = context;
	const json_t *first = json_object_get(k->by_key, cell->key);
	bool failed = !cell->success && cell->failure != FH_FAILURE_ERROR;
	struct old *o = &FH_PUSH(k->old, k->old_count, k->old_capacity);
	*o = (struct old){ .at = { cell->row, cell->column }, .cell = SIZE_MAX, .next = SIZE_MAX };
	o->good = cell->success || (failed && k->again != FH_EVAL_AGAIN_FAILED) ||
	          (cell->failure == FH_FAILURE_ERROR && k->again == FH_EVAL_AGAIN_MISSING);
	o->next = first ? (size_t)json_integer_value(first) : SIZE_MAX;
	json_object_set_new_nocheck(k->by_key, cell->key, json_integer((json_int_t)(k->old_count - 1)));
	return 0;
}

static void match(struct fh_eval_kept *k, size_t cell)
{
	char key[FH_SHA256_HEX];
	const struct fh_eval_cell *at = &k->plan->cells[cell];
	fh_eval_content_key(k->content, cell, key);
	const json_t *first = json_object_get(k->by_key, key);
	struct old *found = NULL;
	for (size_t i = first ? (size_t)json_integer_value(first) : SIZE_MAX; i != SIZE_MAX; i = k->old[i].next) {
		struct old *o = &k->old[i];
		if (o->cell == SIZE_MAX && (!found || (o->at.row == at->row && o->at.column == at->column)))
			found = o;
	}
	if (!found)
		return;
	found->cell = cell;
	if (found->good) {
		k->kept[cell] = true;
		k->count++;
	}
}

/* When a test compares columns, all cells of its row are needed for the verdict: if one runs again, the others do
 * too. */
static void match_compared(struct fh_eval_kept *k)
{
	const struct fh_eval_plan *p = k->plan;
	for (size_t start = 0, end; start < p->cell_count; start = end) {
		bool whole = true;
		for (end = start; end < p->cell_count && p->cells[end].row == p->cells[start].row; end++)
			whole = whole && k->kept[end];
		if (whole || !fh_eval_compares_columns(p->rows[p->cells[start].row].test))
			continue;
		for (size_t i = start; i < end; i++) {
			k->count -= k->kept[i];
			k->kept[i] = false;
		}
	}
}

static int arrange(struct fh_eval_kept *k, struct fh_error *err)
{
	fh_auto_free struct fh_store_place *drops = fh_xcalloc(k->old_count + 1, sizeof(*drops));
	fh_auto_free struct fh_store_move *moves = fh_xcalloc(k->old_count + 1, sizeof(*moves));
	size_t drop_count = 0, move_count = 0;
	for (size_t i = 0; i < k->old_count; i++) {
		const struct old *o = &k->old[i];
		if (o->cell == SIZE_MAX || !k->kept[o->cell]) {
			drops[drop_count++] = o->at;
			continue;
		}
		const struct fh_eval_cell *to = &k->plan->cells[o->cell];
		if (to->row != o->at.row || to->column != o->at.column)
			moves[move_count++] = (struct fh_store_move){ o->at, { to->row, to->column } };
	}
	return fh_store_writer_arrange(k->writer, drops, drop_count, moves, move_count, err);
}

static int resume(struct fh_eval_kept *k, const struct fh_eval_keep *keep, struct fh_error *err)
{
	struct fh_store_eval e = { 0 };
	k->by_key = json_object();
	int r = fh_store_open(NULL, true, &k->reader, err);
	if (r == 0)
		r = fh_store_find(k->reader, keep->id, &e, err);
	k->eval = e.number;
	fh_store_eval_release(&e);
	if (r == 0)
		r = fh_store_each_cell(k->reader, k->eval, false, note_old, k, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < k->plan->cell_count; i++)
		match(k, i);
	match_compared(k);
	r = arrange(k, err);
	json_decref(k->by_key);
	k->by_key = NULL;
	free(k->old);
	k->old = NULL;
	k->old_count = k->old_capacity = 0;
	return r;
}

/* ------------------------------------------------------------------------------------------------------------ begin */

static void close_kept(void *self)
{
	struct fh_eval_kept *k = self;
	fh_store_writer_close(k->writer);
	fh_store_close(k->reader);
	fh_eval_content_free(k->content);
	json_decref(k->by_key);
	free(k->old);
	free(k->kept);
	free(k);
}

int fh_eval_kept_begin(const struct fh_eval_plan *plan, const struct fh_eval_keep *keep, struct fh_eval_kept **ret,
                       struct fh_error *err)
{
	struct fh_eval_kept *k = FH_NEW(struct fh_eval_kept);
	k->plan = plan;
	k->again = keep->again;
	k->content = fh_eval_content_new(plan);
	k->kept = fh_xcalloc(plan->cell_count + 1, sizeof(*k->kept));
	const struct fh_store_begin b = { .id = keep->id,
		                              .kind = FH_STORE_EVAL,
		                              .description = keep->description,
		                              .created_ms = keep->created_ms,
		                              .total = plan->cell_count,
		                              .rows = plan->row_count,
		                              .config = keep->config,
		                              .vars = keep->vars,
		                              .options = keep->options,
		                              .columns = keep->columns,
		                              .tags = keep->tags,
		                              .resume = keep->resume,
		                              .on_done = keep->on_done,
		                              .on_wish = keep->on_wish,
		                              .context = keep->context };
	int r = fh_store_writer_begin(&b, &k->writer, err);
	if (r == 0 && keep->resume)
		r = resume(k, keep, err);
	if (r < 0) {
		close_kept(k);
		return r;
	}
	*ret = k;
	return 0;
}

size_t fh_eval_kept_count(const struct fh_eval_kept *k)
{
	return k->count;
}

/* ------------------------------------------------------------------------------------------------------------- sink */

static bool recall_row(void *self, size_t cell, struct fh_buf *out)
{
	struct fh_eval_kept *k = self;
	const struct fh_eval_cell *at = &k->plan->cells[cell];
	struct fh_store_cell c;
	fh_buf_truncate(out, 0);
	if (!k->kept[cell] || fh_store_cell(k->reader, k->eval, at->row, at->column, &c, NULL) < 0)
		return false;
	fh_auto_json json_t *row = fh_json_parse((struct fh_str){ c.data, c.data_n }, NULL, NULL);
	fh_store_cell_release(&c);
	if (!row)
		return false;
	/* the config may have changed the order of the tests */
	json_object_set_new(row, "testIdx", json_integer(at->row));
	json_object_set_new(row, "promptIdx", json_integer(at->column));
	fh_json_write(out, row, 0);
	return true;
}

static int take(void *self, const struct fh_row *row, struct fh_error *err)
{
	struct fh_eval_kept *k = self;
	char key[FH_SHA256_HEX];
	struct fh_row keyed = *row;
	if (row->again)
		return 0;
	fh_eval_content_key(k->content, row->index, key);
	keyed.key = key;
	return fh_store_writer_row(k->writer, &keyed, err);
}

static void begin_end(void *self, const struct fh_sink_end *how)
{
	struct fh_eval_kept *k = self;
	fh_store_writer_finish_begin(k->writer, how);
}

static int end(void *self, const struct fh_sink_end *how, struct fh_error *err)
{
	struct fh_eval_kept *k = self;
	return fh_store_writer_finish(k->writer, how, err);
}

struct fh_sink fh_eval_kept_sink(struct fh_eval_kept *k)
{
	static const struct fh_sink_kind kind = {
		.recall = recall_row, .row = take, .begin_end = begin_end, .end = end, .close = close_kept
	};
	return (struct fh_sink){ &kind, k };
}
