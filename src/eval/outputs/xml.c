/* SPDX-License-Identifier: MIT */
#include <ctype.h>

#include "base/clock.h"
#include "base/escape.h"
#include "eval/outputs/output.h"

/* The same tree as in .json: a member becomes an element of its name, a list repeats its element. In names, characters
 * that are not allowed there become _ (XML 1.0, 2.3, restricted to ASCII). */

#define DEPTH_MAX 200

static void tag(struct fh_buf *out, const char *name, bool end)
{
	fh_buf_adds(out, end ? "</" : "<");
	if (!isalpha((unsigned char)*name) && *name != '_')
		fh_buf_addc(out, '_');
	for (; *name; name++)
		fh_buf_addc(out, isalnum((unsigned char)*name) || strchr("_.-", *name) ? *name : '_');
	fh_buf_adds(out, ">");
}

static void element(struct fh_buf *out, const char *name, const json_t *v, unsigned depth)
{
	const char *key;
	json_t *member;
	if (json_is_array(v)) {
		for (size_t i = 0; i < json_array_size(v); i++)
			element(out, name, json_array_get(v, i), depth + 1);
		return;
	}
	tag(out, name, false);
	if (depth > DEPTH_MAX) {
		fh_buf_adds(out, "...");
	} else if (json_is_object(v)) {
		json_object_foreach((json_t *)(uintptr_t)v, key, member) element(out, key, member, depth + 1);
	} else {
		fh_auto_free char *text = fh_output_text(v);
		fh_escape_html(out, fh_str(text));
	}
	tag(out, name, true);
}

static int write_row(void *context, uint32_t row, uint32_t column, struct fh_str line, struct fh_error *err)
{
	struct fh_output_stream *out = context;
	fh_auto_json json_t *v = fh_json_parse(line, NULL, NULL);
	element(&out->text, "results", v, 0);
	fh_buf_addc(&out->text, '\n');
	fh_output_flush(out);
	return 0;
}

static int write_all(const struct fh_output_data *d, struct fh_output_stream *stream, struct fh_error *err)
{
	struct fh_buf *out = &stream->text;
	char time[32];
	fh_buf_adds(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<promptfoo>\n<evalId>");
	fh_escape_html(out, fh_str(d->id));
	fh_buf_addf(out, "</evalId>\n<results>\n<version>3</version><timestamp>%s</timestamp>\n",
	            fh_iso_time(d->started_wall_ms, time));
	element(out, "prompts", d->columns, 0);
	fh_buf_addc(out, '\n');
	int r = d->each(d->context, write_row, stream, err);
	fh_buf_addf(out, "<stats><successes>%llu</successes><failures>%llu</failures><errors>%llu</errors></stats>\n",
	            (unsigned long long)d->successes, (unsigned long long)d->failures, (unsigned long long)d->errors);
	fh_buf_adds(out, "</results>\n");
	element(out, "config", d->config, 0);
	fh_buf_adds(out, "\n</promptfoo>\n");
	return r;
}

const struct fh_output_kind fh_output_xml = { .extension = ".xml", .write = write_all, .sign = "<promptfoo>" };
