/* SPDX-License-Identifier: MIT */
/*
 * Fields, of which the payload of a frame consists.
 *
 * A message is a sequence of fields { u16 tag, u16 zero, u32 length, bytes }, little-endian. An integer takes 8 bytes;
 * a text or a nested message is stored as its bytes. A tag may occur several times (lists). A reader skips unknown
 * tags, so that peers of different versions understand each other. It does not copy and never reads beyond its slice.
 */
#pragma once
#include "base/buf.h"

void fh_wire_u64(struct fh_buf *out, uint16_t tag, uint64_t value);
void fh_wire_bytes(struct fh_buf *out, uint16_t tag, const void *p, size_t n);
void fh_wire_text(struct fh_buf *out, uint16_t tag, const char *s); /* without the NUL */
/* A nested message: begin returns a mark, and end writes the length there. */
size_t fh_wire_begin(struct fh_buf *out, uint16_t tag);
void fh_wire_end(struct fh_buf *out, size_t mark);

struct fh_wire_field {
	uint16_t tag;
	struct fh_str value;
};
struct fh_wire_reader {
	struct fh_str rest;
	bool malformed; /* a field reached beyond the end, where reading stopped */
};
static inline struct fh_wire_reader fh_wire_reader(struct fh_str message)
{
	return (struct fh_wire_reader){ .rest = message };
}
bool fh_wire_next(struct fh_wire_reader *r, struct fh_wire_field *ret);
/* The value of an integer field. A field that is not 8 bytes long sets `malformed` and gives 0. */
uint64_t fh_wire_get_u64(struct fh_wire_reader *r, const struct fh_wire_field *f);
/* A NUL-terminated copy. A text that contains a NUL sets `malformed`. */
FH_OWN char *fh_wire_get_text(struct fh_wire_reader *r, const struct fh_wire_field *f);
