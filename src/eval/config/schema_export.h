/* SPDX-License-Identifier: MIT */
/* The JSON Schema (draft-07) of a config, for editors: made of the tables that configs are checked by (keys.h), and of
 * the table of assertions. */
#pragma once
#include "eval/config/keys.h"

FH_OWN json_t *fh_eval_schema_export(void);
