/* SPDX-License-Identifier: MIT */
/*
 * What the kernel reports about a process: its namespaces, and the lines of its files in /proc. The result is reliable
 * for a child that was not reaped yet; otherwise the pid may meanwhile belong to another process.
 */
#pragma once
#include <stdint.h>
#include <sys/types.h>

/* The inode numbers of a process's namespaces; 0: unknown, or not supported by the kernel. */
enum { FH_NAMESPACES = 7 };
struct fh_namespaces {
	uint64_t inode[FH_NAMESPACES];
};

void fh_namespaces_read(pid_t pid, struct fh_namespaces *ret);
const char *fh_namespace_name(size_t i);
/* Reads a file of /proc/PID as text. Returns its length; 0: it could not be read. */
/* /proc/PID/status has about 1,500 bytes, and 10 more for each supplementary group */
enum { FH_PROC_STATUS_MAX = 4096 };
size_t fh_proc_text(pid_t pid, const char *file, char *buffer, size_t size);
/* The number on the line "NAME:" of /proc/PID/status; `otherwise` if there is no such line. */
uint64_t fh_proc_number(const char *status, const char *name, int base, uint64_t otherwise);
