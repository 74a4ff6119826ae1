/* SPDX-License-Identifier: MIT */
#include "eval/assertions/code/code_comparison.h"

#include <ctype.h>

#include "base/fd.h"
#include "code/literal.h"
#include "code/program_text.h"
#include "eval/common/text.h"
#include "judge/problems/languages.h"

/* How the test is written in a language. */
static const struct style {
	const char *language, *helper, *yes, *no;
	void (*string)(struct fh_buf *out, struct fh_str text);
	const char *const *words, *const *prefixes; /* words that are literals; what may stand in front of a quote */
	bool has_keywords;                          /* a call may name its parameters: f(n=5) */
} styles[] = {
	{ "python", "compared.py", "True", "False", fh_python_string,
	  (const char *const[]){ "True", "False", "None", NULL },
	  (const char *const[]){ "b", "B", "r", "R", "u", "U", "rb", "br", NULL }, true },
	{ "javascript", "compared.js", "true", "false", fh_javascript_string,
	  (const char *const[]){ "true", "false", "null", "undefined", "NaN", "Infinity", NULL },
	  (const char *const[]){ NULL }, false },
};

static const struct style *find_style(const char *language)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(styles); i++)
		if (fh_streq(styles[i].language, language))
			return &styles[i];
	return NULL;
}

/* --------------------------------------------------------------------------------------------------------- literals */

static size_t word_end(struct fh_str s, size_t at)
{
	while (at < s.n && (isalnum((unsigned char)s.p[at]) || strchr("_$", s.p[at])) && s.p[at])
		at++;
	return at;
}

static bool is_one_of(struct fh_str word, const char *const *list)
{
	for (; *list; list++)
		if (fh_str_eq(word, *list))
			return true;
	return false;
}

/* The offset behind the literal, comment or punctuation at `at`; 0: something else is there. */
static size_t literal_part(struct fh_str s, size_t at, const struct style *l, bool in_call)
{
	size_t end = fh_literal_end(s, at, fh_literal_syntax(l->language));
	if (end > at) /* a template of JavaScript's may hold any expression */
		return strchr("'\"", s.p[at]) ? end : 0;
	end = word_end(s, at);
	struct fh_str word = { s.p + at, end - at };
	if (word.n == 0)
		return s.p[at] && strchr(" \t+-*/%,.:()[]{}", s.p[at]) ? at + 1 : 0;
	if (isdigit((unsigned char)word.p[0]) || is_one_of(word, l->words))
		return end;
	if (end < s.n && strchr("'\"", s.p[end]) && is_one_of(word, l->prefixes))
		return end;
	bool keyword = in_call && l->has_keywords && end + 1 < s.n && s.p[end] == '=' && s.p[end + 1] != '=';
	return keyword ? end + 1 : 0;
}

static bool is_literal(struct fh_str s, const struct style *l, bool in_call)
{
	for (size_t at = 0, next; at < s.n; at = next)
		if (!(next = literal_part(s, at, l, in_call)))
			return false;
	return in_call || s.n > 0;
}

/* The name of the function if the text is a call of one with literals; else an empty text. */
static struct fh_str called(struct fh_str s, const struct style *l)
{
	const struct fh_str none = { s.p, 0 };
	size_t n = word_end(s, 0), depth = 0;
	if (n == 0 || isdigit((unsigned char)s.p[0]) || n >= s.n || s.p[n] != '(' ||
	    is_one_of((struct fh_str){ s.p, n }, l->words))
		return none;
	for (size_t at = n, next; at < s.n; at = next) {
		if (!(next = literal_part(s, at, l, true)))
			return none;
		depth += s.p[at] == '(';
		depth -= s.p[at] == ')';
		if (depth == 0 && next < s.n) /* something follows the call */
			return none;
	}
	return depth == 0 ? (struct fh_str){ s.p, n } : none;
}

/* ------------------------------------------------------------------------------------------------------ comparisons */

/* Splits a text at its first comparison; false: there is none. */
static bool divide(struct fh_str s, const char *language, struct fh_str *ret_left, struct fh_str *ret_right)
{
	for (size_t at = 0, end; at < s.n; at = FH_MAX(end, at + 1)) {
		end = fh_literal_end(s, at, fh_literal_syntax(language));
		if (end > at || !strchr("=!<>", s.p[at]) || !s.p[at])
			continue;
		size_t n = FH_MIN(strspn(s.p + at, "=!<>"), s.n - at);
		const struct fh_str sign = { s.p + at, n };
		static const char *const comparisons[] = { "==", "!=", "===", "!==", "<", "<=", ">", ">=", NULL };
		if (!is_one_of(sign, comparisons)) { /* a keyword's = */
			end = at + n;
			continue;
		}
		*ret_left = fh_text_trim((struct fh_str){ s.p, at });
		*ret_right = fh_text_trim((struct fh_str){ s.p + at + n, s.n - at - n });
		return true;
	}
	return false;
}

/* The function whose call is compared with a literal; else an empty text. */
static struct fh_str compared(const char *call, const struct style *l)
{
	struct fh_str left, right, none = { call, 0 };
	if (!divide(fh_text_trim(fh_str(call)), l->language, &left, &right))
		return none;
	if (is_literal(right, l, false))
		return called(left, l);
	return is_literal(left, l, false) ? called(right, l) : none;
}

FH_OWN FH_NULLABLE char *fh_code_compared_function(const struct fh_code_spec *spec)
{
	const struct style *l = find_style(spec->language);
	struct fh_str one = { "", 0 };
	if (!l || spec->whole || spec->tests || spec->n == 0)
		return NULL;
	for (size_t i = 0; i < spec->n; i++) {
		const struct fh_code_case *c = &spec->cases[i];
		if (!c->call || !json_is_boolean(c->expected))
			return NULL;
		struct fh_str name = compared(c->call, l);
		if (name.n == 0 || (one.n && !fh_str_same(one, name)))
			return NULL;
		one = name;
	}
	return spec->function && !fh_str_eq(one, spec->function) ? NULL : fh_xstrndup(one.p, one.n);
}

/* ---------------------------------------------------------------------------------------------------------- the test */

static int write_test(const struct fh_code_spec *spec, const struct style *l, const char *function, struct fh_buf *test,
                      struct fh_error *err)
{
	fh_auto_free char *path = NULL;
	int r = fh_judge_guest_path(fh_judge_language_of_name(l->language), l->helper, &path, err);
	if (r >= 0)
		r = fh_file_read(path, test, err);
	if (r < 0)
		return r;
	fh_buf_adds(test, "compared(");
	l->string(test, fh_str(function));
	fh_buf_addf(test, ", %s, [", function);
	for (size_t i = 0; i < spec->n; i++) {
		fh_buf_adds(test, i ? ", [" : "[");
		l->string(test, fh_text_trim(fh_str(spec->cases[i].call)));
		fh_buf_addf(test, ", %s]", json_is_true(spec->cases[i].expected) ? l->yes : l->no);
	}
	fh_buf_adds(test, "])\n");
	return 0;
}

int fh_code_comparison_tests(const struct fh_code_spec *spec, const char *function, struct fh_code_spec *ret,
                             struct fh_error *err)
{
	static const char *const calls[] = { "call", "expected", "cases" };
	fh_auto_buf struct fh_buf test = FH_BUF_INIT(0);
	int r = write_test(spec, find_style(spec->language), function, &test, err);
	if (r < 0)
		return r;
	json_t *fields = json_copy(spec->fields);
	for (size_t i = 0; i < FH_ARRAY_SIZE(calls); i++)
		json_object_del(fields, calls[i]);
	json_object_set_new(fields, "function", json_string(function));
	json_object_set_new(fields, "tests", fh_json_bytes(fh_buf_str(&test)));
	return fh_code_spec_of_fields(fields, ret, err);
}
