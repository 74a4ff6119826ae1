/* SPDX-License-Identifier: MIT */
/* Frames of a WebSocket from a server: however they are cut into pieces, the same messages come, and then the same
 * error; no message is larger than its bound. */
#include "base/buf.h"
#include "fuzz.h"
#include "provider/http/websocket_frames.h"

enum { MESSAGE_MAX = 300 };

/* What a client sees of the bytes when they come in pieces of `step`. *ret_code: 0, or why it stopped. */
static void take(struct fh_str bytes, size_t step, struct fh_buf *seen, int *ret_code)
{
	fh_auto_buf struct fh_buf in = FH_BUF_INIT(0);
	struct fh_websocket_reader r = { .message = FH_BUF_INIT(MESSAGE_MAX), .control = FH_BUF_INIT(0) };
	enum fh_websocket_opcode opcode = FH_WEBSOCKET_CONTINUATION;
	int code = 0;
	for (size_t at = 0; at < bytes.n && code >= 0; at += step) {
		fh_buf_add(&in, bytes.p + at, FH_MIN(step, bytes.n - at));
		while ((code = fh_websocket_read(&r, &in, &opcode, NULL)) > 0) {
			bool control = opcode >= FH_WEBSOCKET_CLOSE;
			FH_FUZZ_CHECK(r.message.n <= MESSAGE_MAX);
			fh_buf_addc(seen, (char)opcode);
			if (opcode == FH_WEBSOCKET_CONTINUATION)
				continue;
			fh_buf_add_str(seen, fh_buf_str(control ? &r.control : &r.message));
			if (!control)
				fh_buf_truncate(&r.message, 0);
		}
	}
	fh_websocket_reader_release(&r);
	*ret_code = code;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fh_fuzz_input in = { data, size };
	size_t step = fh_fuzz_number(&in, 1) % 16 + 1;
	char *copy = fh_fuzz_copy(in.p, in.n);
	fh_auto_buf struct fh_buf whole = FH_BUF_INIT(0);
	fh_auto_buf struct fh_buf cut = FH_BUF_INIT(0);
	int code, cut_code;
	take((struct fh_str){ copy, in.n }, in.n ? in.n : 1, &whole, &code);
	take((struct fh_str){ copy, in.n }, step, &cut, &cut_code);
	FH_FUZZ_CHECK(code == cut_code && whole.n == cut.n && (!cut.n || memcmp(whole.p, cut.p, cut.n) == 0));
	free(copy);
	return 0;
}
