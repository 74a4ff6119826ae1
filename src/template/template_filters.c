/* SPDX-License-Identifier: MIT */
#include "base/text/case.h"
#include "template/template_internal.h"

#include <math.h>
#include <sys/random.h>

/* Filters of numbers, lists and objects; template_filters_text.c has those of strings. */

#define FILTER(name)                                                                                                   \
	static struct fh_tpl_value name(FH_UNUSED struct fh_tpl_render *r, FH_UNUSED struct fh_tpl_value v,                \
	                                FH_UNUSED const struct fh_tpl_value *args)

static size_t list_size(struct fh_tpl_value v)
{
	return v.kind == FH_TPL_ARRAY ? json_array_size(v.json) : 0;
}

static struct fh_tpl_value item_at(struct fh_tpl_value list, size_t i)
{
	return fh_tpl_value_from_json(json_array_get(list.json, i));
}

/* The attribute of an item; with `path` its name may be a path a.b.c. */
static struct fh_tpl_value attribute(struct fh_tpl_render *r, struct fh_tpl_value item, struct fh_tpl_value name,
                                     bool path)
{
	if (!path || name.kind != FH_TPL_STRING)
		return fh_tpl_value_member(r, item, name);
	struct fh_str s = fh_tpl_value_str(name);
	while (true) {
		const char *dot = memchr(s.p, '.', s.n);
		size_t n = dot ? (size_t)(dot - s.p) : s.n;
		item = fh_tpl_value_member(r, item, fh_tpl_value_string(r, (struct fh_str){ s.p, n }));
		if (!dot)
			return item;
		s.p += n + 1, s.n -= n + 1;
	}
}

/* A list unchanged, a string as the list of its characters; the render fails for any other value. */
static struct fh_tpl_value need_list(struct fh_tpl_render *r, struct fh_tpl_value v, const char *filter)
{
	if (v.kind == FH_TPL_ARRAY)
		return v;
	if (v.kind != FH_TPL_STRING) {
		fh_tpl_render_fail(r, "the filter '%s' takes a list", filter);
		return fh_tpl_value_array(r);
	}
	struct fh_tpl_value list = fh_tpl_value_array(r);
	struct fh_str s = fh_tpl_value_str(v);
	while (s.n > 0) {
		size_t n = 1;
		while (n < s.n && ((unsigned char)s.p[n] & 0xC0) == 0x80)
			n++;
		if (!fh_tpl_render_step(r, r->at))
			break;
		fh_tpl_value_append(r, list, fh_tpl_value_string(r, (struct fh_str){ s.p, n }));
		s.p += n, s.n -= n;
	}
	return list;
}

/* As need_list, but any other value gives an empty list, as in Nunjucks' sort, select and some others. */
static struct fh_tpl_value list_or_none(struct fh_tpl_render *r, struct fh_tpl_value v)
{
	return v.kind == FH_TPL_ARRAY || v.kind == FH_TPL_STRING ? need_list(r, v, "list") : fh_tpl_value_array(r);
}

FILTER(filter_abs)
{
	return fh_tpl_value_number(fabs(fh_tpl_value_to_number(v)));
}

FILTER(filter_batch)
{
	struct fh_tpl_value list = list_or_none(r, v), out = fh_tpl_value_array(r);
	double want = fh_tpl_value_to_number(args[0]);
	size_t size = want >= 1 && want < 1e9 ? (size_t)want : SIZE_MAX;
	for (size_t i = 0; i < list_size(list); i += FH_MIN(size, list_size(list) - i)) {
		struct fh_tpl_value group = fh_tpl_value_array(r);
		for (size_t k = i; k < list_size(list) && k - i < size; k++)
			fh_tpl_value_append(r, group, item_at(list, k));
		while (size != SIZE_MAX && fh_tpl_value_truthy(args[1]) && list_size(group) < size &&
		       fh_tpl_render_step(r, r->at))
			fh_tpl_value_append(r, group, args[1]);
		fh_tpl_value_append(r, out, group);
	}
	return out;
}

FILTER(filter_default)
{
	bool keep = fh_tpl_value_truthy(args[1]) ? fh_tpl_value_truthy(v) : v.kind != FH_TPL_UNDEFINED;
	return keep ? v : args[0];
}

FILTER(filter_dump)
{
	bool text = args[0].kind == FH_TPL_STRING && json_string_length(args[0].json) > 0;
	double indent = text ? 1 : args[0].kind == FH_TPL_NUMBER ? args[0].number : 0;
	if (v.kind == FH_TPL_UNDEFINED || v.kind == FH_TPL_FUNCTION)
		return FH_TPL_VALUE_UNDEFINED;
	fh_auto_json json_t *json = fh_tpl_value_to_json(v);
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(FH_TEXT_TEMPLATE_MEMORY_MAX);
	fh_json_write(&out, json, indent >= 1 ? (int)FH_MIN(indent, 10.0) : 0);
	if (!text)
		return fh_tpl_value_take(r, &out);
	fh_auto_buf struct fh_buf indented = FH_BUF_INIT(FH_TEXT_TEMPLATE_MEMORY_MAX);
	struct fh_str by = fh_tpl_value_str(fh_tpl_text_slice(r, fh_tpl_value_str(args[0]), 0, 10)), s = fh_buf_str(&out);
	for (size_t i = 0; i < s.n;) {
		char c = s.p[i++];
		fh_buf_addc(&indented, c);
		for (; c == '\n' && i < s.n && s.p[i] == ' '; i++)
			fh_buf_add(&indented, by.p, by.n);
	}
	return fh_tpl_value_take(r, &indented);
}

FILTER(filter_load)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_tpl_value text = fh_tpl_value_to_string(r, v);
	json_t *json = fh_json_parse(fh_tpl_value_str(text), NULL, &err);
	if (!json)
		return fh_tpl_render_fail(r, "the filter 'load' takes JSON: %s", err.message);
	return fh_tpl_value_from_json(fh_tpl_render_keep(r, json, 8 * json_string_length(text.json)));
}

FILTER(filter_first)
{
	return fh_tpl_value_item(r, v, 0);
}

FILTER(filter_last)
{
	size_t n = v.kind == FH_TPL_OBJECT ? 0 : fh_tpl_value_length(v);
	return n ? fh_tpl_value_item(r, v, n - 1) : FH_TPL_VALUE_UNDEFINED;
}

FILTER(filter_random)
{
	uint64_t random;
	size_t n = v.kind == FH_TPL_OBJECT ? 0 : fh_tpl_value_length(v);
	if (n == 0 || getrandom(&random, sizeof(random), 0) != sizeof(random))
		return FH_TPL_VALUE_UNDEFINED;
	return fh_tpl_value_item(r, v, random % n);
}

FILTER(filter_length)
{
	bool nothing = v.kind <= FH_TPL_NULL || (v.kind == FH_TPL_BOOL && !v.truth);
	if (nothing)
		return fh_tpl_value_number(0);
	bool counted = v.kind == FH_TPL_STRING || v.kind == FH_TPL_ARRAY || v.kind == FH_TPL_OBJECT;
	return counted ? fh_tpl_value_number((double)fh_tpl_value_length(v)) : FH_TPL_VALUE_UNDEFINED;
}

FILTER(filter_list)
{
	if (v.kind != FH_TPL_OBJECT)
		return need_list(r, v, "list");
	struct fh_tpl_value out = fh_tpl_value_array(r);
	const char *key;
	json_t *member;
	json_object_foreach(v.json, key, member)
	{
		struct fh_tpl_value entry = fh_tpl_value_object(r);
		json_object_set_new(entry.json, "key", json_string_nocheck(key));
		json_object_set(entry.json, "value", member);
		fh_tpl_value_append(r, out, entry);
	}
	return out;
}

FILTER(filter_join)
{
	bool lenient = v.kind <= FH_TPL_NULL || fh_tpl_value_truthy(args[1]);
	struct fh_tpl_value list = lenient ? list_or_none(r, v) : need_list(r, v, "join");
	struct fh_str by = fh_tpl_value_truthy(args[0]) ? fh_tpl_value_str(fh_tpl_value_to_string(r, args[0])) : fh_str("");
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(FH_TEXT_TEMPLATE_MEMORY_MAX);
	for (size_t i = 0; i < list_size(list); i++) {
		struct fh_tpl_value item = item_at(list, i);
		if (fh_tpl_value_truthy(args[1]))
			item = attribute(r, item, args[1], false);
		if (i)
			fh_buf_add(&out, by.p, by.n);
		if (item.kind > FH_TPL_NULL)
			fh_tpl_value_write(&out, item);
	}
	return fh_tpl_value_take(r, &out);
}

FILTER(filter_reverse)
{
	struct fh_tpl_value list = list_or_none(r, v), out = fh_tpl_value_array(r);
	for (size_t i = list_size(list); i > 0; i--)
		fh_tpl_value_append(r, out, item_at(list, i - 1));
	if (v.kind != FH_TPL_STRING)
		return out;
	const struct fh_tpl_value none[FH_TPL_FILTER_PARAMS] = { FH_TPL_VALUE_UNDEFINED, FH_TPL_VALUE_UNDEFINED,
		                                                     FH_TPL_VALUE_UNDEFINED };
	return filter_join(r, out, none);
}

FILTER(filter_slice)
{
	struct fh_tpl_value list = need_list(r, v, "slice"), out = fh_tpl_value_array(r);
	double want = fh_tpl_value_to_number(args[0]);
	size_t n = list_size(list), slices = want >= 1 && want < 1e6 ? (size_t)want : 0, from = 0;
	for (size_t i = 0; i < slices && fh_tpl_render_step(r, r->at); i++) {
		struct fh_tpl_value group = fh_tpl_value_array(r);
		size_t size = n / slices + (i < n % slices);
		for (size_t k = from; k < from + size; k++)
			fh_tpl_value_append(r, group, item_at(list, k));
		if (fh_tpl_value_truthy(args[1]) && i >= n % slices)
			fh_tpl_value_append(r, group, args[1]);
		from += size;
		fh_tpl_value_append(r, out, group);
	}
	return out;
}

FILTER(filter_sum)
{
	struct fh_tpl_value list = need_list(r, v, "sum");
	struct fh_tpl_value sum = fh_tpl_value_number(0), start = args[1].kind == FH_TPL_UNDEFINED ? sum : args[1];
	for (size_t i = 0; i < list_size(list); i++) {
		struct fh_tpl_value item = item_at(list, i);
		sum = fh_tpl_add(r, sum, fh_tpl_value_truthy(args[0]) ? attribute(r, item, args[0], false) : item);
	}
	return fh_tpl_add(r, start, sum);
}

static struct fh_tpl_value select_items(struct fh_tpl_render *r, struct fh_tpl_value v, const struct fh_tpl_value *args,
                                        bool wanted)
{
	struct fh_tpl_value list = list_or_none(r, v), out = fh_tpl_value_array(r);
	struct fh_tpl_value test = args[0].kind == FH_TPL_UNDEFINED ? fh_tpl_value_string(r, fh_str("truthy"))
	                                                            : fh_tpl_value_to_string(r, args[0]);
	for (size_t i = 0; i < list_size(list) && !r->failed; i++) {
		bool known, passed = fh_tpl_test_apply(json_string_value(test.json), item_at(list, i), args[1], &known);
		if (!known)
			return fh_tpl_render_fail(r, "unknown test '%.60s'", json_string_value(test.json));
		if (passed == wanted)
			fh_tpl_value_append(r, out, item_at(list, i));
	}
	return out;
}

FILTER(filter_select)
{
	return select_items(r, v, args, true);
}

FILTER(filter_reject)
{
	return select_items(r, v, args, false);
}

static struct fh_tpl_value select_by_attribute(struct fh_tpl_render *r, struct fh_tpl_value v, struct fh_tpl_value name,
                                               bool wanted)
{
	struct fh_tpl_value list = need_list(r, v, "selectattr"), out = fh_tpl_value_array(r);
	for (size_t i = 0; i < list_size(list) && !r->failed; i++)
		if (fh_tpl_value_truthy(fh_tpl_value_member(r, item_at(list, i), name)) == wanted)
			fh_tpl_value_append(r, out, item_at(list, i));
	return out;
}

FILTER(filter_selectattr)
{
	return select_by_attribute(r, v, args[0], true);
}

FILTER(filter_rejectattr)
{
	return select_by_attribute(r, v, args[0], false);
}

/* Whether a member's name is an index for JavaScript ("0", "17"): its objects list these members first, by number. */
static bool is_index(const char *key)
{
	size_t n = strspn(key, "0123456789");
	return n > 0 && n < 10 && !key[n] && (key[0] != '0' || n == 1);
}

static int compare_indices(const void *a, const void *b)
{
	long x = strtol(*(const char *const *)a, NULL, 10), y = strtol(*(const char *const *)b, NULL, 10);
	return (x > y) - (x < y);
}

static struct fh_tpl_value in_key_order(struct fh_tpl_render *r, struct fh_tpl_value object)
{
	struct fh_tpl_value out = fh_tpl_value_object(r);
	fh_auto_free const char **indices = fh_xcalloc(json_object_size(object.json) + 1, sizeof(*indices));
	size_t n = 0;
	const char *key;
	json_t *member;
	json_object_foreach(object.json, key, member) if (is_index(key)) indices[n++] = key;
	qsort(indices, n, sizeof(*indices), compare_indices);
	for (size_t i = 0; i < n; i++)
		json_object_set(out.json, indices[i], json_object_get(object.json, indices[i]));
	json_object_update_missing(out.json, object.json);
	return out;
}

FILTER(filter_groupby)
{
	struct fh_tpl_value list = list_or_none(r, v), out = fh_tpl_value_object(r);
	for (size_t i = 0; i < list_size(list) && !r->failed; i++) {
		struct fh_tpl_value key = fh_tpl_value_to_string(r, attribute(r, item_at(list, i), args[0], true));
		json_t *group = json_object_getn(out.json, json_string_value(key.json), json_string_length(key.json));
		if (!group) {
			group = json_array();
			json_object_setn_new_nocheck(out.json, json_string_value(key.json), json_string_length(key.json), group);
		}
		json_array_append(group, json_array_get(list.json, i));
		fh_tpl_render_keep(r, NULL, 32);
	}
	return in_key_order(r, out);
}

/* ---- sorting ---- */

struct sort_item {
	json_t *item;
	struct fh_tpl_value key;
	size_t place;
};

/* Compares in Nunjucks' order; items that cannot be compared keep their places. */
static int compare_items(const void *pa, const void *pb, void *context)
{
	const struct sort_item *a = pa, *b = pb;
	const bool *reverse = context;
	int order = fh_tpl_value_compare(a->key, b->key);
	if (order != 2 && order != 0)
		return *reverse ? -order : order;
	return (a->place > b->place) - (a->place < b->place);
}

static struct fh_tpl_value folded(struct fh_tpl_render *r, struct fh_tpl_value key, bool case_sensitive)
{
	if (case_sensitive || key.kind != FH_TPL_STRING)
		return key;
	fh_auto_buf struct fh_buf lower = FH_BUF_INIT(0);
	fh_case_lower(&lower, fh_tpl_value_str(key));
	return fh_tpl_value_take(r, &lower);
}

static struct fh_tpl_value sorted(struct fh_tpl_render *r, struct sort_item *items, size_t n, bool reverse)
{
	struct fh_tpl_value out = fh_tpl_value_array(r);
	if (!r->failed)
		qsort_r(items, n, sizeof(*items), compare_items, &reverse);
	for (size_t i = 0; i < n && !r->failed; i++)
		fh_tpl_value_append(r, out, fh_tpl_value_from_json(items[i].item));
	return out;
}

static struct fh_tpl_value sort_by(struct fh_tpl_render *r, struct fh_tpl_value v, bool reverse, bool case_sensitive,
                                   struct fh_tpl_value by)
{
	struct fh_tpl_value list = list_or_none(r, v);
	size_t n = list_size(list);
	fh_auto_free struct sort_item *items = fh_xcalloc(n, sizeof(*items));
	for (size_t i = 0; i < n; i++) {
		struct fh_tpl_value item = item_at(list, i);
		struct fh_tpl_value key = fh_tpl_value_truthy(by) ? attribute(r, item, by, true) : item;
		items[i] = (struct sort_item){ json_array_get(list.json, i), folded(r, key, case_sensitive), i };
	}
	return sorted(r, items, n, reverse);
}

FILTER(filter_sort)
{
	return sort_by(r, v, fh_tpl_value_truthy(args[0]), fh_tpl_value_truthy(args[1]), args[2]);
}

FILTER(filter_dictsort)
{
	if (v.kind != FH_TPL_OBJECT)
		return fh_tpl_render_fail(r, "the filter 'dictsort' takes an object");
	if (args[1].kind == FH_TPL_STRING && !fh_str_eq(fh_tpl_value_str(args[1]), "value") &&
	    !fh_str_eq(fh_tpl_value_str(args[1]), "key"))
		return fh_tpl_render_fail(r, "the filter 'dictsort' sorts by \"key\" or \"value\"");
	struct fh_tpl_value pairs = fh_tpl_value_array(r);
	bool by_value = args[1].kind == FH_TPL_STRING && fh_str_eq(fh_tpl_value_str(args[1]), "value");
	const char *key;
	json_t *member;
	json_object_foreach(v.json, key, member)
	{
		struct fh_tpl_value pair = fh_tpl_value_array(r);
		fh_tpl_value_append(r, pair, fh_tpl_value_string(r, fh_str(key)));
		json_array_append(pair.json, member);
		fh_tpl_value_append(r, pairs, pair);
	}
	return sort_by(r, pairs, false, fh_tpl_value_truthy(args[0]), fh_tpl_value_string(r, fh_str(by_value ? "1" : "0")));
}

/* ---- numbers ---- */

FILTER(filter_round)
{
	double precision = fh_tpl_value_truthy(args[0]) ? fh_tpl_value_to_number(args[0]) : 0, factor = pow(10, precision);
	double scaled = fh_tpl_value_to_number(v) * factor;
	struct fh_str method = args[1].kind == FH_TPL_STRING ? fh_tpl_value_str(args[1]) : fh_str("");
	if (fh_str_eq(method, "ceil"))
		return fh_tpl_value_number(ceil(scaled) / factor);
	/* JavaScript rounds a half up, C's round() away from zero. */
	double rounded = fh_str_eq(method, "floor") || scaled - floor(scaled) < 0.5 ? floor(scaled) : ceil(scaled);
	return fh_tpl_value_number(rounded / factor);
}

/* As JavaScript's parseFloat: the longest number at the start. */
static double leading_number(struct fh_str s)
{
	s = fh_tpl_text_trim(s, true, false);
	size_t n = 0, digits = 0;
	n += n < s.n && (s.p[n] == '-' || s.p[n] == '+');
	if (s.n - n >= 8 && memcmp(s.p + n, "Infinity", 8) == 0)
		return *s.p == '-' ? -INFINITY : INFINITY;
	for (; n < s.n && s.p[n] >= '0' && s.p[n] <= '9'; n++)
		digits++;
	if (n < s.n && s.p[n] == '.')
		for (n++; n < s.n && s.p[n] >= '0' && s.p[n] <= '9'; n++)
			digits++;
	if (digits == 0)
		return NAN;
	if (n < s.n && (s.p[n] == 'e' || s.p[n] == 'E')) {
		size_t e = n + 1;
		e += e < s.n && (s.p[e] == '-' || s.p[e] == '+');
		if (e < s.n && s.p[e] >= '0' && s.p[e] <= '9')
			for (n = e; n < s.n && s.p[n] >= '0' && s.p[n] <= '9';)
				n++;
	}
	fh_auto_free char *text = fh_xmemdup(s.p, n);
	return strtod(text, NULL);
}

FILTER(filter_float)
{
	double value = leading_number(fh_tpl_value_str(fh_tpl_value_to_string(r, v)));
	return isnan(value) ? args[0] : fh_tpl_value_number(value);
}

/* As JavaScript's parseInt. */
FILTER(filter_int)
{
	struct fh_str s = fh_tpl_text_trim(fh_tpl_value_str(fh_tpl_value_to_string(r, v)), true, true);
	double base = args[1].kind == FH_TPL_UNDEFINED ? 10 : fh_tpl_value_to_number(args[1]), value = 0;
	bool minus = s.n > 0 && *s.p == '-';
	size_t i = s.n > 0 && (*s.p == '-' || *s.p == '+'), first;
	if (base == 16 && s.n - i > 2 && s.p[i] == '0' && (s.p[i + 1] | 0x20) == 'x')
		i += 2;
	for (first = i; i < s.n; i++) {
		char c = s.p[i];
		int digit = c >= '0' && c <= '9'                     ? c - '0'
		            : (c | 0x20) >= 'a' && (c | 0x20) <= 'z' ? (c | 0x20) - 'a' + 10
		                                                     : 99;
		if (digit >= base)
			break;
		value = value * base + digit;
	}
	return i > first ? fh_tpl_value_number(minus ? -value : value) : args[0];
}

const struct fh_tpl_filter fh_tpl_filters[] = {
	{ "abs", filter_abs, { NULL } },
	{ "batch", filter_batch, { "linecount", "fill_with" } },
	{ "count", filter_length, { NULL } },
	{ "d", filter_default, { "default_value", "boolean" } },
	{ "default", filter_default, { "default_value", "boolean" } },
	{ "dictsort", filter_dictsort, { "case_sensitive", "by" } },
	{ "dump", filter_dump, { "indent" } },
	{ "first", filter_first, { NULL } },
	{ "float", filter_float, { "default" } },
	{ "groupby", filter_groupby, { "attribute" } },
	{ "int", filter_int, { "default", "base" } },
	{ "join", filter_join, { "d", "attribute" } },
	{ "last", filter_last, { NULL } },
	{ "length", filter_length, { NULL } },
	{ "list", filter_list, { NULL } },
	{ "load", filter_load, { NULL } },
	{ "random", filter_random, { NULL } },
	{ "reject", filter_reject, { "test", "argument" } },
	{ "rejectattr", filter_rejectattr, { "attribute" } },
	{ "reverse", filter_reverse, { NULL } },
	{ "round", filter_round, { "precision", "method" } },
	{ "select", filter_select, { "test", "argument" } },
	{ "selectattr", filter_selectattr, { "attribute" } },
	{ "slice", filter_slice, { "slices", "fill_with" } },
	{ "sort", filter_sort, { "reverse", "case_sensitive", "attribute" } },
	{ "sum", filter_sum, { "attribute", "start" } },
	{ NULL, NULL, { NULL } },
};

const struct fh_tpl_filter *fh_tpl_filter_find(const char *name)
{
	const struct fh_tpl_filter *const tables[] = { fh_tpl_filters, fh_tpl_filters_text };
	for (size_t t = 0; t < FH_ARRAY_SIZE(tables); t++)
		for (const struct fh_tpl_filter *filter = tables[t]; filter->name; filter++)
			if (fh_streq(filter->name, name))
				return filter;
	return NULL;
}
