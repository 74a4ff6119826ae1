/* SPDX-License-Identifier: MIT */
/*
 * What a zygote holds, and that a program which it forked holds none of it (own.c). Descriptors 0 to 2 are left out:
 * each run places its own there.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { FH_HELD_MAX = 64 };

struct fh_held {
	pid_t pid; /* of the zygote; its number is its own while the engine has not reaped it */
	size_t count;
	int fd[FH_HELD_MAX];
};

/* False: more than that, or they cannot be listed. */
bool fh_held_read(pid_t zygote, struct fh_held *ret);
/* socket: the inode of the program's own, by which the engine speaks with it. False: with the reason in why. */
bool fh_held_apart(const struct fh_held *held, pid_t program, uint64_t socket, char *why, size_t size);
