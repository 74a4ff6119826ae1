/* SPDX-License-Identifier: MIT */
/*
 * Reads a file that may be gzip (RFC 1952), recognised by its first two bytes; any other file is read unchanged. All
 * members are read, and zero padding after the last one is allowed (as on tapes). zlib's own gzread takes anything
 * after a member that is not another one as the end of the data, so rows would be lost silently.
 */
#pragma once
#include "base/base.h"
#include "base/error.h"

struct fh_gunzip;
/* Takes ownership of fd. */
struct fh_gunzip *fh_gunzip_new(int fd);
/* Returns the number of bytes read, at most size; 0 at the end. FH_E_CONFIG: the compressed data is damaged or
 * truncated; `name` is the file's name for messages. */
ssize_t fh_gunzip_read(struct fh_gunzip *g, char *into, size_t size, const char *name, struct fh_error *err);
void fh_gunzip_free(struct fh_gunzip *g); /* NULL is allowed */
