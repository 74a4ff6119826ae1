/* SPDX-License-Identifier: MIT */
#include "judge/rows/row.h"

#include <pthread.h>

#include "fumehood/sandbox.h"
#include "judge/problems/languages.h"
#include "judge/rows/evidence.h"
#include "sandbox/planning/result_json.h"

enum { STREAM_MAX = 64 << 10 }; /* bytes of each of a program's streams that are evidence, for people to read */

struct fh_judge_rows {
	const struct fh_judgement *judgement;
	pthread_mutex_t lock; /* guards the members below */
	/* Limits and isolation as JSON, and the values that it was made of: they are equal for nearly all runs, so the text
	 * is kept. */
	char *place;
	struct fh_limits limits;
	enum fh_enforced enforced[FH_LIMIT_COUNT_];
	uint32_t layers;
	char *missing[FH_LAYER_COUNT_];
};

struct fh_judge_rows *fh_judge_rows_new(const struct fh_judgement *judgement)
{
	struct fh_judge_rows *r = FH_NEW(struct fh_judge_rows);
	r->judgement = judgement;
	pthread_mutex_init(&r->lock, NULL);
	return r;
}

void fh_judge_rows_free(struct fh_judge_rows *r)
{
	if (!r)
		return;
	for (int i = 0; i < FH_LAYER_COUNT_; i++)
		free(r->missing[i]);
	free(r->place);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

static const struct fh_judge_problem *problem_of(const struct fh_judgement *j, size_t index)
{
	return &j->problems->items[j->samples->items[index].problem];
}

/* ------------------------------------------------------------------------------------------------------------- text */

static json_t *task_id_json(const struct fh_judge_problem *p)
{
	return p->has_number ? json_integer(strtoll(p->task_id, NULL, 10)) : fh_json_bytes(fh_str(p->task_id));
}

static void write_text(struct fh_buf *out, const struct fh_judgement *j, size_t index, const struct fh_judge_outcome *o)
{
	fh_auto_json json_t *row = json_object();
	json_object_set_new(row, "task_id",
	                    task_id_json(problem_of(j, index))); /* results.c recognises a row by this beginning */
	json_object_set_new(row, "index", json_integer((json_int_t)index));
	json_object_set_new(row, "passed", json_boolean(o->verdict == FH_VERDICT_PASSED));
	json_object_set_new(row, "verdict", json_string(fh_verdict_name(o->verdict)));
	json_object_set_new(row, "reason", fh_json_bytes(fh_str(o->reason)));
	fh_judge_evidence_add(row, o);
	if (j->hashes)
		json_object_set_new(row, "sample", json_string(j->hashes[index]));
	json_object_set_new(row, "key", json_string(j->keys[index]));
	fh_json_write(out, row, 0);
}

static const char *integrity_of(const char *name)
{
	static const char *const known[] = { FH_INTEGRITY_SPLIT, FH_INTEGRITY_OUTSIDE };
	for (size_t i = 0; i < FH_ARRAY_SIZE(known); i++)
		if (fh_streq(known[i], name))
			return known[i];
	return FH_INTEGRITY_IN_PROCESS;
}

struct fh_judge_row_text fh_judge_row_read(const json_t *row)
{
	const char *name = fh_json_str(row, "verdict", NULL);
	return (struct fh_judge_row_text){
		.index = name ? fh_json_int(row, "index", -1) : -1,
		.verdict = name ? fh_verdict_of_name(name) : FH_VERDICT_COUNT_,
		.integrity = integrity_of(fh_json_str(row, "integrity", "")),
		.flaky = json_is_true(json_object_get(row, "flaky")),
		.key = fh_json_str(row, "key", NULL),
		.sample = fh_json_str(row, "sample", NULL),
	};
}

/* --------------------------------------------------------------------------------------------------------- evidence */

static bool same_text(const char *a, const char *b)
{
	return a == b || fh_streq(a, b);
}

static bool is_same_place(const struct fh_judge_rows *k, const struct fh_result *r)
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
static void note_place(struct fh_judge_rows *k, const struct fh_result *r)
{
	fh_auto_json json_t *of_limits = fh_limits_json(r), *of_isolation = fh_isolation_json(r);
	fh_auto_free char *limits = fh_json_text(of_limits, 0), *isolation = fh_json_text(of_isolation, 0);
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

static void add_evidence(const struct fh_row *row, struct fh_buf *out)
{
	const struct fh_judge_row *own = row->source;
	struct fh_judge_rows *rows = own->rows;
	const struct fh_result *run = own->outcome ? own->outcome->run : NULL;
	fh_auto_buf struct fh_buf program = FH_BUF_INIT(0);
	fh_judge_program(problem_of(rows->judgement, row->index), &rows->judgement->samples->items[row->index], &program);
	fh_buf_addf(out, ",\"language\":\"%s\",\"program\":", row->language);
	fh_json_write_string(out, fh_buf_str(&program));
	if (!run)
		return;
	write_stream(out, run, FH_STDOUT, "stdout");
	write_stream(out, run, FH_STDERR, "stderr");
	pthread_mutex_lock(&rows->lock);
	if (!is_same_place(rows, run))
		note_place(rows, run);
	fh_buf_adds(out, rows->place);
	pthread_mutex_unlock(&rows->lock);
}

/* ------------------------------------------------------------------------------------------------------------- rows */

static void fill(struct fh_judge_row *r, struct fh_judge_rows *rows, size_t index, enum fh_verdict verdict)
{
	bool passed = verdict == FH_VERDICT_PASSED;
	r->rows = rows;
	r->row = (struct fh_row){ .index = index,
		                      .row = (uint32_t)index,
		                      .success = passed,
		                      .failure = passed                               ? FH_FAILURE_NONE
		                                 : verdict == FH_VERDICT_ENGINE_ERROR ? FH_FAILURE_ERROR
		                                                                      : FH_FAILURE_ASSERTION,
		                      .score = passed,
		                      .key = rows->judgement->keys[index],
		                      .status = fh_verdict_name(verdict),
		                      .language = fh_judge_language_name(problem_of(rows->judgement, index)->language),
		                      .text = fh_buf_str(&r->text),
		                      .add_evidence = add_evidence,
		                      .source = r };
}

void fh_judge_row_make(struct fh_judge_rows *rows, size_t index, const struct fh_judge_outcome *o,
                       struct fh_judge_row *ret)
{
	*ret = (struct fh_judge_row){ .outcome = o, .text = FH_BUF_INIT(1 << 20) };
	write_text(&ret->text, rows->judgement, index, o);
	fill(ret, rows, index, o->verdict);
	ret->row.latency_ms = o->run ? (double)o->run->usage.wall_us / 1000 : 0;
	ret->row.integrity = o->integrity;
	ret->row.flaky = o->flaky;
}

void fh_judge_row_recall(struct fh_judge_rows *rows, size_t index, struct fh_str text, struct fh_judge_row *ret)
{
	fh_auto_json json_t *row = fh_json_parse(text, NULL, NULL);
	struct fh_judge_row_text told = fh_judge_row_read(row);
	*ret = (struct fh_judge_row){ .text = FH_BUF_INIT(0) };
	fh_buf_add_str(&ret->text, text);
	fill(ret, rows, index, told.verdict);
	ret->row.again = true;
	ret->row.latency_ms = fh_json_num(json_object_get(row, "usage"), "wall_ms", 0);
	ret->row.integrity = told.integrity;
	ret->row.flaky = told.flaky;
}

void fh_judge_row_release(struct fh_judge_row *r)
{
	fh_buf_release(&r->text);
}
