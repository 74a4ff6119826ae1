/* SPDX-License-Identifier: MIT */
#include "fuzz.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"

void fh_fuzz_failed(const char *file, int line, const char *what)
{
	fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
	abort();
}

uint64_t fh_fuzz_number(struct fh_fuzz_input *in, size_t bytes)
{
	uint64_t v = 0;
	for (size_t i = 0; i < bytes && in->n; i++, in->p++, in->n--)
		v |= (uint64_t)*in->p << (8 * i);
	return v;
}

struct fh_str fh_fuzz_bytes(struct fh_fuzz_input *in, size_t n)
{
	struct fh_str s = { in->n ? (const char *)in->p : "", FH_MIN(n, in->n) };
	in->p += s.n;
	in->n -= s.n;
	return s;
}

char *fh_fuzz_copy(const uint8_t *data, size_t size)
{
	char *p = malloc(size ? size : 1);
	if (!p)
		abort();
	if (size)
		memcpy(p, data, size);
	return p;
}

const char *fh_fuzz_file(const uint8_t *data, size_t size)
{
	static char path[64];
	static int fd = -1;
	if (fd < 0) {
		fd = memfd_create("fumehood-fuzz", MFD_CLOEXEC);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	FH_FUZZ_CHECK(fd >= 0 && ftruncate(fd, 0) == 0 && lseek(fd, 0, SEEK_SET) == 0);
	FH_FUZZ_CHECK(fh_write_all(fd, data, size) >= 0);
	return path;
}
