/* SPDX-License-Identifier: MIT */
#include "engine/host/ids.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>

/* Whether we are root, and all ids of our ranges are mapped in this user namespace. */
static bool can_map_ranges(void)
{
	unsigned long inside, outside, count;
	bool all = false;
	if (geteuid() != 0)
		return false;
	FILE *f = fopen("/proc/self/uid_map", "re");
	while (f && fscanf(f, "%lu %lu %lu", &inside, &outside, &count) == 3)
		all = all || (inside <= FH_IDS_FIRST &&
		              inside + count >= (unsigned long)FH_IDS_FIRST + (unsigned long)FH_IDS_SLOTS * FH_IDS_RANGE);
	if (f)
		fclose(f);
	return all;
}

void fh_id_pool_open(struct fh_id_pool *p)
{
	*p = (struct fh_id_pool){ .ranges = can_map_ranges(), .lock = -1 };
	if (p->ranges)
		p->lock = open("/run/fumehood.ids", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
}

void fh_id_pool_close(struct fh_id_pool *p)
{
	if (p->lock >= 0)
		close(p->lock);
	p->lock = -1;
}

static bool lock_slot(int fd, unsigned slot, short type)
{
	struct flock l = { .l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)slot, .l_len = 1 };
	return fd < 0 || fcntl(fd, F_OFD_SETLK, &l) == 0;
}

int fh_id_pool_take(struct fh_id_pool *p, struct fh_ids *ret, struct fh_error *err)
{
	if (!p->ranges) {
		*ret = (struct fh_ids){ .uid = geteuid(), .gid = getegid() };
		return 0;
	}
	/* Starts at a random slot: engines that cannot lock then seldom take the same one, and engines that lock do not
	 * contend. */
	unsigned start = 0;
	(void)!getrandom(&start, sizeof(start), GRND_NONBLOCK);
	for (unsigned i = 0; i < FH_IDS_SLOTS; i++) {
		unsigned slot = (start + i) % FH_IDS_SLOTS;
		if (p->taken[slot / 8] & 1u << slot % 8 || !lock_slot(p->lock, slot, F_WRLCK))
			continue;
		p->taken[slot / 8] |= (uint8_t)(1u << slot % 8);
		*ret = (struct fh_ids){ .ranges = true, .base = (uint32_t)FH_IDS_FIRST + slot * FH_IDS_RANGE };
		return 0;
	}
	fh_error_set(err, FH_E_LIMIT, "all %d ranges of user ids are in use by live sandboxes", FH_IDS_SLOTS);
	if (err)
		err->retryable = true;
	return -FH_E_LIMIT;
}

void fh_id_pool_give_back(struct fh_id_pool *p, const struct fh_ids *ids)
{
	if (!ids->ranges)
		return;
	unsigned slot = (ids->base - FH_IDS_FIRST) / FH_IDS_RANGE;
	p->taken[slot / 8] &= (uint8_t) ~(1u << slot % 8);
	(void)lock_slot(p->lock, slot, F_UNLCK);
}

static unsigned slot_of(const struct fh_ids *ids)
{
	return (ids->base - FH_IDS_FIRST) / FH_IDS_RANGE;
}

void fh_ids_map(const struct fh_ids *ids, char ret[FH_IDS_MAP_MAX])
{
	size_t n = (size_t)snprintf(ret, FH_IDS_MAP_MAX, "0 %u %d\n", ids->base, FH_IDS_RANGE);
	unsigned before = slot_of(ids), after = FH_IDS_SLOTS - 1 - before;
	if (ids->all && before)
		n += (size_t)snprintf(ret + n, FH_IDS_MAP_MAX - n, "%u %u %u\n", FH_IDS_RANGE, FH_IDS_FIRST,
		                      before * FH_IDS_RANGE);
	if (ids->all && after)
		(void)snprintf(ret + n, FH_IDS_MAP_MAX - n, "%u %u %u\n", (before + 1) * FH_IDS_RANGE, ids->base + FH_IDS_RANGE,
		               after * FH_IDS_RANGE);
}

uint32_t fh_ids_in_template(const struct fh_ids *template, const struct fh_ids *sandbox)
{
	unsigned own = slot_of(template), slot = slot_of(sandbox);
	return (slot < own ? slot + 1 : slot) * FH_IDS_RANGE;
}
