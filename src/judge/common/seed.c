/* SPDX-License-Identifier: MIT */
#include "judge/common/seed.h"

#include <errno.h>
#include <stdio.h>
#include <sys/random.h>

#include "base/text/sha256.h"

static void digits_of(const uint8_t *bytes, char ret[FH_SEED_DIGITS + 1])
{
	for (size_t i = 0; i < FH_SEED_DIGITS / 2; i++)
		snprintf(ret + 2 * i, 3, "%02x", bytes[i]);
}

int fh_judge_seed_new(char ret[FH_SEED_DIGITS + 1], struct fh_error *err)
{
	uint8_t bytes[FH_SEED_DIGITS / 2];
	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return fh_error_sys(err, errno, "cannot get random bytes");
	digits_of(bytes, ret);
	return 0;
}

void fh_judge_seed_of(const char *seed, const char *task_id, unsigned draw, char ret[FH_SEED_DIGITS + 1])
{
	struct fh_sha256 h = FH_SHA256_INIT;
	uint8_t digest[FH_SHA256_SIZE];
	char number[16];
	snprintf(number, sizeof(number), "%u", draw);
	const char *const words[] = { "fumehood seed", seed, task_id, number };
	for (size_t i = 0; i < FH_ARRAY_SIZE(words); i++)
		fh_sha256_add_field(&h, fh_str(words[i]));
	fh_sha256_end(&h, digest);
	digits_of(digest, ret);
}
