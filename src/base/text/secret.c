/* SPDX-License-Identifier: MIT */
#include "base/text/secret.h"

#include <ctype.h>

bool fh_secret_name(const char *name)
{
	static const char *const whole[] = { "key", "cookie", "bearer" };
#define ENDING(text)                                                                                                   \
	{                                                                                                                  \
		text, sizeof(text) - 1                                                                                         \
	}
	static const struct {
		const char *text;
		size_t n;
	} endings[] = { ENDING("apikey"),        ENDING("token"),      ENDING("secret"),     ENDING("password"),
		            ENDING("passwd"),        ENDING("accesskey"),  ENDING("privatekey"), ENDING("secretkey"),
		            ENDING("authorization"), ENDING("passphrase"), ENDING("credential"), ENDING("credentials") };
#undef ENDING
	char plain[64];
	size_t n = 0;
	for (; *name && n < sizeof(plain) - 1; name++)
		if (isalnum((unsigned char)*name))
			plain[n++] = (char)tolower((unsigned char)*name);
	plain[n] = '\0';
	for (size_t i = 0; i < FH_ARRAY_SIZE(whole); i++)
		if (strcmp(plain, whole[i]) == 0)
			return true;
	for (size_t i = 0; i < FH_ARRAY_SIZE(endings); i++) {
		size_t m = endings[i].n;
		if (n >= m && memcmp(plain + n - m, endings[i].text, m) == 0)
			return true;
	}
	return false;
}
