/* SPDX-License-Identifier: MIT */
/* What envd says of a file: EntryInfo, and the errors of calls on files in its words. */
#pragma once
#include "e2b/accounts.h"
#include "fumehood/session.h"

/* Calls on files are made as the user, and where that user may not, as root, as envd would. A sandbox's root has no
 * capability, so that what neither may is refused. */
enum { FH_ENTRY_PREFIX_MAX = 4096 };
#define FH_METADATA_PREFIX "user.e2b."

/* "drwxr-xr-x" as Go's FileMode prints it. */
void fh_entry_permissions(const struct fh_file_info *info, char ret[16]);
/* EntryInfo of what is at `path`, which is absolute. `info` is not followed when it is a link: then its target is
 * looked at too. with_metadata: its attributes are asked for. */
FH_OWN json_t *fh_entry_object(struct fh_hosted *h, const char *user, const char *path, const struct fh_file_info *info,
                               bool with_metadata);
/* The same of a path that has not been looked at. NULL with *e set. */
FH_OWN json_t *fh_entry_look(struct fh_hosted *h, const char *user, const char *path, struct fh_connect_error *e);
/* "file or directory not found", … for what err says of path. */
int fh_entry_fail(struct fh_connect_error *e, const struct fh_error *err, const char *path);

/* Makes `path` and the folders on the way that are missing, owned by the user. */
int fh_entry_make_folders(struct fh_hosted *h, const char *user, const char *path, struct fh_error *err);
/* Whether the same call is worth another try as root. */
bool fh_entry_denied(const struct fh_hosted *h, const char *user, const struct fh_error *err);
