/* SPDX-License-Identifier: MIT */
/*
 * Who may use the server: API keys, each with ceilings of its own. The file has one key on each line: the key itself,
 * or "sha256:" and the 64 hexadecimal digits of its SHA-256 (`printf %s KEY | sha256sum`), followed by white space
 * and `name=TEXT` and ceilings (ceilings.h): `sandboxes=N`, `memory=SIZE`, `lifetime=SECONDS`. '#'
 * begins a comment. Only the file's owner may be able to read it.
 *
 * In memory there are only hashes; an offered key is hashed and compared with all of them in constant time. Without a
 * file every key is accepted, and all clients are one tenant.
 */
#pragma once
#include "base/error.h"
#include "base/text/sha256.h"
#include "e2b/common/ceilings.h"

enum { FH_KEYS_MAX = 4096, FH_KEY_NAME_MAX = 64 };

struct fh_key {
	uint8_t hash[FH_SHA256_SIZE];
	char name[FH_KEY_NAME_MAX]; /* key's name in logs; "key 3" when the line gives no name */
	struct fh_ceilings ceilings;
};

struct fh_keys {
	struct fh_key *items; /* the keys; without a file only items[0], with any_key set */
	size_t count, capacity;
	bool any_key;
};

/* path NULL: any key is accepted. `defaults` are the ceilings that a line does not set. */
int fh_keys_load(FH_NULLABLE const char *path, const struct fh_ceilings *defaults, struct fh_keys *ret,
                 struct fh_error *err);
void fh_keys_release(struct fh_keys *k);
/* The key that matches the offered one, or NULL. */
const struct fh_key *fh_keys_find(const struct fh_keys *k, FH_NULLABLE const char *offered);

/* Whether two texts are equal; the time depends only on the length of `expected`. */
bool fh_secret_equal(const char *offered, const char *expected);
