/* SPDX-License-Identifier: MIT */
#include "engine/host/cgroup_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"

bool fh_cgroup_text(int dir, const char *file, char *buffer, size_t size)
{
	fh_auto_close int fd = openat(dir, file, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, buffer, size - 1);
	buffer[n > 0 ? n : 0] = 0;
	return n >= 0;
}

uint64_t fh_cgroup_number(int dir, const char *file)
{
	char text[64];
	return fh_cgroup_text(dir, file, text, sizeof(text)) ? strtoull(text, NULL, 10) : 0;
}

uint64_t fh_cgroup_keyed(const char *text, const char *key)
{
	size_t n = strlen(key);
	for (const char *p = text; p && *p; p = strchr(p, '\n') ? strchr(p, '\n') + 1 : NULL)
		if (strncmp(p, key, n) == 0 && p[n] == ' ')
			return strtoull(p + n, NULL, 10);
	return 0;
}

uint64_t fh_cgroup_keyed_number(int dir, const char *file, const char *key)
{
	char text[1024];
	return fh_cgroup_text(dir, file, text, sizeof(text)) ? fh_cgroup_keyed(text, key) : 0;
}

/* fh_write_all repeats the write after EINTR. */
int fh_cgroup_put(int dir, const char *file, const char *text)
{
	fh_auto_close int fd = openat(dir, file, O_WRONLY | O_CLOEXEC);
	return fd >= 0 && fh_write_all(fd, text, strlen(text)) == 0 ? 0 : -errno;
}

int fh_cgroup_put_number(int dir, const char *file, uint64_t value)
{
	char text[32];
	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	return fh_cgroup_put(dir, file, text);
}
