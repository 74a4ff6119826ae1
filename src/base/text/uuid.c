/* SPDX-License-Identifier: MIT */
#include "base/text/uuid.h"

#include <stdint.h>
#include <stdio.h>
#include <sys/random.h>

void fh_uuid(char ret[FH_UUID_SIZE])
{
	uint8_t b[16];
	while (getrandom(b, sizeof(b), 0) != (ssize_t)sizeof(b))
		;
	b[6] = (b[6] & 0x0f) | 0x40;
	b[8] = (b[8] & 0x3f) | 0x80;
	for (size_t i = 0, at = 0; i < sizeof(b); i++)
		at += (size_t)snprintf(ret + at, FH_UUID_SIZE - at, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x",
		                       b[i]);
}
