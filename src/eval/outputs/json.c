/* SPDX-License-Identifier: MIT */
#include "eval/outputs/output.h"
#include "base/clock.h"

static void key(struct fh_buf *out, const char *name)
{
	fh_json_write_string(out, fh_str(name));
	fh_buf_addc(out, ':');
}

static void member(struct fh_buf *out, const char *name, FH_OWN json_t *value)
{
	key(out, name);
	fh_json_write(out, value, 0);
	json_decref(value);
}

static json_t *kept(const json_t *value)
{
	return json_incref((json_t *)(uintptr_t)value);
}

struct rows {
	struct fh_output_stream *out;
	bool some;
};

static int write_row(void *context, uint32_t row, uint32_t column, struct fh_str text, struct fh_error *err)
{
	struct rows *r = context;
	fh_buf_adds(&r->out->text, r->some ? ",\n" : "\n");
	fh_buf_add_str(&r->out->text, text);
	fh_output_flush(r->out);
	r->some = true;
	return 0;
}

static int write_results(const struct fh_output_data *d, struct fh_output_stream *stream, struct fh_error *err)
{
	struct fh_buf *out = &stream->text;
	char time[32];
	fh_buf_addc(out, '{');
	member(out, "version", json_integer(3));
	fh_buf_addc(out, ',');
	member(out, "timestamp", json_string(fh_iso_time(d->started_wall_ms, time)));
	fh_buf_adds(out, ",\"prompts\":[");
	for (size_t i = 0; i < json_array_size(d->columns); i++) {
		fh_buf_adds(out, i ? ",\n" : "\n");
		fh_json_write(out, json_array_get(d->columns, i), 0);
	}
	fh_buf_adds(out, "],\n\"results\":[");
	int r = d->each(d->context, write_row, &(struct rows){ .out = stream }, err);
	fh_buf_adds(out, "],\n");
	member(out, "stats",
	       json_pack("{s:I, s:I, s:I, s:o, s:I, s:I}", "successes", (json_int_t)d->successes, "failures",
	                 (json_int_t)d->failures, "errors", (json_int_t)d->errors, "tokenUsage", kept(d->tokens),
	                 "durationMs", (json_int_t)d->duration_ms, "evaluationDurationMs", (json_int_t)d->duration_ms));
	fh_buf_addc(out, '}');
	return r;
}

static int write_all(const struct fh_output_data *d, struct fh_output_stream *stream, struct fh_error *err)
{
	struct fh_buf *out = &stream->text;
	fh_buf_addc(out, '{');
	member(out, "evalId", json_string(d->id));
	fh_buf_adds(out, ",\n\"results\":");
	int r = write_results(d, stream, err);
	fh_buf_adds(out, ",\n");
	member(out, "config", kept(d->config));
	fh_buf_adds(out, ",\n");
	member(out, "shareableUrl", json_null());
	fh_buf_adds(out, ",\n");
	member(out, "metadata", fh_output_about(d));
	if (json_array_size(d->vars) > 0) {
		fh_buf_adds(out, ",\n");
		member(out, "vars", kept(d->vars));
	}
	fh_buf_adds(out, ",\n");
	member(out, "runtimeOptions", kept(d->options));
	fh_buf_adds(out, "}\n");
	return r;
}

const struct fh_output_kind fh_output_json = { .extension = ".json", .write = write_all, .sign = "\"evalId\"" };
