/* SPDX-License-Identifier: MIT */
/* Builds an answer from a stream as it arrives: server-sent events, or one JSON object on each line. */
#pragma once
#include "base/buf.h"
#include "provider/model/wire.h"

struct fh_answer_stream {
	const struct fh_wire *wire;
	json_t *answer;     /* the answer so far, an object in the form that wire->take expects */
	struct fh_buf line; /* the last line, still incomplete */
	struct fh_buf data; /* data of the last event, whose lines so far are not JSON */
	json_t *error;      /* an event that reported an error, or NULL */
	int64_t first_ns;   /* when the first text of the answer came; 0: not yet */
	bool whole, broken; /* whole: the end of the answer came; broken: an event was no JSON */
	bool done;          /* "[DONE]" came: nothing that follows counts */
	bool begun;         /* the first line, which may begin with a byte order mark, has ended */
	bool after_cr;      /* the last byte was "\r": "\n" after it ends no other line */
	bool named_error;   /* the event began with "event: error" */
};

void fh_answer_stream_init(struct fh_answer_stream *s, const struct fh_wire *wire);
void fh_answer_stream_release(struct fh_answer_stream *s);
/* For fh_http_fetch.on_data; context is a struct fh_answer_stream. */
void fh_answer_stream_feed(void *context, struct fh_str data);
/* Processes a last line without a line end, and an event without a blank line after it. */
void fh_answer_stream_end(struct fh_answer_stream *s);
/* Whether the stream, which is over, lacks its end or a part. */
bool fh_answer_stream_is_cut(struct fh_answer_stream *s);
