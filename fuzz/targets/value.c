/* SPDX-License-Identifier: MIT */
/* What a program under test says it returned, and the driver's message in its output: nothing odd ever equals. */
#include "fuzz.h"
#include "judge/comparing/value.h"
#include "judge/common/verdict.h"

static const char secret[FH_SECRET_SIZE + 1] = "0123456789abcdef0123456789abcdef";

/* Whether the value is, or holds where a value may stand, something that no plain value equals. */
static bool holds_other(const json_t *value, int depth)
{
	size_t i;
	json_t *item;
	if (depth > 64)
		return false;
	if (json_is_object(value))
		return json_object_size(value) == 1 && json_object_get(value, "$other");
	json_array_foreach(value, i, item) if (holds_other(item, depth + 1)) return true;
	return false;
}

static void check_values(struct fh_str text)
{
	struct fh_error err = FH_ERROR_INIT;
	fh_auto_json json_t *pair = fh_json_parse(text, NULL, &err);
	const json_t *encoded = json_array_get(pair, 0), *expected = json_array_get(pair, 1);
	if (!encoded || !expected)
		return;
	bool exact = fh_value_equal(encoded, expected, 0);
	FH_FUZZ_CHECK(!exact || !holds_other(encoded, 0));
	FH_FUZZ_CHECK(!exact || fh_value_equal(encoded, expected, 1e-6));
	FH_FUZZ_CHECK(!exact || json_is_object(encoded) || json_typeof(encoded) == json_typeof(expected) ||
	              (json_is_number(encoded) && json_is_number(expected)));
	for (size_t max = 0; max <= 64; max += 16) {
		fh_auto_free char *python = fh_value_text(expected, "python", max);
		fh_auto_free char *other = fh_value_text(expected, "javascript", max);
		FH_FUZZ_CHECK(python && other);
	}
}

static void check_message(struct fh_str output)
{
	struct fh_driver_message m;
	bool found = fh_driver_message_find(output, secret, &m);
	if (!found)
		return;
	FH_FUZZ_CHECK(m.count >= 1 && m.at < m.end && m.end <= output.n);
	FH_FUZZ_CHECK(m.reason.p >= output.p && m.reason.p + m.reason.n <= output.p + output.n);
	FH_FUZZ_CHECK(m.verdict.p >= output.p && m.verdict.p + m.verdict.n <= output.p + output.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy = fh_fuzz_copy(data, size);
	struct fh_str s = { copy, size };
	check_values(s);
	check_message(s);
	size_t half = size / 2;
	struct fh_str a = { copy, half }, b = { copy + half, size - half };
	FH_FUZZ_CHECK(fh_output_equal(s, s));
	FH_FUZZ_CHECK(fh_output_equal(a, b) == fh_output_equal(b, a));
	free(copy);
	return 0;
}
