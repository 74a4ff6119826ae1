/* SPDX-License-Identifier: MIT */
/*
 * Host ids for sandboxes. An engine that is root in the host's user namespace gives each live sandbox its own range of
 * 65,536 ids, so that no two sandboxes share per-user limits of the kernel, signals or files. Any other user has a
 * single id, their own.
 *
 * Ranges lie in FH_IDS_FIRST … FH_IDS_FIRST + FH_IDS_SLOTS * 65536 (1,342,177,280 … 1,610,612,735), which distributions
 * leave unused (systemd's UIDS-GIDS.md). Engines on one machine share them by locking one byte of /run/fumehood.ids for
 * each slot; the kernel drops the lock when an engine dies.
 *
 * The range after these, from FH_IDS_VOLUMES on, belongs to files in volumes (make/volume.c); no process has its ids.
 *
 * The user namespace of a template (template.h) maps all ranges: the template's own at 0, so that it has the same users
 * as a sandbox, followed by the others in order. A range can therefore be given to each of its sandboxes.
 */
#pragma once
#include "base/error.h"

enum {
	FH_IDS_FIRST = 0x50000000,
	FH_IDS_SLOTS = 4096,
	FH_IDS_RANGE = 65536,
	FH_IDS_VOLUMES = FH_IDS_FIRST + FH_IDS_SLOTS * FH_IDS_RANGE, /* first id of files in volumes, on disk */
};

/* How sandboxes get their ids on this host. */
struct fh_ids {
	bool ranges;       /* the engine is root of the host's user namespace: each live sandbox gets a range of host ids */
	uint32_t base;     /* with ranges: the first host id of this sandbox's 65,536 */
	uint32_t uid, gid; /* without ranges: the invoking user's ids */
	bool all;          /* with ranges, for a template: its user namespace maps the ranges of all sandboxes */
};

struct fh_id_pool {
	bool ranges;
	int lock; /* -1: the file could not be opened; slots are then taken at random */
	uint8_t taken[FH_IDS_SLOTS / 8];
};
void fh_id_pool_open(struct fh_id_pool *p);
void fh_id_pool_close(struct fh_id_pool *p);
int fh_id_pool_take(struct fh_id_pool *p, struct fh_ids *ret, struct fh_error *err);
/* The lines to write to uid_map and gid_map of a user namespace with these ids. */
enum { FH_IDS_MAP_MAX = 160 };
void fh_ids_map(const struct fh_ids *ids, char ret[FH_IDS_MAP_MAX]);
/* The first id of a sandbox's range, as seen in the template's user namespace. */
uint32_t fh_ids_in_template(const struct fh_ids *template, const struct fh_ids *sandbox);
void fh_id_pool_give_back(struct fh_id_pool *p, const struct fh_ids *ids);
