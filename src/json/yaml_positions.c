/* SPDX-License-Identifier: MIT */
#include "json/yaml_internal.h"

/*
 * An open-addressed table of 64-bit hashes. Keys are not stored: two members with equal hashes would share a position
 * in error messages, which does no harm.
 */
struct place {
	uint64_t hash; /* hash of a member; 0: the place is unused */
	uint32_t line, column;
};

struct fh_yaml_positions {
	struct place *places;
	size_t n, size; /* size is a power of two; at most half of the places are used */
	char *lost;     /* as fh_yaml_lost_digits tells it; NULL: all integers are exact */
	uint32_t lost_line, lost_column;
};

static uint64_t mix(uint64_t h)
{
	h ^= h >> 33;
	h *= UINT64_C(0xff51afd7ed558ccd);
	h ^= h >> 33;
	h *= UINT64_C(0xc4ceb9fe1a85ec53);
	return h ^ h >> 33;
}

static uint64_t hash_of(const json_t *parent, const char *key, size_t index)
{
	uint64_t h = mix((uint64_t)(uintptr_t)parent + 1);
	if (key)
		for (const char *p = key; *p; p++)
			h = (h ^ (unsigned char)*p) * UINT64_C(0x100000001b3);
	else
		h ^= mix(index + UINT64_C(0x9e3779b97f4a7c15));
	h = mix(h);
	return h ? h : 1;
}

static struct place *find(struct place *places, size_t size, uint64_t hash)
{
	size_t i = hash & (size - 1);
	while (places[i].hash && places[i].hash != hash)
		i = (i + 1) & (size - 1);
	return &places[i];
}

struct fh_yaml_positions *fh_yaml_positions_new(void)
{
	struct fh_yaml_positions *p = FH_NEW(struct fh_yaml_positions);
	p->size = 256;
	p->places = fh_xcalloc(p->size, sizeof(*p->places));
	return p;
}

static void grow(struct fh_yaml_positions *p)
{
	size_t size = p->size * 2;
	struct place *places = fh_xcalloc(size, sizeof(*places));
	for (size_t i = 0; i < p->size; i++)
		if (p->places[i].hash)
			*find(places, size, p->places[i].hash) = p->places[i];
	free(p->places);
	p->places = places;
	p->size = size;
}

void fh_yaml_positions_add(struct fh_yaml_positions *p, const json_t *parent, const char *key, size_t index,
                           uint32_t line, uint32_t column)
{
	if (2 * (p->n + 1) > p->size)
		grow(p);
	struct place *place = find(p->places, p->size, hash_of(parent, key, index));
	p->n += place->hash == 0;
	*place = (struct place){ hash_of(parent, key, index), line, column };
}

bool fh_yaml_position(const struct fh_yaml_positions *p, const json_t *parent, const char *key, size_t index,
                      uint32_t *ret_line, uint32_t *ret_column)
{
	if (!p)
		return false;
	const struct place *place = find(p->places, p->size, hash_of(parent, key, index));
	if (!place->hash)
		return false;
	*ret_line = place->line;
	*ret_column = place->column;
	return true;
}

void fh_yaml_positions_lost(struct fh_yaml_positions *p, struct fh_str text, uint32_t line, uint32_t column)
{
	if (p->lost)
		return;
	p->lost = fh_xstrndup(text.p, text.n);
	p->lost_line = line;
	p->lost_column = column;
}

const char *fh_yaml_lost_digits(const struct fh_yaml_positions *p, uint32_t *ret_line, uint32_t *ret_column)
{
	if (!p || !p->lost)
		return NULL;
	*ret_line = p->lost_line;
	*ret_column = p->lost_column;
	return p->lost;
}

void fh_yaml_positions_free(struct fh_yaml_positions *p)
{
	if (!p)
		return;
	free(p->places);
	free(p->lost);
	free(p);
}
