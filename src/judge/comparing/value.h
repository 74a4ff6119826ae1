/* SPDX-License-Identifier: MIT */
/*
 * What a function of the program under test returned, as the drivers encode it, and its comparison with what was
 * expected.
 *
 * The encoding is plain JSON (null, booleans, numbers, strings, lists; python's tuples are lists), in which every
 * object is a tag: {"$dict": [[key, value], …]}, {"$int": "digits"} for integers that a double cannot hold,
 * {"$float": "nan" | "inf" | "-inf"}, {"$other": "how the language shows it"} for all else. A program can write any
 * JSON there: everything is checked, nothing trusted.
 */
#pragma once
#include "json/json.h"

/* Whether the encoded value equals the expected JSON. Numbers compare by value (2 equals 2.0, and never true), within
 * `tolerance`, absolute or relative, whichever is wider (0: exactly). Everything else by type and value; the order of
 * an object's keys does not matter. Nothing equals {"$other"}, nor nan. */
bool fh_value_equal(const json_t *encoded, const json_t *expected, double tolerance);

/* JSON as a person of that language writes it: True, None, 'text' for "python", else as JSON; at most max bytes, with
 * … for the rest. For what was expected, beside the program's own way of showing what it returned. free() it. */
FH_OWN char *fh_value_text(const json_t *expected, const char *language, size_t max);

/* Whether two texts are the same as output: blanks at the ends of lines and empty lines at the end do not count, nor
 * whether lines end with \n or \r\n. */
bool fh_output_equal(struct fh_str got, struct fh_str expected);
