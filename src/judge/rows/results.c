/* SPDX-License-Identifier: MIT */
#include "judge/rows/results.h"

#include <pthread.h>

#include "base/clock.h"
#include "judge/rows/row.h"
#include "sink/line_file.h"

#define RESULTS_MAX ((size_t)16 << 30)
#define SYNC_NS FH_NS_PER_S
/* The beginning of every row, by which a truncated row is recognised: it begins with a part of this. */
#define ROW_START "{\"task_id\":"

struct row {
	char *text; /* the row's line without its newline; NULL: the sample has no row yet */
	enum fh_verdict verdict;
	bool in_process, flaky;
};

struct fh_results {
	struct fh_line_file file;
	const char (*keys)[FH_SHA256_HEX], (*samples)[FH_SHA256_HEX];
	struct row *rows;
	size_t count, kept, stale;
	size_t ours; /* how many of the stale rows are for the same samples, under other limits or versions */
	pthread_mutex_t lock;
	int64_t synced_ns;
};

/* ---------------------------------------------------------------------------------------------------------- reading */

static int not_ours(const char *path, uint32_t line, const char *what, struct fh_error *err)
{
	fh_error_at(err, path, line, 0, "%s: this is not a results file", what);
	fh_error_hint(err, "name another file with -o, or move this one away");
	return -FH_E_CONFIG;
}

/* Reads one line of the file; -1 if it is not a row. */
static int take_row(struct fh_results *r, struct fh_str line)
{
	fh_auto_json json_t *json = fh_json_parse(line, NULL, NULL);
	struct fh_judge_row_text row = fh_judge_row_read(json);
	if (row.index < 0 || !row.key)
		return -1;
	bool in_range = (uint64_t)row.index < r->count;
	/* others read `passed` where we read the verdict, so a row in which the two differ is none that we wrote */
	const json_t *passed = json_object_get(json, "passed");
	bool is_ours = json_is_boolean(passed) && json_is_true(passed) == (row.verdict == FH_VERDICT_PASSED);
	if (!in_range || !is_ours || row.verdict >= FH_VERDICT_ENGINE_ERROR || !fh_streq(row.key, r->keys[row.index])) {
		r->stale += row.verdict != FH_VERDICT_ENGINE_ERROR;
		r->ours += in_range && r->samples && fh_streq(row.sample, r->samples[row.index]);
		return 0;
	}
	struct row *to = &r->rows[row.index];
	r->kept += to->text == NULL;
	free(to->text);
	*to = (struct row){ fh_xstrndup(line.p, line.n), row.verdict, fh_streq(row.integrity, FH_INTEGRITY_IN_PROCESS),
		                row.flaky };
	return 0;
}

static bool is_torn_row(struct fh_str line)
{
	size_t n = FH_MIN(line.n, strlen(ROW_START));
	return memcmp(line.p, ROW_START, n) == 0;
}

/* Reads the rows of text; the last line may be incomplete. */
static int read_rows(struct fh_results *r, struct fh_str text, struct fh_error *err)
{
	size_t at = 0;
	uint32_t number = 0;
	while (at < text.n) {
		const char *end = memchr(text.p + at, '\n', text.n - at);
		struct fh_str line = { text.p + at, end ? (size_t)(end - text.p) - at : text.n - at };
		number++;
		if (!end)
			return is_torn_row(line) ? 0
			                         : not_ours(r->file.path, number, "the last line is not a part of a result", err);
		if (take_row(r, line) < 0)
			return not_ours(r->file.path, number, "the line is not a result", err);
		at += line.n + 1;
	}
	return 0;
}

static int load(struct fh_results *r, struct fh_error *err)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(RESULTS_MAX);
	int e = fh_line_file_read(&r->file, &text, err);
	if (e == 0)
		e = read_rows(r, fh_buf_str(&text), err);
	return e == 0 ? fh_line_file_cut(&r->file, err) : e;
}

int fh_results_open(const char *path, const char (*keys)[FH_SHA256_HEX], const char (*samples)[FH_SHA256_HEX],
                    size_t count, struct fh_results **ret, struct fh_error *err)
{
	struct fh_results *r = FH_NEW(struct fh_results);
	r->keys = keys;
	r->samples = samples;
	r->count = count;
	r->rows = fh_xcalloc(count, sizeof(*r->rows));
	pthread_mutex_init(&r->lock, NULL);
	int e = fh_line_file_open(path, &r->file, err);
	if (e == 0)
		e = load(r, err);
	if (e < 0) {
		fh_results_close(r);
		return e;
	}
	*ret = r;
	return 0;
}

void fh_results_close(struct fh_results *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->count; i++)
		free(r->rows[i].text);
	free(r->rows);
	fh_line_file_close(&r->file);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

size_t fh_results_kept(const struct fh_results *r)
{
	return r->kept;
}

size_t fh_results_stale(const struct fh_results *r)
{
	return r->stale;
}

bool fh_results_strange(const struct fh_results *r)
{
	return r->kept == 0 && r->ours == 0 && r->stale > 0;
}

struct fh_results_row fh_results_row(const struct fh_results *r, size_t index)
{
	const struct row *row = &r->rows[index];
	return (struct fh_results_row){ row->text != NULL, row->verdict, row->in_process, row->flaky };
}

int fh_results_find(const char *path, size_t index, json_t **ret, struct fh_error *err)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(RESULTS_MAX);
	fh_auto_json json_t *found = NULL;
	int r = fh_line_file_look(path, &text, err);
	if (r < 0)
		return r;
	const char *at = fh_buf_cstr(&text), *end;
	for (; (end = strchr(at, '\n')); at = end + 1) {
		json_t *row = fh_json_parse((struct fh_str){ at, end - at }, NULL, NULL);
		if (json_is_object(row) && fh_json_int(row, "index", -1) == (int64_t)index) {
			json_decref(found);
			found = json_incref(row);
		}
		json_decref(row);
	}
	if (!found) {
		fh_error_set(err, FH_E_NOT_FOUND, "%s has no result of index %zu", path, index);
		fh_error_hint(err, "an index is a sample's position in its file, from 0");
		return -FH_E_NOT_FOUND;
	}
	*ret = FH_TAKE_PTR(found);
	return 0;
}

/* ---------------------------------------------------------------------------------------------------------- writing */

static bool recall_row(void *self, size_t index, struct fh_buf *out)
{
	const struct fh_results *r = self;
	const char *text = index < r->count ? r->rows[index].text : NULL;
	fh_buf_truncate(out, 0);
	if (text)
		fh_buf_adds(out, text);
	return text != NULL;
}

/* When the rows are to be synced again, which one thread does, without the lock, so that the others can continue. */
static bool is_sync_due(struct fh_results *r)
{
	int64_t now = fh_now_ns();
	if (now - r->synced_ns < SYNC_NS)
		return false;
	r->synced_ns = now;
	return true;
}

static int take(void *self, const struct fh_row *row, struct fh_error *err)
{
	struct fh_results *r = self;
	if (row->again)
		return 0;
	const struct row new = { fh_xstrndup(row->text.p, row->text.n), fh_verdict_of_name(row->status),
		                     fh_streq(row->integrity, FH_INTEGRITY_IN_PROCESS), row->flaky };
	struct row unused = new;
	pthread_mutex_lock(&r->lock);
	int e = fh_line_file_append(&r->file, row->text, err);
	if (e == 0) {
		unused = r->rows[row->index];
		r->rows[row->index] = new;
	}
	bool sync = e == 0 && is_sync_due(r);
	pthread_mutex_unlock(&r->lock);
	free(unused.text);
	return sync ? fh_line_file_sync(&r->file, err) : e;
}

static int end(void *self, const struct fh_sink_end *how, struct fh_error *err)
{
	struct fh_results *r = self;
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(RESULTS_MAX);
	if (!how->complete)
		return fh_line_file_sync(&r->file, err);
	for (size_t i = 0; i < r->count; i++) {
		if (!r->rows[i].text)
			return fh_error_set(err, FH_E_BUG, "sample %zu has no result", i);
		fh_buf_adds(&text, r->rows[i].text);
		fh_buf_addc(&text, '\n');
	}
	if (text.overflowed)
		return fh_error_set(err, FH_E_LIMIT, "the results are larger than %zu GiB", RESULTS_MAX >> 30);
	return fh_line_file_replace(&r->file, fh_buf_str(&text), err);
}

struct fh_sink fh_results_sink(struct fh_results *r)
{
	static const struct fh_sink_kind kind = { .recall = recall_row, .row = take, .end = end };
	return (struct fh_sink){ &kind, r };
}
