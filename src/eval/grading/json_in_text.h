/* SPDX-License-Identifier: MIT */
/* JSON objects in the midst of text, as models write them: leniently, as YAML, and with comments. */
#pragma once
#include "json/json.h"

/* Every object that begins at a '{' outside of the one before, as a list; at most 100,000 bytes each. An object whose
 * braces are not closed is closed at the end of the text. New reference. */
FH_OWN json_t *fh_json_in_text(struct fh_str text);
