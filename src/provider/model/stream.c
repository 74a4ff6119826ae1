/* SPDX-License-Identifier: MIT */
#include "provider/model/stream.h"

#include "base/clock.h"

#define FH_STREAM_LINE_MAX ((size_t)16 << 20)

void fh_answer_stream_init(struct fh_answer_stream *s, const struct fh_wire *wire)
{
	*s = (struct fh_answer_stream){ .wire = wire,
		                            .answer = json_object(),
		                            .line = FH_BUF_INIT(FH_STREAM_LINE_MAX),
		                            .data = FH_BUF_INIT(FH_STREAM_LINE_MAX) };
}

void fh_answer_stream_release(struct fh_answer_stream *s)
{
	json_decref(s->answer);
	json_decref(s->error);
	fh_buf_release(&s->line);
	fh_buf_release(&s->data);
	*s = (struct fh_answer_stream){ 0 };
}

/* Notes the data of an event that is called an error: an object, or a text. */
static void fh_stream_take_error(struct fh_answer_stream *s, const json_t *event, struct fh_str data)
{
	const json_t *error = json_object_get(event, "error");
	if (s->error)
		return;
	if (error && !json_is_null(error))
		s->error = json_incref((json_t *)(uintptr_t)event);
	else
		s->error = json_pack("{s:o}", "error", event ? json_deep_copy(event) : fh_json_bytes(data));
	s->whole = true;
}

/* Takes the data of an event. False: it is not JSON. */
static bool fh_stream_event(struct fh_answer_stream *s, struct fh_str data)
{
	if (data.n == 6 && memcmp(data.p, "[DONE]", 6) == 0) {
		s->whole = s->done = true;
		return true;
	}
	fh_auto_json json_t *event = fh_json_parse(data, NULL, NULL);
	const json_t *error = json_object_get(event, "error");
	if (event && (s->named_error || (error && !json_is_null(error)))) {
		fh_stream_take_error(s, event, data);
	} else if (json_is_object(event)) {
		unsigned bits = s->wire->event(s->answer, event);
		if ((bits & FH_WIRE_TEXT) && !s->first_ns)
			s->first_ns = fh_now_ns();
		if (bits & FH_WIRE_END)
			s->whole = true;
	}
	return event != NULL;
}

/* Ends an event: its data are whole, or never will be. */
static void fh_stream_event_ends(struct fh_answer_stream *s)
{
	struct fh_str data = fh_buf_str(&s->data);
	if (data.n && !fh_stream_event(s, data)) {
		if (s->named_error)
			fh_stream_take_error(s, NULL, data);
		else
			s->broken = true;
	}
	fh_buf_truncate(&s->data, 0);
	s->named_error = false;
}

static bool fh_stream_begins(struct fh_str line, const char *with)
{
	size_t n = strlen(with);
	return line.n >= n && memcmp(line.p, with, n) == 0;
}

/* Takes one line: "data: JSON", or JSON alone. An event's data may be split into lines; but many servers leave out the
 * blank line at an event's end, so that data which are whole are taken at once. Other fields of an event (id:,
 * comments) are ignored. */
static void fh_stream_line(struct fh_answer_stream *s, struct fh_str line)
{
	bool blank = !line.n;
	while (line.n && line.p[line.n - 1] == ' ')
		line.n--;
	if (blank) {
		fh_stream_event_ends(s);
		return;
	}
	if (fh_stream_begins(line, "event:")) {
		fh_stream_event_ends(s);
		line = (struct fh_str){ line.p + 6, line.n - 6 };
		s->named_error = fh_stream_begins(line, " error") || fh_stream_begins(line, "error");
		return;
	}
	bool data = fh_stream_begins(line, "data:");
	if (!data && (!line.n || line.p[0] != '{'))
		return;
	if (data)
		line = (struct fh_str){ line.p + 5, line.n - 5 };
	while (line.n && *line.p == ' ')
		line.p++, line.n--;
	if (!line.n)
		return;
	if (!s->data.n && fh_stream_event(s, line)) {
		s->named_error = false;
		return;
	}
	if ((s->data.n && fh_buf_addc(&s->data, '\n') < 0) || fh_buf_add(&s->data, line.p, line.n) < 0)
		s->broken = true;
	if (!data)
		fh_stream_event_ends(s);
}

/* Takes the line that has ended, and begins the next one. */
static void fh_stream_line_ends(struct fh_answer_stream *s)
{
	struct fh_str line = fh_buf_str(&s->line);
	if (!s->begun && fh_stream_begins(line, "\xef\xbb\xbf"))
		line = (struct fh_str){ line.p + 3, line.n - 3 };
	s->begun = true;
	if (!s->done)
		fh_stream_line(s, line);
	fh_buf_truncate(&s->line, 0);
}

/* The first end of a line, "\n" or "\r", or NULL. */
static const char *fh_stream_line_end(struct fh_str data)
{
	const char *nl = memchr(data.p, '\n', data.n);
	const char *cr = memchr(data.p, '\r', nl ? (size_t)(nl - data.p) : data.n);
	return cr ? cr : nl;
}

void fh_answer_stream_feed(void *context, struct fh_str data)
{
	struct fh_answer_stream *s = context;
	if (!data.p) {
		const struct fh_wire *wire = s->wire;
		fh_answer_stream_release(s);
		fh_answer_stream_init(s, wire);
		return;
	}
	while (data.n) {
		const char *end = fh_stream_line_end(data);
		size_t n = end ? (size_t)(end - data.p) : data.n;
		bool second = s->after_cr && end == data.p && *end == '\n'; /* of "\r\n" */
		if (fh_buf_add(&s->line, data.p, n) < 0)
			s->broken = true;
		if (end && !second)
			fh_stream_line_ends(s);
		s->after_cr = end && *end == '\r';
		n += end != NULL;
		data.p += n;
		data.n -= n;
	}
}

void fh_answer_stream_end(struct fh_answer_stream *s)
{
	if (s->line.n)
		fh_stream_line_ends(s);
	fh_stream_event_ends(s);
}

bool fh_answer_stream_is_cut(struct fh_answer_stream *s)
{
	fh_answer_stream_end(s);
	return !s->whole || s->broken;
}
