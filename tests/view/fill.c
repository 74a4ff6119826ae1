/* SPDX-License-Identifier: MIT */
/*
 * Puts an eval into a store, as the command that ran it would: fill STORE < LINES
 *
 *     {"id": …, "kind": "eval", "description": …, "created": ms, "columns": […], "vars": […], "config": {…}, "rows": n}
 *     {"row": 0, "column": 0, "success": true, "failure": 0, "score": 1, "latency": 12, "cost": 0, "tokens": 0,
 *      "status": …, "language": …, "named": {…}, "data": {…}, "times": 1}
 *     …
 *
 * "times" puts the same row again and again, under the numbers that follow. A line {"sleep": ms} waits, for tests of
 * what is seen meanwhile; {"leave": true} ends the program as if it had been killed.
 */
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "store/writer.h"

static int fail(const struct fh_error *err)
{
	fprintf(stderr, "fill: %s\n", err->message);
	return 1;
}

static int put(struct fh_store_writer *w, const json_t *line, struct fh_error *err)
{
	json_t *named = json_object_get(line, "named");
	fh_auto_free char *named_text = json_is_object(named) ? fh_json_text(named, 0) : NULL;
	fh_auto_free char *data = fh_json_text(json_object_get(line, "data"), 0);
	struct fh_row row = { .row = (uint32_t)fh_json_int(line, "row", 0),
		                  .column = (uint32_t)fh_json_int(line, "column", 0),
		                  .success = fh_json_bool(line, "success", false),
		                  .failure = (int)fh_json_int(line, "failure", 0),
		                  .score = fh_json_num(line, "score", 0),
		                  .latency_ms = fh_json_num(line, "latency", 0),
		                  .cost = fh_json_num(line, "cost", 0),
		                  .tokens = fh_json_int(line, "tokens", 0),
		                  .status = fh_json_str(line, "status", NULL),
		                  .language = fh_json_str(line, "language", NULL),
		                  .named = named_text,
		                  .text = fh_str(data) };
	int r = 0;
	for (int64_t i = fh_json_int(line, "times", 1); i > 0 && r == 0; i--, row.row++)
		r = fh_store_writer_row(w, &row, err);
	return r;
}

int main(int argc, char **argv)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_store_writer *w = NULL;
	fh_auto_free char *text = NULL;
	size_t room = 0;
	ssize_t n;
	int64_t began = fh_now_ns();
	while (argc == 2 && (n = getline(&text, &room, stdin)) > 0) {
		fh_auto_json json_t *line = fh_json_parse((struct fh_str){ text, (size_t)n }, "stdin", &err);
		if (!line)
			return fail(&err);
		if (!w) {
			struct fh_store_begin b = { .path = argv[1],
				                        .id = fh_json_str(line, "id", "eval-x"),
				                        .description = fh_json_str(line, "description", NULL),
				                        .created_ms = fh_json_int(line, "created", fh_wall_ms()),
				                        .rows = (uint64_t)fh_json_int(line, "rows", 0),
				                        .total = (uint64_t)fh_json_int(line, "total", 0),
				                        .config = json_object_get(line, "config"),
				                        .vars = json_object_get(line, "vars"),
				                        .columns = json_object_get(line, "columns"),
				                        .tags = json_object_get(line, "tags") };
			if (!fh_store_kind_of_name(fh_json_str(line, "kind", "eval"), &b.kind) ||
			    fh_store_writer_begin(&b, &w, &err) < 0)
				return fail(&err);
		} else if (json_object_get(line, "sleep")) {
			if (fh_store_writer_flush(w, &err) < 0)
				return fail(&err);
			fh_sleep_ns(fh_json_int(line, "sleep", 0) * FH_NS_PER_MS);
		} else if (json_object_get(line, "leave")) {
			(void)fh_store_writer_flush(w, &err);
			_exit(0);
		} else if (put(w, line, &err) < 0) {
			return fail(&err);
		}
	}
	struct fh_sink_end end = { .complete = true, .duration_ms = (fh_now_ns() - began) / FH_NS_PER_MS };
	return w && fh_store_writer_end(w, &end, &err) == 0 ? 0 : fail(&err);
}
