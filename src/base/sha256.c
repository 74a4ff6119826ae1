/* SPDX-License-Identifier: MIT */
#include "base/sha256.h"

static const uint32_t round_constants[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static inline uint32_t rotate(uint32_t x, int n)
{
	return x >> n | x << (32 - n);
}

/* One round. Instead of moving the eight variables on by one, each round is given them in another order. */
#define ROUND(a, b, c, d, e, f, g, h, i)                                                                               \
	do {                                                                                                               \
		uint32_t one = h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + (g ^ (e & (f ^ g))) + round_constants[i] + \
		               w[(i) % 16];                                                                                    \
		d += one;                                                                                                      \
		h = one + (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) | (c & (a | b)));                          \
	} while (0)

#define EIGHT_ROUNDS(i)                                                                                                \
	do {                                                                                                               \
		ROUND(a, b, c, d, e, f, g, h, i);                                                                              \
		ROUND(h, a, b, c, d, e, f, g, (i) + 1);                                                                        \
		ROUND(g, h, a, b, c, d, e, f, (i) + 2);                                                                        \
		ROUND(f, g, h, a, b, c, d, e, (i) + 3);                                                                        \
		ROUND(e, f, g, h, a, b, c, d, (i) + 4);                                                                        \
		ROUND(d, e, f, g, h, a, b, c, (i) + 5);                                                                        \
		ROUND(c, d, e, f, g, h, a, b, (i) + 6);                                                                        \
		ROUND(b, c, d, e, f, g, h, a, (i) + 7);                                                                        \
	} while (0)

/* Turns the sixteen words of the message schedule that the last rounds used into the next sixteen. */
static inline void next_words(uint32_t w[16])
{
	for (int i = 0; i < 16; i++) {
		uint32_t x = w[(i + 1) % 16], y = w[(i + 14) % 16];
		w[i] += (rotate(x, 7) ^ rotate(x, 18) ^ x >> 3) + w[(i + 9) % 16] + (rotate(y, 17) ^ rotate(y, 19) ^ y >> 10);
	}
}

static void add_block(uint32_t state[8], const uint8_t block[64])
{
	uint32_t w[16];
	uint32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4], f = state[5], g = state[6],
	         h = state[7];
	for (int i = 0; i < 16; i++)
		w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 | (uint32_t)block[4 * i + 2] << 8 |
		       block[4 * i + 3];
	for (int i = 0; i < 64; i += 16) {
		if (i > 0)
			next_words(w);
		EIGHT_ROUNDS(i);
		EIGHT_ROUNDS(i + 8);
	}
	state[0] += a;
	state[1] += b;
	state[2] += c;
	state[3] += d;
	state[4] += e;
	state[5] += f;
	state[6] += g;
	state[7] += h;
}

void fh_sha256_add(struct fh_sha256 *h, const void *p, size_t n)
{
	const uint8_t *from = p;
	while (n > 0) {
		size_t have = h->bytes % sizeof(h->block), take = FH_MIN(n, sizeof(h->block) - have);
		if (take == sizeof(h->block)) {
			add_block(h->state, from);
			h->bytes += take;
			from += take;
			n -= take;
			continue;
		}
		memcpy(h->block + have, from, take);
		h->bytes += take;
		from += take;
		n -= take;
		if (have + take == sizeof(h->block))
			add_block(h->state, h->block);
	}
}

void fh_sha256_add_field(struct fh_sha256 *h, struct fh_str s)
{
	uint8_t size[8];
	for (int i = 0; i < 8; i++)
		size[i] = (uint64_t)s.n >> (56 - 8 * i);
	fh_sha256_add(h, size, sizeof(size));
	fh_sha256_add(h, s.p, s.n);
}

void fh_sha256_end(struct fh_sha256 *h, uint8_t ret_digest[FH_SHA256_SIZE])
{
	uint8_t tail[72] = { 0x80 };
	uint64_t bits = h->bytes * 8;
	size_t have = h->bytes % 64, pad = have < 56 ? 56 - have : 120 - have;
	for (int i = 0; i < 8; i++)
		tail[pad + i] = bits >> (56 - 8 * i);
	fh_sha256_add(h, tail, pad + 8);
	for (int i = 0; i < 32; i++)
		ret_digest[i] = h->state[i / 4] >> (24 - 8 * (i % 4));
}

void fh_sha256_hex(struct fh_sha256 *h, char ret_hex[FH_SHA256_HEX])
{
	static const char digits[] = "0123456789abcdef";
	uint8_t digest[FH_SHA256_SIZE];
	fh_sha256_end(h, digest);
	for (int i = 0; i < FH_SHA256_SIZE; i++) {
		ret_hex[2 * i] = digits[digest[i] >> 4];
		ret_hex[2 * i + 1] = digits[digest[i] & 15];
	}
	ret_hex[2 * FH_SHA256_SIZE] = '\0';
}
