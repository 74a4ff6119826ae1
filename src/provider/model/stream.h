/* SPDX-License-Identifier: MIT */
/* Builds an answer from a stream as it arrives: server-sent events, or one JSON object on each line. */
#pragma once
#include "base/buf.h"
#include "provider/model/wire.h"

struct fh_answer_stream {
	const struct fh_wire *wire;
	json_t *answer;     /* the answer so far, an object in the form that wire->take expects */
	struct fh_buf line; /* the last line, still incomplete */
	json_t *error;      /* an event that reported an error, or NULL */
	int64_t first_ns;   /* when the first text of the answer came; 0: not yet */
	bool whole, broken; /* whole: the end of the answer came; broken: a line was no JSON */
};

void fh_answer_stream_init(struct fh_answer_stream *s, const struct fh_wire *wire);
void fh_answer_stream_release(struct fh_answer_stream *s);
/* For fh_http_fetch.on_data and is_cut; context is a struct fh_answer_stream. */
void fh_answer_stream_feed(void *context, struct fh_str data);
bool fh_answer_stream_is_cut(void *context);
/* Processes a last line without a line end. */
void fh_answer_stream_end(struct fh_answer_stream *s);
