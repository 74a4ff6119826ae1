/* SPDX-License-Identifier: MIT */
/* Replies to requests for files over plain HTTP: their bytes, and why there are none. */
#pragma once
#include "e2b/hosted/e2b.h"
#include "fumehood/session.h"

/* Replies with the status and text for err, of a call on `path`. */
void fh_file_fail(struct fh_http_request *r, const struct fh_error *err, const char *path);
/* Replies with `size` bytes of an open file, from where it stands; 0: whatever it has, as files of the kernel tell no
 * size. */
void fh_file_reply(struct fh_http_request *r, FH_OWN struct fh_file_stream *file, unsigned status, uint64_t size);
