/* SPDX-License-Identifier: MIT */
/*
 * JSON Schema, the part that evals use (draft-07's validation words): type, enum, const, properties, required,
 * additionalProperties, patternProperties, propertyNames, minProperties, maxProperties, items (one schema or a list),
 * additionalItems, contains, minItems, maxItems, uniqueItems, minLength, maxLength, pattern, minimum, maximum,
 * exclusiveMinimum, exclusiveMaximum, multipleOf, allOf, anyOf, oneOf, not, if/then/else, $ref within the schema,
 * dependencies, nullable, and format (schema_formats.h). An unknown word or format is an error, not a silent pass.
 */
#pragma once
#include "json/json.h"

/* *ret_problems is NULL when value conforms; otherwise it lists what does not, as "data/path must have …, …" (free()).
 * A negative code means that the schema itself is wrong. */
int fh_schema_check(const json_t *schema, const json_t *value, char **ret_problems, struct fh_error *err);
