/* SPDX-License-Identifier: MIT */
/*
 * Reads a file that may be gzip (RFC 1952), recognised by its first two bytes; any other is read as it is. All of it is
 * read: member after member, with zeros as padding behind the last (as tapes have it). zlib's own gzread takes what
 * follows a member and is none for the end of the data, and the rows in it would be missing without a word.
 */
#pragma once
#include "base/base.h"
#include "base/error.h"

struct fh_gunzip;
/* Takes fd. */
struct fh_gunzip *fh_gunzip_new(int fd);
/* How many bytes it read, at most size; 0: the end. FH_E_CONFIG: the compressed data is damaged or cut off; `name` is
 * the file's in messages. */
ssize_t fh_gunzip_read(struct fh_gunzip *g, char *into, size_t size, const char *name, struct fh_error *err);
void fh_gunzip_free(struct fh_gunzip *g); /* NULL is fine */
