/* SPDX-License-Identifier: MIT */
/*
 * What the kernel says of a process: its namespaces, and the lines of its /proc files. What is read of a process that
 * nobody has reaped is of that process; of another one it may be of whoever has its number now.
 */
#pragma once
#include <stdint.h>
#include <sys/types.h>

/* The namespaces of a process, by the numbers of their inodes; 0: not known, or the kernel does not have it. */
enum { FH_NAMESPACES = 7 };
struct fh_namespaces {
	uint64_t inode[FH_NAMESPACES];
};

void fh_namespaces_read(pid_t pid, struct fh_namespaces *ret);
const char *fh_namespace_name(size_t i);
/* A file of /proc/PID, as text; how long it is, 0: nothing to be had. */
enum { FH_PROC_STATUS_MAX = 4096 }; /* of /proc/PID/status: about 1,500 bytes, and 10 for each group */
size_t fh_proc_text(pid_t pid, const char *file, char *buffer, size_t size);
/* The number on the line "NAME:" of /proc/PID/status; `otherwise` where there is none. */
uint64_t fh_proc_number(const char *status, const char *name, int base, uint64_t otherwise);
