/* SPDX-License-Identifier: MIT */
#include <ctype.h>

#include "base/clock.h"
#include "base/escape.h"
#include "eval/outputs/output.h"

/* The same tree as in .json, in block style. Text that YAML could read as another type or as syntax is quoted as in
 * JSON, of which YAML's double quotes are a superset (YAML 1.2, 7.3.1) but for some characters. */

static bool is_plain(const char *s, size_t n)
{
	static const char *const words[] = { "true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf" };
	if (n == 0 || n > 60 || !isalpha((unsigned char)*s) || s[n - 1] == ' ')
		return false;
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)s[i]) && !(s[i] && strchr(" _./-", s[i])))
			return false;
	for (size_t i = 0; i < FH_ARRAY_SIZE(words); i++)
		if (strlen(words[i]) == n && strncasecmp(words[i], s, n) == 0)
			return false;
	return true;
}

static void text(struct fh_buf *out, const char *s, size_t n)
{
	if (is_plain(s, n)) {
		fh_buf_add(out, s, n);
		return;
	}
	size_t from = out->n;
	fh_json_write_string(out, (struct fh_str){ s, n });
	fh_escape_json_for_yaml(out, from);
}

static void value(struct fh_buf *out, const json_t *v, unsigned indent);

/* Writes the value that follows "key:" or "-": on the same line, or, for a value with members, on the lines below. */
static void behind(struct fh_buf *out, const json_t *v, unsigned indent, bool in_list)
{
	bool list = json_array_size(v) > 0, object = json_object_size(v) > 0;
	if (!list && !object) {
		fh_buf_addc(out, ' ');
		value(out, v, indent);
		fh_buf_addc(out, '\n');
	} else {
		fh_buf_adds(out, in_list && object ? " " : "\n");
		value(out, v, indent);
	}
}

static void members(struct fh_buf *out, const json_t *v, unsigned indent, bool after_dash)
{
	const char *name;
	json_t *member;
	json_object_foreach((json_t *)(uintptr_t)v, name, member)
	{
		if (!after_dash)
			fh_buf_addf(out, "%*s", (int)indent, "");
		after_dash = false;
		text(out, name, strlen(name));
		fh_buf_addc(out, ':');
		behind(out, member, indent + 2, false);
	}
}

static void items(struct fh_buf *out, const json_t *v, unsigned indent)
{
	for (size_t i = 0; i < json_array_size(v); i++) {
		const json_t *item = json_array_get(v, i);
		fh_buf_addf(out, "%*s-", (int)indent, "");
		if (json_object_size(item) > 0) {
			fh_buf_addc(out, ' ');
			members(out, item, indent + 2, true);
		} else {
			behind(out, item, indent + 2, true);
		}
	}
}

static void value(struct fh_buf *out, const json_t *v, unsigned indent)
{
	if (json_is_string(v))
		text(out, json_string_value(v), json_string_length(v));
	else if (json_object_size(v) > 0)
		members(out, v, indent, false);
	else if (json_array_size(v) > 0)
		items(out, v, indent);
	else
		fh_json_write(out, v, 0);
}

static void member(struct fh_buf *out, unsigned indent, const char *name, const json_t *v)
{
	fh_buf_addf(out, "%*s%s:", (int)indent, "", name);
	behind(out, v, indent + 2, false);
}

static int write_row(void *context, uint32_t row, uint32_t column, struct fh_str line, struct fh_error *err)
{
	struct fh_output_stream *out = context;
	fh_auto_json json_t *v = fh_json_parse(line, NULL, NULL);
	fh_buf_adds(&out->text, "    - ");
	members(&out->text, v, 6, true);
	fh_output_flush(out);
	return 0;
}

static int write_all(const struct fh_output_data *d, struct fh_output_stream *stream, struct fh_error *err)
{
	struct fh_buf *out = &stream->text;
	char time[32];
	fh_auto_json json_t *stats = json_pack("{s:I, s:I, s:I, s:O, s:I}", "successes", (json_int_t)d->successes,
	                                       "failures", (json_int_t)d->failures, "errors", (json_int_t)d->errors,
	                                       "tokenUsage", d->tokens, "durationMs", (json_int_t)d->duration_ms);
	fh_buf_adds(out, "evalId: ");
	text(out, d->id, strlen(d->id));
	fh_buf_addf(out, "\nresults:\n  version: 3\n  timestamp: \"%s\"\n", fh_iso_time(d->started_wall_ms, time));
	member(out, 2, "prompts", d->columns);
	fh_buf_adds(out, d->successes + d->failures + d->errors ? "  results:\n" : "  results: []\n");
	int r = d->each(d->context, write_row, stream, err);
	member(out, 2, "stats", stats);
	member(out, 0, "config", d->config);
	fh_auto_json json_t *about = fh_output_about(d);
	member(out, 0, "metadata", about);
	member(out, 0, "vars", d->vars);
	member(out, 0, "runtimeOptions", d->options);
	return r;
}

const struct fh_output_kind fh_output_yaml = { .extension = ".yaml", .write = write_all, .sign = "evalId:" };
const struct fh_output_kind fh_output_yml = { .extension = ".yml", .write = write_all, .sign = "evalId:" };
const struct fh_output_kind fh_output_txt = { .extension = ".txt",
	                                          .write = write_all,
	                                          .sign = "evalId:" }; /* the first key of promptfoo's files */
