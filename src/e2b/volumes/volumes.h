/* SPDX-License-Identifier: MIT */
/*
 * Volumes: folders on disk that outlive sandboxes and that several sandboxes of their key may have mounted at once.
 * They need a server with --state, in whose folder each has its files (NAME) and its record (NAME.json):
 *
 *     create ──▶ free ◀──▶ mounted by sandboxes ──▶ removed        (only while no sandbox has it)
 *
 * The server reads no path and walks no tree of a volume itself: what sandboxes leave there is hostile. It does so
 * through a sandbox of its own, hidden from the key, in which the volume is mounted at FH_VOLUME_INSIDE and which ends
 * a minute after its last use.
 *
 * How large a volume may be is looked at every few seconds while a sandbox has it, not at each write: no kernel bounds
 * a folder. Once it is larger, the sandboxes that run with it are paused, and neither they nor others run with it
 * before enough was removed.
 *
 * A volume is reference-counted: the find functions return a reference that the caller drops.
 */
#pragma once
#include "e2b/hosted/volume.h"

struct fh_volumes;

/* Without a state there are no volumes, and fh_volume_create says so. */
FH_OWN struct fh_volumes *fh_volumes_new(struct fh_e2b *server);
/* Starts to look at sizes. */
void fh_volumes_watch(struct fh_volumes *s);
void fh_volumes_stop(struct fh_volumes *s); /* before the registry of sandboxes stops */
void fh_volumes_free(FH_OWN struct fh_volumes *s);

/* -FH_E_UNAVAILABLE: no --state, or on a file system that sandboxes cannot have mounted; -FH_E_CONFIG: there is one of
 * that name; -FH_E_LIMIT: the key has its maximum. */
int fh_volume_create(struct fh_volumes *s, const struct fh_key *owner, const char *name, struct fh_volume **ret,
                     struct fh_error *err);
/* Takes one from its record, when the server starts. */
int fh_volume_again(struct fh_volumes *s, const struct fh_key *owner, const json_t *record, struct fh_error *err);
FH_NULLABLE struct fh_volume *fh_volume_find(struct fh_volumes *s, const char *id);
FH_NULLABLE struct fh_volume *fh_volume_find_name(struct fh_volumes *s, const struct fh_key *owner, const char *name);
/* [{"volumeID", "name"}], the oldest first. */
FH_OWN json_t *fh_volume_list(struct fh_volumes *s, const struct fh_key *owner);
/* Removes it with its files. -FH_E_CONFIG: a sandbox has it mounted. */
int fh_volume_remove(struct fh_volumes *s, struct fh_volume *v, struct fh_error *err);

/* The hidden sandbox through which the volume's files are reached, with a reference; it is made if there is none. */
int fh_volume_enter(struct fh_volume *v, struct fh_e2b *server, struct fh_hosted **ret, struct fh_error *err);

/* Takes the volumes of a request, [{"name" or "id", "path"}], for a sandbox of `owner`.
 * -FH_E_NOT_FOUND: no such volume; -FH_E_ARGUMENT: a path at which nothing can be mounted; -FH_E_LIMIT: it is full. */
int fh_volume_mounts_take(struct fh_volumes *s, const struct fh_key *owner, FH_NULLABLE const json_t *asked,
                          struct fh_volume_mount **ret, size_t *ret_count, struct fh_error *err);
