/* SPDX-License-Identifier: MIT */
/* Private to yaml*.c. */
#pragma once
#include <yaml.h>
#include "json/yaml.h"

/* Positions are recorded while the tree is built. */
struct fh_yaml_positions *fh_yaml_positions_new(void);
void fh_yaml_positions_add(struct fh_yaml_positions *p, const json_t *parent, const char *key, size_t index,
                           uint32_t line, uint32_t column);
/* Remembers the first integer that its double does not hold. */
void fh_yaml_positions_lost(struct fh_yaml_positions *p, struct fh_str text, uint32_t line, uint32_t column);

/* Whether value, which fh_yaml_scalar made of the text, is a double other than the integer that the text is. */
bool fh_yaml_has_lost_digits(struct fh_str text, const json_t *value);

/* Converts a plain scalar by the core schema, or as its tag demands (tag NULL: no tag). New reference, or NULL with
 * *ret_why. */
json_t *fh_yaml_scalar(struct fh_str text, bool plain, const char *tag, const char **ret_why);
/* Whether a list or a mapping may have this tag. */
bool fh_yaml_collection_tag(const char *tag);

/* Converts libyaml's error into ours. Returns the negative code. */
int fh_yaml_syntax_error(const yaml_parser_t *parser, struct fh_str text, const char *name, struct fh_error *err);
