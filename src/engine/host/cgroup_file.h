/* SPDX-License-Identifier: MIT */
/*
 * The small files of a control group, which the kernel writes and reads as text: a number, or lines of "key value".
 *
 * dir is an open folder (or AT_FDCWD), file a name in it. What cannot be read is 0, because no kernel has all of these
 * files. What cannot be written is told as a negative errno.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads the file's beginning as a string: empty, and false, if it cannot be read. size > 0. */
bool fh_cgroup_text(int dir, const char *file, char *buffer, size_t size);
uint64_t fh_cgroup_number(int dir, const char *file);

/* The value of `key` in "key value" lines; 0 if they have none. */
uint64_t fh_cgroup_keyed(const char *text, const char *key);
/* The same in a short file, such as cpu.stat and memory.events. */
uint64_t fh_cgroup_keyed_number(int dir, const char *file, const char *key);

/* Written again after EINTR: control groups v1 return it for a memory limit when the writer was frozen, stopped or
 * traced meanwhile. */
int fh_cgroup_put(int dir, const char *file, const char *text);
int fh_cgroup_put_number(int dir, const char *file, uint64_t value);
