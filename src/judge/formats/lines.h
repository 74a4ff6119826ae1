/* SPDX-License-Identifier: MIT */
/*
 * Reads JSONL, plain or gzip (recognised by content, not by name), with one object on each line; or a file that is a
 * JSON array of objects, whose items then count as lines.
 *
 * Blank lines are skipped but counted. Everything is bounded: a line by FH_LINE_MAX, an array by FH_ARRAY_MAX, a file
 * by FH_LINES_MAX bytes after decompression. Errors name the file and the line.
 */
#pragma once
#include "json/json.h"

#define FH_LINE_MAX ((size_t)64 << 20)
#define FH_ARRAY_MAX ((size_t)512 << 20)
#define FH_LINES_MAX ((uint64_t)8 << 30)

struct fh_lines;

int fh_lines_open(const char *path, struct fh_lines **ret, struct fh_error *err);
/* Returns 1 and the next object (a new reference), or 0 at the end. */
int fh_lines_next(struct fh_lines *l, json_t **ret_object, struct fh_error *err);
/* Accepts lines with NaN or Infinity, which are not JSON but which Python writes; the parsed objects have 0 in their
 * place. */
void fh_lines_allow_not_finite(struct fh_lines *l);
/* Whether the line returned last by fh_lines_next has such a word. */
bool fh_lines_not_finite(const struct fh_lines *l);
/* The number of the line returned last by fh_lines_next; for an item of an array, of the line in which it begins. */
uint32_t fh_lines_number(const struct fh_lines *l);
/* The JSON text from which it was parsed, for what parsing loses (integers beyond 64 bits); valid until the next
 * call. */
struct fh_str fh_lines_text(const struct fh_lines *l);
/* Sets an error at the line that fh_lines_next returned last. */
int fh_lines_error(const struct fh_lines *l, struct fh_error *err, const char *format, ...) FH_PRINTF(3, 4);
void fh_lines_close(struct fh_lines *l); /* NULL is allowed */

static inline void fh_lines_closep(struct fh_lines **l)
{
	fh_lines_close(*l);
}
#define fh_auto_lines FH_CLEANUP(fh_lines_closep)
