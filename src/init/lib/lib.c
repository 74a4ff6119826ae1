/* SPDX-License-Identifier: MIT */
#include "init/lib/lib.h"

#include <errno.h>

enum { LONG = 64 }; /* bytes from which on a string instruction is faster than a loop, which it takes time to start */

/* The compiler may emit calls of these four even in freestanding code. */
void *memcpy(void *to, const void *from, size_t n)
{
	char *t = to;
	const char *f = from;
#ifdef __x86_64__
	if (n >= LONG) {
		__asm__ volatile("rep movsb" : "+D"(t), "+S"(f), "+c"(n) : : "memory");
		return to;
	}
#endif
	while (n--)
		*t++ = *f++;
	return to;
}

void *memset(void *p, int c, size_t n)
{
	char *t = p;
#ifdef __x86_64__
	if (n >= LONG) {
		__asm__ volatile("rep stosb" : "+D"(t), "+c"(n) : "a"(c) : "memory");
		return p;
	}
#endif
	while (n--)
		*t++ = (char)c;
	return p;
}

int memcmp(const void *a, const void *b, size_t n)
{
	const unsigned char *x = a, *y = b;
	for (; n--; x++, y++)
		if (*x != *y)
			return *x - *y;
	return 0;
}

size_t strlen(const char *s)
{
	size_t n = 0;
	while (s[n])
		n++;
	return n;
}

int fh_read_full(int fd, void *p, size_t n)
{
	size_t have = 0;
	while (have < n) {
		long r = fh_sys(__NR_read, fd, (char *)p + have, n - have);
		if (r == -EINTR)
			continue;
		if (r < 0)
			return (int)r;
		if (r == 0)
			return have == 0 ? 0 : -EIO;
		have += (size_t)r;
	}
	return 1;
}

int fh_write_full(int fd, const void *p, size_t n)
{
	while (n) {
		long r = fh_sys(__NR_write, fd, p, n);
		if (r == -EINTR)
			continue;
		if (r < 0)
			return (int)r;
		p = (const char *)p + r;
		n -= (size_t)r;
	}
	return 0;
}
