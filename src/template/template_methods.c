/* SPDX-License-Identifier: MIT */
#include "base/utf8.h"
#include "base/text/case.h"
#include "template/template_internal.h"

#include <math.h>
#include <stdio.h>

/* Methods of JavaScript's values that templates may call, and the tests of `is`. */

typedef struct fh_tpl_value (*method_fn)(struct fh_tpl_render *r, struct fh_tpl_value self,
                                         const struct fh_tpl_value *args, size_t n);
#define METHOD(name)                                                                                                   \
	static struct fh_tpl_value name(FH_UNUSED struct fh_tpl_render *r, FH_UNUSED struct fh_tpl_value self,             \
	                                FH_UNUSED const struct fh_tpl_value *args, FH_UNUSED size_t n)

static struct fh_str text_arg(struct fh_tpl_render *r, struct fh_tpl_value v)
{
	return fh_tpl_value_str(fh_tpl_value_to_string(r, v));
}

static struct fh_tpl_value run_filter(struct fh_tpl_render *r, const char *name, struct fh_tpl_value self,
                                      struct fh_tpl_value a, struct fh_tpl_value b, struct fh_tpl_value c)
{
	const struct fh_tpl_value args[FH_TPL_FILTER_PARAMS] = { a, b, c };
	return fh_tpl_filter_find(name)->apply(r, self, args);
}

/* An index argument, limited to [0, n]; a negative one counts from the end if `from_end`; fallback when it is
 * missing. */
static size_t index_arg(struct fh_tpl_value v, size_t n, size_t fallback, bool from_end)
{
	if (v.kind == FH_TPL_UNDEFINED)
		return fallback;
	double i = trunc(fh_tpl_value_to_number(v));
	if (isnan(i))
		return 0;
	i = i < 0 && from_end ? i + (double)n : i;
	return i <= 0 ? 0 : i >= (double)n ? n : (size_t)i;
}

METHOD(string_upper)
{
	return run_filter(r, "upper", self, FH_TPL_VALUE_UNDEFINED, FH_TPL_VALUE_UNDEFINED, FH_TPL_VALUE_UNDEFINED);
}

METHOD(string_lower)
{
	return run_filter(r, "lower", self, FH_TPL_VALUE_UNDEFINED, FH_TPL_VALUE_UNDEFINED, FH_TPL_VALUE_UNDEFINED);
}

METHOD(string_trim)
{
	return fh_tpl_value_string(r, fh_tpl_text_trim(fh_tpl_value_str(self), true, true));
}

METHOD(string_trim_start)
{
	return fh_tpl_value_string(r, fh_tpl_text_trim(fh_tpl_value_str(self), true, false));
}

METHOD(string_trim_end)
{
	return fh_tpl_value_string(r, fh_tpl_text_trim(fh_tpl_value_str(self), false, true));
}

METHOD(string_split)
{
	struct fh_str s = fh_tpl_value_str(self);
	struct fh_tpl_value out = fh_tpl_value_array(r);
	size_t most = index_arg(args[1], SIZE_MAX / 2, SIZE_MAX, false);
	if (args[0].kind == FH_TPL_UNDEFINED) {
		fh_tpl_value_append(r, out, self);
		return out;
	}
	if (args[0].kind == FH_TPL_REGEX)
		return fh_tpl_regex_split(r, args[0], s);
	struct fh_str by = text_arg(r, args[0]);
	if (by.n == 0)
		return run_filter(r, "list", self, FH_TPL_VALUE_UNDEFINED, FH_TPL_VALUE_UNDEFINED, FH_TPL_VALUE_UNDEFINED);
	size_t at = 0;
	for (ssize_t found; json_array_size(out.json) < most && (found = fh_tpl_text_find(s, by, at)) >= 0;) {
		if (!fh_tpl_render_step(r, r->at))
			return out;
		fh_tpl_value_append(r, out, fh_tpl_value_string(r, (struct fh_str){ s.p + at, (size_t)found - at }));
		at = (size_t)found + by.n;
	}
	if (json_array_size(out.json) < most)
		fh_tpl_value_append(r, out, fh_tpl_value_string(r, (struct fh_str){ s.p + at, s.n - at }));
	return out;
}

METHOD(string_includes)
{
	return fh_tpl_value_bool(fh_tpl_text_find(fh_tpl_value_str(self), text_arg(r, args[0]), 0) >= 0);
}

METHOD(string_starts_with)
{
	struct fh_str s = fh_tpl_value_str(self), head = text_arg(r, args[0]);
	return fh_tpl_value_bool(s.n >= head.n && memcmp(s.p, head.p, head.n) == 0);
}

METHOD(string_ends_with)
{
	struct fh_str s = fh_tpl_value_str(self), tail = text_arg(r, args[0]);
	return fh_tpl_value_bool(s.n >= tail.n && memcmp(s.p + s.n - tail.n, tail.p, tail.n) == 0);
}

METHOD(string_index_of)
{
	struct fh_str s = fh_tpl_value_str(self);
	ssize_t found = fh_tpl_text_find(s, text_arg(r, args[0]), 0);
	return fh_tpl_value_number(found < 0 ? -1 : (double)fh_tpl_text_units((struct fh_str){ s.p, (size_t)found }));
}

METHOD(string_slice)
{
	size_t units = fh_tpl_value_length(self), from = index_arg(args[0], units, 0, true),
	       to = index_arg(args[1], units, units, true);
	return fh_tpl_text_slice(r, fh_tpl_value_str(self), from, FH_MAX(from, to));
}

METHOD(string_substring)
{
	size_t units = fh_tpl_value_length(self), from = index_arg(args[0], units, 0, false),
	       to = index_arg(args[1], units, units, false);
	return fh_tpl_text_slice(r, fh_tpl_value_str(self), FH_MIN(from, to), FH_MAX(from, to));
}

METHOD(string_char_at)
{
	struct fh_tpl_value c = fh_tpl_value_item(r, self, index_arg(args[0], SIZE_MAX / 2, 0, false));
	return c.kind == FH_TPL_UNDEFINED ? fh_tpl_value_string(r, fh_str("")) : c;
}

METHOD(string_replace)
{
	if (args[0].kind == FH_TPL_REGEX)
		return fh_tpl_regex_replace(r, args[0], fh_tpl_value_str(self), text_arg(r, args[1]));
	return run_filter(r, "replace", self, fh_tpl_value_to_string(r, args[0]), args[1], fh_tpl_value_number(1));
}

METHOD(string_replace_all)
{
	if (args[0].kind == FH_TPL_REGEX)
		return fh_tpl_regex_replace(r, args[0], fh_tpl_value_str(self), text_arg(r, args[1]));
	return run_filter(r, "replace", self, fh_tpl_value_to_string(r, args[0]), args[1], FH_TPL_VALUE_UNDEFINED);
}

METHOD(string_match)
{
	if (args[0].kind != FH_TPL_REGEX)
		return fh_tpl_render_fail(r, "match takes a regular expression, r/…/");
	return fh_tpl_regex_match(r, args[0], fh_tpl_value_str(self));
}

METHOD(string_last_index_of)
{
	struct fh_str s = fh_tpl_value_str(self), needle = text_arg(r, args[0]);
	for (size_t at = s.n + 1; at-- > 0;)
		if (s.n - at >= needle.n && memcmp(s.p + at, needle.p, needle.n) == 0)
			return fh_tpl_value_number((double)fh_tpl_text_units((struct fh_str){ s.p, at }));
	return fh_tpl_value_number(-1);
}

METHOD(string_substr)
{
	size_t units = fh_tpl_value_length(self), from = index_arg(args[0], units, 0, true),
	       n_units = index_arg(args[1], units - from, units - from, false);
	return fh_tpl_text_slice(r, fh_tpl_value_str(self), from, from + n_units);
}

METHOD(string_char_code_at)
{
	struct fh_tpl_value c = string_char_at(r, self, args, n);
	uint32_t cp = 0;
	if (json_string_length(c.json) == 0 || fh_utf8_decode(fh_tpl_value_str(c), &cp) == 0)
		return fh_tpl_value_number((double)NAN);
	return fh_tpl_value_number(cp);
}

/* Of lists and strings: an index below 0 counts from the end. */
METHOD(any_at)
{
	double size = (double)fh_tpl_value_length(self), i = trunc(fh_tpl_value_to_number(args[0]));
	i = isnan(i) ? 0 : i < 0 ? i + size : i;
	return i >= 0 && i < size ? fh_tpl_value_item(r, self, (size_t)i) : FH_TPL_VALUE_UNDEFINED;
}

METHOD(string_repeat)
{
	double times = n ? trunc(fh_tpl_value_to_number(args[0])) : 0;
	struct fh_str s = fh_tpl_value_str(self);
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(FH_TEXT_TEMPLATE_MEMORY_MAX);
	for (double i = 0; i < times && s.n > 0 && !out.overflowed; i++)
		fh_buf_add(&out, s.p, s.n);
	return fh_tpl_value_take(r, &out);
}

static struct fh_tpl_value pad(struct fh_tpl_render *r, struct fh_tpl_value self, const struct fh_tpl_value *args,
                               bool start)
{
	double want = fh_tpl_value_to_number(args[0]);
	struct fh_tpl_value fill =
	    args[1].kind == FH_TPL_UNDEFINED ? fh_tpl_value_string(r, fh_str(" ")) : fh_tpl_value_to_string(r, args[1]);
	size_t have = fh_tpl_value_length(self), fill_units = fh_tpl_value_length(fill);
	if (!(want > (double)have) || fill_units == 0)
		return self;
	if (want > FH_TEXT_TEMPLATE_MEMORY_MAX) {
		fh_tpl_render_limit(r, "a text");
		return FH_TPL_VALUE_UNDEFINED;
	}
	size_t missing = (size_t)want - have;
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(FH_TEXT_TEMPLATE_MEMORY_MAX);
	if (!start)
		fh_tpl_value_write(&out, self);
	for (; missing >= fill_units && !out.overflowed; missing -= fill_units)
		fh_tpl_value_write(&out, fill);
	fh_tpl_value_write(&out, fh_tpl_text_slice(r, fh_tpl_value_str(fill), 0, missing));
	if (start)
		fh_tpl_value_write(&out, self);
	return fh_tpl_value_take(r, &out);
}

METHOD(string_pad_start)
{
	return pad(r, self, args, true);
}

METHOD(string_pad_end)
{
	return pad(r, self, args, false);
}

METHOD(any_to_string)
{
	return fh_tpl_value_to_string(r, self);
}

METHOD(any_concat)
{
	if (self.kind == FH_TPL_STRING) {
		fh_auto_buf struct fh_buf out = FH_BUF_INIT(FH_TEXT_TEMPLATE_MEMORY_MAX);
		fh_tpl_value_write(&out, self);
		for (size_t i = 0; i < n; i++)
			fh_tpl_value_write(&out, args[i]);
		return fh_tpl_value_take(r, &out);
	}
	struct fh_tpl_value out = fh_tpl_value_array(r);
	for (size_t k = 0; k <= n; k++) {
		struct fh_tpl_value from = k ? args[k - 1] : self;
		if (from.kind != FH_TPL_ARRAY)
			fh_tpl_value_append(r, out, from);
		for (size_t i = 0; from.kind == FH_TPL_ARRAY && i < json_array_size(from.json); i++)
			fh_tpl_value_append(r, out, fh_tpl_value_item(r, from, i));
	}
	return out;
}

METHOD(array_join)
{
	struct fh_tpl_value by = n ? args[0] : fh_tpl_value_string(r, fh_str(","));
	return run_filter(r, "join", self, by, FH_TPL_VALUE_UNDEFINED, FH_TPL_VALUE_UNDEFINED);
}

METHOD(array_index_of)
{
	for (size_t i = 0; i < json_array_size(self.json); i++)
		if (fh_tpl_value_strict_equal(fh_tpl_value_item(r, self, i), args[0]))
			return fh_tpl_value_number((double)i);
	return fh_tpl_value_number(-1);
}

METHOD(array_includes)
{
	return fh_tpl_value_bool(array_index_of(r, self, args, n).number >= 0);
}

METHOD(array_slice)
{
	size_t size = json_array_size(self.json), from = index_arg(args[0], size, 0, true),
	       to = index_arg(args[1], size, size, true);
	struct fh_tpl_value out = fh_tpl_value_array(r);
	for (size_t i = from; i < to; i++)
		fh_tpl_value_append(r, out, fh_tpl_value_item(r, self, i));
	return out;
}

/* Pushes a copy, so that no list ever contains itself. */
METHOD(array_push)
{
	for (size_t i = 0; i < n; i++) {
		fh_auto_json json_t *item = fh_tpl_value_to_json(args[i]);
		json_t *copied = json_deep_copy(item);
		fh_auto_buf struct fh_buf size = FH_BUF_INIT(FH_TEXT_TEMPLATE_MEMORY_MAX);
		fh_json_write(&size, copied, 0);
		fh_tpl_render_keep(r, NULL, 8 * size.n);
		json_array_append_new(self.json, copied);
	}
	return fh_tpl_value_number((double)json_array_size(self.json));
}

/* Removes an item, which the render keeps. */
static struct fh_tpl_value taken(struct fh_tpl_render *r, struct fh_tpl_value list, size_t i)
{
	json_t *item = json_array_get(list.json, i);
	if (!item)
		return FH_TPL_VALUE_UNDEFINED;
	fh_tpl_render_keep(r, json_incref(item), 0);
	json_array_remove(list.json, i);
	return fh_tpl_value_from_json(item);
}

METHOD(array_pop)
{
	size_t size = json_array_size(self.json);
	return size ? taken(r, self, size - 1) : FH_TPL_VALUE_UNDEFINED;
}

METHOD(array_shift)
{
	return taken(r, self, 0);
}

METHOD(array_unshift)
{
	for (size_t i = n; i > 0; i--) {
		fh_auto_json json_t *item = fh_tpl_value_to_json(args[i - 1]);
		fh_tpl_render_keep(r, NULL, 64);
		json_array_insert_new(self.json, 0, json_deep_copy(item));
	}
	return fh_tpl_value_number((double)json_array_size(self.json));
}

/* Puts the items of a list into another in their order. */
static struct fh_tpl_value refill(struct fh_tpl_value list, struct fh_tpl_value items)
{
	json_t *copy = json_copy(items.json);
	json_array_clear(list.json);
	json_array_extend(list.json, copy);
	json_decref(copy);
	return list;
}

METHOD(array_reverse)
{
	return refill(
	    self, run_filter(r, "reverse", self, FH_TPL_VALUE_UNDEFINED, FH_TPL_VALUE_UNDEFINED, FH_TPL_VALUE_UNDEFINED));
}

static int compare_as_text(const void *a, const void *b)
{
	return strcmp(json_string_value(*(json_t *const *)a), json_string_value(*(json_t *const *)b));
}

/* Sorts by the items' text, as JavaScript does without a function that compares. */
METHOD(array_sort)
{
	size_t size = json_array_size(self.json);
	fh_auto_json json_t *pairs = json_object();
	fh_auto_free json_t **texts = fh_xcalloc(size + 1, sizeof(*texts));
	for (size_t i = 0; i < size; i++) {
		struct fh_tpl_value text = fh_tpl_value_to_string(r, fh_tpl_value_item(r, self, i));
		texts[i] = text.json;
		json_t *same = json_object_get(pairs, json_string_value(text.json));
		if (!same)
			json_object_set_new_nocheck(pairs, json_string_value(text.json), same = json_array());
		json_array_append(same, json_array_get(self.json, i));
	}
	qsort(texts, size, sizeof(json_t *), compare_as_text);
	struct fh_tpl_value sorted = fh_tpl_value_array(r);
	for (size_t i = 0; i < size; i++) {
		json_t *same = json_object_get(pairs, json_string_value(texts[i]));
		json_array_append(sorted.json, json_array_get(same, 0));
		json_array_remove(same, 0);
	}
	return refill(self, sorted);
}

static void flatten(struct fh_tpl_render *r, struct fh_tpl_value out, json_t *list, double depth)
{
	size_t i;
	json_t *item;
	json_array_foreach(list, i, item)
	{
		if (!fh_tpl_render_step(r, r->at))
			return;
		if (json_is_array(item) && depth >= 1)
			flatten(r, out, item, depth - 1);
		else
			fh_tpl_value_append(r, out, fh_tpl_value_from_json(item));
	}
}

METHOD(array_flat)
{
	struct fh_tpl_value out = fh_tpl_value_array(r);
	flatten(r, out, self.json, n ? FH_MIN(fh_tpl_value_to_number(args[0]), (double)FH_TEXT_TEMPLATE_DEPTH_MAX) : 1);
	return out;
}

METHOD(regex_test)
{
	return fh_tpl_value_bool(fh_tpl_regex_test(r, self, text_arg(r, args[0])));
}

METHOD(number_to_fixed)
{
	double digits = n ? fh_tpl_value_to_number(args[0]) : 0;
	if (!(digits >= 0 && digits <= 100))
		return fh_tpl_render_fail(r, "toFixed takes a number of digits from 0 to 100");
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(0);
	if (fabs(self.number) >= 1e21 || !isfinite(self.number))
		fh_json_write_number(&out, self.number);
	else
		fh_buf_addf(&out, "%.*f", (int)digits, self.number);
	return fh_tpl_value_take(r, &out);
}

METHOD(object_has)
{
	struct fh_str key = text_arg(r, args[0]);
	return fh_tpl_value_bool(json_object_getn(self.json, key.p, key.n) != NULL);
}

static const struct {
	enum fh_tpl_kind kind;
	const char *name;
	method_fn call;
} methods[] = {
	{ FH_TPL_STRING, "toUpperCase", string_upper },
	{ FH_TPL_STRING, "toLowerCase", string_lower },
	{ FH_TPL_STRING, "trim", string_trim },
	{ FH_TPL_STRING, "trimStart", string_trim_start },
	{ FH_TPL_STRING, "trimEnd", string_trim_end },
	{ FH_TPL_STRING, "split", string_split },
	{ FH_TPL_STRING, "includes", string_includes },
	{ FH_TPL_STRING, "startsWith", string_starts_with },
	{ FH_TPL_STRING, "endsWith", string_ends_with },
	{ FH_TPL_STRING, "indexOf", string_index_of },
	{ FH_TPL_STRING, "slice", string_slice },
	{ FH_TPL_STRING, "substring", string_substring },
	{ FH_TPL_STRING, "charAt", string_char_at },
	{ FH_TPL_STRING, "replace", string_replace },
	{ FH_TPL_STRING, "replaceAll", string_replace_all },
	{ FH_TPL_STRING, "repeat", string_repeat },
	{ FH_TPL_STRING, "padStart", string_pad_start },
	{ FH_TPL_STRING, "padEnd", string_pad_end },
	{ FH_TPL_STRING, "match", string_match },
	{ FH_TPL_STRING, "lastIndexOf", string_last_index_of },
	{ FH_TPL_STRING, "substr", string_substr },
	{ FH_TPL_STRING, "charCodeAt", string_char_code_at },
	{ FH_TPL_STRING, "codePointAt", string_char_code_at },
	{ FH_TPL_STRING, "at", any_at },
	{ FH_TPL_STRING, "concat", any_concat },
	{ FH_TPL_STRING, "toString", any_to_string },
	{ FH_TPL_ARRAY, "join", array_join },
	{ FH_TPL_ARRAY, "includes", array_includes },
	{ FH_TPL_ARRAY, "indexOf", array_index_of },
	{ FH_TPL_ARRAY, "slice", array_slice },
	{ FH_TPL_ARRAY, "concat", any_concat },
	{ FH_TPL_ARRAY, "push", array_push },
	{ FH_TPL_ARRAY, "pop", array_pop },
	{ FH_TPL_ARRAY, "shift", array_shift },
	{ FH_TPL_ARRAY, "unshift", array_unshift },
	{ FH_TPL_ARRAY, "reverse", array_reverse },
	{ FH_TPL_ARRAY, "sort", array_sort },
	{ FH_TPL_ARRAY, "flat", array_flat },
	{ FH_TPL_ARRAY, "at", any_at },
	{ FH_TPL_ARRAY, "toString", any_to_string },
	{ FH_TPL_OBJECT, "toString", any_to_string },
	{ FH_TPL_REGEX, "test", regex_test },
	{ FH_TPL_NUMBER, "toFixed", number_to_fixed },
	{ FH_TPL_NUMBER, "toString", any_to_string },
	{ FH_TPL_BOOL, "toString", any_to_string },
	{ FH_TPL_OBJECT, "hasOwnProperty", object_has },
};

struct fh_tpl_value fh_tpl_method_call(struct fh_tpl_render *r, struct fh_tpl_value self, const char *name,
                                       const struct fh_tpl_value *args, size_t n_args, bool *ret_known)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(methods); i++)
		if (methods[i].kind == self.kind && fh_streq(methods[i].name, name)) {
			*ret_known = true;
			return methods[i].call(r, self, args, n_args);
		}
	*ret_known = false;
	return FH_TPL_VALUE_UNDEFINED;
}

/* ---- tests ---- */

typedef bool (*test_fn)(struct fh_tpl_value v, struct fh_tpl_value argument);
#define TEST(name, expression)                                                                                         \
	static bool name(FH_UNUSED struct fh_tpl_value v, FH_UNUSED struct fh_tpl_value argument)                          \
	{                                                                                                                  \
		return expression;                                                                                             \
	}

static bool same_case(struct fh_tpl_value v, bool upper)
{
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(0);
	if (v.kind != FH_TPL_STRING)
		return false;
	struct fh_str s = fh_tpl_value_str(v);
	(upper ? fh_case_upper : fh_case_lower)(&out, s);
	return out.n == s.n && memcmp(fh_buf_cstr(&out), s.p, s.n) == 0;
}

TEST(test_defined, v.kind != FH_TPL_UNDEFINED)
TEST(test_undefined, v.kind == FH_TPL_UNDEFINED)
TEST(test_null, v.kind == FH_TPL_NULL)
TEST(test_truthy, fh_tpl_value_truthy(v))
TEST(test_falsy, !fh_tpl_value_truthy(v))
TEST(test_string, v.kind == FH_TPL_STRING)
TEST(test_number, v.kind == FH_TPL_NUMBER)
TEST(test_boolean, v.kind == FH_TPL_BOOL)
TEST(test_mapping, v.kind == FH_TPL_OBJECT)
TEST(test_iterable, v.kind == FH_TPL_ARRAY || v.kind == FH_TPL_STRING)
TEST(test_callable, v.kind == FH_TPL_FUNCTION)
TEST(test_escaped, v.safe)
TEST(test_odd, fmod(fh_tpl_value_to_number(v), 2) == 1)
TEST(test_even, fmod(fh_tpl_value_to_number(v), 2) == 0)
TEST(test_divisible, fmod(fh_tpl_value_to_number(v), fh_tpl_value_to_number(argument)) == 0)
TEST(test_equal, fh_tpl_value_strict_equal(v, argument))
TEST(test_not_equal, !fh_tpl_value_strict_equal(v, argument))
TEST(test_greater, fh_tpl_value_compare(v, argument) == 1)
TEST(test_less, fh_tpl_value_compare(v, argument) == -1)
TEST(test_greater_equal, fh_tpl_value_compare(v, argument) == 1 || fh_tpl_value_compare(v, argument) == 0)
TEST(test_less_equal, fh_tpl_value_compare(v, argument) == -1 || fh_tpl_value_compare(v, argument) == 0)
TEST(test_lower, same_case(v, false))
TEST(test_upper, same_case(v, true))

static const struct {
	const char *name;
	test_fn apply;
} tests[] = {
	{ "boolean", test_boolean },
	{ "callable", test_callable },
	{ "defined", test_defined },
	{ "divisibleby", test_divisible },
	{ "eq", test_equal },
	{ "equalto", test_equal },
	{ "escaped", test_escaped },
	{ "even", test_even },
	{ "falsy", test_falsy },
	{ "ge", test_greater_equal },
	{ "greaterthan", test_greater },
	{ "gt", test_greater },
	{ "iterable", test_iterable },
	{ "le", test_less_equal },
	{ "lessthan", test_less },
	{ "lower", test_lower },
	{ "lt", test_less },
	{ "mapping", test_mapping },
	{ "ne", test_not_equal },
	{ "null", test_null },
	{ "number", test_number },
	{ "odd", test_odd },
	{ "sameas", test_equal },
	{ "string", test_string },
	{ "truthy", test_truthy },
	{ "undefined", test_undefined },
	{ "upper", test_upper },
};

bool fh_tpl_test_apply(const char *name, struct fh_tpl_value value, struct fh_tpl_value argument, bool *ret_known)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(tests); i++)
		if (fh_streq(tests[i].name, name)) {
			*ret_known = true;
			return tests[i].apply(value, argument);
		}
	*ret_known = false;
	return false;
}
