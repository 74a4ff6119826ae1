/* SPDX-License-Identifier: MIT */
#include "eval/assertions/code/code_apart.h"

#include <ctype.h>

#include "base/fd.h"
#include "code/literal.h"
#include "eval/assertions/code/code_integrity.h"
#include "eval/assertions/code/code_language.h"
#include "eval/common/text.h"
#include "judge/problems/languages.h"

enum { BOUND_MAX = 16 };

/* The parts of an expression, one after the other. */
struct scan {
	const struct fh_code_calling *l;
	enum fh_syntax syntax;
	struct fh_str s;
	struct fh_str function;         /* the function that is called; empty: not known yet */
	struct fh_str bound[BOUND_MAX]; /* names that the expression itself binds */
	size_t bound_count;
};

static bool is_one_of(struct fh_str word, const char *const *list)
{
	for (; *list; list++)
		if (fh_str_eq(word, *list))
			return true;
	return false;
}

static size_t word_end(struct fh_str s, size_t at)
{
	while (at < s.n && s.p[at] && (isalnum((unsigned char)s.p[at]) || strchr("_$", s.p[at])))
		at++;
	return at;
}

static size_t blanks_end(struct fh_str s, size_t at)
{
	while (at < s.n && s.p[at] && strchr(" \t\r\n", s.p[at]))
		at++;
	return at;
}

static struct fh_str word_at(struct fh_str s, size_t at)
{
	return (struct fh_str){ s.p + at, word_end(s, at) - at };
}

/* ------------------------------------------------------------------------------------------------------------ names */

/* Remembers the names in front of `end`: those of a `for` or a `lambda`. False: there are too many. */
static bool bind_until(struct scan *x, size_t at, const char *end)
{
	while (at < x->s.n) {
		struct fh_str word = word_at(x->s, at);
		if (word.n == 0 ? x->s.p[at] == *end : fh_str_eq(word, end))
			return true;
		if (word.n > 0 && x->bound_count == BOUND_MAX)
			return false;
		if (word.n > 0 && !isdigit((unsigned char)*word.p))
			x->bound[x->bound_count++] = word;
		at += FH_MAX(word.n, (size_t)1);
	}
	return true;
}

static bool bind_names(struct scan *x)
{
	x->bound_count = 0;
	for (size_t at = 0; at < x->s.n;) {
		size_t end = fh_literal_end(x->s, at, x->syntax);
		struct fh_str word = end > at ? (struct fh_str){ NULL, 0 } : word_at(x->s, at);
		if ((fh_str_eq(word, "for") && !bind_until(x, at + word.n, "in")) ||
		    (fh_str_eq(word, "lambda") && !bind_until(x, at + word.n, ":")))
			return false;
		at = end > at ? end : at + FH_MAX(word.n, (size_t)1);
	}
	return true;
}

static bool is_bound(const struct scan *x, struct fh_str word)
{
	for (size_t i = 0; i < x->bound_count; i++)
		if (fh_str_same(x->bound[i], word))
			return true;
	return false;
}

/* The last character in front of `at` that is no blank; 0: there is none. */
static char before(struct fh_str s, size_t at)
{
	while (at > 0 && strchr(" \t\r\n", s.p[at - 1]))
		at--;
	return at > 0 ? s.p[at - 1] : '\0';
}

/* Whether `is` has a constant on its right: with another value it asks for identity, which copies do not have. */
static bool is_of_a_constant(const struct scan *x, size_t at)
{
	struct fh_str next = word_at(x->s, at = blanks_end(x->s, at));
	if (fh_str_eq(next, "not"))
		next = word_at(x->s, blanks_end(x->s, at + next.n));
	return is_one_of(next, x->l->literals);
}

/* The offset behind a word of the language; 0: the program's process is needed for it. A word like "Math." is one with
 * its member. */
static size_t own_word_end(const struct scan *x, struct fh_str word, size_t end)
{
	if (fh_str_eq(word, "is"))
		return is_of_a_constant(x, end) ? end : 0;
	if (is_one_of(word, x->l->words))
		return end;
	if (end < x->s.n && x->s.p[end] == '.' && is_one_of((struct fh_str){ word.p, word.n + 1 }, x->l->words))
		return word_end(x->s, end + 1);
	return 0;
}

/* The offset behind the word at `at`; 0: the word is something that only the program's process has. */
static size_t name_end(struct scan *x, size_t at)
{
	struct fh_str s = x->s, word = word_at(s, at);
	size_t end = at + word.n, next = blanks_end(s, end), own;
	if (isdigit((unsigned char)*word.p))
		return end;
	if (before(s, at) == '.')
		return is_one_of(word, x->l->members) && !(next < s.n && s.p[next] == '(') ? end : 0;
	if (end < s.n && strchr("'\"", s.p[end]))
		return is_one_of(word, x->l->prefixes) ? end : 0;
	if (is_one_of(word, x->l->literals))
		return end;
	if (fh_str_same(word, x->function))
		return end;
	if (is_bound(x, word))
		return end;
	if (next + 1 < s.n && s.p[next] == '=' && !strchr("=>", s.p[next + 1])) /* a parameter's name */
		return x->l->has_keywords && strchr("(,", before(s, at)) ? next + 1 : 0;
	if ((own = own_word_end(x, word, end)))
		return own;
	if (x->function.n > 0 || is_one_of(word, x->l->others))
		return 0;
	x->function = word;
	return end;
}

/* ------------------------------------------------------------------------------------------------------ expressions */

/* The offset behind the literal, word or punctuation at `at`; 0: it is none that can be judged apart. */
static size_t part_end(struct scan *x, size_t at)
{
	static const char *const operators[] = {
		"=", "==", "!=", "===", "!==", "<", "<=", ">", ">=", "<<", ">>", "!", NULL
	};
	size_t end = fh_literal_end(x->s, at, x->syntax);
	char c = x->s.p[at];
	if (end > at) /* a template of JavaScript's may hold any expression */
		return strchr("'\"", c) ? end : 0;
	if (word_end(x->s, at) > at)
		return name_end(x, at);
	if (c && strchr("=!<>", c)) {
		size_t n = FH_MIN(strspn(x->s.p + at, "=!<>"), x->s.n - at);
		bool known = is_one_of((struct fh_str){ x->s.p + at, n }, operators) && !(n == 1 && c == '=');
		return known ? at + n : 0;
	}
	bool named = c == ':' && at + 1 < x->s.n && x->s.p[at + 1] == '='; /* := */
	return c && !named && strchr(" \t\r\n+-*/%,.:()[]{}&|^~?", c) ? at + 1 : 0;
}

/* Whether the brackets of the text close each other, so that it is one expression and stays within itself. */
static bool is_closed(struct scan *x)
{
	char open[64];
	size_t depth = 0;
	for (size_t at = 0, end; at < x->s.n; at = FH_MAX(end, at + 1)) {
		char c = x->s.p[at];
		if ((end = fh_literal_end(x->s, at, x->syntax)) > at || !c)
			continue;
		if (strchr("([{", c) && depth == sizeof(open))
			return false;
		if (strchr("([{", c))
			open[depth++] = c == '(' ? ')' : c == '[' ? ']' : '}';
		else if (strchr(")]}", c) && (depth == 0 || open[--depth] != c))
			return false;
	}
	return depth == 0;
}

/* Whether the expression calls the function, and names nothing else that the program has. */
static bool can_be_apart(struct scan *x)
{
	if (!bind_names(x) || !is_closed(x) || (x->function.n > 0 && is_bound(x, x->function)))
		return false;
	for (size_t at = 0, next; at < x->s.n; at = next)
		if (!(next = part_end(x, at)))
			return false;
	return x->function.n > 0;
}

/* The name at the beginning of a call: "sum" of "sum([1, 2])". Empty: there is none. */
static struct fh_str called_first(struct fh_str s)
{
	struct fh_str word = word_at(s, 0);
	bool call = word.n > 0 && word.n < s.n && s.p[word.n] == '(' && !isdigit((unsigned char)*s.p);
	return call ? word : (struct fh_str){ s.p, 0 };
}

/* The function of an expression. A name of the language's own is one if the program is not called otherwise: a program
 * may have a function `sum`. */
static struct fh_str function_of(struct scan *x)
{
	const struct fh_str none = { NULL, 0 };
	if (can_be_apart(x))
		return x->function;
	x->function = x->function.n > 0 ? none : called_first(x->s);
	return x->function.n > 0 && !is_one_of(x->function, x->l->literals) && can_be_apart(x) ? x->function : none;
}

static bool mentions(struct scan *x, struct fh_str function)
{
	for (size_t at = 0; at < x->s.n;) {
		size_t end = FH_MAX(fh_literal_end(x->s, at, x->syntax), word_end(x->s, at));
		if (fh_str_same((struct fh_str){ x->s.p + at, end > at ? end - at : 0 }, function))
			return true;
		at = FH_MAX(end, at + 1);
	}
	return false;
}

FH_OWN FH_NULLABLE char *fh_code_apart_function(const struct fh_code_spec *spec)
{
	const struct fh_code_calling *l = fh_code_calling_find(spec->language);
	struct fh_str one = fh_str(spec->function ? spec->function : "");
	bool any = false;
	if (!l || spec->whole || spec->tests || strchr(spec->function ? spec->function : "", '.'))
		return NULL;
	for (size_t i = 0; i < spec->n; i++) {
		const struct fh_code_case *c = &spec->cases[i];
		if (c->expected_output) /* how a value prints is known in the program's process alone */
			return NULL;
		if (!c->call)
			continue;
		struct scan x = { l, fh_literal_syntax(spec->language), fh_text_trim(fh_str(c->call)), .function = one };
		struct fh_str found = one.n > 0 ? (can_be_apart(&x) ? one : (struct fh_str){ NULL, 0 }) : function_of(&x);
		if (found.n == 0 || !mentions(&x, found))
			return NULL;
		one = found;
		any = any || !fh_code_gives_a_result(x.s, spec->function, spec->language);
	}
	return any ? fh_xstrndup(one.p, one.n) : NULL;
}

/* --------------------------------------------------------------------------------------------------------- the test */

static char *trimmed(const char *text)
{
	struct fh_str s = fh_text_trim(fh_str(text));
	return fh_xstrndup(s.p, s.n);
}

/* A list of [expression, args, kwargs, expected, the error's name]; what a case does not have is null. */
static json_t *cases_json(const struct fh_code_spec *spec)
{
	json_t *list = json_array();
	for (size_t i = 0; i < spec->n; i++) {
		const struct fh_code_case *c = &spec->cases[i];
		fh_auto_free char *call = c->call ? trimmed(c->call) : NULL;
		json_array_append_new(
		    list, json_pack("[s?, O?, O?, O?, s?]", call, c->args, c->kwargs, c->expected, c->expected_error));
	}
	return list;
}

static int add_file(struct fh_buf *out, const char *language, const char *name, struct fh_error *err)
{
	fh_auto_free char *path = NULL;
	int r = fh_judge_guest_path(fh_judge_language_of_name(language), name, &path, err);
	return r < 0 ? r : fh_file_read(path, out, err);
}

static int write_test(const struct fh_code_spec *spec, const char *function, struct fh_buf *test, struct fh_error *err)
{
	const struct fh_code_calling *l = fh_code_calling_find(spec->language);
	fh_auto_json json_t *cases = cases_json(spec);
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(0);
	for (size_t i = 0; i < FH_CODE_FILES_MAX && l->compared[i]; i++) {
		int r = add_file(test, spec->language, l->compared[i], err);
		if (r < 0)
			return r;
	}
	fh_buf_adds(test, "compared(");
	l->add_string(test, fh_str(function));
	fh_buf_addf(test, ", %s, ", function);
	fh_json_write(&text, cases, 0);
	l->add_json(test, fh_buf_str(&text));
	fh_buf_addf(test, ", %.17g)\n", spec->tolerance);
	return 0;
}

int fh_code_apart_tests(const struct fh_code_spec *spec, const char *function, struct fh_code_spec *ret,
                        struct fh_error *err)
{
	static const char *const calls[] = { "call", "expected", "expected_error", "cases" };
	fh_auto_buf struct fh_buf test = FH_BUF_INIT(0);
	int r = write_test(spec, function, &test, err);
	if (r < 0)
		return r;
	json_t *fields = json_copy(spec->fields);
	for (size_t i = 0; i < FH_ARRAY_SIZE(calls); i++)
		json_object_del(fields, calls[i]);
	json_object_set_new(fields, "function", json_string(function));
	json_object_set_new(fields, "tests", fh_json_bytes(fh_buf_str(&test)));
	return fh_code_spec_of_fields(fields, ret, err);
}
