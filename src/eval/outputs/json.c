/* SPDX-License-Identifier: MIT */
#include "eval/outputs/output.h"
#include <sys/utsname.h>
#include "base/clock.h"
#include "fumehood/sandbox.h"

/* The file is written piece by piece, a row a line: the whole tree at once would cost more memory than the results. */

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

static json_t *column_json(const struct fh_eval_column *c, const json_t *metrics)
{
	json_t *o =
	    json_pack("{s:o, s:s, s:o, s:s}", "raw", fh_json_bytes(fh_str(c->prompt->raw)), "id", c->prompt->id, "label",
	              fh_json_bytes(fh_str(c->prompt->label)), "provider", fh_eval_provider_name(c->provider));
	if (c->prompt->config)
		json_object_set(o, "config", c->prompt->config);
	json_object_set(o, "metrics", (json_t *)(uintptr_t)metrics);
	return o;
}

static void write_results(const struct fh_output_data *d, struct fh_buf *out)
{
	const struct fh_eval_results *r = d->results;
	char time[32];
	fh_buf_addc(out, '{');
	member(out, "version", json_integer(3));
	fh_buf_addc(out, ',');
	member(out, "timestamp", json_string(fh_iso_time(r->started_wall_ms, time)));
	fh_buf_adds(out, ",\"prompts\":[");
	for (size_t i = 0; i < d->plan->column_count; i++) {
		json_t *column = column_json(&d->plan->columns[i], json_array_get(r->metrics, i));
		fh_buf_adds(out, i ? ",\n" : "\n");
		fh_json_write(out, column, 0);
		json_decref(column);
	}
	fh_buf_adds(out, "],\n\"results\":[");
	bool first = true;
	for (size_t i = 0; i < r->count; i++) {
		if (!r->items[i].done)
			continue;
		fh_buf_adds(out, first ? "\n" : ",\n");
		fh_output_row(d, i, out);
		first = false;
	}
	fh_buf_adds(out, "],\n");
	member(out, "stats",
	       json_pack("{s:I, s:I, s:I, s:o, s:I, s:I}", "successes", (json_int_t)r->successes, "failures",
	                 (json_int_t)r->failures, "errors", (json_int_t)r->errors, "tokenUsage",
	                 fh_eval_tokens_json(&r->tokens, r->requests), "durationMs", (json_int_t)r->duration_ms,
	                 "evaluationDurationMs", (json_int_t)r->duration_ms));
	fh_buf_addc(out, '}');
}

static json_t *config_json(const struct fh_output_data *d)
{
	json_t *config = fh_output_redact(d->plan->config.root);
	json_t *paths = json_array();
	for (const char *const *p = d->paths; p && *p; p++)
		json_array_append_new(paths, fh_json_bytes(fh_str(*p)));
	if (d->description)
		json_object_set_new(config, "description", fh_json_bytes(fh_str(d->description)));
	json_object_set_new(config, "outputPath", paths);
	if (!json_object_get(config, "extensions"))
		json_object_set_new(config, "extensions", json_array());
	return config;
}

static json_t *about_json(const struct fh_output_data *d)
{
	struct utsname host = { 0 };
	char now[32], started[32];
	uname(&host);
	return json_pack("{s:s, s:s, s:s, s:s, s:s}", "fumehoodVersion", fh_version(), "platform", "linux", "arch",
	                 host.machine, "exportedAt", fh_iso_time(fh_wall_ms(), now), "evaluationCreatedAt",
	                 fh_iso_time(d->results->started_wall_ms, started));
}

static int write(const struct fh_output_data *d, struct fh_buf *out, struct fh_error *err)
{
	fh_buf_addc(out, '{');
	member(out, "evalId", json_string(d->results->id));
	fh_buf_adds(out, ",\n\"results\":");
	write_results(d, out);
	fh_buf_adds(out, ",\n");
	member(out, "config", config_json(d));
	fh_buf_adds(out, ",\n");
	member(out, "shareableUrl", json_null());
	fh_buf_adds(out, ",\n");
	member(out, "metadata", about_json(d));
	if (d->plan->var_count > 0) {
		json_t *vars = json_array();
		for (size_t i = 0; i < d->plan->var_count; i++)
			json_array_append_new(vars, json_string(d->plan->vars[i]));
		fh_buf_adds(out, ",\n");
		member(out, "vars", vars);
	}
	fh_buf_adds(out, ",\n");
	member(out, "runtimeOptions",
	       json_pack("{s:s, s:I, s:I, s:b}", "eventSource", "cli", "repeat", (json_int_t)d->plan->repeat,
	                 "maxConcurrency", (json_int_t)d->plan->concurrency, "cache", 0));
	fh_buf_adds(out, "}\n");
	return 0;
}

const struct fh_output fh_output_json = { .extension = ".json", .write = write };
