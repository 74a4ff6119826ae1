/* SPDX-License-Identifier: MIT */
#include "judge/formats/mbpp_plus.h"

#include <stdlib.h>

#include "code/program_text.h"
#include "json/span.h"
#include "judge/problems/truth.h"

#define PREFIX "Mbpp/"
enum { TASKS_MAX = 24 };

bool fh_mbpp_plus_is(const char *task_id)
{
	return fh_starts_with(task_id, PREFIX);
}

/* ----------------------------------------------------------------------------------------------------------- inputs */

/*
 * The Python types of the arguments, by shapes: one for each argument, and the last one for all further arguments. "."
 * unchanged; "(" a tuple of the following shape; "[" a list of it; "{" a dict with such values; "r" tuples at all
 * levels; "s" a set, or a dict if it is empty; "f" and "c" the float or complex number in a text. A value that is not
 * an array, where the shape expects one, is unchanged.
 */
static const struct {
	const char *shape;
	short tasks[TASKS_MAX]; /* 0 ends the list */
} shapes[] = {
	{ "(.",
	  { 2, 116, 132, 143, 222, 261, 273, 394, 399, 421, 424, 429, 470, 560, 579, 596, 616, 630, 726, 740, 744, 809 } },
	{ "[(.", { 63, 64, 70, 94, 120, 237, 272, 299, 400, 409, 417, 438, 473, 614, 780 } },
	{ "[(. .", { 75, 413, 444, 753 } },
	{ ". (.", { 106, 750 } },
	{ "(. .", { 250, 307, 405, 446, 617, 720, 763, 808 } },
	{ "((.", { 259, 278, 401, 445 } },
	{ "{(. .", { 722 } },
	{ "r", { 580, 615, 791 } },
	{ "[s", { 115 } },
	{ "f c", { 124 } },
	{ "c", { 252 } },
};

static const char *shape_of(const char *task_id)
{
	const char *digits = fh_mbpp_plus_is(task_id) ? task_id + strlen(PREFIX) : "";
	long task = digits[strspn(digits, "0123456789")] == '\0' ? strtol(digits, NULL, 10) : 0;
	for (size_t i = 0; task > 0 && i < FH_ARRAY_SIZE(shapes); i++)
		for (size_t k = 0; k < TASKS_MAX && shapes[i].tasks[k]; k++)
			if (shapes[i].tasks[k] == task)
				return shapes[i].shape;
	return ".";
}

static void add_shaped(struct fh_buf *out, struct fh_str value, const char *shape);

static void add_items(struct fh_buf *out, struct fh_str array, const char *inner, const char *open, const char *close)
{
	struct fh_str items = fh_json_span_items(array), item;
	fh_buf_adds(out, open);
	while (fh_json_span_item(&items, &item)) {
		add_shaped(out, item, inner);
		fh_buf_adds(out, ", ");
	}
	fh_buf_adds(out, close);
}

static void add_tuple(struct fh_buf *out, struct fh_str value, const char *shape)
{
	add_items(out, value, shape + 1, "(", ")");
}

static void add_list(struct fh_buf *out, struct fh_str value, const char *shape)
{
	add_items(out, value, shape + 1, "[", "]");
}

static void add_deep_tuple(struct fh_buf *out, struct fh_str value, const char *shape)
{
	add_items(out, value, shape, "(", ")");
}

static void add_set(struct fh_buf *out, struct fh_str value, const char *shape)
{
	add_items(out, value, ".", "{", "}"); /* an empty one becomes `{}`, a dict, which is the right value here */
}

/* The array holds keys and values alternately. */
static void add_object(struct fh_buf *out, struct fh_str value, const char *shape)
{
	struct fh_str items = { value.p + 1, value.n - 1 }, item;
	fh_buf_addc(out, '{');
	for (bool is_key = true; fh_json_span_item(&items, &item); is_key = !is_key) {
		add_shaped(out, item, is_key ? "." : shape + 1);
		fh_buf_adds(out, is_key ? ": " : ", ");
	}
	fh_buf_addc(out, '}');
}

static void add_number(struct fh_buf *out, struct fh_str value, const char *shape)
{
	fh_buf_adds(out, *shape == 'f' ? "float(" : "complex(");
	fh_python_of_json(out, value);
	fh_buf_addc(out, ')');
}

/* The function that converts a value, by the letter of its shape and the bracket with which the value begins. */
static const struct {
	char letter, of;
	void (*add)(struct fh_buf *out, struct fh_str value, const char *shape);
} makers[] = {
	{ '(', '[', add_tuple },  { '[', '[', add_list },   { 'r', '[', add_deep_tuple }, { 's', '[', add_set },
	{ '{', '{', add_object }, { 'f', '"', add_number }, { 'c', '"', add_number },
};

static void add_shaped(struct fh_buf *out, struct fh_str value, const char *shape)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(makers); i++)
		if (makers[i].letter == *shape && value.n > 0 && makers[i].of == value.p[0]) {
			makers[i].add(out, value, shape);
			return;
		}
	fh_python_of_json(out, value);
}

void fh_mbpp_plus_input(struct fh_buf *out, const char *task_id, struct fh_str arguments)
{
	const char *shape = shape_of(task_id);
	struct fh_str items = fh_json_span_items(arguments), item;
	fh_buf_addc(out, '[');
	while (fh_json_span_item(&items, &item)) {
		const char *next = strchr(shape, ' ');
		add_shaped(out, item, shape);
		fh_buf_adds(out, ", ");
		shape = next ? next + 1 : shape;
	}
	fh_buf_addc(out, ']');
}

/* ---------------------------------------------------------------------------------------------------------- oracles */

const char *fh_mbpp_plus_oracle(struct fh_str entry_point)
{
	static const struct {
		const char *entry_point, *oracle;
	} oracles[] = {
		{ "similar_elements", "same items" },
		{ "find_char_long", "same items" },
		{ "common_in_nested_lists", "same items" },
		{ "extract_singly", "same items" },
		{ "larg_nnum", "same items" },
		{ "intersection_array", "same items" },
		{ "find_dissimilar", "same items" },
		{ "Diff", "same items" },
		{ "check_str", FH_ORACLE_IS_THERE },
		{ "text_match_three", FH_ORACLE_IS_THERE },
		{ "text_starta_endb", FH_ORACLE_IS_THERE },
		{ "are_equivalent", FH_ORACLE_ANY_VALUE },
		{ "sum_div", "or zero" },
		{ "surface_Area", "or by the height" },
		{ "digit_distance_nums", "or padded with zeros" },
	};
	for (size_t i = 0; i < FH_ARRAY_SIZE(oracles); i++)
		if (fh_str_eq(entry_point, oracles[i].entry_point))
			return oracles[i].oracle;
	return "";
}
