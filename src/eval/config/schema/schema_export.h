/* SPDX-License-Identifier: MIT */
/* The JSON Schema (draft-07) of a config, for editors. It is generated from the tables by which configs are checked
 * (keys.h) and from the table of assertions. */
#pragma once
#include "eval/config/keys.h"

FH_OWN json_t *fh_eval_schema_export(void);
