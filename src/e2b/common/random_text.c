/* SPDX-License-Identifier: MIT */
#include "e2b/common/random_text.h"

#include <stdint.h>
#include <sys/random.h>

/* Bytes above 251 are skipped, since they would favour some characters. */
void fh_random_text(char *to, size_t n)
{
	static const char digits[] = "abcdefghijklmnopqrstuvwxyz0123456789";
	uint8_t bytes[64];
	for (size_t i = 0; i < n;) {
		if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
			continue;
		for (size_t k = 0; k < sizeof(bytes) && i < n; k++)
			if (bytes[k] < 252)
				to[i++] = digits[bytes[k] % 36];
	}
	to[n] = '\0';
}
