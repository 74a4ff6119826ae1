/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <ftw.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/paired.h"
#include "store/rows.h"
#include "store/search.h"
#include "store/writer.h"

static char dir[64], path[96];

static int make_dir(void **state)
{
	snprintf(dir, sizeof(dir), "/tmp/fumehood-store-XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/data/store.db", dir);
	return 0;
}

static int drop(const char *name, const struct stat *st, int flag, struct FTW *walk)
{
	return remove(name);
}

static int remove_dir(void **state)
{
	return nftw(dir, drop, 8, FTW_DEPTH | FTW_PHYS);
}

static struct fh_store_writer *begin(const char *id, bool resume)
{
	fh_auto_json json_t *columns = json_pack("[{s:s, s:s}, {s:s, s:s}]", "provider", "echo", "label", "short",
	                                         "provider", "echo", "label", "long");
	fh_auto_json json_t *tags = json_pack("{s:s}", "branch", "main");
	const struct fh_store_begin b = { .path = path,
		                              .id = id,
		                              .description = "capitals of Europe",
		                              .created_ms = 1000,
		                              .total = 8,
		                              .rows = 4,
		                              .columns = columns,
		                              .tags = tags,
		                              .resume = resume };
	struct fh_store_writer *w = NULL;
	struct fh_error err = FH_ERROR_INIT;
	if (fh_store_writer_begin(&b, &w, &err) < 0)
		print_message("%s\n", err.message);
	return w;
}

/* Row i of column c passes when i + c is even; row 3 is an error. */
static void put(struct fh_store_writer *w, uint32_t row, uint32_t column)
{
	struct fh_error err = FH_ERROR_INIT;
	char data[200];
	int failure = row == 3 ? 2 : (row + column) % 2;
	snprintf(
	    data, sizeof(data),
	    "{\"response\":{\"output\":\"city \\\"%u\\\"\\nof %u\"},\"metadata\":{\"tags\":[\"t%u\"],\"level\":\"%u\"}}",
	    row, column, row, row % 2);
	const struct fh_row r = { .row = row,
		                      .column = column,
		                      .success = failure == 0,
		                      .failure = failure,
		                      .score = failure == 0,
		                      .latency_ms = 10 * (row + 1),
		                      .cost = 0.5,
		                      .tokens = 7,
		                      .key = "00ff",
		                      .status = failure ? "failed" : "passed",
		                      .language = column ? "go" : "python",
		                      .named = row == 1 ? "{\"speed\":0.25}" : NULL,
		                      .text = fh_str(data) };
	assert_int_equal(fh_store_writer_row(w, &r, &err), 0);
}

static void fill(const char *id)
{
	struct fh_store_writer *w = begin(id, false);
	assert_non_null(w);
	for (uint32_t row = 0; row < 4; row++)
		for (uint32_t column = 0; column < 2; column++)
			put(w, row, column);
	const struct fh_sink_end end = { .complete = true, .duration_ms = 120 };
	assert_int_equal(fh_store_writer_end(w, &end, NULL), 0);
}

static struct fh_store *opened(void)
{
	struct fh_store *s = NULL;
	assert_int_equal(fh_store_open(path, true, &s, NULL), 0);
	return s;
}

static void an_eval_is_read_back_with_its_sums(void **state)
{
	fill("eval-a");
	fh_auto_store struct fh_store *s = opened();
	struct fh_store_eval_list list;
	assert_int_equal(fh_store_evals(s, &(struct fh_store_eval_filter){ 0 }, 0, 0, &list, NULL), 0);
	assert_int_equal(list.total, 1);
	const struct fh_store_eval *e = &list.items[0];
	assert_string_equal(e->id, "eval-a");
	assert_int_equal(e->state, FH_STORE_COMPLETE);
	assert_int_equal(e->passed, 3);
	assert_int_equal(e->failed, 3);
	assert_int_equal(e->errors, 2);
	assert_int_equal(e->tokens, 56);
	assert_int_equal(e->duration_ms, 120);
	struct fh_store_documents d;
	assert_int_equal(fh_store_documents(s, e->number, &d, NULL), 0);
	const json_t *column = json_array_get(d.columns, 0);
	assert_string_equal(fh_json_str(column, "label", ""), "short");
	assert_int_equal(fh_json_int(json_object_get(column, "metrics"), "testPassCount", 0), 2);
	assert_string_equal(fh_json_str(d.tags, "branch", ""), "main");
	fh_store_documents_release(&d);
	fh_store_eval_list_release(&list);
	assert_int_equal(fh_store_evals(s, &(struct fh_store_eval_filter){ .tag = "branch=other" }, 0, 0, &list, NULL), 0);
	assert_int_equal(list.total, 0);
	assert_int_equal(fh_store_evals(s, &(struct fh_store_eval_filter){ .text = "EUROPE" }, 0, 0, &list, NULL), 0);
	assert_int_equal(list.total, 1);
	fh_store_eval_list_release(&list);
}

static uint64_t matched(struct fh_store *s, const struct fh_store_row_filter *f, uint32_t *ret_first)
{
	struct fh_store_cells c;
	const struct fh_store_page page = { .limit = 2 };
	struct fh_error err = FH_ERROR_INIT;
	if (fh_store_rows(s, 1, f, &page, &c, &err) < 0)
		fail_msg("%s", err.message);
	uint64_t n = c.matched;
	*ret_first = c.count ? c.items[0].row : UINT32_MAX;
	fh_store_cells_release(&c);
	return n;
}

static void filters_find_rows_by_their_cells(void **state)
{
	static const struct {
		struct fh_store_row_filter filter;
		uint64_t rows;
		uint32_t first;
	} cases[] = {
		{ { .column = -1 }, 4, 0 },
		{ { .column = -1, .show = FH_STORE_SHOW_FAILED }, 3, 0 },
		{ { .column = 0, .show = FH_STORE_SHOW_FAILED }, 1, 1 },
		{ { .column = -1, .show = FH_STORE_SHOW_ERRORS }, 1, 3 },
		{ { .column = -1, .show = FH_STORE_SHOW_DIFFERENT }, 3, 0 },
		{ { .column = -1, .text = "CITY \"2\"" }, 1, 2 },
		{ { .column = -1, .text = "response" }, 0, UINT32_MAX }, /* a member's name */
		{ { .column = -1, .regexp = "city \"[13]\"\nof" }, 2, 1 },
		{ { .column = -1, .regexp = "(" }, 0, UINT32_MAX },
		{ { .column = -1, .metric = "speed" }, 1, 1 },
		{ { .column = -1, .metric = "speed", .has_metric_min = true, .metric_min = 0.5 }, 0, UINT32_MAX },
		{ { .column = -1, .status = "passed", .language = "go" }, 1, 1 },
		{ { .column = -1, .tag = "t2" }, 1, 2 },
		{ { .column = -1, .tag = "level=1" }, 2, 1 },
		{ { .column = -1, .tag = "'; DROP TABLE cells; --" }, 0, UINT32_MAX },
	};
	fill("eval-a");
	fh_auto_store struct fh_store *s = opened();
	for (size_t i = 0; i < FH_ARRAY_SIZE(cases); i++) {
		uint32_t first;
		uint64_t n = matched(s, &cases[i].filter, &first);
		if (n != cases[i].rows || first != cases[i].first)
			fail_msg("case %zu: %llu rows, the first is %u", i, (unsigned long long)n, first);
	}
	struct fh_error err = FH_ERROR_INIT;
	assert_int_equal(fh_search_check("a(b", &err), -FH_E_ARGUMENT);
	assert_int_equal(fh_search_check("a(b)", &err), 0);
}

static void pages_follow_the_order_asked_for(void **state)
{
	fill("eval-a");
	fh_auto_store struct fh_store *s = opened();
	const struct fh_store_row_filter all = FH_STORE_ROW_FILTER_INIT;
	const struct fh_store_page page = { .order = FH_STORE_BY_LATENCY, .descending = true, .offset = 1, .limit = 2 };
	struct fh_store_cells c;
	assert_int_equal(fh_store_rows(s, 1, &all, &page, &c, NULL), 0);
	assert_int_equal(c.total, 4);
	assert_int_equal(c.count, 4); /* two rows of two columns */
	assert_int_equal(c.items[0].row, 2);
	assert_int_equal(c.items[3].row, 1);
	assert_int_equal(c.items[3].column, 1);
	assert_non_null(strstr(c.items[3].data, "city \\\"1\\\""));
	fh_store_cells_release(&c);
	json_t *facets = NULL;
	assert_int_equal(fh_store_facets(s, 1, &facets, NULL), 0);
	assert_int_equal(fh_json_int(json_object_get(facets, "status"), "passed", 0), 3);
	assert_string_equal(json_string_value(json_array_get(json_object_get(facets, "metrics"), 0)), "speed");
	json_decref(facets);
}

static void a_rating_stays_with_its_cell(void **state)
{
	fill("eval-a");
	struct fh_store *s = NULL;
	assert_int_equal(fh_store_open(path, false, &s, NULL), 0);
	char comment[] = "nearly";
	struct fh_store_rating up = { .thumb = 1, .comment = comment };
	assert_int_equal(fh_store_rate(s, 1, 2, 1, &up, NULL), 0);
	struct fh_store_cell c;
	assert_int_equal(fh_store_cell(s, 1, 2, 1, &c, NULL), 0);
	assert_int_equal(c.rating.thumb, 1);
	assert_false(c.rating.has_score);
	assert_string_equal(c.rating.comment, "nearly");
	fh_store_cell_release(&c);
	uint32_t first;
	assert_int_equal(matched(s, &(struct fh_store_row_filter){ .column = -1, .show = FH_STORE_SHOW_RATED }, &first), 1);
	assert_int_equal(fh_store_rate(s, 1, 2, 1, &(struct fh_store_rating){ 0 }, NULL), 0);
	assert_int_equal(matched(s, &(struct fh_store_row_filter){ .column = -1, .show = FH_STORE_SHOW_RATED }, &first), 0);
	struct fh_error err = FH_ERROR_INIT;
	assert_int_equal(fh_store_cell(s, 1, 9, 0, &c, &err), -FH_E_NOT_FOUND);
	fh_store_close(s);
}

static void ids_are_found_by_their_beginning(void **state)
{
	fill("eval-aaa");
	fill("eval-aab");
	fh_auto_store struct fh_store *s = opened();
	struct fh_store_eval e;
	struct fh_error err = FH_ERROR_INIT;
	assert_int_equal(fh_store_find(s, "eval-aaa", &e, &err), 0);
	fh_store_eval_release(&e);
	assert_int_equal(fh_store_find(s, "latest", &e, &err), 0);
	assert_string_equal(e.id, "eval-aab");
	fh_store_eval_release(&e);
	assert_int_equal(fh_store_find(s, "eval-aa", &e, &err), -FH_E_ARGUMENT);
	assert_int_equal(fh_store_find(s, "eval-x", &e, &err), -FH_E_NOT_FOUND);
	assert_int_equal(fh_store_find(s, "", &e, &err), -FH_E_ARGUMENT);
}

static void one_eval_has_one_writer(void **state)
{
	struct fh_store_writer *w = begin("eval-a", false);
	struct fh_error err = FH_ERROR_INIT;
	assert_non_null(w);
	assert_null(begin("eval-a", true));
	struct fh_store *s = NULL;
	assert_int_equal(fh_store_open(path, false, &s, NULL), 0);
	struct fh_store_eval e;
	assert_int_equal(fh_store_find(s, "eval-a", &e, &err), 0);
	assert_int_equal(e.state, FH_STORE_RUNNING);
	fh_store_eval_release(&e);
	assert_int_equal(fh_store_delete(s, 1, &err), -FH_E_UNAVAILABLE);
	struct fh_store_writer *other = begin("eval-b", false); /* another eval has another */
	assert_non_null(other);
	put(w, 0, 0);
	put(other, 0, 0);
	assert_int_equal(fh_store_writer_flush(w, NULL), 0);
	assert_int_equal(fh_store_writer_flush(other, NULL), 0);
	fh_store_writer_close(other);
	fh_store_writer_close(w);
	assert_int_equal(fh_store_find(s, "eval-a", &e, &err), 0);
	assert_int_equal(e.state, FH_STORE_INTERRUPTED);
	assert_int_equal(e.passed, 1);
	fh_store_eval_release(&e);
	assert_int_equal(fh_store_wish(s, 1, FH_STORE_CANCEL, &err), -FH_E_NOT_FOUND);
	fh_store_close(s);
}

static void a_killed_writer_loses_nothing_that_was_done(void **state)
{
	int done[2];
	assert_int_equal(pipe(done), 0);
	pid_t pid = fork();
	if (pid == 0) {
		struct fh_store_writer *w = begin("eval-a", false);
		for (uint32_t i = 0; i < 3; i++)
			put(w, i, 0);
		if (fh_store_writer_flush(w, NULL) == 0 && write(done[1], "x", 1) == 1)
			pause();
		_exit(1);
	}
	char byte;
	assert_int_equal(read(done[0], &byte, 1), 1);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(done[0]);
	close(done[1]);
	struct fh_store_eval e;
	struct fh_store *s = opened();
	assert_int_equal(fh_store_find(s, "eval-a", &e, NULL), 0);
	assert_int_equal(e.state, FH_STORE_INTERRUPTED);
	assert_int_equal(e.passed + e.failed + e.errors, 3);
	fh_store_eval_release(&e);
	fh_store_close(s);

	/* Going on: one row is dropped, one moves to where its test is now. */
	struct fh_store_writer *w = begin("eval-a", true);
	assert_non_null(w);
	const struct fh_store_place drops[] = { { 0, 0 } };
	const struct fh_store_move moves[] = { { { 1, 0 }, { 2, 0 } }, { { 2, 0 }, { 1, 0 } } };
	struct fh_error err = FH_ERROR_INIT;
	if (fh_store_writer_arrange(w, drops, 1, moves, 2, &err) < 0)
		fail_msg("%s", err.message);
	put(w, 0, 1);
	assert_int_equal(fh_store_writer_end(w, &(struct fh_sink_end){ .complete = true }, NULL), 0);
	s = opened();
	struct fh_store_cell c;
	assert_int_equal(fh_store_cell(s, 1, 1, 0, &c, NULL), 0);
	assert_non_null(strstr(c.data, "city \\\"2\\\""));
	fh_store_cell_release(&c);
	assert_int_equal(fh_store_cell(s, 1, 0, 0, &c, &err), -FH_E_NOT_FOUND);
	assert_int_equal(fh_store_find(s, "eval-a", &e, NULL), 0);
	assert_int_equal(e.passed + e.failed + e.errors, 3);
	fh_store_eval_release(&e);
	fh_store_close(s);
}

static void a_row_comes_once(void **state)
{
	struct fh_store_writer *w = begin("eval-a", false);
	struct fh_error err = FH_ERROR_INIT;
	put(w, 0, 0);
	put(w, 0, 0);
	assert_true(fh_store_writer_flush(w, &err) < 0);
	fh_store_writer_close(w);
}

static void deletion_leaves_nothing(void **state)
{
	fill("eval-a");
	struct fh_store *s = NULL;
	assert_int_equal(fh_store_open(path, false, &s, NULL), 0);
	assert_int_equal(fh_store_delete(s, 1, NULL), 0);
	fh_store_close(s);
	sqlite3 *db = NULL;
	sqlite3_stmt *q = NULL;
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db,
	                                    "SELECT (SELECT count(*) FROM evals) + (SELECT count(*) FROM cells) +"
	                                    " (SELECT count(*) FROM data) + (SELECT count(*) FROM columns) +"
	                                    " (SELECT count(*) FROM tags)",
	                                    -1, &q, NULL),
	                 SQLITE_OK);
	assert_int_equal(sqlite3_step(q), SQLITE_ROW);
	assert_int_equal(sqlite3_column_int(q, 0), 0);
	sqlite3_finalize(q);
	sqlite3_close(db);
}

static void by_hand(const char *sql)
{
	sqlite3 *db = NULL;
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static int by_hand_number(const char *sql)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *q = NULL;
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &q, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(q), SQLITE_ROW);
	int n = sqlite3_column_int(q, 0);
	sqlite3_finalize(q);
	sqlite3_close(db);
	return n;
}

static int count_cell(void *context, const struct fh_store_cell *cell, struct fh_error *err)
{
	++*(int *)context;
	return 0;
}

/* A damaged page may look to SQLite as if there was no more. */
static void rows_that_a_damaged_file_has_lost_are_not_left_out_in_silence(void **state)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_store *s = NULL;
	int count = 0;
	fill("eval-a");
	s = opened();
	assert_int_equal(fh_store_each_cell(s, 1, true, count_cell, &count, &err), 0);
	assert_true(count > 1);
	fh_store_close(s);
	by_hand("DELETE FROM cells WHERE row = 0");
	s = opened();
	assert_int_equal(fh_store_each_cell(s, 1, true, count_cell, &count, &err), -FH_E_CONFIG);
	assert_non_null(strstr(err.message, "damaged"));
	fh_store_close(s);
}

static void a_newer_or_strange_file_is_refused_and_left_alone(void **state)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_store *s = NULL;
	assert_int_equal(fh_store_open(path, true, &s, &err), -FH_E_NOT_FOUND);
	fill("eval-a");
	by_hand("PRAGMA user_version = 99");
	assert_int_equal(fh_store_open(path, false, &s, &err), -FH_E_CONFIG);
	assert_non_null(strstr(err.message, "newer"));
	by_hand("PRAGMA application_id = 5");
	assert_int_equal(fh_store_open(path, false, &s, &err), -FH_E_CONFIG);
	assert_non_null(strstr(err.message, "another program"));
	/* A database without any number, as most are: not even how it is journaled is changed. */
	unlink(path);
	by_hand("CREATE TABLE notes(text)");
	for (int read_only = 0; read_only < 2; read_only++) {
		assert_int_equal(fh_store_open(path, read_only != 0, &s, &err), -FH_E_CONFIG);
		assert_non_null(strstr(err.message, "another program"));
	}
	assert_int_equal(by_hand_number("SELECT count(*) FROM sqlite_master"), 1);
	assert_int_equal(by_hand_number("SELECT journal_mode = 'delete' FROM pragma_journal_mode"), 1);
	FILE *f = fopen(path, "w");
	fputs("this is no database at all, but a text that someone wrote\n", f);
	fclose(f);
	assert_int_equal(fh_store_open(path, false, &s, &err), -FH_E_CONFIG);
	assert_non_null(strstr(err.message, "not a store"));
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, 58);
}

static void the_store_is_for_its_owner_alone(void **state)
{
	struct stat st;
	fill("eval-a");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

static void paired_figures(void **state)
{
	assert_float_equal(fh_paired_mcnemar(0, 0), 1, 1e-9);
	assert_float_equal(fh_paired_mcnemar(1, 9), 22.0 / 1024, 1e-9);
	assert_float_equal(fh_paired_mcnemar(9, 1), 22.0 / 1024, 1e-9);
	assert_float_equal(fh_paired_mcnemar(5, 0), 2.0 / 32, 1e-9);
	assert_float_equal(fh_paired_mcnemar(3, 3), 1, 1e-9);
	assert_true(fh_paired_mcnemar(3000, 3200) > 0.01 && fh_paired_mcnemar(3000, 3200) < 0.012);
	const double same[] = { 0.5, 0.5, 0.5 }, mixed[] = { 1, 0, 0, 0, -1, 1, 0, 1 };
	struct fh_paired_interval i = fh_paired_bootstrap(same, 3);
	assert_float_equal(i.low, 0.5, 1e-9);
	assert_float_equal(i.high, 0.5, 1e-9);
	i = fh_paired_bootstrap(mixed, 8);
	assert_float_equal(i.mean, 0.25, 1e-9);
	assert_true(i.low < 0 && i.low > -0.5 && i.high > 0.5 && i.high < 1);
	fh_paired_difference(2, 5, 10, &i);
	assert_float_equal(i.mean, 0.3, 1e-9);
	assert_float_equal(i.high - i.mean, 1.959964 * sqrt(7 - 0.9) / 10, 1e-9);
	fh_paired_difference(0, 0, 0, &i);
	assert_true(i.low <= -1 && i.high >= 1);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, make_dir, remove_dir)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paired_figures),
		TEST(an_eval_is_read_back_with_its_sums),
		TEST(filters_find_rows_by_their_cells),
		TEST(pages_follow_the_order_asked_for),
		TEST(a_rating_stays_with_its_cell),
		TEST(ids_are_found_by_their_beginning),
		TEST(one_eval_has_one_writer),
		TEST(a_killed_writer_loses_nothing_that_was_done),
		TEST(a_row_comes_once),
		TEST(deletion_leaves_nothing),
		TEST(rows_that_a_damaged_file_has_lost_are_not_left_out_in_silence),
		TEST(a_newer_or_strange_file_is_refused_and_left_alone),
		TEST(the_store_is_for_its_owner_alone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
