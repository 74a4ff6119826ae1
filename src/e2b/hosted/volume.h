/* SPDX-License-Identifier: MIT */
/* One volume (e2b/volumes/volumes.h), and what a hosted sandbox has mounted of them. */
#pragma once
#include "e2b/hosted/hosted.h"

struct fh_plan;

#define FH_VOLUME_INSIDE "/volume"
enum { FH_VOLUME_ID = 21, FH_VOLUME_TOKEN = 41, FH_VOLUME_NAME_MAX = 128, FH_VOLUME_MOUNTS_MAX = 16 };

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

struct fh_volume *fh_volume_hold(struct fh_volume *v); /* one more reference */
void fh_volume_drop(struct fh_volume *v);
static inline void fh_volume_dropp(struct fh_volume **v)
{
	if (*v)
		fh_volume_drop(*v);
}
#define fh_auto_volume FH_CLEANUP(fh_volume_dropp)

/* The error which says that the volume is full; returns its code. */
int fh_volume_full(const struct fh_volume *v, struct fh_error *err);

/* Counts each volume as mounted once less, drops it, and frees the list. */
void fh_volume_mounts_free(FH_OWN struct fh_volume_mount *list, size_t n);
/* The sandbox has them no more; called when it has ended. */
void fh_volume_mounts_release(struct fh_hosted *h);
/* [{"name", "path"}], for clients; with ids, for records. */
FH_OWN json_t *fh_volume_mounts_json(struct fh_hosted *h, bool with_ids);
/* Whether a volume of the sandbox is full, with the error that says so. */
bool fh_volume_mounts_full(struct fh_hosted *h, struct fh_error *err);
/* Adds the sandbox's volumes to its plan, in place of those that the plan has. */
void fh_volume_mounts_plan(const struct fh_hosted *h, struct fh_plan *plan);
