/* SPDX-License-Identifier: MIT */
/* Text functions with the semantics of JavaScript's, for assertions and templates that promptfoo implements in it. */
#pragma once
#include "json/json.h"

/* Lower case by Unicode's simple mapping; bytes of s that are not UTF-8 stay as they are. free() it. */
FH_OWN char *fh_text_lower(struct fh_str s);
/* A string unchanged, a number as JavaScript's String(n), any other value as one line of JSON. free() it. */
FH_OWN char *fh_text_of_json(const json_t *value);
/* The length of the white space character that s begins with, 0 where it begins with none: ASCII's, Unicode's, U+FEFF,
 * U+2028 and U+2029, as JavaScript has them. */
size_t fh_text_space_at(struct fh_str s);
/* s without white space at both ends, as JavaScript's trim(); points into s. */
struct fh_str fh_text_trim(struct fh_str s);

/* The value of a text that is JSON, white space around it, with a list, a map or a string at its top; NULL for any
 * other text. json_decref() it. */
json_t *fh_text_json(struct fh_str text);
/* The messages of a prompt that is a chat in JSON or YAML, or any other map or list of JSON; NULL for one that is text.
 * To be read before it is rendered: an answer with quotes or line ends would break it, or add messages to it.
 * json_decref() it. */
json_t *fh_text_chat(const char *prompt);
/* Splits file://NAME[:FUNCTION] at the first ':' of NAME: *ret_path (joined to dir) and *ret_function (NULL: no
 * function). free() both. */
void fh_text_split_file(const char *text, const char *dir, char **ret_path, char **ret_function);
static inline bool fh_text_is_file(const char *text)
{
	return text && fh_starts_with(text, "file://");
}
/* Splits 'a, "b,c", d' at commas outside of quotes; unquoted fields are trimmed, empty ones dropped. Within quotes \"
 * and "" stand for a quote and \\ for a backslash. *ret is a list of strings. FH_E_ARGUMENT for an unclosed quote, or
 * text behind a closing one. */
int fh_text_split_list(const char *text, json_t **ret, struct fh_error *err);
