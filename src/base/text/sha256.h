/* SPDX-License-Identifier: MIT */
/*
 * SHA-256 (FIPS 180-4), for keys that tell whether two inputs are the same. The struct is plain data and needs no
 * release.
 *
 *     struct fh_sha256 h = FH_SHA256_INIT;
 *     fh_sha256_add(&h, p, n); …
 *     fh_sha256_hex(&h, hex);
 */
#pragma once
#include "base/base.h"

#define FH_SHA256_SIZE 32
#define FH_SHA256_HEX 65 /* with the NUL */

struct fh_sha256 {
	uint32_t state[8];
	uint64_t bytes;
	uint8_t block[64];
};
#define FH_SHA256_INIT                                                                                                 \
	{                                                                                                                  \
		.state = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 }    \
	}

void fh_sha256_add(struct fh_sha256 *h, const void *p, size_t n);
/* Adds the length of s and then s, so that two sequences of fields have the same hash only if all fields are equal. */
void fh_sha256_add_field(struct fh_sha256 *h, struct fh_str s);
/* Computes the digest of all that was added; h must not be used after this. */
void fh_sha256_end(struct fh_sha256 *h, uint8_t ret_digest[FH_SHA256_SIZE]);
void fh_sha256_hex(struct fh_sha256 *h, char ret_hex[FH_SHA256_HEX]);
/* How a block changes the state, without the processor's instructions for it: for processors that have none, and for
 * the test that compares both. */
void fh_sha256_block_plain(uint32_t state[8], const uint8_t block[64]);
