/* SPDX-License-Identifier: MIT */
#include "sandbox/session/context.h"

/* ---- words ---- */

static const char *const event_names[FH_CONTEXT_EVENT_KIND_COUNT_] = {
	[FH_CONTEXT_COUNT] = "count",   [FH_CONTEXT_STDOUT] = "stdout",   [FH_CONTEXT_STDERR] = "stderr",
	[FH_CONTEXT_RESULT] = "result", [FH_CONTEXT_DISPLAY] = "display", [FH_CONTEXT_CLEAR] = "clear",
	[FH_CONTEXT_ERROR] = "error",
};

static const char *const status_names[FH_CONTEXT_STATUS_COUNT_] = {
	[FH_CONTEXT_OK] = "ok",
	[FH_CONTEXT_FAILED] = "failed",
	[FH_CONTEXT_TIMEOUT] = "timeout",
	[FH_CONTEXT_INTERRUPTED] = "interrupted",
	[FH_CONTEXT_OUTPUT_LIMIT] = "output_limit",
	[FH_CONTEXT_ENDED] = "ended",
};

const char *fh_context_event_name(enum fh_context_event_kind kind)
{
	return (unsigned)kind < FH_CONTEXT_EVENT_KIND_COUNT_ ? event_names[kind] : "unknown";
}

const char *fh_context_status_name(enum fh_context_status s)
{
	return (unsigned)s < FH_CONTEXT_STATUS_COUNT_ ? status_names[s] : "unknown";
}

static const struct {
	const char *mime, *name;
} result_names[] = {
	{ "text/plain", "text" },
	{ "text/html", "html" },
	{ "text/markdown", "markdown" },
	{ "image/svg+xml", "svg" },
	{ "image/png", "png" },
	{ "image/jpeg", "jpeg" },
	{ "application/pdf", "pdf" },
	{ "text/latex", "latex" },
	{ "application/json", "json" },
	{ "application/javascript", "javascript" },
	{ "application/vnd.fumehood.data+json", "data" },
	{ "application/vnd.fumehood.chart+json", "chart" },
};

const char *fh_context_result_name(const char *mime)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(result_names); i++)
		if (strcmp(result_names[i].mime, mime) == 0)
			return result_names[i].name;
	return NULL;
}

/* ---- reading ---- */

void fh_context_line_release(struct fh_context_line *line)
{
	for (size_t i = 0; i < line->owned_count; i++)
		free(line->owned[i]);
	free(line->owned);
	free(line->items);
	free(line->text);
	json_decref(line->json);
	*line = (struct fh_context_line){ 0 };
}

static struct fh_bytes text_of(const json_t *object, const char *key)
{
	const json_t *s = json_object_get(object, key);
	return json_is_string(s) ? (struct fh_bytes){ json_string_value(s), json_string_length(s) }
	                         : (struct fh_bytes){ "", 0 };
}

/* Reads each form of a result; a form that is not text is passed on as JSON. */
static size_t read_items(struct fh_context_line *line)
{
	json_t *data = json_object_get(line->json, "data"), *value;
	const char *mime;
	size_t n = 0, most = json_object_size(data);
	line->items = most ? fh_xcalloc(most, sizeof(*line->items)) : NULL;
	line->owned = most ? fh_xcalloc(most, sizeof(*line->owned)) : NULL;
	json_object_foreach(data, mime, value)
	{
		struct fh_context_item *item = &line->items[n++];
		const char *name = fh_context_result_name(mime);
		item->mime = mime;
		item->name = name ? name : mime;
		if (json_is_string(value)) {
			item->data = json_string_value(value);
			item->size = json_string_length(value);
			continue;
		}
		fh_auto_buf struct fh_buf written = FH_BUF_INIT(0);
		fh_json_write_typed(&written, value);
		char *text = fh_buf_take(&written, NULL);
		line->owned[line->owned_count++] = text;
		item->data = text;
		item->size = strlen(text);
		item->json = true;
	}
	return n;
}

static void fill(struct fh_context_line *line, enum fh_context_event_kind kind, struct fh_context_event *e)
{
	const json_t *j = line->json;
	int64_t count = fh_json_int(j, "count", 0);
	*e = (struct fh_context_event){ .kind = kind, .count = count > 0 ? (uint64_t)count : 0 };
	e->text = text_of(j, "text");
	e->display_id = fh_json_str(j, "display_id", NULL);
	e->update = fh_json_bool(j, "update", false);
	e->wait = fh_json_bool(j, "wait", false);
	e->name = fh_json_str(j, "name", "");
	e->value = fh_json_str(j, "value", "");
	e->traceback = fh_json_str(j, "traceback", "");
	if (kind == FH_CONTEXT_RESULT || kind == FH_CONTEXT_DISPLAY)
		e->item_count = read_items(line);
	e->items = line->items;
	e->json = (struct fh_bytes){ line->text, strlen(line->text) };
}

enum fh_context_said fh_context_line_read(struct fh_context_line *line, struct fh_str text,
                                          struct fh_context_event *ret)
{
	struct fh_error ignored;
	line->json = fh_json_parse(text, NULL, &ignored);
	const char *type = fh_json_str(line->json, "type", NULL);
	if (!json_is_object(line->json) || !type)
		return FH_CONTEXT_SAID_GARBAGE;
	if (strcmp(type, "ready") == 0)
		return FH_CONTEXT_SAID_READY;
	if (strcmp(type, "refused") == 0)
		return FH_CONTEXT_SAID_REFUSED;
	if (strcmp(type, "end") == 0)
		return FH_CONTEXT_SAID_END;
	for (int kind = 0; kind < FH_CONTEXT_EVENT_KIND_COUNT_; kind++)
		if (strcmp(type, event_names[kind]) == 0) {
			/* Written anew, so that always one JSON object on one line is passed on. */
			line->text = fh_json_text(line->json, 0);
			fill(line, (enum fh_context_event_kind)kind, ret);
			return FH_CONTEXT_SAID_EVENT;
		}
	return FH_CONTEXT_SAID_NOTHING;
}
