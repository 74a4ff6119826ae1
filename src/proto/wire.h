/* SPDX-License-Identifier: MIT */
/*
 * Fields: how the payload of a frame is written.
 *
 * A message is a sequence of fields { u16 tag, u16 zero, u32 length, bytes }, little-endian. An integer is 8 bytes, a
 * text or a nested message its bytes. A tag may repeat (lists). A reader skips tags that it does not know, so that
 * peers of different age understand each other; it never copies and never reads past its slice.
 */
#pragma once
#include "base/buf.h"

void fh_wire_u64(struct fh_buf *out, uint16_t tag, uint64_t value);
void fh_wire_bytes(struct fh_buf *out, uint16_t tag, const void *p, size_t n);
void fh_wire_text(struct fh_buf *out, uint16_t tag, const char *s); /* without the NUL */
/* A nested message: begin gives a mark, end fills its length in. */
size_t fh_wire_begin(struct fh_buf *out, uint16_t tag);
void fh_wire_end(struct fh_buf *out, size_t mark);

struct fh_wire_field {
	uint16_t tag;
	struct fh_str value;
};
struct fh_wire_reader {
	struct fh_str rest;
	bool malformed; /* a field that reaches past the end; reading stops there */
};
static inline struct fh_wire_reader fh_wire_reader(struct fh_str message)
{
	return (struct fh_wire_reader){ .rest = message };
}
bool fh_wire_next(struct fh_wire_reader *r, struct fh_wire_field *ret);
/* The value of an integer field; anything but 8 bytes counts as malformed and gives 0. */
uint64_t fh_wire_get_u64(struct fh_wire_reader *r, const struct fh_wire_field *f);
/* A copy with a NUL; a text that holds a NUL counts as malformed. */
FH_OWN char *fh_wire_get_text(struct fh_wire_reader *r, const struct fh_wire_field *f);
