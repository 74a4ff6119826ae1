/* SPDX-License-Identifier: MIT */
/*
 * Places of the host that the user names and that a program in a sandbox may have had a hand in: a folder that is, or
 * once was, mounted to be written to. A program can leave a link there, so that what is named leads elsewhere.
 *
 * A link is followed only where no sandbox can have made it: where sandboxes have ids of their own, links of root;
 * where they have the user's id, links of everybody else. Who follows a link of the user's own names what it points to.
 */
#pragma once
#include "base/error.h"

/* Whether sandboxes that this process starts have ids of their own: it is root of the host's user namespace. */
bool fh_place_has_ranges(void);

/* An O_PATH descriptor of what is at path, or -errno; -ELOOP for a link that is not followed. No malloc. */
int fh_place_open(const char *path, bool ranges);

/* What is at path, as a path without links; NULL with errno. */
FH_OWN char *fh_place_real(const char *path);
/* The mend for a link that was not followed, if that is the error. */
void fh_place_hint(int error, struct fh_error *err);

/* A file that is to be written later: its folder, held open, and its name there. */
struct fh_place {
	int folder; /* -1: none */
	char *name, *shown;
};
#define FH_PLACE_INIT                                                                                                  \
	{                                                                                                                  \
		.folder = -1                                                                                                   \
	}
/* Opens the folder of path; where path is itself a folder, the file is `name` in it. */
int fh_place_prepare(const char *path, const char *name, struct fh_place *ret, struct fh_error *err);
/* Writes the file beside its name and renames it over: a reader or a crash sees the old file or the new one. A link of
 * that name is itself replaced; what is neither a regular file nor a link is left alone, with an error. */
int fh_place_write(const struct fh_place *p, const void *data, size_t n, mode_t mode, struct fh_error *err);
void fh_place_release(struct fh_place *p);
