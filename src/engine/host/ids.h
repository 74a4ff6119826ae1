/* SPDX-License-Identifier: MIT */
/*
 * Host ids for sandboxes. Root of the host's user namespace gives each live sandbox a range of 65,536 ids of its own,
 * so that limits that the kernel keeps by user, signals and files never meet between sandboxes; anybody else has one
 * id, their own.
 *
 * Ranges lie in FH_IDS_FIRST … FH_IDS_FIRST + FH_IDS_SLOTS * 65536 (1,342,177,280 … 1,610,612,735), which
 * distributions leave alone (systemd's UIDS-GIDS.md). Engines on one machine share them by a lock on one byte a slot of
 * /run/fumehood.ids; the kernel drops it when an engine dies.
 *
 * The user namespace of a template (template.h) holds all ranges: its own from 0 on, so that it has the users that
 * sandboxes have, and the others after it in their order. So each of its sandboxes can be given a range there.
 */
#pragma once
#include "base/error.h"

enum { FH_IDS_FIRST = 0x50000000, FH_IDS_SLOTS = 4096, FH_IDS_RANGE = 65536 };

/* How sandboxes get their ids on this host. */
struct fh_ids {
	bool ranges;       /* root of the host's user namespace: a range of host ids for each live sandbox */
	uint32_t base;     /* ranges: the first host id of this sandbox's 65,536 */
	uint32_t uid, gid; /* one id: the invoking user's */
	bool all;          /* ranges: a template's, whose user namespace holds those of all sandboxes (ids.h) */
};

struct fh_id_pool {
	bool ranges;
	int lock; /* -1: not to be had; slots are then taken at random */
	uint8_t taken[FH_IDS_SLOTS / 8];
};
void fh_id_pool_open(struct fh_id_pool *p);
void fh_id_pool_close(struct fh_id_pool *p);
int fh_id_pool_take(struct fh_id_pool *p, struct fh_ids *ret, struct fh_error *err);
/* The id map of a user namespace with these ids, as it is written to uid_map and gid_map. */
enum { FH_IDS_MAP_MAX = 160 };
void fh_ids_map(const struct fh_ids *ids, char ret[FH_IDS_MAP_MAX]);
/* The first id of a sandbox's range as the template's user namespace shows it. */
uint32_t fh_ids_in_template(const struct fh_ids *template, const struct fh_ids *sandbox);
void fh_id_pool_give_back(struct fh_id_pool *p, const struct fh_ids *ids);
