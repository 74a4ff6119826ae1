/* SPDX-License-Identifier: MIT */
/*
 * Who may use the server: API keys, each with ceilings of its own.
 *
 * The file holds one key a line: the key itself, or "sha256:" and the 64 hexadecimal digits of its SHA-256
 * (`printf %s KEY | sha256sum`), then, after white space, `name=TEXT`, `sandboxes=N`, `cpus=N`, `memory=SIZE`,
 * `disk=SIZE`, `processes=N`, `lifetime=SECONDS`. '#' begins a comment. Others than its owner may not be able to read
 * the file. In memory there are only hashes; a key that is offered is hashed and compared in constant time with all.
 *
 * Without a file every key is accepted, as one tenant.
 */
#pragma once
#include "base/error.h"
#include "base/sha256.h"
#include "e2b/ceilings.h"

enum { FH_KEYS_MAX = 4096, FH_KEY_NAME_MAX = 64 };

struct fh_key {
	uint8_t hash[FH_SHA256_SIZE];
	char name[FH_KEY_NAME_MAX]; /* for logs; "key 3" when the line names none */
	struct fh_ceilings ceilings;
};

struct fh_keys {
	struct fh_key *items; /* items[0] alone, with any_key, when there is no file */
	size_t count, capacity;
	bool any_key;
};

/* path NULL: any key. `defaults` are the ceilings of a line that says nothing. */
int fh_keys_load(FH_NULLABLE const char *path, const struct fh_ceilings *defaults, struct fh_keys *ret,
                 struct fh_error *err);
void fh_keys_release(struct fh_keys *k);
/* The key that was offered, or NULL. */
const struct fh_key *fh_keys_find(const struct fh_keys *k, FH_NULLABLE const char *offered);

/* Equal, in a time that depends on the length of `expected` alone. */
bool fh_secret_equal(const char *offered, const char *expected);
