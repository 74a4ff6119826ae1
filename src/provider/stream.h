/* SPDX-License-Identifier: MIT */
/* A streamed answer put together as it comes: server-sent events, or one JSON object a line. */
#pragma once
#include "base/buf.h"
#include "provider/wire.h"

struct fh_stream {
	const struct fh_wire *wire;
	json_t *answer;     /* an object, as wire->take wants it */
	struct fh_buf line; /* the last, not whole yet */
	json_t *error;      /* an event that told of one, or NULL */
	int64_t first_ns;   /* when the first text came; 0: none did */
	bool whole, broken; /* the end came; something was no JSON */
};

void fh_stream_init(struct fh_stream *s, const struct fh_wire *wire);
void fh_stream_release(struct fh_stream *s);
/* For fh_http_request.on_data and is_cut; context: a struct fh_stream. */
void fh_stream_feed(void *context, struct fh_str data);
bool fh_stream_is_cut(void *context);
/* What is left of the last line. */
void fh_stream_end(struct fh_stream *s);
