/* SPDX-License-Identifier: MIT */
/* Random ids (RFC 9562, version 4). */
#pragma once
#include "json/json.h"

/* A new id as a string, such as "0b8c…". */
FH_OWN json_t *fh_eval_uuid(void);
