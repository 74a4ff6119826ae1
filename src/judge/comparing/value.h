/* SPDX-License-Identifier: MIT */
/*
 * Values that a function under test returned, in the encoding of the drivers, and their comparison with expected
 * values.
 *
 * The encoding is plain JSON (null, booleans, numbers, strings, lists; python's tuples are lists), in which every
 * object is a tag: {"$dict": [[key, value], …]}, {"$int": "digits"} for integers that a double cannot hold, {"$double":
 * number} for a large number of a language that has only doubles, {"$float": "nan" | "inf" | "-inf"}, {"$other": "the
 * language's text for it"} for everything else. A program can forge any JSON here, so everything is checked.
 */
#pragma once
#include "json/json.h"

/* Whether the encoded value equals the expected JSON. Numbers compare by value (2 equals 2.0, but not true) within
 * `tolerance`, absolute or relative, whichever is wider (0: exactly, also where a double could not tell two integers of
 * 64 bits apart; larger integers of the config are doubles). All else compares by type and value; the order of an
 * object's keys is ignored. {"$other"} and nan equal nothing. */
bool fh_value_equal(const json_t *encoded, const json_t *expected, double tolerance);

/* The JSON value as it is written in the language: True, None, 'text' for "python", else as JSON. At most max bytes,
 * with … for the rest. Used to show an expected value beside the program's own text for its result. free() it. */
FH_OWN char *fh_value_text(const json_t *expected, const char *language, size_t max);

/* Whether two texts are equal as output: trailing blanks of lines, empty lines at the end, and \n versus \r\n are
 * ignored. */
bool fh_output_equal(struct fh_str got, struct fh_str expected);
