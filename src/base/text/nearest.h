/* SPDX-License-Identifier: MIT */
/* "Did you mean": the known name that a mistyped word is closest to. */
#pragma once
#include "base/base.h"

/* Offer the candidates one after another: `best` (borrowed) is the nearest so far, or NULL if none is near enough to be
 * suggested (more than a third of the letters differ). Words over 64 bytes are never near. */
struct fh_nearest {
	const char *word;
	FH_NULLABLE const char *best;
	unsigned distance;
};
#define FH_NEAREST_INIT(w)                                                                                             \
	{                                                                                                                  \
		.word = (w)                                                                                                    \
	}
void fh_nearest_offer(struct fh_nearest *n, const char *candidate);
