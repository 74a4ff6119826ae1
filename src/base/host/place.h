/* SPDX-License-Identifier: MIT */
/*
 * Paths of the host that the user names and that a program in a sandbox may have manipulated, because a folder is, or
 * was, mounted writable. The program may have left a link there that leads elsewhere.
 *
 * A link is followed only if no sandbox can have made it. If sandboxes have ids of their own, that is a link owned by
 * root; if they have the user's id, a link owned by anyone else. To use a link of their own, users name its target
 * instead.
 */
#pragma once
#include "base/error.h"

/* Whether sandboxes started by this process have ids of their own, because it is root of the host's user namespace. */
bool fh_place_has_ranges(void);

/* An O_PATH descriptor of path, or -errno; -ELOOP: a link that is not followed. No malloc. */
int fh_place_open(const char *path, bool ranges);

/* The path with links resolved; NULL with errno. */
FH_OWN char *fh_place_real(const char *path);
/* Adds a hint if the error is that a link was not followed. */
void fh_place_hint(int error, struct fh_error *err);

/* A file to be written later: its folder, held open, and its name in there. */
struct fh_place {
	int folder; /* -1: not prepared */
	char *name, *shown;
};
#define FH_PLACE_INIT                                                                                                  \
	{                                                                                                                  \
		.folder = -1                                                                                                   \
	}
/* Opens the folder of path. If path is itself a folder, the file is `name` in it. */
int fh_place_prepare(const char *path, const char *name, struct fh_place *ret, struct fh_error *err);
/* Writes a temporary file and renames it, so that a reader, or a crash, sees either the old file or the new one. A link
 * with that name is itself replaced; anything but a regular file or a link is left alone, with an error. */
int fh_place_write(const struct fh_place *p, const void *data, size_t n, mode_t mode, struct fh_error *err);
void fh_place_release(struct fh_place *p);
