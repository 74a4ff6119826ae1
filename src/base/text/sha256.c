/* SPDX-License-Identifier: MIT */
#include "base/text/sha256.h"

#include <stdatomic.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

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

void fh_sha256_block_plain(uint32_t state[8], const uint8_t block[64])
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

#if defined(__x86_64__)
/* The same with the SHA instructions of newer processors, a seventh of the time (Intel's "SHA Extensions" describes
 * the two halves of the state, {a b e f} and {c d g h}, and how the words of the schedule follow from one another). */
__attribute__((target("sha,sse4.1"))) static void add_block_x86(uint32_t state[8], const uint8_t block[64])
{
	const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
	__m128i dcba = _mm_loadu_si128((const __m128i *)state), hgfe = _mm_loadu_si128((const __m128i *)(state + 4));
	__m128i cdab = _mm_shuffle_epi32(dcba, 0xb1), efgh = _mm_shuffle_epi32(hgfe, 0x1b);
	__m128i abef = _mm_alignr_epi8(cdab, efgh, 8), cdgh = _mm_blend_epi16(efgh, cdab, 0xf0);
	const __m128i abef_before = abef, cdgh_before = cdgh;
	__m128i w[4];
	for (int i = 0; i < 4; i++)
		w[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(block + 16 * i)), big_endian);
	for (int i = 0; i < 16; i++) {
		__m128i constants = _mm_loadu_si128((const __m128i *)(round_constants + 4 * i));
		__m128i sum = _mm_add_epi32(w[i % 4], constants);
		cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
		abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0e));
		__m128i next = _mm_add_epi32(_mm_sha256msg1_epu32(w[i % 4], w[(i + 1) % 4]),
		                             _mm_alignr_epi8(w[(i + 3) % 4], w[(i + 2) % 4], 4));
		w[i % 4] = _mm_sha256msg2_epu32(next, w[(i + 3) % 4]);
	}
	abef = _mm_add_epi32(abef, abef_before);
	cdgh = _mm_add_epi32(cdgh, cdgh_before);
	__m128i feba = _mm_shuffle_epi32(abef, 0x1b), dchg = _mm_shuffle_epi32(cdgh, 0xb1);
	_mm_storeu_si128((__m128i *)state, _mm_blend_epi16(feba, dchg, 0xf0));
	_mm_storeu_si128((__m128i *)(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}

/* Bit 29 of EBX, leaf 7: the SHA instructions; bit 19 of ECX, leaf 1: SSE 4.1. */
static bool has_sha_instructions(void)
{
	unsigned a, b, c, d;
	return __get_cpuid(1, &a, &b, &c, &d) && (c & 1U << 19) && __get_cpuid_count(7, 0, &a, &b, &c, &d) &&
	       (b & 1U << 29);
}

static void add_block(uint32_t state[8], const uint8_t block[64])
{
	static atomic_int known; /* 0: not asked yet; 1: no; 2: yes */
	int has = atomic_load_explicit(&known, memory_order_relaxed);
	if (!has) {
		has = 1 + has_sha_instructions();
		atomic_store_explicit(&known, has, memory_order_relaxed);
	}
	(has == 2 ? add_block_x86 : fh_sha256_block_plain)(state, block);
}
#else
static void add_block(uint32_t state[8], const uint8_t block[64])
{
	fh_sha256_block_plain(state, block);
}
#endif

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
