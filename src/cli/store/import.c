/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "cli/store/store.h"
#include "cli/shared/options.h"
#include "cli/shared/print.h"
#include "eval/run.h"
#include "store/writer.h"

#define FILE_MAX_BYTES ((size_t)2 << 30)

static bool as_json, new_id, force;
static const struct fh_opt options[] = {
	{ .name = "new-id",
	  .kind = FH_OPT_FLAG,
	  .target = &new_id,
	  .help = "Give the eval a new id if the store has its id already." },
	{ .name = "force", .kind = FH_OPT_FLAG, .target = &force, .help = "Put it in the place of the eval with its id." },
	{ .name = "json", .kind = FH_OPT_FLAG, .target = &as_json, .help = "Print {id, rows}." },
	{ 0 },
};
static const struct fh_command_line command_line = {
	.program = "fumehood import",
	.synopsis = "[OPTIONS] RESULTS.json",
	.about = "Takes results files into the store: those of `fumehood eval -o FILE.json` and `fumehood export`, and "
	         "promptfoo's "
	         "(version 3).",
	.details =
	    "Exit status: 0; 1 when the file cannot be imported, and then nothing of it is; 2 the command line is wrong.",
	.options = options,
};

/* Parses "2026-11-21T09:28:07.123Z"; the current time when the text has another form. */
static int64_t wall_ms_of(const char *text)
{
	struct tm t = { 0 };
	const char *rest = text ? strptime(text, "%Y-%m-%dT%H:%M:%S", &t) : NULL;
	if (!rest)
		return fh_wall_ms();
	return (int64_t)timegm(&t) * 1000 + (*rest == '.' ? (int64_t)(strtod(rest, NULL) * 1000) : 0);
}

static int place_of(const json_t *row, size_t index, size_t columns, int64_t *ret_row, int64_t *ret_column,
                    struct fh_error *err)
{
	int64_t at = fh_json_int(row, "testIdx", (int64_t)(index / columns)),
	        column = fh_json_int(row, "promptIdx", (int64_t)(index % columns));
	if (!json_is_object(row) || at < 0 || at > UINT32_MAX || column < 0 || (uint64_t)column >= columns)
		return fh_error_set(err, FH_E_CONFIG, "result %zu is not a row, or names a prompt that the file lacks", index);
	*ret_row = at;
	*ret_column = column;
	return 0;
}

static int put_row(struct fh_store_writer *w, const json_t *row, size_t index, size_t columns, struct fh_error *err)
{
	int64_t at = 0, column = 0;
	int place = place_of(row, index, columns, &at, &column, err);
	if (place < 0)
		return place;
	fh_auto_free char *data = fh_json_text(row, 0);
	const json_t *named_scores = json_object_get(row, "namedScores");
	fh_auto_free char *named = json_object_size(named_scores) ? fh_json_text(named_scores, 0) : NULL;
	int64_t failure = fh_json_int(row, "failureReason", 0);
	const struct fh_row r = { .row = (uint32_t)at,
		                      .column = (uint32_t)column,
		                      .success = json_is_true(json_object_get(row, "success")),
		                      .failure = failure == FH_FAILURE_ASSERTION || failure == FH_FAILURE_ERROR
		                                     ? (enum fh_failure)failure
		                                     : FH_FAILURE_NONE,
		                      .score = fh_json_num(row, "score", 0),
		                      .latency_ms = fh_json_num(row, "latencyMs", 0),
		                      .cost = fh_json_num(row, "cost", 0),
		                      .tokens = fh_json_int(json_object_get(row, "tokenUsage"), "total", 0),
		                      .named = named,
		                      .text = fh_str(data) };
	return fh_store_writer_row(w, &r, err);
}

static int put_all(const json_t *file, const char *id, struct fh_error *err)
{
	const json_t *results = json_object_get(file, "results"), *rows = json_object_get(results, "results"),
	             *prompts = json_object_get(results, "prompts"), *config = json_object_get(file, "config");
	fh_auto_json json_t *started = json_pack("{s:O?}", "runtime", json_object_get(file, "runtimeOptions"));
	fh_auto_json json_t *metrics = json_array();
	size_t columns = json_array_size(prompts), tests = 0;
	for (size_t i = 0; i < json_array_size(rows); i++)
		tests = FH_MAX(tests, (size_t)fh_json_int(json_array_get(rows, i), "testIdx", 0) + 1);
	for (size_t i = 0; i < columns; i++) {
		json_t *m = json_object_get(json_array_get(prompts, i), "metrics");
		json_array_append_new(metrics, m ? json_incref(m) : json_object());
	}
	const struct fh_store_begin b = { .id = id,
		                              .description = fh_json_str(config, "description", NULL),
		                              .created_ms = wall_ms_of(fh_json_str(results, "timestamp", NULL)),
		                              .total = json_array_size(rows),
		                              .rows = tests,
		                              .config = config,
		                              .tags = json_object_get(config, "tags"),
		                              .vars = json_object_get(file, "vars"),
		                              .options = started,
		                              .columns = prompts };
	struct fh_store_writer *w = NULL;
	int r = fh_store_writer_begin(&b, &w, err);
	for (size_t i = 0; i < json_array_size(rows) && r == 0; i++)
		r = put_row(w, json_array_get(rows, i), i, columns, err);
	if (r < 0) {
		fh_store_writer_close(w);
		return r;
	}
	const struct fh_sink_end end = { .complete = true,
		                             .duration_ms = fh_json_int(json_object_get(results, "stats"), "durationMs", 0),
		                             .metrics = metrics };
	return fh_store_writer_end(w, &end, err);
}

/* Removes the rows that were stored before one was refused. */
static void take_out(const char *id)
{
	fh_auto_store struct fh_store *s = NULL;
	struct fh_store_eval e = { 0 };
	if (fh_store_open(NULL, false, &s, NULL) == 0 && fh_store_find(s, id, &e, NULL) == 0 && fh_streq(e.id, id))
		(void)fh_store_delete(s, e.number, NULL);
	fh_store_eval_release(&e);
}

static bool is_there(const char *id)
{
	fh_auto_store struct fh_store *s = NULL;
	struct fh_store_eval e = { 0 };
	bool there = fh_store_open(NULL, true, &s, NULL) == 0 && fh_store_find(s, id, &e, NULL) == 0 && fh_streq(e.id, id);
	fh_store_eval_release(&e);
	return there;
}

/* Deletes the eval whose place is taken, once it is known that the rows can be stored. */
static int make_room(const char *id, const json_t *rows, size_t columns, struct fh_error *err)
{
	fh_auto_store struct fh_store *s = NULL;
	struct fh_store_eval e = { 0 };
	int64_t at = 0, column = 0;
	int r = 0;
	for (size_t i = 0; i < json_array_size(rows) && r == 0; i++)
		r = place_of(json_array_get(rows, i), i, columns, &at, &column, err);
	if (r == 0)
		r = fh_store_open(NULL, false, &s, err);
	if (r == 0)
		r = fh_store_find(s, id, &e, err);
	if (r == 0)
		r = fh_store_delete(s, e.number, err);
	fh_store_eval_release(&e);
	return r;
}

static int import(const char *path, json_t *done, struct fh_error *err)
{
	char own[64];
	fh_auto_json json_t *file = fh_json_load_file(path, FILE_MAX_BYTES, err);
	if (!file)
		return -FH_E_CONFIG;
	const json_t *results = json_object_get(file, "results"), *rows = json_object_get(results, "results");
	if (!json_is_array(rows) || json_array_size(json_object_get(results, "prompts")) == 0) {
		fh_error_at(err, path, 0, 0,
		            "not the results of an eval: there are no lists results.results and results.prompts");
		fh_error_hint(err, "files of `fumehood eval -o FILE.json` and of promptfoo (version 3) can be imported");
		return -FH_E_CONFIG;
	}
	const char *id = fh_json_str(file, "evalId", "");
	fh_store_id_make(FH_STORE_EVAL, fh_wall_ms(), own);
	bool taken = *id && is_there(id);
	if (taken && !new_id && !force) {
		fh_error_set(err, FH_E_ARGUMENT, "the store has an eval %s already", id);
		fh_error_hint(err, "--new-id imports it under another id, --force in the place of the old one");
		return -FH_E_ARGUMENT;
	}
	if (taken && !new_id) {
		int r = make_room(id, rows, json_array_size(json_object_get(results, "prompts")), err);
		if (r < 0)
			return fh_error_wrap(err, "%s", path);
	}
	id = *id && !(new_id && taken) ? id : own;
	int r = put_all(file, id, err);
	if (r < 0) {
		take_out(id);
		return fh_error_wrap(err, "%s", path);
	}
	json_array_append_new(done, json_pack("{s:s, s:I}", "id", id, "rows", (json_int_t)json_array_size(rows)));
	return 0;
}

int fh_store_command_import(int argc, char **argv)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_opt_list args = { 0 };
	enum fh_help help = FH_HELP_NONE;
	int r = fh_options_parse(&command_line, argc, argv, false, &args, &help, &err);
	if (r == 0 && !help && args.count == 0)
		r = fh_error_set(&err, FH_E_ARGUMENT, "import needs a results file");
	if (r < 0 || help) {
		fh_opt_list_release(&args);
		if (help)
			fh_options_help(&command_line, help);
		return help ? FH_EXIT_OK : fh_command_failed(&err, FH_EXIT_USAGE);
	}
	fh_auto_json json_t *done = json_array();
	for (size_t i = 0; i < args.count && r == 0; i++)
		r = import(args.items[i], done, &err);
	if (as_json)
		fh_store_print_json(done);
	for (size_t i = 0; !as_json && i < json_array_size(done); i++)
		fh_printf("imported %s: %lld rows\n", fh_json_str(json_array_get(done, i), "id", ""),
		          (long long)fh_json_int(json_array_get(done, i), "rows", 0));
	fh_opt_list_release(&args);
	return r < 0 ? fh_command_failed(&err, FH_EXIT_FAILED) : FH_EXIT_OK;
}
