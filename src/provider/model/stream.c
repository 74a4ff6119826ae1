/* SPDX-License-Identifier: MIT */
#include "provider/model/stream.h"

#include "base/clock.h"

#define FH_STREAM_LINE_MAX ((size_t)16 << 20)

void fh_answer_stream_init(struct fh_answer_stream *s, const struct fh_wire *wire)
{
	*s = (struct fh_answer_stream){ .wire = wire, .answer = json_object(), .line = FH_BUF_INIT(FH_STREAM_LINE_MAX) };
}

void fh_answer_stream_release(struct fh_answer_stream *s)
{
	json_decref(s->answer);
	json_decref(s->error);
	fh_buf_release(&s->line);
	*s = (struct fh_answer_stream){ 0 };
}

/* Takes one line: "data: JSON", or JSON alone. Other fields of an event (event:, id:, comments) are ignored. */
static void fh_stream_line(struct fh_answer_stream *s, struct fh_str line)
{
	while (line.n && strchr("\r ", line.p[line.n - 1]))
		line.n--;
	bool data = line.n >= 5 && memcmp(line.p, "data:", 5) == 0;
	if (!data && (!line.n || line.p[0] != '{'))
		return;
	if (data)
		line = (struct fh_str){ line.p + 5, line.n - 5 };
	while (line.n && *line.p == ' ')
		line.p++, line.n--;
	if (!line.n)
		return;
	if (line.n == 6 && memcmp(line.p, "[DONE]", 6) == 0) {
		s->whole = true;
		return;
	}
	fh_auto_json json_t *event = fh_json_parse(line, NULL, NULL);
	s->broken = s->broken || !event;
	if (!json_is_object(event))
		return;
	const json_t *error = json_object_get(event, "error");
	if (error && !json_is_null(error) && !s->error) {
		s->error = json_incref(event);
		s->whole = true;
		return;
	}
	unsigned bits = s->wire->event(s->answer, event);
	if ((bits & FH_WIRE_TEXT) && !s->first_ns)
		s->first_ns = fh_now_ns();
	if (bits & FH_WIRE_END)
		s->whole = true;
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
		const char *nl = memchr(data.p, '\n', data.n);
		size_t n = nl ? (size_t)(nl - data.p) : data.n;
		if (fh_buf_add(&s->line, data.p, n) < 0)
			s->broken = true;
		if (nl) {
			fh_stream_line(s, fh_buf_str(&s->line));
			fh_buf_truncate(&s->line, 0);
			n++;
		}
		data.p += n;
		data.n -= n;
	}
}

void fh_answer_stream_end(struct fh_answer_stream *s)
{
	if (s->line.n)
		fh_stream_line(s, fh_buf_str(&s->line));
	fh_buf_truncate(&s->line, 0);
}

bool fh_answer_stream_is_cut(void *context)
{
	struct fh_answer_stream *s = context;
	fh_answer_stream_end(s);
	return !s->whole || s->broken;
}
