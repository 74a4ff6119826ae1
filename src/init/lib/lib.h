/* SPDX-License-Identifier: MIT */
/* What freestanding programs have in place of a libc, beside system calls (sys.h). */
#pragma once
#include "init/lib/sys.h"

void *memcpy(void *to, const void *from, size_t n);
void *memset(void *p, int c, size_t n);
int memcmp(const void *a, const void *b, size_t n);
size_t strlen(const char *s);
/* 1: all n bytes; 0: end of file before the first; -errno (-EIO: end of file after the first) */
int fh_read_full(int fd, void *p, size_t n);
int fh_write_full(int fd, const void *p, size_t n); /* 0 or -errno */

/* The kernel's struct linux_dirent64 (getdents64(2)). */
struct fh_dirent {
	uint64_t inode;
	int64_t offset;
	uint16_t size;
	uint8_t type;
	char name[];
};
