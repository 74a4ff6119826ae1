/* SPDX-License-Identifier: MIT */
/*
 * Reads YAML into JSON values, with the position of each part.
 *
 * One document; YAML 1.2's core schema for plain scalars, so `no` and `on` are strings, and so is a number with a
 * leading zero (`012`: an id or a post code). Aliases are deep copies; a merge key (<<) takes a mapping, an alias,
 * or a list of these, of which earlier ones win. Refused, each with its line and a hint: duplicate keys, keys that
 * are not scalars, tags other than the core schema's, .inf and .nan (JSON has neither), a second document, and
 * whatever exceeds the bounds below, which also stop alias bombs. JSON files are valid YAML.
 *
 * Positions are found by the addresses of the tree's lists and mappings, so they are valid only until the tree is
 * changed or freed.
 */
#pragma once
#include "json/json.h"

#define FH_YAML_SIZE_MAX ((size_t)64 << 20) /* maximum bytes of YAML text */
#define FH_YAML_NODES_MAX 2000000u          /* maximum of values, copies made for aliases included */
#define FH_YAML_DEPTH_MAX 200u

struct fh_yaml_positions;

/* Returns a new reference, or NULL. An empty document is null. ret_positions may be NULL. `name` is the file in
 * errors. */
FH_OWN json_t *fh_yaml_load(struct fh_str text, const char *name, FH_NULLABLE struct fh_yaml_positions **ret_positions,
                            struct fh_error *err);
/* Reads a file of at most FH_YAML_SIZE_MAX bytes. */
FH_OWN json_t *fh_yaml_load_file(const char *path, FH_NULLABLE struct fh_yaml_positions **ret_positions,
                                 struct fh_error *err);

/* The position of a member: of a mapping its key; of a list (key NULL) its item `index`; of parent NULL the root. Lines
 * and columns count from 1. False when it is unknown. Values from an alias or a merge have the position at which they
 * were written. */
bool fh_yaml_position(FH_NULLABLE const struct fh_yaml_positions *p, FH_NULLABLE const json_t *parent,
                      FH_NULLABLE const char *key, size_t index, uint32_t *ret_line, uint32_t *ret_column);
/* The text of the first integer in the document that was rounded: of more than 64 bits, and held by no double. NULL:
 * there is none, or it is unknown. */
const char *fh_yaml_lost_digits(FH_NULLABLE const struct fh_yaml_positions *p, uint32_t *ret_line,
                                uint32_t *ret_column);
void fh_yaml_positions_free(FH_NULLABLE struct fh_yaml_positions *p);
static inline void fh_yaml_positions_freep(struct fh_yaml_positions **p)
{
	fh_yaml_positions_free(*p);
}
#define fh_auto_yaml_positions FH_CLEANUP(fh_yaml_positions_freep)
