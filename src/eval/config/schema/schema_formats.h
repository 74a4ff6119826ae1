/* SPDX-License-Identifier: MIT */
/* The formats of JSON Schema (draft-07 and those that OpenAPI adds), each by the RFC that it names. */
#pragma once
#include "base/base.h"
#include "json/json.h"

/* False: there is no such format. Else *ret_holds says whether value is of it; a format is about texts, or about
 * numbers, and holds for everything else. */
bool fh_schema_format(const char *format, const json_t *value, bool *ret_holds);
