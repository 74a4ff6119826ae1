/* SPDX-License-Identifier: MIT */
#include "provider/http/websocket_frames.h"

#include "base/text/base64.h"

#define CONTROL_MAX 125
#define SHA1_BLOCK 64

/* ----------------------------------------------------------------------------------------- the answer to a handshake */

static uint32_t rotated(uint32_t x, unsigned n)
{
	return x << n | x >> (32 - n);
}

static void sha1_block(uint32_t state[5], const uint8_t block[SHA1_BLOCK])
{
	uint32_t w[80], a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];
	for (unsigned i = 0; i < 16; i++)
		w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 | (uint32_t)block[4 * i + 2] << 8 |
		       block[4 * i + 3];
	for (unsigned i = 16; i < 80; i++)
		w[i] = rotated(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
	for (unsigned i = 0; i < 80; i++) {
		uint32_t f = i < 20   ? (b & c) | (~b & d)
		             : i < 40 ? b ^ c ^ d
		             : i < 60 ? (b & c) | (b & d) | (c & d)
		                      : b ^ c ^ d;
		uint32_t k = i < 20 ? 0x5a827999 : i < 40 ? 0x6ed9eba1 : i < 60 ? 0x8f1bbcdc : 0xca62c1d6;
		uint32_t next = rotated(a, 5) + f + e + k + w[i];
		e = d;
		d = c;
		c = rotated(b, 30);
		b = a;
		a = next;
	}
	state[0] += a;
	state[1] += b;
	state[2] += c;
	state[3] += d;
	state[4] += e;
}

/* SHA-1 of a short text. It proves nothing here: the protocol asks for it to tell that the server speaks it. */
static void sha1(struct fh_str text, uint8_t ret[20])
{
	uint32_t state[5] = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0 };
	uint8_t block[2 * SHA1_BLOCK] = { 0 };
	size_t n = FH_MIN(text.n, sizeof(block) - 9), end = n + 9 > SHA1_BLOCK ? 2 * SHA1_BLOCK : SHA1_BLOCK;
	memcpy(block, text.p, n);
	block[n] = 0x80;
	block[end - 1] = (uint8_t)(n * 8);
	block[end - 2] = (uint8_t)(n * 8 >> 8);
	for (size_t i = 0; i < end; i += SHA1_BLOCK)
		sha1_block(state, block + i);
	for (unsigned i = 0; i < 20; i++)
		ret[i] = (uint8_t)(state[i / 4] >> (24 - 8 * (i % 4)));
}

void fh_websocket_accept(const char *key, char ret[FH_WEBSOCKET_ACCEPT])
{
	fh_auto_free char *text = fh_xasprintf("%s258EAFA5-E914-47DA-95CA-C5AB0DC85B11", key);
	fh_auto_buf struct fh_buf b = FH_BUF_INIT(FH_WEBSOCKET_ACCEPT);
	uint8_t digest[20];
	sha1(fh_str(text), digest);
	fh_base64_encode(&b, (struct fh_str){ (const char *)digest, sizeof(digest) });
	memcpy(ret, fh_buf_cstr(&b), FH_WEBSOCKET_ACCEPT);
}

/* ----------------------------------------------------------------------------------------------------------- frames */

static void add_length(struct fh_buf *out, size_t n)
{
	unsigned bytes = n < 126 ? 0 : n <= UINT16_MAX ? 2 : 8;
	fh_buf_addc(out, (char)(0x80 | (bytes == 0 ? n : bytes == 2 ? 126 : 127)));
	for (unsigned i = bytes; i-- > 0;)
		fh_buf_addc(out, (char)((uint64_t)n >> (8 * i)));
}

void fh_websocket_write(struct fh_buf *out, enum fh_websocket_opcode opcode, struct fh_str payload,
                        const uint8_t mask[4])
{
	fh_buf_addc(out, (char)(0x80 | opcode));
	add_length(out, payload.n);
	fh_buf_add(out, mask, 4);
	for (size_t i = 0; i < payload.n; i++)
		fh_buf_addc(out, (char)((uint8_t)payload.p[i] ^ mask[i % 4]));
}

void fh_websocket_reader_release(struct fh_websocket_reader *r)
{
	fh_buf_release(&r->message);
	fh_buf_release(&r->control);
}

struct frame {
	bool last;
	unsigned opcode;
	uint64_t length;
	size_t head;
};

/* Reads the head of a frame. Returns 1, 0 when it is not whole, or an error. */
static int read_head(struct fh_str in, struct frame *ret, struct fh_error *err)
{
	const uint8_t *p = (const uint8_t *)in.p;
	if (in.n < 2)
		return 0;
	unsigned bytes = (p[1] & 0x7f) == 126 ? 2 : (p[1] & 0x7f) == 127 ? 8 : 0;
	*ret = (struct frame){ .last = p[0] & 0x80, .opcode = p[0] & 0x0f, .length = p[1] & 0x7f, .head = 2 + bytes };
	if ((p[0] & 0x70) || (p[1] & 0x80))
		return fh_error_set(err, FH_E_UNAVAILABLE, "the server sent a frame that the WebSocket protocol does not know");
	if (in.n < ret->head)
		return 0;
	if (bytes)
		ret->length = 0;
	for (unsigned i = 0; i < bytes; i++)
		ret->length = ret->length << 8 | p[2 + i];
	return 1;
}

/* Whether a frame may come now: a control frame is short and whole, a message is not begun twice. */
static bool is_in_order(const struct fh_websocket_reader *r, const struct frame *f)
{
	bool goes_on = r->opcode != FH_WEBSOCKET_CONTINUATION;
	if (f->opcode >= FH_WEBSOCKET_CLOSE)
		return f->opcode <= FH_WEBSOCKET_PONG && f->last && f->length <= CONTROL_MAX;
	return f->opcode <= FH_WEBSOCKET_BINARY && (f->opcode == FH_WEBSOCKET_CONTINUATION) == goes_on;
}

int fh_websocket_read(struct fh_websocket_reader *r, struct fh_buf *in, enum fh_websocket_opcode *ret,
                      struct fh_error *err)
{
	struct frame f;
	int whole = read_head(fh_buf_str(in), &f, err);
	if (whole <= 0)
		return whole;
	if (!is_in_order(r, &f))
		return fh_error_set(err, FH_E_UNAVAILABLE, "the server sent a frame that the WebSocket protocol does not know");
	bool control = f.opcode >= FH_WEBSOCKET_CLOSE;
	if (!control && f.length > r->message.max - r->message.n)
		return fh_error_set(err, FH_E_LIMIT, "the server's message is larger than %zu bytes", r->message.max);
	if (in->n - f.head < f.length)
		return 0;
	struct fh_str payload = { in->p + f.head, (size_t)f.length };
	if (control)
		fh_buf_truncate(&r->control, 0);
	fh_buf_add_str(control ? &r->control : &r->message, payload);
	if (!control && f.opcode != FH_WEBSOCKET_CONTINUATION)
		r->opcode = f.opcode;
	*ret = control ? f.opcode : f.last ? r->opcode : FH_WEBSOCKET_CONTINUATION;
	if (!control && f.last)
		r->opcode = FH_WEBSOCKET_CONTINUATION;
	fh_buf_drop(in, f.head + (size_t)f.length);
	return 1;
}
