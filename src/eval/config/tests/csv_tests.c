/* SPDX-License-Identifier: MIT */
#include "eval/config/tests/csv_tests.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include "base/text/nearest.h"
#include "eval/common/text.h"
#include "eval/grading/assertion.h"

/* ---------------------------------------------------------------------------------------------- __expected cells */

static const char *after(const char *text, const char *const *prefixes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (fh_starts_with(text, prefixes[i]))
			return text + strlen(prefixes[i]);
	return NULL;
}

static json_t *trimmed(const char *text)
{
	struct fh_str s = fh_text_trim(fh_str(text));
	return fh_json_bytes(s);
}

static bool is_one_of(const char *type, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(type, names[i]) == 0)
			return true;
	return false;
}

/* A whole decimal number; false for anything else. */
static bool number_of(const char *text, double *ret)
{
	struct fh_str s = fh_text_trim(fh_str(text));
	fh_auto_free char *copy = fh_xstrndup(s.p, s.n);
	char *end = copy;
	if (s.n == 0 || strspn(copy, "+-.0123456789eE") != s.n)
		return false;
	double n = strtod(copy, &end);
	if (*end || end == copy || !isfinite(n))
		return false;
	*ret = n;
	return true;
}

/* Types whose cell may give a threshold (by default .75, for similar .8); other types have no threshold. */
static const char *const with_threshold[] = { "answer-relevance", "classifier",        "context-faithfulness",
	                                          "context-recall",   "context-relevance", "cost",
	                                          "latency",          "levenshtein",       "perplexity-score",
	                                          "perplexity",       "rouge-n",           "similar",
	                                          "starts-with" };
static const char *const with_list[] = { "contains-all", "contains-any", "icontains-all", "icontains-any" };
static const char *const untrimmed[] = { "is-json", "contains-json" };

/* Reads "[not-]type[(threshold)][:value]" with a known type. NULL without an error when the cell has another form. */
static json_t *typed(const char *cell, struct fh_error *err, bool *ret_failed)
{
	size_t n = strcspn(cell, "(:");
	/* A type may itself contain a colon (similar:dot): the longest known name wins. */
	for (size_t m = strcspn(cell, "("); m > n; m--)
		if (cell[m] == '\0' || cell[m] == ':' || cell[m] == '(') {
			fh_auto_free char *longer = fh_xstrndup(cell, m);
			if (fh_assertion_find(longer + (fh_starts_with(longer, "not-") ? 4 : 0)))
				n = m;
		}
	fh_auto_free char *type = fh_xstrndup(cell, n);
	const char *base = type + (fh_starts_with(type, "not-") ? 4 : 0), *rest = cell + n;
	if (!fh_assertion_find(base))
		return NULL;
	double threshold = strcmp(base, "similar") == 0 ? .8 : .75;
	if (*rest == '(') {
		size_t digits = strspn(rest + 1, "0123456789.");
		fh_auto_free char *number = fh_xstrndup(rest + 1, digits);
		if (rest[1 + digits] != ')' || !isdigit((unsigned char)rest[1]) || !number_of(number, &threshold))
			return NULL;
		rest += digits + 2;
	}
	if (*rest && *rest != ':')
		return NULL;
	fh_auto_json json_t *a = json_pack("{s:s}", "type", type);
	json_t *value = NULL;
	if (*rest == ':' && is_one_of(base, with_list, FH_ARRAY_SIZE(with_list))) {
		if (fh_text_split_list(rest + 1, &value, err) < 0) {
			*ret_failed = true;
			return NULL;
		}
	} else if (*rest == ':') {
		value =
		    is_one_of(base, untrimmed, FH_ARRAY_SIZE(untrimmed)) ? fh_json_bytes(fh_str(rest + 1)) : trimmed(rest + 1);
	}
	if (value)
		json_object_set_new(a, "value", value);
	if (is_one_of(base, with_threshold, FH_ARRAY_SIZE(with_threshold)))
		json_object_set_new(a, "threshold", json_real(threshold));
	return json_incref(a);
}

json_t *fh_csv_assertion(const char *cell, struct fh_error *err)
{
	static const char *const javascript[] = { "javascript:", "fn:", "eval:" };
	static const char *const python[] = { "python:" };
	static const char *const rubric[] = { "grade:", "llm-rubric:" };
	const char *code;
	bool failed = false;
	if ((code = after(cell, javascript, FH_ARRAY_SIZE(javascript))))
		return json_pack("{s:s, s:o}", "type", "javascript", "value", trimmed(code));
	if ((code = after(cell, rubric, FH_ARRAY_SIZE(rubric))))
		return json_pack("{s:s, s:o}", "type", "llm-rubric", "value", fh_json_bytes(fh_str(code)));
	if ((code = after(cell, python, FH_ARRAY_SIZE(python))))
		return json_pack("{s:s, s:o}", "type", "python", "value", trimmed(code));
	if (fh_text_is_file(
	        cell)) /* promptfoo removes file:// from the name of a Python file in such a cell; this keeps it) */
		return json_pack("{s:s, s:o}", "type", strstr(cell, ".py") ? "python" : "javascript", "value", trimmed(cell));
	json_t *a = typed(cell, err, &failed);
	return a || failed ? a : json_pack("{s:s, s:o}", "type", "equals", "value", fh_json_bytes(fh_str(cell)));
}

/* -------------------------------------------------------------------------------------------------------- columns */

/* Splits "a,b\,c" into a list; "\," is a comma within an item. */
static json_t *split_list(const char *text)
{
	json_t *list = json_array();
	struct fh_buf item = FH_BUF_INIT(0);
	for (;; text++) {
		if (*text == '\\' && text[1] == ',') {
			fh_buf_addc(&item, *++text);
		} else if (*text == ',' || !*text) {
			struct fh_str part = fh_text_trim(fh_buf_str(&item));
			json_array_append_new(list, json_stringn(part.p, part.n));
			fh_buf_truncate(&item, 0);
			if (!*text)
				break;
		} else {
			fh_buf_addc(&item, *text);
		}
	}
	fh_buf_release(&item);
	return list;
}

static json_t *sub_object(json_t *test, const char *key)
{
	json_t *o = json_object_get(test, key);
	if (!o)
		json_object_set_new(test, key, o = json_object());
	return o;
}

struct row {
	json_t *test, *vars, *asserts;
	json_t *configs; /* settings for single assertions: {index of the assertion: {key: number}} */
	/* JSON values that many rows share: names of assertion types, and "" for the options of rows without any */
	json_t *shared;
	const char *metric;
	const char *name; /* file name for errors */
	size_t number;
	struct fh_error *err;
};

static int set_metadata(struct row *r, const char *column, const char *value)
{
	const char *key = column + strlen("__metadata:");
	size_t n = strlen(key);
	bool list = n > 2 && strcmp(key + n - 2, "[]") == 0;
	fh_auto_free char *bare = fh_xstrndup(key, list ? n - 2 : n);
	struct fh_str text = fh_text_trim(fh_str(value));
	if (text.n > 0)
		json_object_set_new(sub_object(r->test, "metadata"), bare,
		                    list ? split_list(value) : fh_json_bytes(fh_str(value)));
	return 0;
}

/* "__config:__expected[N]:threshold" sets the threshold of the Nth assertion of the row (without a number, the first).
 */
static int set_config(struct row *r, const char *column, const char *value)
{
	const char *which = column + strlen("__config:"), *key = strchr(which, ':');
	const char *digits = which + strlen("__expected");
	double n;
	if (!fh_starts_with(which, "__expected") || !key || strcmp(key, ":threshold") != 0 ||
	    digits + strspn(digits, "0123456789") != key || (digits != key && strtoul(digits, NULL, 10) == 0))
		return fh_error_at(r->err, r->name, 1, 0,
		                   "column \"%s\": it is __config:__expected:threshold, or "
		                   "__config:__expected<N>:threshold with N from 1",
		                   column);
	if (!number_of(value, &n))
		return fh_error_at(r->err, r->name, 0, 0, "row %zu: column \"%s\" must be a number, not \"%s\"", r->number,
		                   column, value);
	fh_auto_free char *index = fh_xasprintf("%lu", digits == key ? 0 : strtoul(digits, NULL, 10) - 1);
	json_object_set_new(sub_object(r->configs, index), "threshold", json_real(n));
	return 0;
}

static int set_expected(struct row *r, const char *column, const char *value)
{
	struct fh_str text = fh_text_trim(fh_str(value));
	fh_auto_free char *cell = fh_xstrndup(text.p, text.n);
	json_t *assertion = *cell ? fh_csv_assertion(cell, r->err) : NULL;
	if (*cell && !assertion) {
		char why[sizeof(r->err->message)];
		snprintf(why, sizeof(why), "%s", r->err ? r->err->message : "");
		return fh_error_at(r->err, r->name, 0, 0, "row %zu, %s: %s", r->number, column, why);
	}
	if (assertion) {
		const char *type = fh_json_str(assertion, "type", "");
		if (!json_object_get(r->shared, type))
			json_object_set(r->shared, type, json_object_get(assertion, "type"));
		json_object_set(assertion, "type", json_object_get(r->shared, type));
		json_array_append_new(r->asserts, assertion);
	}
	return 0;
}

static int set_option(struct row *r, const char *column, const char *value)
{
	json_object_set_new(sub_object(r->test, "options"), column + 2, fh_json_bytes(fh_str(value)));
	return 0;
}

static int set_text(struct row *r, const char *column, const char *value)
{
	if (*value)
		json_object_set_new(r->test, column + 2, fh_json_bytes(fh_str(value)));
	return 0;
}

static int set_metric(struct row *r, const char *column, const char *value)
{
	r->metric = value;
	return 0;
}

static int set_threshold(struct row *r, const char *column, const char *value)
{
	double n;
	if (number_of(value, &n))
		json_object_set_new(r->test, "threshold", json_real(n));
	else if (fh_text_trim(fh_str(value)).n > 0)
		return fh_error_at(r->err, r->name, 0, 0, "row %zu: __threshold is not a number: \"%s\"", r->number, value);
	return 0;
}

static const struct {
	const char *name;
	bool prefix; /* the column's name only has to begin with `name` */
	int (*set)(struct row *r, const char *column, const char *value);
} columns[] = {
	{ "__expected", true, set_expected },    { "__prefix", false, set_option },       { "__suffix", false, set_option },
	{ "__description", false, set_text },    { "__providerOutput", false, set_text }, { "__metric", false, set_metric },
	{ "__threshold", false, set_threshold }, { "__metadata:", true, set_metadata },   { "__config:", true, set_config },
};

/* A column whose name begins with __ is a variable, unless it is nearly one of those above. */
static int check_column(const struct row *r, const char *column)
{
	struct fh_nearest nearest = FH_NEAREST_INIT(column);
	for (size_t i = 0; i < FH_ARRAY_SIZE(columns); i++)
		fh_nearest_offer(&nearest, columns[i].name);
	return nearest.best ? fh_error_at(r->err, r->name, 1, 0, "column \"%s\" is not known; did you mean \"%s\"?", column,
	                                  nearest.best)
	                    : 0;
}

static int add_cell(struct row *r, const char *written, const char *value)
{
	struct fh_str name = fh_text_trim(fh_str(written));
	fh_auto_free char *column = fh_xstrndup(name.p, name.n);
	bool special = fh_starts_with(column, "__");
	for (size_t i = 0; special && i < FH_ARRAY_SIZE(columns); i++)
		if (columns[i].prefix ? fh_starts_with(column, columns[i].name) : strcmp(column, columns[i].name) == 0)
			return columns[i].set(r, column, value);
	int code = special ? check_column(r, column) : 0;
	if (code == 0)
		json_object_set_new(r->vars, column, fh_json_bytes(fh_str(value)));
	return code;
}

/* Gives the metric and thresholds of the row's columns to its assertions; as in promptfoo, the threshold is also kept
 * as metadata. */
static void finish(struct row *r)
{
	size_t i;
	json_t *assertion, *v;
	json_array_foreach(r->asserts, i, assertion)
	{
		fh_auto_free char *index = fh_xasprintf("%zu", i);
		const char *key;
		if (r->metric)
			json_object_set_new(assertion, "metric", fh_json_bytes(fh_str(r->metric)));
		json_object_foreach(json_object_get(r->configs, index), key, v)
		{
			json_object_set(assertion, key, v);
			json_object_set(sub_object(r->test, "metadata"), key, v);
		}
	}
	if (!json_object_get(r->test, "options"))
		json_object_set(r->test, "options", json_object_get(r->shared, ""));
	if (!json_object_get(r->test, "description"))
		json_object_set_new(r->test, "description", json_sprintf("Row #%zu", r->number));
}

static struct row row_begin(const char *name, size_t number, json_t *shared, struct fh_error *err)
{
	struct row r = {
		.test = json_object(), .configs = json_object(), .shared = shared, .name = name, .number = number, .err = err
	};
	r.vars = sub_object(r.test, "vars");
	json_object_set_new(r.test, "assert", r.asserts = json_array());
	return r;
}

/* Appends the test of a row to the list, or drops it when `code` is an error. */
static int row_end(struct row *r, int code, json_t *list)
{
	if (code == 0)
		finish(r);
	if (code == 0)
		json_array_append(list, r->test);
	json_decref(r->test);
	json_decref(r->configs);
	return code;
}

int fh_csv_tests(json_t *rows, const char *name, json_t **ret, struct fh_error *err)
{
	if (json_array_size(rows) == 0)
		return fh_error_at(err, name, 1, 0, "the file is empty; its first line names the columns");
	fh_auto_json json_t *list = json_array(), *shared = json_pack("{s:{}}", "");
	fh_auto_json json_t *head = json_incref(json_array_get(rows, 0));
	for (size_t i = 1; i < json_array_size(rows); i++) {
		struct row r = row_begin(name, i, shared, err);
		int code = 0;
		for (size_t j = 0; j < json_array_size(head) && code == 0; j++) {
			const char *value = json_string_value(json_array_get(json_array_get(rows, i), j));
			code = add_cell(&r, json_string_value(json_array_get(head, j)), value ? value : "");
		}
		if (row_end(&r, code, list) < 0)
			return code;
		json_array_set_new(rows, i, json_null()); /* its memory serves the next test */
	}
	*ret = json_incref(list);
	return 0;
}

int fh_csv_maps(const json_t *maps, const char *name, json_t **ret, struct fh_error *err)
{
	fh_auto_json json_t *list = json_array(), *shared = json_pack("{s:{}}", "");
	for (size_t i = 0; i < json_array_size(maps); i++) {
		struct row r = row_begin(name, i + 1, shared, err);
		const char *column;
		json_t *value;
		int code = 0;
		json_object_foreach(json_array_get(maps, i), column, value)
		{
			if (code < 0)
				break;
			if (!fh_starts_with(column, "__")) {
				json_object_set(r.vars, column, value);
				continue;
			}
			fh_auto_free char *text = fh_text_of_json(value);
			/* The row borrows the metric's text from `maps` until it is finished. */
			code = strcmp(column, "__metric") == 0
			           ? set_metric(&r, column, fh_json_str(json_array_get(maps, i), column, ""))
			           : add_cell(&r, column, text);
		}
		if (row_end(&r, code, list) < 0)
			return code;
	}
	*ret = json_incref(list);
	return 0;
}
