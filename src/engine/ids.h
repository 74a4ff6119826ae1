/* SPDX-License-Identifier: MIT */
/*
 * Host ids for sandboxes. Root of the host's user namespace gives each live sandbox a range of 65,536 ids of its own,
 * so that limits that the kernel keeps by user, signals and files never meet between sandboxes; anybody else has one
 * id, their own.
 *
 * Ranges lie in FH_IDS_FIRST … FH_IDS_FIRST + FH_IDS_SLOTS * 65536 (1,342,177,280 … 1,610,612,735), which
 * distributions leave alone (systemd's UIDS-GIDS.md). Engines on one machine share them by a lock on one byte a slot of
 * /run/fumehood.ids; the kernel drops it when an engine dies.
 */
#pragma once
#include "engine/launch.h"

enum { FH_IDS_FIRST = 0x50000000, FH_IDS_SLOTS = 4096, FH_IDS_RANGE = 65536 };

struct fh_id_pool {
	bool ranges;
	int lock; /* -1: not to be had; slots are then taken at random */
	uint8_t taken[FH_IDS_SLOTS / 8];
};
void fh_id_pool_open(struct fh_id_pool *p);
void fh_id_pool_close(struct fh_id_pool *p);
int fh_id_pool_take(struct fh_id_pool *p, struct fh_ids *ret, struct fh_error *err);
void fh_id_pool_give_back(struct fh_id_pool *p, const struct fh_ids *ids);
