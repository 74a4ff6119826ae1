/* SPDX-License-Identifier: MIT */
#include "template/template_internal.h"

#include <math.h>

struct fh_tval fh_tval_bool(bool truth)
{
	return (struct fh_tval){ .kind = FH_T_BOOL, .truth = truth };
}

struct fh_tval fh_tval_number(double number)
{
	return (struct fh_tval){ .kind = FH_T_NUMBER, .number = number };
}

struct fh_tval fh_tval_string(struct fh_trender *r, struct fh_str s)
{
	json_t *json = fh_trender_keep(r, json_stringn_nocheck(s.n ? s.p : "", s.n), s.n);
	return (struct fh_tval){ .kind = FH_T_STRING, .json = json };
}

struct fh_tval fh_tval_take(struct fh_trender *r, struct fh_buf *b)
{
	if (b->overflowed)
		fh_trender_limit(r, "a text");
	struct fh_tval v = fh_tval_string(r, fh_buf_str(b));
	fh_buf_release(b);
	return v;
}

struct fh_tval fh_tval_from_json(json_t *json)
{
	if (json_is_string(json))
		return (struct fh_tval){ .kind = FH_T_STRING, .json = json };
	if (json_is_array(json))
		return (struct fh_tval){ .kind = FH_T_ARRAY, .json = json };
	if (json_is_object(json))
		return (struct fh_tval){ .kind = FH_T_OBJECT, .json = json };
	if (json_is_number(json))
		return fh_tval_number(json_number_value(json));
	if (json_is_boolean(json))
		return fh_tval_bool(json_is_true(json));
	return (struct fh_tval){ .kind = json ? FH_T_NULL : FH_T_UNDEFINED };
}

struct fh_tval fh_tval_array(struct fh_trender *r)
{
	return (struct fh_tval){ .kind = FH_T_ARRAY, .json = fh_trender_keep(r, json_array(), 64) };
}

struct fh_tval fh_tval_object(struct fh_trender *r)
{
	return (struct fh_tval){ .kind = FH_T_OBJECT, .json = fh_trender_keep(r, json_object(), 128) };
}

json_t *fh_tval_to_json(struct fh_tval v)
{
	bool whole = v.kind == FH_T_NUMBER && fabs(v.number) < 0x1p53 && v.number == trunc(v.number);
	if (v.kind >= FH_T_STRING && v.kind <= FH_T_OBJECT)
		return json_incref(v.json);
	if (whole)
		return json_integer((json_int_t)v.number);
	if (v.kind == FH_T_NUMBER && isfinite(v.number))
		return json_real(v.number);
	return v.kind == FH_T_BOOL ? json_boolean(v.truth) : json_null();
}

void fh_tval_append(struct fh_trender *r, struct fh_tval array, struct fh_tval item)
{
	json_array_append_new(array.json, fh_tval_to_json(item));
	fh_trender_keep(r, NULL, 32);
}

struct fh_str fh_tval_str(struct fh_tval v)
{
	return (struct fh_str){ json_string_value(v.json), json_string_length(v.json) };
}

bool fh_tval_truthy(struct fh_tval v)
{
	if (v.kind == FH_T_BOOL)
		return v.truth;
	if (v.kind == FH_T_NUMBER)
		return v.number != 0 && !isnan(v.number);
	if (v.kind == FH_T_STRING)
		return json_string_length(v.json) > 0;
	return v.kind > FH_T_STRING;
}

/* As JavaScript's Number(s): white space around is ignored, the empty string is 0. */
static double string_to_number(struct fh_str s)
{
	s = fh_ttext_trim(s, true, true);
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

double fh_tval_to_number(struct fh_tval v)
{
	if (v.kind == FH_T_NUMBER)
		return v.number;
	if (v.kind == FH_T_BOOL)
		return v.truth;
	if (v.kind == FH_T_STRING)
		return string_to_number(fh_tval_str(v));
	if (v.kind != FH_T_ARRAY)
		return v.kind == FH_T_NULL ? 0 : NAN;
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(0);
	fh_tval_write(&text, v);
	return string_to_number(fh_buf_str(&text));
}

void fh_tval_write(struct fh_buf *out, struct fh_tval v)
{
	static const char *const words[] = { [FH_T_UNDEFINED] = "undefined",
		                                 [FH_T_NULL] = "null",
		                                 [FH_T_OBJECT] = "[object Object]",
		                                 [FH_T_FUNCTION] = "[function]",
		                                 [FH_T_MODULE] = "[object Object]" };
	if (v.kind == FH_T_STRING) {
		fh_buf_add(out, json_string_value(v.json), json_string_length(v.json));
	} else if (v.kind == FH_T_NUMBER) {
		fh_json_write_number(out, v.number);
	} else if (v.kind == FH_T_BOOL) {
		fh_buf_adds(out, v.truth ? "true" : "false");
	} else if (v.kind == FH_T_ARRAY) {
		for (size_t i = 0; i < json_array_size(v.json); i++) {
			struct fh_tval item = fh_tval_from_json(json_array_get(v.json, i));
			if (i)
				fh_buf_addc(out, ',');
			if (item.kind != FH_T_NULL)
				fh_tval_write(out, item);
		}
	} else if (v.kind == FH_T_REGEX) {
		fh_buf_addf(out, "/%s/%s", v.regex->name, v.regex->flags);
	} else {
		fh_buf_adds(out, words[v.kind]);
	}
}

struct fh_tval fh_tval_to_string(struct fh_trender *r, struct fh_tval v)
{
	if (v.kind == FH_T_STRING)
		return v;
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(FH_TEMPLATE_MEMORY_MAX);
	fh_tval_write(&out, v);
	return fh_tval_take(r, &out);
}

static bool strings_equal(struct fh_tval a, struct fh_tval b)
{
	struct fh_str x = fh_tval_str(a), y = fh_tval_str(b);
	return x.n == y.n && memcmp(x.p, y.p, x.n) == 0;
}

bool fh_tval_strict_equal(struct fh_tval a, struct fh_tval b)
{
	if (a.kind != b.kind)
		return false;
	if (a.kind == FH_T_NUMBER)
		return a.number == b.number;
	if (a.kind == FH_T_BOOL)
		return a.truth == b.truth;
	if (a.kind == FH_T_STRING)
		return strings_equal(a, b);
	if (a.kind == FH_T_FUNCTION)
		return a.function == b.function;
	return a.kind < FH_T_BOOL || (a.kind == FH_T_MODULE  ? a.module == b.module
	                              : a.kind == FH_T_REGEX ? a.regex == b.regex
	                                                     : a.json == b.json);
}

static bool is_object(struct fh_tval v)
{
	return v.kind == FH_T_ARRAY || v.kind == FH_T_OBJECT;
}

bool fh_tval_loose_equal(struct fh_tval a, struct fh_tval b)
{
	bool a_nothing = a.kind <= FH_T_NULL, b_nothing = b.kind <= FH_T_NULL;
	if (a.kind == b.kind)
		return fh_tval_strict_equal(a, b);
	if (a_nothing || b_nothing)
		return a_nothing && b_nothing;
	if (a.kind >= FH_T_FUNCTION || b.kind >= FH_T_FUNCTION || (is_object(a) && is_object(b)))
		return false;
	/* A list or an object is converted to text; it is compared as a string with a string, else as a number. */
	if (is_object(a) || is_object(b)) {
		struct fh_tval object = is_object(a) ? a : b, other = is_object(a) ? b : a;
		fh_auto_buf struct fh_buf text = FH_BUF_INIT(0);
		fh_tval_write(&text, object);
		struct fh_str s = fh_buf_str(&text);
		if (other.kind == FH_T_STRING)
			return s.n == json_string_length(other.json) && memcmp(s.p, json_string_value(other.json), s.n) == 0;
		return string_to_number(s) == fh_tval_to_number(other);
	}
	return fh_tval_to_number(a) == fh_tval_to_number(b);
}

static int compare_texts(struct fh_str x, struct fh_str y)
{
	int order = memcmp(x.p, y.p, FH_MIN(x.n, y.n));
	order = order ? order : (x.n > y.n) - (x.n < y.n);
	return (order > 0) - (order < 0);
}

int fh_tval_compare(struct fh_tval a, struct fh_tval b)
{
	bool a_text = a.kind == FH_T_STRING || is_object(a), b_text = b.kind == FH_T_STRING || is_object(b);
	if (a.kind == FH_T_STRING && b.kind == FH_T_STRING)
		return compare_texts(fh_tval_str(a), fh_tval_str(b));
	if (a_text && b_text) {
		fh_auto_buf struct fh_buf x = FH_BUF_INIT(0), y = FH_BUF_INIT(0);
		fh_tval_write(&x, a);
		fh_tval_write(&y, b);
		return compare_texts(fh_buf_str(&x), fh_buf_str(&y));
	}
	double x = fh_tval_to_number(a), y = fh_tval_to_number(b);
	return isnan(x) || isnan(y) ? 2 : (x > y) - (x < y);
}

size_t fh_tval_length(struct fh_tval v)
{
	if (v.kind == FH_T_STRING)
		return fh_ttext_units(fh_tval_str(v));
	if (v.kind == FH_T_ARRAY)
		return json_array_size(v.json);
	return v.kind == FH_T_OBJECT ? json_object_size(v.json) : 0;
}

struct fh_tval fh_tval_item(struct fh_trender *r, struct fh_tval list, size_t i)
{
	if (list.kind == FH_T_ARRAY)
		return fh_tval_from_json(json_array_get(list.json, i));
	if (list.kind != FH_T_STRING || i >= fh_tval_length(list))
		return FH_TVAL_UNDEFINED;
	return fh_ttext_slice(r, fh_tval_str(list), i, i + 1);
}

struct fh_tval fh_tval_member(struct fh_trender *r, struct fh_tval object, struct fh_tval key)
{
	if (object.kind == FH_T_OBJECT) {
		struct fh_tval name = fh_tval_to_string(r, key);
		return fh_tval_from_json(
		    json_object_getn(object.json, json_string_value(name.json), json_string_length(name.json)));
	}
	if (object.kind == FH_T_MODULE && key.kind == FH_T_STRING) {
		const struct fh_tbinding *member = fh_tframe_find(&object.module->members, json_string_value(key.json));
		return member ? member->value : FH_TVAL_UNDEFINED;
	}
	if (object.kind != FH_T_ARRAY && object.kind != FH_T_STRING)
		return FH_TVAL_UNDEFINED;
	if (key.kind == FH_T_STRING && fh_str_eq(fh_tval_str(key), "length"))
		return fh_tval_number((double)fh_tval_length(object));
	double index = key.kind == FH_T_STRING && json_string_length(key.json) == 0 ? NAN : fh_tval_to_number(key);
	if (!(index >= 0 && index < 0x1p32 && index == trunc(index)) || key.kind == FH_T_BOOL || key.kind == FH_T_NULL)
		return FH_TVAL_UNDEFINED;
	return fh_tval_item(r, object, (size_t)index);
}
