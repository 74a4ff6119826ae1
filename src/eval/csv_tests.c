/* SPDX-License-Identifier: MIT */
#include "eval/csv_tests.h"
#include <ctype.h>
#include "eval/assertion.h"
#include "eval/text.h"

static const char *after(const char *text, const char *const *prefixes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (fh_starts_with(text, prefixes[i]))
			return text + strlen(prefixes[i]);
	return NULL;
}

static json_t *script(const char *type, const char *code)
{
	return json_pack("{s:s, s:s}", "type", type, "value", code + strspn(code, " "));
}

/* Types whose threshold has another default than the assertion's own when they stand in a cell. */
static bool default_threshold(const char *type, double *ret)
{
	static const char *const three_quarters[] = { "answer-relevance", "classifier",        "context-faithfulness",
		                                          "context-recall",   "context-relevance", "cost",
		                                          "latency",          "levenshtein",       "perplexity-score",
		                                          "perplexity",       "rouge-n",           "starts-with" };
	for (size_t i = 0; i < FH_ARRAY_SIZE(three_quarters); i++)
		if (strcmp(type, three_quarters[i]) == 0) {
			*ret = .75;
			return true;
		}
	*ret = .8;
	return strcmp(type, "similar") == 0;
}

/* "[not-]type[(threshold)][:value]" with a type that is known; NULL otherwise. */
static json_t *typed(const char *cell)
{
	size_t n = strcspn(cell, "(:");
	struct fh_str word = fh_text_trim((struct fh_str){ cell, n });
	fh_auto_free char *type = fh_xstrndup(word.p, word.n);
	const char *base = type + (fh_starts_with(type, "not-") ? 4 : 0);
	if (!fh_assertion_find(base))
		return NULL;
	const char *rest = cell + n;
	double threshold;
	bool has = default_threshold(base, &threshold);
	if (*rest == '(') {
		char *end;
		threshold = strtod(rest + 1, &end);
		if (end == rest + 1 || *end != ')')
			return NULL;
		has = true;
		rest = end + 1;
	}
	rest += strspn(rest, " ");
	if (*rest && *rest != ':')
		return NULL;
	json_t *a = json_pack("{s:s}", "type", type);
	if (*rest == ':') {
		struct fh_str value = fh_text_trim(fh_str(rest + 1));
		json_object_set_new(a, "value", json_stringn(value.p, value.n));
	}
	if (has)
		json_object_set_new(a, "threshold", json_real(threshold));
	return a;
}

json_t *fh_csv_assertion(const char *cell)
{
	static const char *const javascript[] = { "javascript:", "fn:", "eval:" };
	static const char *const python[] = { "python:" };
	static const char *const rubric[] = { "grade:", "llm-rubric:" };
	const char *code;
	if ((code = after(cell, javascript, FH_ARRAY_SIZE(javascript))))
		return script("javascript", code);
	if ((code = after(cell, python, FH_ARRAY_SIZE(python))))
		return script("python", code);
	if ((code = after(cell, rubric, FH_ARRAY_SIZE(rubric))))
		return script("llm-rubric", code);
	if (fh_text_is_file(cell))
		return script(strstr(cell, ".py") ? "python" : "javascript", cell);
	json_t *a = typed(cell);
	return a ? a : json_pack("{s:s, s:s}", "type", "equals", "value", cell);
}

/* "a,b\,c" as a list. */
static json_t *split_list(const char *text)
{
	json_t *list = json_array();
	struct fh_buf item = FH_BUF_INIT(0);
	for (;; text++) {
		if (*text == '\\' && text[1] == ',') {
			fh_buf_addc(&item, *++text);
		} else if (*text == ',' || !*text) {
			struct fh_str part = fh_text_trim(fh_buf_str(&item));
			if (part.n)
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

static bool is_expected(const char *column)
{
	static const char prefix[] = "__expected";
	if (strncmp(column, prefix, sizeof(prefix) - 1) != 0)
		return false;
	const char *p = column + sizeof(prefix) - 1;
	while (*p >= '0' && *p <= '9')
		p++;
	return *p == '\0';
}

/* "__config:__expected[N]:threshold" sets a key of the Nth (from 1; without a number, the first) assertion. */
static void set_config(json_t *asserts, const char *column, const char *value)
{
	const char *which = column + strlen("__config:__expected");
	size_t number = isdigit((unsigned char)*which) ? strtoul(which, NULL, 10) : 1;
	const char *key = strchr(which, ':');
	json_t *assertion = json_array_get(asserts, number - 1);
	if (!assertion || !key || !*value)
		return;
	char *end;
	double n = strtod(value, &end);
	json_object_set_new(assertion, key + 1, *end ? json_string(value) : json_real(n));
}

static int special(json_t *test, const char *column, const char *value, const char *name, size_t row,
                   struct fh_error *err)
{
	static const char *const known[] = { "__prefix",         "__suffix",    "__description",
		                                 "__providerOutput", "__threshold", "__metric" };
	if (fh_starts_with(column, "__metadata:")) {
		const char *key = column + strlen("__metadata:");
		size_t n = strlen(key);
		bool list = n > 2 && strcmp(key + n - 2, "[]") == 0;
		fh_auto_free char *bare = fh_xstrndup(key, list ? n - 2 : n);
		if (*value)
			json_object_set_new(sub_object(test, "metadata"), bare, list ? split_list(value) : json_string(value));
		return 0;
	}
	size_t i = 0;
	while (i < FH_ARRAY_SIZE(known) && strcmp(known[i], column) != 0)
		i++;
	if (i == FH_ARRAY_SIZE(known))
		return fh_error_at(err, name, 1, 0, "column \"%s\" is not known; a variable's name does not begin with __",
		                   column);
	if (!*value)
		return 0;
	char *end = NULL;
	if (i < 2)
		json_object_set_new(sub_object(test, "options"), known[i] + 2, json_string(value));
	else if (i == 4) {
		double threshold = strtod(value, &end);
		if (*end)
			return fh_error_at(err, name, 0, 0, "row %zu: __threshold is no number: \"%s\"", row, value);
		json_object_set_new(test, "threshold", json_real(threshold));
	} else if (i < 5)
		json_object_set_new(test, known[i] + 2, json_string(value));
	return 0;
}

static int make_test(const json_t *head, const json_t *row, size_t number, const char *name, json_t **ret,
                     struct fh_error *err)
{
	fh_auto_json json_t *test = json_object();
	json_t *vars = sub_object(test, "vars"), *asserts = json_array();
	json_object_set_new(test, "assert", asserts);
	const char *metric = "";
	for (size_t i = 0; i < json_array_size(head); i++) {
		const char *column = json_string_value(json_array_get(head, i));
		const json_t *cell = json_array_get(row, i);
		const char *value = cell ? json_string_value(cell) : "";
		int r = 0;
		if (!fh_starts_with(column, "__"))
			json_object_set_new(vars, column, json_string(value));
		else if (is_expected(column)) {
			if (*value)
				json_array_append_new(asserts, fh_csv_assertion(value));
		} else if (!fh_starts_with(column, "__config:__expected"))
			r = special(test, column, value, name, number, err);
		if (r < 0)
			return r;
		if (strcmp(column, "__metric") == 0)
			metric = value;
	}
	for (size_t i = 0; i < json_array_size(head); i++) {
		const char *column = json_string_value(json_array_get(head, i));
		const json_t *cell = json_array_get(row, i);
		if (fh_starts_with(column, "__config:__expected") && cell)
			set_config(asserts, column, json_string_value(cell));
	}
	size_t i;
	json_t *assertion;
	if (*metric)
		json_array_foreach(asserts, i, assertion) json_object_set_new(assertion, "metric", json_string(metric));
	if (!json_object_get(test, "description"))
		json_object_set_new(test, "description", json_sprintf("Row #%zu", number));
	*ret = json_incref(test);
	return 0;
}

int fh_csv_tests(const json_t *rows, const char *name, json_t **ret, struct fh_error *err)
{
	if (json_array_size(rows) == 0)
		return fh_error_at(err, name, 1, 0, "the file is empty; its first line names the columns");
	fh_auto_json json_t *list = json_array();
	for (size_t i = 1; i < json_array_size(rows); i++) {
		json_t *test = NULL;
		int r = make_test(json_array_get(rows, 0), json_array_get(rows, i), i, name, &test, err);
		if (r < 0)
			return r;
		json_array_append_new(list, test);
	}
	*ret = json_incref(list);
	return 0;
}
