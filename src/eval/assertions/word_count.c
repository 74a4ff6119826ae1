/* SPDX-License-Identifier: MIT */
#include "eval/assertions/kinds.h"
#include "eval/common/text.h"
#include "eval/grading/grade.h"

static size_t count_words(struct fh_str s)
{
	size_t words = 0, space;
	bool inside = false;
	while (s.n > 0) {
		space = fh_text_space_at(s);
		words += !space && !inside;
		inside = !space;
		s.p += FH_MAX(space, 1u);
		s.n -= FH_MAX(space, 1u);
	}
	return words;
}

static int check_range(const struct fh_assertion_call *call, double words, struct fh_grade *ret, struct fh_error *err)
{
	const json_t *min = json_object_get(call->value, "min"), *max = json_object_get(call->value, "max");
	if (!json_is_number(min) && !json_is_number(max))
		return fh_error_set(err, FH_E_ARGUMENT, "\"word-count\" assertion object must have \"min\" or \"max\"");
	double low = json_number_value(min), high = json_number_value(max);
	bool low_holds = !json_is_number(min) || words >= low, high_holds = !json_is_number(max) || words <= high;
	if (json_is_number(min) && json_is_number(max) && low > high)
		return fh_error_set(err, FH_E_ARGUMENT,
		                    "\"word-count\" assertion: min (%g) must be less than or equal to max (%g)", low, high);
	if (call->inverse)
		return fh_grade_set(ret, call, low_holds && high_holds,
		                    "Expected word count to not be in the range, but got %g", words);
	if (json_is_number(min) && json_is_number(max))
		return fh_grade_set(ret, call, low_holds && high_holds, "Word count %g is not between %g and %g", words, low,
		                    high);
	if (!low_holds)
		return fh_grade_set(ret, call, false, "Word count %g is less than minimum %g", words, low);
	return fh_grade_set(ret, call, high_holds, "Word count %g is greater than maximum %g", words, high);
}

static int check(const struct fh_assertion_call *call, struct fh_grade *ret, struct fh_error *err)
{
	double words = (double)count_words(call->output_text);
	if (json_is_object(call->value))
		return check_range(call, words, ret, err);
	double wanted;
	char *end = NULL;
	if (json_is_number(call->value)) {
		wanted = json_number_value(call->value);
	} else {
		const char *text = json_is_string(call->value) ? json_string_value(call->value) : "";
		wanted = strtod(text, &end);
		if (end == text || *end)
			return fh_error_set(err, FH_E_ARGUMENT,
			                    "\"word-count\" assertion value must be a number or an object with min/max");
	}
	if (call->inverse)
		return fh_grade_set(ret, call, words == wanted, "Expected word count to not equal %g, but got %g", wanted,
		                    words);
	return fh_grade_set(ret, call, words == wanted, "Word count %g does not equal expected %g", words, wanted);
}

const struct fh_assertion fh_assertion_word_count = { .name = "word-count", .check = check };
