/* SPDX-License-Identifier: MIT */
#include "base/text/secret.h"

#include <ctype.h>

bool fh_secret_name(const char *name)
{
	static const char *const whole[] = { "key", "cookie", "bearer" };
	static const char *const endings[] = { "apikey",        "token",      "secret",     "password",
		                                   "passwd",        "accesskey",  "privatekey", "secretkey",
		                                   "authorization", "passphrase", "credential", "credentials" };
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
		size_t m = strlen(endings[i]);
		if (n >= m && strcmp(plain + n - m, endings[i]) == 0)
			return true;
	}
	return false;
}
