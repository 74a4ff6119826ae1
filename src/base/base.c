/* SPDX-License-Identifier: MIT */
#include "base/base.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

void fh_closep(const int *fd)
{
	if (*fd < 0)
		return;
	int saved = errno;
	close(*fd);
	errno = saved;
}

/* Out of memory: no function that allocates may be called any more, not even stdio. */
static FH_NORETURN void out_of_memory(void)
{
	static const char text[] = "fumehood: out of memory\n";
	ssize_t ignored = write(STDERR_FILENO, text, sizeof(text) - 1);
	(void)ignored;
	_exit(70);
}

void *fh_xcalloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size ? size : 1);
	if (!p)
		out_of_memory();
	return p;
}

void *fh_xrealloc(void *p, size_t n, size_t size)
{
	size_t bytes;
	if (__builtin_mul_overflow(n, size, &bytes))
		out_of_memory();
	void *q = realloc(p, bytes ? bytes : 1);
	if (!q)
		out_of_memory();
	return q;
}

char *fh_xstrdup(const char *s)
{
	return fh_xmemdup(s, strlen(s));
}

char *fh_xstrndup(const char *s, size_t n)
{
	return fh_xmemdup(s, n ? strnlen(s, n) : 0); /* an empty text may have no address */
}

void *fh_xmemdup(const void *p, size_t n)
{
	if (n == SIZE_MAX)
		out_of_memory();
	char *copy = fh_xrealloc(NULL, n + 1, 1);
	if (n)
		memcpy(copy, p, n);
	copy[n] = '\0';
	return copy;
}

char *fh_xasprintf(const char *format, ...)
{
	char *text = NULL;
	va_list args;
	va_start(args, format);
	int n = vasprintf(&text, format, args);
	va_end(args);
	if (n < 0)
		out_of_memory();
	return text;
}
