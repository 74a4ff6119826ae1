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

static void add_block(uint32_t state[8], const uint8_t block[64])
{
	uint32_t w[64], v[8];
	for (int i = 0; i < 16; i++)
		w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 | (uint32_t)block[4 * i + 2] << 8 |
		       block[4 * i + 3];
	for (int i = 16; i < 64; i++) {
		uint32_t s0 = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3;
		uint32_t s1 = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10;
		w[i] = w[i - 16] + s0 + w[i - 7] + s1;
	}
	memcpy(v, state, sizeof(v));
	for (int i = 0; i < 64; i++) {
		uint32_t s1 = rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25);
		uint32_t choice = (v[4] & v[5]) ^ (~v[4] & v[6]);
		uint32_t one = v[7] + s1 + choice + round_constants[i] + w[i];
		uint32_t s0 = rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22);
		uint32_t two = s0 + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
		memmove(v + 1, v, 7 * sizeof(v[0]));
		v[4] += one;
		v[0] = one + two;
	}
	for (int i = 0; i < 8; i++)
		state[i] += v[i];
}

void fh_sha256_add(struct fh_sha256 *h, const void *p, size_t n)
{
	const uint8_t *from = p;
	while (n > 0) {
		size_t have = h->bytes % sizeof(h->block), take = FH_MIN(n, sizeof(h->block) - have);
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
