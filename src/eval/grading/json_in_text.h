/* SPDX-License-Identifier: MIT */
/* JSON objects within other text, as models write them: read leniently, as YAML and with comments. */
#pragma once
#include "json/json.h"

/* A list of all objects in the text, found at each '{' outside of the object before; an object has at most 100,000
 * bytes. One whose braces are not closed ends with the text. New reference. */
FH_OWN json_t *fh_json_in_text(struct fh_str text);
