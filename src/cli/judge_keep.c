/* SPDX-License-Identifier: MIT */
#include "cli/judge_keep.h"

#include <pthread.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/path.h"
#include "cli/judge_report.h"
#include "fumehood/sandbox.h"
#include "store/rows.h"
#include "store/writer.h"

#define TAG "results"
/* Time between two commits. Rows are in the results file meanwhile; those that the store lacks are added when the
 * judgement is resumed. */
#define GATHER_MS 250
/* STREAM_MAX: bytes of each of a program's streams that are kept, for people to read. */
enum { STREAM_MAX = 64 << 10, FAILED = 1, ERROR = 2 };

struct fh_judge_kept {
	struct fh_judge_keep keep;
	struct fh_store_writer *writer;
	char *id;
	int64_t begun_ns, before_ms; /* when it began; how long it ran before it was interrupted */
	bool *stored;                /* for each sample: it was in the store before the first was judged */
	pthread_mutex_t lock;        /* guards the members below */
	/* Limits and isolation as JSON, and the values that it was made of: they are equal for nearly all runs, so the text
	 * is kept. */
	char *place;
	struct fh_limits limits;
	enum fh_enforced enforced[FH_LIMIT_COUNT_];
	uint32_t layers;
	char *missing[FH_LAYER_COUNT_];
};

/* -------------------------------------------------------------------------------------------------------- documents */

static json_t *text_json(const char *s)
{
	return s ? fh_json_bytes(fh_str(s)) : json_null();
}

/* A path made absolute, so that it is valid from any folder. */
static json_t *path_json(const char *path)
{
	fh_auto_free char *real = realpath(path, NULL);
	return text_json(real ? real : path);
}

static json_t *config_json(const struct fh_judge_keep *k)
{
	const struct fh_judge_settings *s = fh_judge_settings(k->session);
	json_t *o = json_object(), *limits = json_object();
	for (int i = 0; i < FH_LIMIT_COUNT_; i++)
		if (s->limits.value[i] != FH_UNLIMITED && (i != FH_LIMIT_CPU_RATE || s->limits.value[i] != 0))
			json_object_set_new(limits, fh_limit_table[i].name, json_integer((json_int_t)s->limits.value[i]));
	json_object_set_new(o, "problems", path_json(k->problems_path));
	json_object_set_new(o, "samples", path_json(k->samples_path));
	json_object_set_new(o, TAG, path_json(k->results_path));
	json_object_set_new(o, "limits", limits);
	json_object_set_new(o, "interpreter", text_json(s->interpreter));
	json_object_set_new(o, "packages", json_boolean(s->packages));
	json_object_set_new(o, "repeat", json_integer(FH_MAX(s->repeat, 1u)));
	json_object_set_new(o, "seed", text_json(s->seed));
	json_object_set_new(o, "allow_in_process", json_boolean(k->allow_in_process));
	json_object_set_new(o, "self_check", k->self_check ? fh_judge_self_check_json(k->self_check) : json_null());
	json_object_set_new(o, "tools", fh_judge_tools_json(k->session));
	json_object_set_new(o, "fumehood", json_string(fh_version()));
	return o;
}

static json_t *options_json(const struct fh_judge_keep *k)
{
	char cwd[4096];
	return json_pack("{s:O, s:o}", "argv", k->argv, "cwd", text_json(getcwd(cwd, sizeof(cwd)) ? cwd : ""));
}

/* ------------------------------------------------------------------------------------------------ what is there */

/* Finds the store's entry that was written beside the results file; its id is "" when there is none. */
static int find(struct fh_store *s, const char *results, struct fh_store_eval_list *ret, struct fh_error *err)
{
	fh_auto_free char *tag = fh_xasprintf(TAG "=%s", results);
	return fh_store_evals(s, &(struct fh_store_eval_filter){ .kind = fh_store_kind_name(FH_STORE_JUDGE), .tag = tag },
	                      0, 1, ret, err);
}

struct arrange {
	struct fh_judge_kept *k;
	struct fh_store_place *drops;
	size_t count, capacity;
};

static int note_old(void *context, const struct fh_store_cell *cell, struct fh_error *err)
{
	struct arrange *a = context;
	const struct fh_judge_keep *k = &a->k->keep;
	if (cell->row < k->samples->count && cell->column == 0 && fh_results_row(k->results, cell->row).present &&
	    fh_streq(cell->key, k->keys[cell->row]))
		a->k->stored[cell->row] = true;
	else
		FH_PUSH(a->drops, a->count, a->capacity) = (struct fh_store_place){ cell->row, cell->column };
	return 0;
}

static int arrange(struct fh_judge_kept *k, struct fh_store *reader, int64_t number, struct fh_error *err)
{
	struct arrange a = { .k = k };
	int r = fh_store_each_cell(reader, number, false, note_old, &a, err);
	if (r == 0)
		r = fh_store_writer_arrange(k->writer, a.drops, a.count, NULL, 0, err);
	free(a.drops);
	return r;
}

/* Adds the rows of the results file that the store lacks: they are from before the store had this judgement, or from
 * one with --no-write. */
static int add_missing(struct fh_judge_kept *k, struct fh_error *err)
{
	int r = 0;
	for (size_t i = 0; i < k->keep.samples->count && r == 0; i++)
		if (!k->stored[i] && fh_results_row(k->keep.results, i).present)
			r = fh_judge_kept_put(k, i, NULL, err);
	return r;
}

/* ------------------------------------------------------------------------------------------------------------ begin */

static int begin_writer(struct fh_judge_kept *k, const struct fh_store_eval *old, struct fh_error *err)
{
	const struct fh_judge_keep *keep = &k->keep;
	char id[64];
	int64_t now = fh_wall_ms();
	fh_auto_json json_t *config = config_json(keep), *options = options_json(keep), *vars = json_array();
	fh_auto_json json_t *columns = json_pack("[{s:s, s:o, s:s, s:s}]", "provider", "judge", "label",
	                                         text_json(fh_path_base(keep->samples_path)), "raw", "", "id", "judge");
	fh_auto_json json_t *tags = json_pack("{s:O}", TAG, json_object_get(config, TAG));
	fh_auto_free char *description =
	    fh_xasprintf("%s of %s", fh_path_base(keep->samples_path), fh_path_base(keep->problems_path));
	fh_store_id_make(FH_STORE_JUDGE, now, id);
	k->id = fh_xstrdup(old ? old->id : id);
	k->before_ms = old ? old->duration_ms : 0;
	const struct fh_store_begin b = { .id = k->id,
		                              .kind = FH_STORE_JUDGE,
		                              .description = old ? old->description : description,
		                              .created_ms = now,
		                              .total = keep->samples->count,
		                              .rows = keep->samples->count,
		                              .config = config,
		                              .options = options,
		                              .vars = vars,
		                              .columns = columns,
		                              .tags = tags,
		                              .resume = old != NULL,
		                              .gather_ms = GATHER_MS };
	return fh_store_writer_begin(&b, &k->writer, err);
}

static int begin(struct fh_judge_kept *k, struct fh_error *err)
{
	fh_auto_store struct fh_store *reader = NULL;
	struct fh_store_eval_list found = { 0 };
	int r = 0;
	if (fh_results_kept(k->keep.results) > 0) {
		fh_auto_free char *real = realpath(k->keep.results_path, NULL); /* NULL: a file without a path */
		fh_auto_json json_t *results = path_json(k->keep.results_path);
		r = fh_store_open(NULL, false, &reader, err);
		if (r == 0 && real)
			r = find(reader, json_string_value(results), &found, err);
	}
	const struct fh_store_eval *old = found.count ? &found.items[0] : NULL;
	if (r == 0)
		r = begin_writer(k, old, err);
	if (r == 0 && old)
		r = arrange(k, reader, old->number, err);
	if (r == 0)
		r = add_missing(k, err);
	fh_store_eval_list_release(&found);
	return r;
}

int fh_judge_kept_begin(const struct fh_judge_keep *keep, struct fh_judge_kept **ret, struct fh_error *err)
{
	struct fh_judge_kept *k = FH_NEW(struct fh_judge_kept);
	k->keep = *keep;
	k->begun_ns = fh_now_ns();
	k->stored = fh_xcalloc(keep->samples->count + 1, sizeof(*k->stored));
	pthread_mutex_init(&k->lock, NULL);
	int r = begin(k, err);
	if (r < 0) {
		fh_judge_kept_close(k);
		return r;
	}
	*ret = k;
	return 0;
}

const char *fh_judge_kept_id(const struct fh_judge_kept *k)
{
	return k->id;
}

/* ------------------------------------------------------------------------------------------------------------- rows */

static bool same_text(const char *a, const char *b)
{
	return a == b || fh_streq(a, b);
}

static bool is_same_place(const struct fh_judge_kept *k, const struct fh_result *r)
{
	if (!k->place || k->layers != r->layers || memcmp(&k->limits, &r->limits, sizeof(k->limits)) != 0 ||
	    memcmp(k->enforced, r->enforced, sizeof(k->enforced)) != 0)
		return false;
	for (int i = 0; i < FH_LAYER_COUNT_; i++)
		if (!same_text(k->missing[i], r->layer_missing[i]))
			return false;
	return true;
}

/* Makes the JSON of limits and isolation, in the form of `fumehood run --json`. */
static void note_place(struct fh_judge_kept *k, const struct fh_result *r)
{
	struct fh_result bare = *r;
	memset(bare.stream_data, 0, sizeof(bare.stream_data));
	memset(bare.stream_size, 0, sizeof(bare.stream_size));
	fh_auto_free char *text = fh_result_json(&bare, 0);
	fh_auto_json json_t *o = fh_json_parse(fh_str(text), NULL, NULL);
	fh_auto_free char *limits = fh_json_text(json_object_get(o, "limits"), 0);
	fh_auto_free char *isolation = fh_json_text(json_object_get(o, "isolation"), 0);
	free(k->place);
	k->place = fh_xasprintf(",\"limits\":%s,\"isolation\":%s", limits, isolation);
	k->limits = r->limits;
	memcpy(k->enforced, r->enforced, sizeof(k->enforced));
	k->layers = r->layers;
	for (int i = 0; i < FH_LAYER_COUNT_; i++) {
		free(k->missing[i]);
		k->missing[i] = r->layer_missing[i] ? fh_xstrdup(r->layer_missing[i]) : NULL;
	}
}

static void write_stream(struct fh_buf *out, const struct fh_result *r, enum fh_stream stream, const char *name)
{
	struct fh_str bytes = { (const char *)r->stream_data[stream], FH_MIN(r->stream_size[stream], (size_t)STREAM_MAX) };
	if (!bytes.p)
		bytes = fh_str("");
	fh_buf_addf(out, ",\"%s\":", name);
	fh_json_write_string(out, bytes);
	if (r->stream_truncated[stream] || bytes.n < r->stream_size[stream])
		fh_buf_addf(out, ",\"%s_truncated\":true", name);
}

/* Writes the row of the results file, with what else is known of the run added to the same object. */
static void write_data(struct fh_judge_kept *k, size_t index, const struct fh_judge_problem *problem,
                       const struct fh_result *run, struct fh_buf *out)
{
	fh_auto_buf struct fh_buf program = FH_BUF_INIT(0);
	const char *line = fh_results_text(k->keep.results, index);
	fh_judge_program(problem, &k->keep.samples->items[index], &program);
	fh_buf_add(out, line, strlen(line) - 1);
	fh_buf_addf(out, ",\"language\":\"%s\",\"program\":", fh_judge_language_name(problem->language));
	fh_json_write_string(out, fh_buf_str(&program));
	if (run) {
		write_stream(out, run, FH_STDOUT, "stdout");
		write_stream(out, run, FH_STDERR, "stderr");
		pthread_mutex_lock(&k->lock);
		if (!is_same_place(k, run))
			note_place(k, run);
		fh_buf_adds(out, k->place);
		pthread_mutex_unlock(&k->lock);
	}
	fh_buf_addc(out, '}');
}

int fh_judge_kept_put(struct fh_judge_kept *k, size_t index, const struct fh_judge_outcome *o, struct fh_error *err)
{
	const struct fh_judge_problem *problem = &k->keep.problems->items[k->keep.samples->items[index].problem];
	const struct fh_result *run = o ? o->run : NULL;
	enum fh_verdict verdict = fh_results_row(k->keep.results, index).verdict;
	bool passed = verdict == FH_VERDICT_PASSED;
	fh_auto_buf struct fh_buf data = FH_BUF_INIT(0);
	write_data(k, index, problem, run, &data);
	const struct fh_store_row row = { .row = (uint32_t)index,
		                              .success = passed,
		                              .failure = passed                               ? 0
		                                         : verdict == FH_VERDICT_ENGINE_ERROR ? ERROR
		                                                                              : FAILED,
		                              .score = passed,
		                              .latency_ms = run ? (double)run->usage.wall_us / 1000 : 0,
		                              .key = k->keep.keys[index],
		                              .status = fh_verdict_name(verdict),
		                              .language = fh_judge_language_name(problem->language),
		                              .data = fh_buf_str(&data) };
	int r = fh_store_writer_row(k->writer, &row, err);
	if (r < 0 && err && !err->hint[0])
		fh_error_hint(err, "the same command goes on; with --no-write it leaves the store out");
	return r;
}

static void release(struct fh_judge_kept *k)
{
	for (int i = 0; i < FH_LAYER_COUNT_; i++)
		free(k->missing[i]);
	pthread_mutex_destroy(&k->lock);
	free(k->place);
	free(k->stored);
	free(k->id);
	free(k);
}

int fh_judge_kept_end(struct fh_judge_kept *k, bool complete, struct fh_error *err)
{
	const struct fh_store_end end = { .complete = complete,
		                              .duration_ms = k->before_ms + (fh_now_ns() - k->begun_ns) / FH_NS_PER_MS };
	int r = fh_store_writer_end(k->writer, &end, err);
	release(k);
	return r;
}

void fh_judge_kept_close(struct fh_judge_kept *k)
{
	if (!k)
		return;
	fh_store_writer_close(k->writer);
	release(k);
}
