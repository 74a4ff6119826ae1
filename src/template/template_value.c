/* SPDX-License-Identifier: MIT */
#include "template/template_internal.h"

#include <math.h>

struct fh_tpl_value fh_tpl_value_bool(bool truth)
{
	return (struct fh_tpl_value){ .kind = FH_TPL_BOOL, .truth = truth };
}

struct fh_tpl_value fh_tpl_value_number(double number)
{
	return (struct fh_tpl_value){ .kind = FH_TPL_NUMBER, .number = number };
}

struct fh_tpl_value fh_tpl_value_string(struct fh_tpl_render *r, struct fh_str s)
{
	json_t *json = fh_tpl_render_keep(r, json_stringn_nocheck(s.n ? s.p : "", s.n), s.n);
	return (struct fh_tpl_value){ .kind = FH_TPL_STRING, .json = json };
}

struct fh_tpl_value fh_tpl_value_take(struct fh_tpl_render *r, struct fh_buf *b)
{
	if (b->overflowed)
		fh_tpl_render_limit(r, "a text");
	struct fh_tpl_value v = fh_tpl_value_string(r, fh_buf_str(b));
	fh_buf_release(b);
	return v;
}

struct fh_tpl_value fh_tpl_value_from_json(json_t *json)
{
	if (json_is_string(json))
		return (struct fh_tpl_value){ .kind = FH_TPL_STRING, .json = json };
	if (json_is_array(json))
		return (struct fh_tpl_value){ .kind = FH_TPL_ARRAY, .json = json };
	if (json_is_object(json))
		return (struct fh_tpl_value){ .kind = FH_TPL_OBJECT, .json = json };
	if (json_is_number(json))
		return fh_tpl_value_number(json_number_value(json));
	if (json_is_boolean(json))
		return fh_tpl_value_bool(json_is_true(json));
	return (struct fh_tpl_value){ .kind = json ? FH_TPL_NULL : FH_TPL_UNDEFINED };
}

struct fh_tpl_value fh_tpl_value_array(struct fh_tpl_render *r)
{
	return (struct fh_tpl_value){ .kind = FH_TPL_ARRAY, .json = fh_tpl_render_keep(r, json_array(), 64) };
}

struct fh_tpl_value fh_tpl_value_object(struct fh_tpl_render *r)
{
	return (struct fh_tpl_value){ .kind = FH_TPL_OBJECT, .json = fh_tpl_render_keep(r, json_object(), 128) };
}

json_t *fh_tpl_value_to_json(struct fh_tpl_value v)
{
	bool whole = v.kind == FH_TPL_NUMBER && fabs(v.number) < 0x1p53 && v.number == trunc(v.number);
	if (v.kind >= FH_TPL_STRING && v.kind <= FH_TPL_OBJECT)
		return json_incref(v.json);
	if (whole)
		return json_integer((json_int_t)v.number);
	if (v.kind == FH_TPL_NUMBER && isfinite(v.number))
		return json_real(v.number);
	return v.kind == FH_TPL_BOOL ? json_boolean(v.truth) : json_null();
}

void fh_tpl_value_append(struct fh_tpl_render *r, struct fh_tpl_value array, struct fh_tpl_value item)
{
	json_array_append_new(array.json, fh_tpl_value_to_json(item));
	fh_tpl_render_keep(r, NULL, 32);
}

struct fh_str fh_tpl_value_str(struct fh_tpl_value v)
{
	return (struct fh_str){ json_string_value(v.json), json_string_length(v.json) };
}

bool fh_tpl_value_truthy(struct fh_tpl_value v)
{
	if (v.kind == FH_TPL_BOOL)
		return v.truth;
	if (v.kind == FH_TPL_NUMBER)
		return v.number != 0 && !isnan(v.number);
	if (v.kind == FH_TPL_STRING)
		return json_string_length(v.json) > 0;
	return v.kind > FH_TPL_STRING;
}

/* As JavaScript's Number(s): white space around is ignored, the empty string is 0. */
static double string_to_number(struct fh_str s)
{
	s = fh_tpl_text_trim(s, true, true);
	if (s.n == 0)
		return 0;
	fh_auto_free char *text = fh_xmemdup(s.p, s.n);
	const char *p = text + (*text == '-' || *text == '+');
	if (fh_streq(p, "Infinity"))
		return *text == '-' ? -INFINITY : INFINITY;
	bool hex = p == text && p[0] == '0' && (p[1] == 'x' || p[1] == 'X');
	if (!hex && strspn(p, "0123456789.eE+-") != strlen(p))
		return NAN;
	char *end;
	double value = strtod(text, &end);
	return end == text + s.n && strlen(text) == s.n ? value : NAN;
}

double fh_tpl_value_to_number(struct fh_tpl_value v)
{
	if (v.kind == FH_TPL_NUMBER)
		return v.number;
	if (v.kind == FH_TPL_BOOL)
		return v.truth;
	if (v.kind == FH_TPL_STRING)
		return string_to_number(fh_tpl_value_str(v));
	if (v.kind != FH_TPL_ARRAY)
		return v.kind == FH_TPL_NULL ? 0 : NAN;
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(0);
	fh_tpl_value_write(&text, v);
	return string_to_number(fh_buf_str(&text));
}

void fh_tpl_value_write(struct fh_buf *out, struct fh_tpl_value v)
{
	static const char *const words[] = { [FH_TPL_UNDEFINED] = "undefined",
		                                 [FH_TPL_NULL] = "null",
		                                 [FH_TPL_OBJECT] = "[object Object]",
		                                 [FH_TPL_FUNCTION] = "[function]",
		                                 [FH_TPL_MODULE] = "[object Object]" };
	if (v.kind == FH_TPL_STRING) {
		fh_buf_add(out, json_string_value(v.json), json_string_length(v.json));
	} else if (v.kind == FH_TPL_NUMBER) {
		fh_json_write_number(out, v.number);
	} else if (v.kind == FH_TPL_BOOL) {
		fh_buf_adds(out, v.truth ? "true" : "false");
	} else if (v.kind == FH_TPL_ARRAY) {
		for (size_t i = 0; i < json_array_size(v.json); i++) {
			struct fh_tpl_value item = fh_tpl_value_from_json(json_array_get(v.json, i));
			if (i)
				fh_buf_addc(out, ',');
			if (item.kind != FH_TPL_NULL)
				fh_tpl_value_write(out, item);
		}
	} else if (v.kind == FH_TPL_REGEX) {
		fh_buf_addf(out, "/%s/%s", v.regex->name, v.regex->flags);
	} else {
		fh_buf_adds(out, words[v.kind]);
	}
}

struct fh_tpl_value fh_tpl_value_to_string(struct fh_tpl_render *r, struct fh_tpl_value v)
{
	if (v.kind == FH_TPL_STRING)
		return v;
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(FH_TEXT_TEMPLATE_MEMORY_MAX);
	fh_tpl_value_write(&out, v);
	return fh_tpl_value_take(r, &out);
}

static bool strings_equal(struct fh_tpl_value a, struct fh_tpl_value b)
{
	struct fh_str x = fh_tpl_value_str(a), y = fh_tpl_value_str(b);
	return x.n == y.n && memcmp(x.p, y.p, x.n) == 0;
}

bool fh_tpl_value_strict_equal(struct fh_tpl_value a, struct fh_tpl_value b)
{
	if (a.kind != b.kind)
		return false;
	if (a.kind == FH_TPL_NUMBER)
		return a.number == b.number;
	if (a.kind == FH_TPL_BOOL)
		return a.truth == b.truth;
	if (a.kind == FH_TPL_STRING)
		return strings_equal(a, b);
	if (a.kind == FH_TPL_FUNCTION)
		return a.function == b.function;
	return a.kind < FH_TPL_BOOL || (a.kind == FH_TPL_MODULE  ? a.module == b.module
	                                : a.kind == FH_TPL_REGEX ? a.regex == b.regex
	                                                         : a.json == b.json);
}

static bool is_object(struct fh_tpl_value v)
{
	return v.kind == FH_TPL_ARRAY || v.kind == FH_TPL_OBJECT;
}

bool fh_tpl_value_loose_equal(struct fh_tpl_value a, struct fh_tpl_value b)
{
	bool a_nothing = a.kind <= FH_TPL_NULL, b_nothing = b.kind <= FH_TPL_NULL;
	if (a.kind == b.kind)
		return fh_tpl_value_strict_equal(a, b);
	if (a_nothing || b_nothing)
		return a_nothing && b_nothing;
	if (a.kind >= FH_TPL_FUNCTION || b.kind >= FH_TPL_FUNCTION || (is_object(a) && is_object(b)))
		return false;
	/* A list or an object is converted to text; it is compared as a string with a string, else as a number. */
	if (is_object(a) || is_object(b)) {
		struct fh_tpl_value object = is_object(a) ? a : b, other = is_object(a) ? b : a;
		fh_auto_buf struct fh_buf text = FH_BUF_INIT(0);
		fh_tpl_value_write(&text, object);
		struct fh_str s = fh_buf_str(&text);
		if (other.kind == FH_TPL_STRING)
			return s.n == json_string_length(other.json) && memcmp(s.p, json_string_value(other.json), s.n) == 0;
		return string_to_number(s) == fh_tpl_value_to_number(other);
	}
	return fh_tpl_value_to_number(a) == fh_tpl_value_to_number(b);
}

static int compare_texts(struct fh_str x, struct fh_str y)
{
	int order = memcmp(x.p, y.p, FH_MIN(x.n, y.n));
	order = order ? order : (x.n > y.n) - (x.n < y.n);
	return (order > 0) - (order < 0);
}

int fh_tpl_value_compare(struct fh_tpl_value a, struct fh_tpl_value b)
{
	bool a_text = a.kind == FH_TPL_STRING || is_object(a), b_text = b.kind == FH_TPL_STRING || is_object(b);
	if (a.kind == FH_TPL_STRING && b.kind == FH_TPL_STRING)
		return compare_texts(fh_tpl_value_str(a), fh_tpl_value_str(b));
	if (a_text && b_text) {
		fh_auto_buf struct fh_buf x = FH_BUF_INIT(0), y = FH_BUF_INIT(0);
		fh_tpl_value_write(&x, a);
		fh_tpl_value_write(&y, b);
		return compare_texts(fh_buf_str(&x), fh_buf_str(&y));
	}
	double x = fh_tpl_value_to_number(a), y = fh_tpl_value_to_number(b);
	return isnan(x) || isnan(y) ? 2 : (x > y) - (x < y);
}

size_t fh_tpl_value_length(struct fh_tpl_value v)
{
	if (v.kind == FH_TPL_STRING)
		return fh_tpl_text_units(fh_tpl_value_str(v));
	if (v.kind == FH_TPL_ARRAY)
		return json_array_size(v.json);
	return v.kind == FH_TPL_OBJECT ? json_object_size(v.json) : 0;
}

struct fh_tpl_value fh_tpl_value_item(struct fh_tpl_render *r, struct fh_tpl_value list, size_t i)
{
	if (list.kind == FH_TPL_ARRAY)
		return fh_tpl_value_from_json(json_array_get(list.json, i));
	if (list.kind != FH_TPL_STRING || i >= fh_tpl_value_length(list))
		return FH_TPL_VALUE_UNDEFINED;
	return fh_tpl_text_slice(r, fh_tpl_value_str(list), i, i + 1);
}

struct fh_tpl_value fh_tpl_value_member(struct fh_tpl_render *r, struct fh_tpl_value object, struct fh_tpl_value key)
{
	if (object.kind == FH_TPL_OBJECT) {
		struct fh_tpl_value name = fh_tpl_value_to_string(r, key);
		return fh_tpl_value_from_json(
		    json_object_getn(object.json, json_string_value(name.json), json_string_length(name.json)));
	}
	if (object.kind == FH_TPL_MODULE && key.kind == FH_TPL_STRING) {
		const struct fh_tpl_binding *member = fh_tpl_frame_find(&object.module->members, json_string_value(key.json));
		return member ? member->value : FH_TPL_VALUE_UNDEFINED;
	}
	if (object.kind != FH_TPL_ARRAY && object.kind != FH_TPL_STRING)
		return FH_TPL_VALUE_UNDEFINED;
	if (key.kind == FH_TPL_STRING && fh_str_eq(fh_tpl_value_str(key), "length"))
		return fh_tpl_value_number((double)fh_tpl_value_length(object));
	double index = key.kind == FH_TPL_STRING && json_string_length(key.json) == 0 ? NAN : fh_tpl_value_to_number(key);
	if (!(index >= 0 && index < 0x1p32 && index == trunc(index)) || key.kind == FH_TPL_BOOL || key.kind == FH_TPL_NULL)
		return FH_TPL_VALUE_UNDEFINED;
	return fh_tpl_value_item(r, object, (size_t)index);
}
