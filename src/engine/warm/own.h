/* SPDX-License-Identifier: MIT */
/*
 * Checks that a program forked from a zygote holds none of the zygote's descriptors (own.c). Descriptors 0 to 2 are
 * left out, since each run sets its own.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { FH_HELD_MAX = 64 };

struct fh_held {
	pid_t pid; /* the zygote's, which is not reused while the engine has not reaped it */
	size_t count;
	int fd[FH_HELD_MAX];
};

/* Records the descriptors of a zygote. False: it has more than FH_HELD_MAX, or they cannot be listed. */
bool fh_held_read(pid_t zygote, struct fh_held *ret);
/* socket: inode of the program's own socket to the engine. On false, `why` has the reason. */
bool fh_held_apart(const struct fh_held *held, pid_t program, uint64_t socket, char *why, size_t size);
