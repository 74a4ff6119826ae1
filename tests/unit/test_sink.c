/* SPDX-License-Identifier: MIT */
/* Sinks of rows: several of them together, and the results file of a judgement, plain and compressed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fd.h"
#include "judge/rows/results.h"
#include "judge/session/session.h"
#include "sink/line_file.h"

/* ---------------------------------------------------------------------------------------------------------- helpers */

static char scratch[] = "/tmp/fumehood-test-sink-XXXXXX";
static char file[128];
static const char *const names[] = { "r.jsonl", "r.jsonl.gz" };

static const char *scratch_file(const char *name)
{
	snprintf(file, sizeof(file), "%s/%s", scratch, name);
	unlink(file);
	return file;
}

static const char *scratch_text(const char *name, struct fh_str text)
{
	assert_int_equal(fh_file_write_atomic(scratch_file(name), text.p, text.n, 0600, NULL), 0);
	return file;
}

static int make_scratch(void **state)
{
	return mkdtemp(scratch) ? 0 : -1;
}

static int remove_scratch(void **state)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(names); i++)
		scratch_file(names[i]);
	return rmdir(scratch);
}

static void assert_text(struct fh_str s, const char *want)
{
	fh_auto_free char *got = fh_xstrndup(s.p, s.n);
	assert_string_equal(got, want);
}

/* ---------------------------------------------------------------------------------------------------- several sinks */

/* A sink that writes down what is done to it, and fails when told. */
struct diary {
	struct fh_buf *text;
	char name;
	bool has, fails; /* it recalls every row; it takes none */
};

static bool diary_recall(void *self, size_t index, struct fh_buf *out)
{
	const struct diary *d = self;
	fh_buf_truncate(out, 0);
	if (d->has)
		fh_buf_addf(out, "row %zu of %c", index, d->name);
	return d->has;
}

static int diary_row(void *self, const struct fh_row *row, struct fh_error *err)
{
	const struct diary *d = self;
	fh_buf_addf(d->text, "%c%zu%s ", d->name, row->index, row->again ? " again" : "");
	return d->fails ? fh_error_set(err, FH_E_LIMIT, "%c is full", d->name) : 0;
}

static int diary_end(void *self, const struct fh_sink_end *end, struct fh_error *err)
{
	const struct diary *d = self;
	fh_buf_addf(d->text, "%c ends ", d->name);
	return d->fails ? fh_error_set(err, FH_E_LIMIT, "%c cannot end", d->name) : 0;
}

static void diary_close(void *self)
{
	const struct diary *d = self;
	fh_buf_addf(d->text, "%c closes ", d->name);
}

static void diary_begin_end(void *self, const struct fh_sink_end *end)
{
	const struct diary *d = self;
	fh_buf_addf(d->text, "%c begins to end ", d->name);
}

static const struct fh_sink_kind diary_kind = {
	.recall = diary_recall, .row = diary_row, .end = diary_end, .close = diary_close
};
static const struct fh_sink_kind slow_kind = {
	.row = diary_row, .begin_end = diary_begin_end, .end = diary_end, .close = diary_close
};
static const struct fh_sink_kind least_kind = { .row = diary_row };

static void a_row_goes_to_all_sinks_in_their_order(void **state)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(0), recalled = FH_BUF_INIT(0);
	struct diary a = { .text = &text, .name = 'a' }, b = { .text = &text, .name = 'b', .has = true },
	             c = { .text = &text, .name = 'c' };
	struct fh_sinks sinks = { 0 };
	fh_sinks_add(&sinks, (struct fh_sink){ &diary_kind, &a });
	fh_sinks_add(&sinks, (struct fh_sink){ &diary_kind, &b });
	fh_sinks_add(&sinks, (struct fh_sink){ &least_kind, &c });
	assert_true(fh_sinks_recall(&sinks, 3, &recalled));
	assert_text(fh_buf_str(&recalled), "row 3 of b");
	assert_int_equal(fh_sinks_row(&sinks, &(struct fh_row){ .index = 3, .again = true }, NULL), 0);
	assert_int_equal(fh_sinks_end(&sinks, &(struct fh_sink_end){ .complete = true }, NULL), 0);
	fh_sinks_close(&sinks);
	assert_text(fh_buf_str(&text), "a3 again b3 again c3 again a ends b ends a closes b closes ");
	assert_int_equal(sinks.count, 0);
}

static void a_sink_that_fails_stops_the_row_but_not_the_ends(void **state)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(0);
	struct diary a = { .text = &text, .name = 'a', .fails = true }, b = { .text = &text, .name = 'b', .fails = true };
	struct fh_sinks sinks = { 0 };
	struct fh_error err = FH_ERROR_INIT;
	fh_sinks_add(&sinks, (struct fh_sink){ &diary_kind, &a });
	fh_sinks_add(&sinks, (struct fh_sink){ &diary_kind, &b });
	assert_int_equal(fh_sinks_row(&sinks, &(struct fh_row){ .index = 0 }, &err), -FH_E_LIMIT);
	assert_string_equal(err.message, "a is full");
	assert_int_equal(fh_sinks_end(&sinks, &(struct fh_sink_end){ 0 }, &err), -FH_E_LIMIT);
	assert_string_equal(err.message, "a cannot end");
	assert_text(fh_buf_str(&text), "a0 a ends b ends ");
}

static void a_sink_that_takes_long_to_end_does_so_while_the_others_end(void **state)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(0);
	struct diary a = { .text = &text, .name = 'a', .fails = true }, b = { .text = &text, .name = 'b' };
	struct fh_sinks sinks = { 0 };
	struct fh_error err = FH_ERROR_INIT;
	fh_sinks_add(&sinks, (struct fh_sink){ &slow_kind, &a });
	fh_sinks_add(&sinks, (struct fh_sink){ &diary_kind, &b });
	assert_int_equal(fh_sinks_end(&sinks, &(struct fh_sink_end){ 0 }, &err), -FH_E_LIMIT);
	assert_string_equal(err.message, "a cannot end");
	assert_text(fh_buf_str(&text), "a begins to end b ends a ends ");
}

/* ------------------------------------------------------------------------------------- a judgement's results file */

static const char keys[3][FH_SHA256_HEX] = { "k0", "k1", "k2" };
#define ROW(index, passed, verdict, integrity)                                                                         \
	"{\"task_id\":\"T/0\",\"index\":" #index ",\"passed\":" #passed ",\"verdict\":\"" verdict                          \
	"\",\"integrity\":\"" integrity "\",\"key\":\"k" #index "\"}"
static const char *const rows[3] = {
	ROW(0, true, "passed", "split"),
	ROW(1, false, "failed", "in-process"),
	ROW(2, true, "passed", "split"),
};

static struct fh_results *open_results(const char *path)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_results *r = NULL;
	if (fh_results_open(path, keys, NULL, 3, &r, &err) < 0)
		fail_msg("%s", err.message);
	return r;
}

static void put(struct fh_results *r, size_t index)
{
	struct fh_sink sink = fh_results_sink(r);
	struct fh_error err = FH_ERROR_INIT;
	const struct fh_row row = { .index = index,
		                        .status = index == 1 ? "failed" : "passed",
		                        .integrity = index == 1 ? FH_INTEGRITY_IN_PROCESS : FH_INTEGRITY_SPLIT,
		                        .text = fh_str(rows[index]) };
	assert_int_equal(sink.kind->row(sink.self, &row, &err), 0);
}

static int end(struct fh_results *r, bool complete)
{
	struct fh_sink sink = fh_results_sink(r);
	struct fh_error err = FH_ERROR_INIT;
	return sink.kind->end(sink.self, &(struct fh_sink_end){ .complete = complete }, &err);
}

/* Whether the file has these rows in this order. */
static void assert_rows(const char *path, const size_t *which, size_t count)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(0), want = FH_BUF_INIT(0);
	for (size_t i = 0; i < count; i++)
		fh_buf_addf(&want, "%s\n", rows[which[i]]);
	assert_int_equal(fh_line_file_look(path, &text, NULL), 0);
	assert_text(fh_buf_str(&text), fh_buf_cstr(&want));
}

static void results_resume_and_end_sorted(void **state)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(names); i++) {
		fh_auto_free char *path = fh_xstrdup(scratch_file(names[i]));
		struct fh_results *r = open_results(path);
		put(r, 2);
		put(r, 0);
		assert_rows(path, (const size_t[]){ 2, 0 }, 2);
		assert_int_equal(end(r, true), -FH_E_BUG);
		assert_int_equal(end(r, false), 0);
		assert_rows(path, (const size_t[]){ 2, 0 }, 2);
		fh_results_close(r);

		r = open_results(path);
		assert_int_equal(fh_results_kept(r), 2);
		assert_int_equal(fh_results_stale(r), 0);
		assert_true(fh_results_row(r, 2).present);
		assert_int_equal(fh_results_row(r, 2).verdict, FH_VERDICT_PASSED);
		assert_false(fh_results_row(r, 1).present);
		put(r, 1);
		assert_true(fh_results_row(r, 1).in_process);
		assert_int_equal(end(r, true), 0);
		fh_results_close(r);
		assert_rows(path, (const size_t[]){ 0, 1, 2 }, 3);
	}
}

static void rows_of_an_earlier_run_are_recalled_once(void **state)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(names); i++) {
		fh_auto_buf struct fh_buf text = FH_BUF_INIT(0);
		fh_auto_free char *path = fh_xstrdup(scratch_file(names[i]));
		struct fh_results *r = open_results(path);
		put(r, 1);
		fh_results_close(r);
		r = open_results(path);
		struct fh_sink sink = fh_results_sink(r);
		assert_false(sink.kind->recall(sink.self, 0, &text));
		assert_true(sink.kind->recall(sink.self, 1, &text));
		assert_text(fh_buf_str(&text), rows[1]);
		const struct fh_row again = { .index = 1, .again = true, .text = fh_buf_str(&text) };
		assert_int_equal(sink.kind->row(sink.self, &again, NULL), 0);
		fh_results_close(r);
		assert_rows(path, (const size_t[]){ 1 }, 1);
	}
}

static void one_process_at_a_time_writes(void **state)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_results *second = NULL, *first = open_results(scratch_file(names[0]));
	assert_int_equal(fh_results_open(file, keys, NULL, 3, &second, &err), -FH_E_UNAVAILABLE);
	fh_results_close(first);
}

static void a_row_that_was_cut_off_is_dropped(void **state)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(names); i++) {
		fh_auto_buf struct fh_buf one = FH_BUF_INIT(0), two = FH_BUF_INIT(0);
		struct fh_results *r = open_results(scratch_file(names[i]));
		put(r, 0);
		assert_int_equal(fh_file_read(file, &one, NULL), 0);
		put(r, 1);
		fh_results_close(r);
		assert_int_equal(fh_file_read(file, &two, NULL), 0);
		for (size_t cut = one.n; cut < two.n; cut++) {
			assert_int_equal(fh_file_write_atomic(file, two.p, cut, 0600, NULL), 0);
			r = open_results(file);
			assert_int_equal(fh_results_kept(r), 1);
			put(r, 2);
			fh_results_close(r);
			assert_rows(file, (const size_t[]){ 0, 2 }, 2);
		}
	}
}

static void rows_of_another_run_are_not_used(void **state)
{
	const char *text =
	    "{\"task_id\":\"T/0\",\"index\":0,\"passed\":true,\"verdict\":\"passed\",\"key\":\"other\"}\n" /* another key */
	    "{\"task_id\":\"T/0\",\"index\":1,\"passed\":true,\"verdict\":\"passed\",\"key\":\"k0\"}\n" /* an equal sample
	                                                                                                   elsewhere */
	    "{\"task_id\":\"T/0\",\"index\":9,\"passed\":true,\"verdict\":\"passed\",\"key\":\"k0\"}\n" /* no such sample */
	    "{\"task_id\":\"T/0\",\"index\":2,\"verdict\":\"engine_error\",\"key\":\"k2\"}\n"; /* says nothing of it */
	struct fh_results *r = open_results(scratch_text(names[0], fh_str(text)));
	assert_int_equal(fh_results_kept(r), 0);
	assert_int_equal(fh_results_stale(r), 3);
	for (size_t i = 0; i < 3; i++)
		assert_false(fh_results_row(r, i).present);
	fh_results_close(r);
}

static void another_kind_of_file_is_left_alone(void **state)
{
	static const char *const texts[] = { "precious", "{\"task_id\":\"T/0\",\"completion\":\"x\"}\n", "a\nb\n", "\n" };
	for (size_t i = 0; i < FH_ARRAY_SIZE(texts) * FH_ARRAY_SIZE(names); i++) {
		const char *precious = texts[i % FH_ARRAY_SIZE(texts)];
		bool plain = i < FH_ARRAY_SIZE(texts);
		struct fh_error err = FH_ERROR_INIT;
		struct fh_results *r = NULL;
		const char *path = scratch_text(names[plain ? 0 : 1], fh_str(precious));
		assert_int_equal(fh_results_open(path, keys, NULL, 3, &r, &err), -FH_E_CONFIG);
		if (plain)
			assert_int_equal(err.line, 1);
		fh_auto_buf struct fh_buf text = FH_BUF_INIT(0);
		assert_int_equal(fh_file_read(file, &text, NULL), 0);
		assert_text(fh_buf_str(&text), precious);
	}
}

static void damage_within_a_compressed_file_is_told(void **state)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(0);
	struct fh_error err = FH_ERROR_INIT;
	struct fh_results *r = open_results(scratch_file(names[1]));
	put(r, 0);
	put(r, 1);
	fh_results_close(r);
	assert_int_equal(fh_file_read(file, &text, NULL), 0);
	text.p[text.n / 4] ^= 0x55;
	assert_int_equal(fh_file_write_atomic(file, text.p, text.n, 0600, NULL), 0);
	assert_int_equal(fh_results_open(file, keys, NULL, 3, &r, &err), -FH_E_CONFIG);
	assert_non_null(strstr(err.message, "damaged"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_row_goes_to_all_sinks_in_their_order),
		cmocka_unit_test(a_sink_that_fails_stops_the_row_but_not_the_ends),
		cmocka_unit_test(a_sink_that_takes_long_to_end_does_so_while_the_others_end),
		cmocka_unit_test(results_resume_and_end_sorted),
		cmocka_unit_test(rows_of_an_earlier_run_are_recalled_once),
		cmocka_unit_test(one_process_at_a_time_writes),
		cmocka_unit_test(a_row_that_was_cut_off_is_dropped),
		cmocka_unit_test(rows_of_another_run_are_not_used),
		cmocka_unit_test(another_kind_of_file_is_left_alone),
		cmocka_unit_test(damage_within_a_compressed_file_is_told),
	};
	return cmocka_run_group_tests_name("sink", tests, make_scratch, remove_scratch);
}
