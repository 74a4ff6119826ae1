/* SPDX-License-Identifier: MIT */
#include "engine/host/kernel_word.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/base.h"

static const char *const files[FH_NAMESPACES] = { "user", "pid", "mnt", "net", "ipc", "uts", "cgroup" };

const char *fh_namespace_name(size_t i)
{
	return files[i];
}

/* Reads the links without following them; their text is like "net:[4026531840]" (namespaces(7)). */
void fh_namespaces_read(pid_t pid, struct fh_namespaces *ret)
{
	char path[64], text[64];
	snprintf(path, sizeof(path), "/proc/%d/ns", (int)pid);
	*ret = (struct fh_namespaces){ 0 };
	fh_auto_close int dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	for (size_t i = 0; dir >= 0 && i < FH_NAMESPACES; i++) {
		ssize_t n = readlinkat(dir, files[i], text, sizeof(text) - 1);
		text[FH_MAX(n, 0)] = 0;
		const char *number = strchr(text, '[');
		ret->inode[i] = number ? strtoull(number + 1, NULL, 10) : 0;
	}
}

size_t fh_proc_text(pid_t pid, const char *file, char *buffer, size_t size)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	fh_auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, buffer, size - 1);
	buffer[FH_MAX(n, 0)] = 0;
	return (size_t)FH_MAX(n, 0);
}

/* A line is like "NoNewPrivs:\t1". */
uint64_t fh_proc_number(const char *status, const char *name, int base, uint64_t otherwise)
{
	size_t n = strlen(name);
	for (const char *line = status; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, n) == 0 && line[n] == ':')
			return strtoull(line + n + 1, NULL, base);
	}
	return otherwise;
}
