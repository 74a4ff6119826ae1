/* SPDX-License-Identifier: MIT */
/* Reading the text files of /proc. */
#include "init/init.h"

#include <fcntl.h>

const char *fh_line_reader_next(struct fh_line_reader *r)
{
	for (;;) {
		for (size_t i = r->at; i < r->have; i++) {
			if (r->text[i] != '\n')
				continue;
			const char *line = r->text + r->at;
			r->text[i] = 0;
			r->at = i + 1;
			return line;
		}
		size_t rest = r->have - r->at;
		if (rest + 1 >= sizeof(r->text))
			rest = 0;
		memcpy(r->text, r->text + r->at, rest); /* moves down, so copying forwards is safe */
		r->at = 0;
		long n = fh_sys(__NR_read, r->fd, r->text + rest, sizeof(r->text) - rest);
		if (n <= 0)
			return 0;
		r->have = rest + (size_t)n;
	}
}

uint64_t fh_number_in(const char **p, unsigned base)
{
	uint64_t v = 0;
	for (;; (*p)++) {
		unsigned c = (unsigned char)**p;
		unsigned digit = c - '0' < 10 ? c - '0' : c - 'a' < 6 ? c - 'a' + 10 : 16;
		if (digit >= base)
			return v;
		v = v * base + digit;
	}
}

int fh_begins(const char *s, const char *with)
{
	for (; *with; s++, with++)
		if (*s != *with)
			return 0;
	return 1;
}

int64_t fh_clock_ns(int clock)
{
	struct {
		int64_t s, ns;
	} t;
	fh_sys(__NR_clock_gettime, clock, &t);
	return t.s * 1000000000 + t.ns;
}

const char *fh_meminfo(void)
{
	static char text[4096 + FH_MEMINFO_NAME_MAX]; /* comparing a name may go beyond the end of what was read */
	memset(text, 0, sizeof(text));
	long fd = fh_sys(__NR_openat, AT_FDCWD, "/proc/meminfo", O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return text;
	fh_sys(__NR_read, fd, text, sizeof(text) - FH_MEMINFO_NAME_MAX);
	fh_sys(__NR_close, fd);
	return text;
}

uint64_t fh_meminfo_bytes(const char *text, const char *name)
{
	enum { KIB = 1024 };
	for (const char *p = text; *p; p++) {
		if ((p != text && p[-1] != '\n') || !fh_begins(p, name))
			continue;
		for (p += strlen(name); *p == ' '; p++)
			;
		return fh_number_in(&p, 10) * KIB;
	}
	return 0;
}
