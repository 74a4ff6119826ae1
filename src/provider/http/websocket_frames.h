/* SPDX-License-Identifier: MIT */
/* WebSocket messages as bytes (RFC 6455), the client's side: no extensions. Everything that is read is untrusted. */
#pragma once
#include <stdint.h>
#include "base/buf.h"
#include "base/error.h"

enum fh_websocket_opcode {
	FH_WEBSOCKET_CONTINUATION = 0,
	FH_WEBSOCKET_TEXT = 1,
	FH_WEBSOCKET_BINARY = 2,
	FH_WEBSOCKET_CLOSE = 8,
	FH_WEBSOCKET_PING = 9,
	FH_WEBSOCKET_PONG = 10,
};

#define FH_WEBSOCKET_ACCEPT 29
/* What a server answers in Sec-WebSocket-Accept to a key. */
void fh_websocket_accept(const char *key, char ret[FH_WEBSOCKET_ACCEPT]);

/* Appends a whole message in one frame, masked. */
void fh_websocket_write(struct fh_buf *out, enum fh_websocket_opcode opcode, struct fh_str payload,
                        const uint8_t mask[4]);

/* Puts messages together out of the frames that come. */
struct fh_websocket_reader {
	struct fh_buf message;           /* the text or binary message that is being received; its max bounds it */
	enum fh_websocket_opcode opcode; /* of that message; FH_WEBSOCKET_CONTINUATION: none has begun */
	struct fh_buf control;           /* payload of the last ping, pong or close */
};
void fh_websocket_reader_release(struct fh_websocket_reader *r);

/* Takes one frame from the front of `in`. *ret: the opcode of what is whole now (a message of r->message, which the
 * caller truncates; a control frame), FH_WEBSOCKET_CONTINUATION when a message goes on. Returns 1 when it took a frame,
 * 0 when more bytes are needed, FH_E_UNAVAILABLE for what no server may send, FH_E_LIMIT for a message beyond its
 * bound. */
int fh_websocket_read(struct fh_websocket_reader *r, struct fh_buf *in, enum fh_websocket_opcode *ret,
                      struct fh_error *err);
