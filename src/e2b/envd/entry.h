/* SPDX-License-Identifier: MIT */
/* envd's description of a file (EntryInfo), and its error messages of calls on files. */
#pragma once
#include "e2b/hosted/accounts.h"
#include "fumehood/session.h"

/* Calls on files are made as the user and, where permission is denied, as root, since envd runs as root. Where a
 * sandbox's root has no capabilities, what neither user may do is refused. */
enum { FH_ENTRY_PREFIX_MAX = 4096 };
#define FH_METADATA_PREFIX "user.e2b."

/* EntryInfo for the file at `path`, which is absolute. `info` describes the file itself, even if it is a link: its
 * target is then looked up too. with_metadata: includes the extended attributes. */
FH_OWN json_t *fh_entry_object(struct fh_hosted *h, const char *user, const char *path, const struct fh_file_info *info,
                               bool with_metadata);
/* EntryInfo for a path that is looked up first. NULL with *e set. */
FH_OWN json_t *fh_entry_look(struct fh_hosted *h, const char *user, const char *path, struct fh_connect_error *e);
/* Sets envd's error for err on path, such as "file or directory not found". */
int fh_entry_fail(struct fh_connect_error *e, const struct fh_error *err, const char *path);

/* Makes `path` and missing folders above it, owned by the user. */
int fh_entry_make_folders(struct fh_hosted *h, const char *user, const char *path, struct fh_error *err);
/* Whether a call that failed with err should be repeated as root. */
bool fh_entry_denied(const struct fh_hosted *h, const char *user, const struct fh_error *err);
