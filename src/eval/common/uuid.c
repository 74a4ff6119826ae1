/* SPDX-License-Identifier: MIT */
#include "eval/common/uuid.h"

#include <sys/random.h>

/* Sixteen random bytes. The kernel is asked for those of many rows at once. */
static void random_bytes(unsigned char ret[16])
{
	static _Thread_local unsigned char stock[256]; /* getrandom(2) never interrupts a call for up to 256 bytes */
	static _Thread_local size_t left;
	if (left == 0 && getrandom(stock, sizeof(stock), 0) == sizeof(stock))
		left = sizeof(stock) / 16;
	if (left > 0)
		memcpy(ret, stock + 16 * --left, 16);
}

json_t *fh_eval_uuid(void)
{
	static const char hex[] = "0123456789abcdef";
	unsigned char b[16] = { 0 };
	char text[37], *out = text;
	random_bytes(b);
	b[6] = (unsigned char)((b[6] & 0x0f) | 0x40);
	b[8] = (unsigned char)((b[8] & 0x3f) | 0x80);
	for (size_t i = 0; i < sizeof(b); i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			*out++ = '-';
		*out++ = hex[b[i] >> 4];
		*out++ = hex[b[i] & 15];
	}
	*out = '\0';
	return json_string_nocheck(text);
}
