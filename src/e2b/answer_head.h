/* SPDX-License-Identifier: MIT */
/* The head of an HTTP answer that a server inside of a sandbox gives, which is as untrusted as any program. */
#pragma once
#include "base/base.h"
#include "server/http.h"

/* Whether a header belongs to the connection and not to the message (RFC 9110, section 7.6.1), or is one of ours; such
 * headers are passed on in neither direction. */
bool fh_header_is_of_connection(const char *name);

/* How the end of an answer's body is found. */
struct fh_answer_end {
	uint64_t left; /* after so many bytes; FH_HTTP_SIZE_UNKNOWN: the connection's end */
	bool chunked;  /* the body comes in chunks (e2b/chunks.h), of which the last one is empty */
};

/* Parses "HTTP/1.1 200 OK\r\nName: value\r\n…", which it modifies. Returns the status, or 0: it is none. Calls
 * on_header for each header that is passed on. */
unsigned fh_answer_head_read(char *text, bool upgrade, struct fh_answer_end *ret_end,
                             void (*on_header)(void *context, const char *name, const char *value), void *context);
