/* SPDX-License-Identifier: MIT */
/*
 * What a server keeps on disk (`--state DIR`), so that the next one knows it: paused sandboxes, snapshots and built
 * templates, and volumes. Of each but the last there are two files in the folder, which only its owner may read:
 *
 *     NAME.files     the plan and all files, as fh_sandbox_snapshot writes them
 *     NAME.json      the rest; written last and by rename, so that a record without it does not count
 *
 * Memory is not kept: a sandbox that was paused by the server before has its files, id, token and settings, and no
 * programs, as after a pause without memory. One server at a time has the folder. Files in it are trusted as the
 * server's own.
 *
 * Records belong to the key with the same hash; those of a key that is no longer in the file wait for it. Without keys,
 * all belong to everybody.
 */
#pragma once
#include "base/error.h"
#include "e2b/common/keys.h"
#include "fumehood/sandbox.h"
#include "json/json.h"

struct fh_state;
/* Makes the folder if it is missing. FH_E_CONFIG: another user owns it, or another server has it open. */
int fh_state_open(const char *path, struct fh_state **ret, struct fh_error *err);
void fh_state_close(FH_NULLABLE struct fh_state *s);

/* Absolute path of the folder. Volumes have folders of their own in it (hosted/volumes.h). */
const char *fh_state_path(const struct fh_state *s);

/* Writes both files, with the name of `owner` as the member "key" of `record`. The sandbox must not be paused. This
 * function and those below do nothing if the state is NULL. */
int fh_state_save(FH_NULLABLE struct fh_state *s, const char *name, const struct fh_key *owner,
                  struct fh_sandbox *sandbox, json_t *record, struct fh_error *err);
/* Writes NAME.json again. */
int fh_state_update(FH_NULLABLE struct fh_state *s, const char *name, const struct fh_key *owner, json_t *record,
                    struct fh_error *err);
void fh_state_remove(FH_NULLABLE struct fh_state *s, const char *name);
/* Calls take with each record, the oldest first. `files` is open at its beginning, and closed afterwards; -1: the
 * record has none. Returns how many records could not be read, with the reason of the last. */
size_t fh_state_load(FH_NULLABLE struct fh_state *s, const struct fh_keys *keys,
                     int (*take)(void *context, const struct fh_key *owner, const json_t *record, int files,
                                 struct fh_error *err),
                     void *context, struct fh_error *err);
