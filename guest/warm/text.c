// SPDX-License-Identifier: MIT
#include "warm.h"

#include <fcntl.h>

bool fh_text_equal(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

bool fh_text_begins(const char *s, const char *with)
{
	for (; *with; s++, with++)
		if (*s != *with)
			return false;
	return true;
}

void fh_text_set(char *to, size_t size, const char *text)
{
	to[0] = 0;
	fh_text_add(to, size, text);
}

void fh_text_add(char *to, size_t size, const char *text)
{
	size_t n = strlen(to);
	while (*text && n + 1 < size)
		to[n++] = *text++;
	to[n] = 0;
}

void fh_text_add_number(char *to, size_t size, uint64_t v)
{
	char digits[24], *d = digits + sizeof(digits) - 1;
	*d = 0;
	do
		*--d = (char)('0' + v % 10);
	while (v /= 10);
	fh_text_add(to, size, d);
}

uint64_t fh_status_number(const char *name)
{
	static char text[4096];
	long fd = fh_sys(__NR_openat, AT_FDCWD, "/proc/self/status", O_RDONLY | O_CLOEXEC, 0);
	long n = fd < 0 ? fd : fh_sys(__NR_read, fd, text, sizeof(text) - 1);
	uint64_t v = 0;
	if (fd >= 0)
		fh_sys(__NR_close, fd);
	if (n <= 0)
		return 0;
	text[n] = 0;
	for (const char *p = text; *p; p++) {
		if ((p != text && p[-1] != '\n') || !fh_text_begins(p, name))
			continue;
		for (p += strlen(name); *p == ' ' || *p == '\t';)
			p++;
		for (; *p >= '0' && *p <= '9'; p++)
			v = v * 10 + (uint64_t)(*p - '0');
		return v;
	}
	return 0;
}
