/* SPDX-License-Identifier: MIT */
#include "cli/judge/judge_keep.h"

#include <unistd.h>

#include "base/clock.h"
#include "cli/judge/judge_documents.h"
#include "store/rows.h"
#include "store/writer.h"

/* Name of the entry's tag, and of the member of its config, that hold the path of the results file. */
#define TAG "results"
/* Time between two commits. Rows are in the results file meanwhile; those that the store lacks are added when the
 * judgement is resumed. */
#define GATHER_MS 250

struct kept {
	struct fh_judge_keep keep;
	struct fh_store_writer *writer;
	char *id;
	int64_t before_ms; /* how long the judgement had run before it was interrupted */
	bool *stored;      /* for each sample: whether the store had its row before the first sample was judged */
};

/* ------------------------------------------------------------------------------------------------ what is there */

/* Finds the store's entry that was written beside the results file; its id is "" when there is none. */
static int find(struct fh_store *s, const char *results, struct fh_store_eval_list *ret, struct fh_error *err)
{
	fh_auto_free char *tag = fh_xasprintf(TAG "=%s", results);
	return fh_store_evals(s, &(struct fh_store_eval_filter){ .kind = fh_store_kind_name(FH_STORE_JUDGE), .tag = tag },
	                      0, 1, ret, err);
}

struct arrange {
	struct kept *k;
	struct fh_store_place *drops;
	size_t count, capacity;
};

static int note_old(void *context, const struct fh_store_cell *cell, struct fh_error *err)
{
	struct arrange *a = context;
	const struct fh_judge_keep *k = &a->k->keep;
	const struct fh_judgement *j = k->judgement;
	if (cell->row < j->samples->count && cell->column == 0 && fh_results_row(k->results, cell->row).present &&
	    fh_streq(cell->key, j->keys[cell->row]))
		a->k->stored[cell->row] = true;
	else
		FH_PUSH(a->drops, a->count, a->capacity) = (struct fh_store_place){ cell->row, cell->column };
	return 0;
}

static int arrange(struct kept *k, struct fh_store *reader, int64_t number, struct fh_error *err)
{
	struct arrange a = { .k = k };
	int r = fh_store_each_cell(reader, number, false, note_old, &a, err);
	if (r == 0)
		r = fh_store_writer_arrange(k->writer, a.drops, a.count, NULL, 0, err);
	free(a.drops);
	return r;
}

/* ------------------------------------------------------------------------------------------------------------ begin */

static int begin_writer(struct kept *k, const struct fh_store_eval *old, struct fh_error *err)
{
	const struct fh_judge_keep *keep = &k->keep;
	char id[64];
	int64_t now = fh_wall_ms();
	fh_auto_judge_documents struct fh_judge_documents d = { 0 };
	fh_judge_documents_make(keep, &d);
	fh_store_id_make(FH_STORE_JUDGE, now, id);
	k->id = fh_xstrdup(old ? old->id : id);
	k->before_ms = old ? old->duration_ms : 0;
	const struct fh_store_begin b = { .id = k->id,
		                              .kind = FH_STORE_JUDGE,
		                              .description = old ? old->description : d.description,
		                              .created_ms = now,
		                              .total = keep->judgement->samples->count,
		                              .rows = keep->judgement->samples->count,
		                              .config = d.config,
		                              .options = d.options,
		                              .vars = d.vars,
		                              .columns = d.columns,
		                              .tags = d.tags,
		                              .resume = old != NULL,
		                              .gather_ms = GATHER_MS };
	return fh_store_writer_begin(&b, &k->writer, err);
}

static int begin(struct kept *k, struct fh_error *err)
{
	fh_auto_store struct fh_store *reader = NULL;
	struct fh_store_eval_list found = { 0 };
	int r = 0;
	if (fh_results_kept(k->keep.results) > 0) {
		fh_auto_free char *real = realpath(k->keep.results_path, NULL); /* NULL: a file without a path */
		fh_auto_json json_t *results = fh_judge_path_json(k->keep.results_path);
		r = fh_store_open(NULL, false, &reader, err);
		if (r == 0 && real)
			r = find(reader, json_string_value(results), &found, err);
	}
	const struct fh_store_eval *old = found.count ? &found.items[0] : NULL;
	if (r == 0)
		r = begin_writer(k, old, err);
	if (r == 0 && old)
		r = arrange(k, reader, old->number, err);
	fh_store_eval_list_release(&found);
	return r;
}

/* ------------------------------------------------------------------------------------------------------------- sink */

static int take(void *self, const struct fh_row *row, struct fh_error *err)
{
	struct kept *k = self;
	fh_auto_buf struct fh_buf data = FH_BUF_INIT(0);
	if (row->again && k->stored[row->index])
		return 0;
	fh_row_add_whole(row, &data);
	struct fh_row whole = *row;
	whole.text = fh_buf_str(&data);
	int r = fh_store_writer_row(k->writer, &whole, err);
	if (r < 0 && err && !err->hint[0])
		fh_error_hint(err, "the same command continues; with --no-write it does not use the store");
	return r;
}

static int end(void *self, const struct fh_sink_end *how, struct fh_error *err)
{
	struct kept *k = self;
	struct fh_sink_end all = *how;
	all.duration_ms += k->before_ms;
	return fh_store_writer_end(FH_TAKE_PTR(k->writer), &all, err);
}

static void close_kept(void *self)
{
	struct kept *k = self;
	fh_store_writer_close(k->writer);
	free(k->stored);
	free(k->id);
	free(k);
}

int fh_judge_keep_begin(const struct fh_judge_keep *keep, struct fh_sink *ret, char **ret_id, struct fh_error *err)
{
	static const struct fh_sink_kind kind = { .row = take, .end = end, .close = close_kept };
	struct kept *k = FH_NEW(struct kept);
	k->keep = *keep;
	k->stored = fh_xcalloc(keep->judgement->samples->count + 1, sizeof(*k->stored));
	int r = begin(k, err);
	if (r < 0) {
		close_kept(k);
		return r;
	}
	*ret = (struct fh_sink){ &kind, k };
	*ret_id = fh_xstrdup(k->id);
	return 0;
}
