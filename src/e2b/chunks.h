/* SPDX-License-Identifier: MIT */
/* A body that comes in chunks (RFC 9112, section 7.1), taken apart as it arrives. Its sender is as untrusted as any
 * program; what is malformed in the least is no body. */
#pragma once
#include "base/base.h"

enum fh_chunks_state {
	FH_CHUNKS_SIZE,      /* digits of a chunk's size */
	FH_CHUNKS_EXTENSION, /* the rest of that line */
	FH_CHUNKS_SIZE_END,  /* its line feed */
	FH_CHUNKS_DATA,
	FH_CHUNKS_DATA_RETURN, /* the line end behind a chunk */
	FH_CHUNKS_DATA_END,
	FH_CHUNKS_TRAILER, /* lines behind the last chunk, which are dropped */
	FH_CHUNKS_TRAILER_END,
	FH_CHUNKS_OVER,
	FH_CHUNKS_MALFORMED,
};

struct fh_chunks {
	enum fh_chunks_state state;
	uint64_t left;   /* bytes of the chunk still to come */
	unsigned digits; /* read of its size */
	size_t line;     /* bytes of the line so far */
	size_t dropped;  /* bytes of extensions and trailers in all */
};

/* Takes the next n bytes from the connection and moves those of the body to the beginning of `bytes`. Returns their
 * number, or -1 when the body is malformed. With FH_CHUNKS_OVER the body has ended; more bytes are dropped. */
ssize_t fh_chunks_take(struct fh_chunks *c, char *bytes, size_t n);
