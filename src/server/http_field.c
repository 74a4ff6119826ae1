/* SPDX-License-Identifier: MIT */
#include "server/http_field.h"

bool fh_http_is_field_name(const char *text)
{
	size_t n = strspn(text, "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
	return n > 0 && !text[n];
}
