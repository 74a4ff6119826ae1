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
#include "e2b/hosted/sandboxes.h"

#define FH_VOLUME_INSIDE "/volume"
enum { FH_VOLUME_ID = 21, FH_VOLUME_TOKEN = 41, FH_VOLUME_NAME_MAX = 128, FH_VOLUME_MOUNTS_MAX = 16 };

struct fh_volumes;
struct fh_volume {
	char id[FH_VOLUME_ID];
	char token[FH_VOLUME_TOKEN]; /* the bearer token of requests about its files */
	char *name;                  /* unique among those of its key */
	char *folder;                /* absolute path on the host */
	const struct fh_key *owner;
	int64_t made_us;     /* time of creation, by the wall clock */
	atomic_int mounts;   /* sandboxes that have it mounted, without the server's own */
	atomic_bool is_full; /* larger than its ceiling when it was looked at last */
	atomic_ullong bytes; /* its size at that time, and what was uploaded since; UINT64_MAX: it could not be found out */
	atomic_bool is_changed; /* set by an upload: the size changed since it was measured */
	atomic_int references;
	pthread_mutex_t lock;       /* guards `through`, and is held while that sandbox is made */
	char through[FH_HOSTED_ID]; /* id of the hidden sandbox; "": none yet */
	struct fh_volume *next;     /* guarded by the list's lock */
};

/* Where a sandbox has a volume. */
struct fh_volume_mount {
	struct fh_volume *volume; /* with a reference; counted in `mounts` */
	char *path;
};

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
struct fh_volume *fh_volume_hold(struct fh_volume *v); /* one more reference */
void fh_volume_drop(struct fh_volume *v);
static inline void fh_volume_dropp(struct fh_volume **v)
{
	if (*v)
		fh_volume_drop(*v);
}
#define fh_auto_volume FH_CLEANUP(fh_volume_dropp)
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
/* The sandbox has them no more; called when it has ended. */
void fh_volume_mounts_release(struct fh_hosted *h);
/* [{"name", "path"}], for clients; with ids, for records. */
FH_OWN json_t *fh_volume_mounts_json(struct fh_hosted *h, bool with_ids);
/* Whether a volume of the sandbox is full, with the error that says so. */
bool fh_volume_mounts_full(struct fh_hosted *h, struct fh_error *err);
/* Adds the sandbox's volumes to its plan, in place of those that the plan has. */
struct fh_plan;
void fh_volume_mounts_plan(const struct fh_hosted *h, struct fh_plan *plan);
