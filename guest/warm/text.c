/* SPDX-License-Identifier: MIT */
#include "warm.h"

#include <linux/fcntl.h>
#include <linux/memfd.h>

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

static bool is_running(const char *task)
{
	char path[64] = "/proc/self/task/", text[512];
	fh_text_add(path, sizeof(path), task);
	fh_text_add(path, sizeof(path), "/stat");
	long fd = fh_sys(__NR_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	long n = fd < 0 ? 0 : fh_sys(__NR_read, fd, text, sizeof(text) - 1);
	if (fd >= 0)
		fh_sys(__NR_close, fd);
	while (n > 0 && text[n - 1] != ')') /* the name may contain any character; " S" or another state follows it */
		n--;
	return n > 0 && text[n + 1] == 'R';
}

int fh_running_threads(void)
{
	static _Alignas(8) char entries[4096];
	int running = 0;
	long fd = fh_sys(__NR_openat, AT_FDCWD, "/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0), n;
	while (fd >= 0 && (n = fh_sys(__NR_getdents64, fd, entries, sizeof(entries))) > 0)
		for (long at = 0; at < n; at += ((const struct fh_dirent *)(const void *)(entries + at))->size) {
			const char *name = ((const struct fh_dirent *)(const void *)(entries + at))->name;
			running += name[0] != '.' && is_running(name);
		}
	if (fd >= 0)
		fh_sys(__NR_close, fd);
	return running;
}

uint64_t fh_random(void)
{
	uint64_t v = 0;
	fh_sys(__NR_getrandom, &v, sizeof(v), 0);
	return v;
}

int fh_memory_file(const char *name, const void *data, size_t size)
{
	enum { ALL_SEALS = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE };
	long fd = fh_sys(__NR_memfd_create, name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd >= 0 && (fh_write_full((int)fd, data, size) < 0 || fh_sys(__NR_lseek, fd, 0, 0) < 0 ||
	                fh_sys(__NR_fcntl, fd, F_ADD_SEALS, ALL_SEALS) < 0)) {
		fh_sys(__NR_close, fd);
		return -1;
	}
	return (int)fd;
}
