/* SPDX-License-Identifier: MIT */
#include "e2b/chunks.h"

#include <string.h>

enum {
	DIGITS_MAX = 15,        /* of a size: the number fits into 64 bits */
	DROPPED_MAX = 64 << 10, /* bytes of extensions and trailers; as many as a head may have */
};

static int hex_digit(char c)
{
	const char *digits = "0123456789abcdef", *at = memchr(digits, c >= 'A' && c <= 'F' ? c + ('a' - 'A') : c, 16);
	return at ? (int)(at - digits) : -1;
}

static enum fh_chunks_state after_size_digit(struct fh_chunks *c, char byte)
{
	int digit = hex_digit(byte);
	if (digit >= 0 && c->digits++ < DIGITS_MAX) {
		c->left = c->left << 4 | (unsigned)digit;
		return FH_CHUNKS_SIZE;
	}
	if (digit >= 0 || c->digits == 0)
		return FH_CHUNKS_MALFORMED;
	if (byte == '\r')
		return FH_CHUNKS_SIZE_END;
	return byte == ';' || byte == ' ' || byte == '\t' ? FH_CHUNKS_EXTENSION : FH_CHUNKS_MALFORMED;
}

static enum fh_chunks_state after_size_line(struct fh_chunks *c)
{
	c->digits = 0;
	c->line = 0;
	return c->left ? FH_CHUNKS_DATA : FH_CHUNKS_TRAILER;
}

/* A byte of a line whose content is dropped. */
static enum fh_chunks_state after_dropped(struct fh_chunks *c, char byte, enum fh_chunks_state at_return)
{
	if (byte == '\r')
		return at_return;
	c->line++;
	return byte == '\n' || c->dropped++ == DROPPED_MAX ? FH_CHUNKS_MALFORMED : c->state;
}

static enum fh_chunks_state after_trailer_line(struct fh_chunks *c)
{
	bool empty = c->line == 0;
	c->line = 0;
	return empty ? FH_CHUNKS_OVER : FH_CHUNKS_TRAILER;
}

/* The state after a byte that does not belong to the body. */
static enum fh_chunks_state next_state(struct fh_chunks *c, char byte)
{
	switch (c->state) {
	case FH_CHUNKS_SIZE:
		return after_size_digit(c, byte);
	case FH_CHUNKS_EXTENSION:
		return after_dropped(c, byte, FH_CHUNKS_SIZE_END);
	case FH_CHUNKS_SIZE_END:
		return byte == '\n' ? after_size_line(c) : FH_CHUNKS_MALFORMED;
	case FH_CHUNKS_DATA_RETURN:
		return byte == '\r' ? FH_CHUNKS_DATA_END : FH_CHUNKS_MALFORMED;
	case FH_CHUNKS_DATA_END:
		return byte == '\n' ? FH_CHUNKS_SIZE : FH_CHUNKS_MALFORMED;
	case FH_CHUNKS_TRAILER:
		return after_dropped(c, byte, FH_CHUNKS_TRAILER_END);
	case FH_CHUNKS_TRAILER_END:
		return byte == '\n' ? after_trailer_line(c) : FH_CHUNKS_MALFORMED;
	default:
		return c->state;
	}
}

ssize_t fh_chunks_take(struct fh_chunks *c, char *bytes, size_t n)
{
	size_t kept = 0;
	for (size_t i = 0; i < n && c->state != FH_CHUNKS_OVER && c->state != FH_CHUNKS_MALFORMED;) {
		if (c->state != FH_CHUNKS_DATA) {
			c->state = next_state(c, bytes[i++]);
			continue;
		}
		size_t some = (size_t)FH_MIN((uint64_t)(n - i), c->left);
		memmove(bytes + kept, bytes + i, some);
		kept += some;
		i += some;
		c->left -= some;
		if (c->left == 0)
			c->state = FH_CHUNKS_DATA_RETURN;
	}
	return c->state == FH_CHUNKS_MALFORMED ? -1 : (ssize_t)kept;
}
