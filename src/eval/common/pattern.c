/* SPDX-License-Identifier: MIT */
#include "eval/common/pattern.h"
#include <ctype.h>
#include "base/buf.h"

/* What \s matches beyond ASCII (ECMA-262, WhiteSpace and LineTerminator). */
#define SPACES "\\s\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff"
/* Where a dot does not match (LineTerminator); PCRE2 has no such set of line ends. */
#define LINE_ENDS "\\n\\r\\u2028\\u2029"

/* Bounds for one match: they keep it below a fraction of a second and some megabytes. */
#define STEPS_MAX 10000000u
#define HEAP_KIB_MAX 65536u

enum last { NOTHING, QUANTIFIER, LAZY };

struct translator {
	struct fh_str in;
	size_t at;
	struct fh_buf out;
	bool in_class, dot_matches_all;
	bool after_set; /* in a class: the previous member was a set of its own, such as \w */
	enum last last; /* kind of the previous part: some kinds may not be followed by a quantifier */
};

static char peek(const struct translator *t, size_t ahead)
{
	return t->at + ahead < t->in.n ? t->in.p[t->at + ahead] : '\0';
}

static void copy(struct translator *t, size_t n)
{
	n = FH_MIN(n, t->in.n - t->at);
	fh_buf_add(&t->out, t->in.p + t->at, n);
	t->at += n;
}

/* An escape; letters that mean nothing in JavaScript are themselves. */
static void escape(struct translator *t)
{
	char c = peek(t, 1);
	if (c == 's') {
		fh_buf_addf(&t->out, t->in_class ? "%s" : "[%s]", SPACES);
	} else if (c == 'S' && !t->in_class) {
		fh_buf_addf(&t->out, "[^%s]", SPACES);
	} else if (c == 'v') {
		fh_buf_adds(&t->out, "\\x0b");
	} else if (isalpha((unsigned char)c) && !strchr("dDwWsSbBfnrtxuck", c)) {
		fh_buf_addc(&t->out, c);
	} else {
		copy(t, 2);
		return;
	}
	t->at += 2;
}

/* Returns what JavaScript says of the group that begins here, or NULL. */
static const char *group(struct translator *t)
{
	if (peek(t, 1) == '*')
		return "Nothing to repeat";
	if (peek(t, 1) == '?') {
		char c = peek(t, 2), d = peek(t, 3);
		bool known = strchr(":=!", c) && c;
		bool named = c == '<' && (d == '=' || d == '!' || isalpha((unsigned char)d) || d == '_');
		if (!known && !named)
			return "Invalid group";
		copy(t, 1); /* the question mark is no quantifier */
	}
	copy(t, 1);
	return NULL;
}

/* The length of {n}, {n,} or {n,m} here; 0: a brace like any character. */
static size_t counted(const struct translator *t)
{
	size_t i = 1, digits = 0;
	for (; isdigit((unsigned char)peek(t, i)); i++)
		digits++;
	if (!digits)
		return 0;
	for (i += peek(t, i) == ','; isdigit((unsigned char)peek(t, i));)
		i++;
	return peek(t, i) == '}' ? i + 1 : 0;
}

static const char *quantifier(struct translator *t, size_t length)
{
	if (t->last == LAZY || (t->last == QUANTIFIER && *(t->in.p + t->at) != '?'))
		return "Nothing to repeat";
	t->last = t->last == QUANTIFIER ? LAZY : QUANTIFIER;
	copy(t, length);
	return NULL;
}

/* Whether a set such as \w stands `ahead`. */
static bool set_follows(const struct translator *t, size_t ahead)
{
	return peek(t, ahead) == '\\' && peek(t, ahead + 1) && strchr("dDwWsS", peek(t, ahead + 1));
}

/* [\w-.] and [a-\d] are no ranges in JavaScript: the hyphen is itself. */
static void in_class(struct translator *t, char c)
{
	bool hyphen = c == '-' && (t->after_set || set_follows(t, 1));
	t->after_set = set_follows(t, 0);
	if (c == '\\') {
		escape(t);
	} else if (c == '[' || hyphen) {
		fh_buf_addf(&t->out, "\\%c", c);
		t->at++;
	} else {
		t->in_class = c != ']';
		copy(t, 1);
	}
}

static const char *step(struct translator *t)
{
	char c = peek(t, 0);
	size_t braces = c == '{' && !t->in_class ? counted(t) : 0;
	if (!t->in_class && c && (strchr("*+?", c) || braces))
		return quantifier(t, braces ? braces : 1);
	t->last = NOTHING;
	if (t->in_class) {
		in_class(t, c);
	} else if (c == '\\') {
		escape(t);
	} else if (c == '(') {
		return group(t);
	} else if (c == '{') {
		fh_buf_adds(&t->out, "\\{");
		t->at++;
	} else if (c == '.' && !t->dot_matches_all) {
		fh_buf_adds(&t->out, "[^" LINE_ENDS "]");
		t->at++;
	} else if (c == '[') {
		t->in_class = true;
		t->after_set = false;
		copy(t, peek(t, 1) == '^' ? 2 : 1);
	} else {
		copy(t, 1);
	}
	return NULL;
}

static void free_context(pcre2_compile_context **p)
{
	pcre2_compile_context_free(*p);
}

int fh_pattern_compile_flags(struct fh_str pattern, const char *flags, pcre2_code **ret, struct fh_error *err)
{
	uint32_t options = (strchr(flags, 'i') ? PCRE2_CASELESS : 0u) | (strchr(flags, 'm') ? PCRE2_MULTILINE : 0u) |
	                   (strchr(flags, 's') ? PCRE2_DOTALL : 0u);
	struct translator t = { .in = pattern, .out = FH_BUF_INIT(0), .dot_matches_all = options & PCRE2_DOTALL };
	const char *wrong = NULL;
	while (t.at < pattern.n && !wrong)
		wrong = step(&t);
	fh_auto_free char *translated = fh_buf_take(&t.out, NULL);
	if (wrong)
		return fh_error_set(err, FH_E_ARGUMENT, "/%.*s/: %s", (int)FH_MIN(pattern.n, 1000), pattern.p, wrong);
	FH_CLEANUP(free_context) pcre2_compile_context *context = pcre2_compile_context_create(NULL);
	if (!context)
		return fh_error_set(err, FH_E_LIMIT, "no memory for a pattern");
	pcre2_set_newline(context, PCRE2_NEWLINE_ANYCRLF);
	int problem;
	PCRE2_SIZE offset;
	/* $ only at the very end, . stops at line ends, \u and \x as in JavaScript, [] matches nothing. */
	pcre2_code *code = pcre2_compile((PCRE2_SPTR)translated, PCRE2_ZERO_TERMINATED,
	                                 PCRE2_UTF | PCRE2_ALT_BSUX | PCRE2_MATCH_UNSET_BACKREF | PCRE2_DOLLAR_ENDONLY |
	                                     PCRE2_ALLOW_EMPTY_CLASS | PCRE2_NEVER_BACKSLASH_C | options,
	                                 &problem, &offset, context);
	if (code) {
		*ret = code;
		return 0;
	}
	char text[256] = "";
	pcre2_get_error_message(problem, (PCRE2_UCHAR *)text, sizeof(text));
	return fh_error_set(err, FH_E_ARGUMENT, "/%.*s/: %s", (int)FH_MIN(pattern.n, 1000), pattern.p, text);
}

int fh_pattern_compile(struct fh_str pattern, pcre2_code **ret, struct fh_error *err)
{
	return fh_pattern_compile_flags(pattern, "", ret, err);
}

/* -------------------------------------------------------------------------------------------------------- matching */

static void free_limits(pcre2_match_context **p)
{
	pcre2_match_context_free(*p);
}

int fh_pattern_match(const pcre2_code *code, struct fh_str subject, size_t from, pcre2_match_data *groups,
                     struct fh_error *err)
{
	fh_auto_pattern_groups pcre2_match_data *own = groups ? NULL : pcre2_match_data_create(1, NULL);
	FH_CLEANUP(free_limits) pcre2_match_context *limits = pcre2_match_context_create(NULL);
	if (!limits || (!groups && !own))
		return fh_error_set(err, FH_E_LIMIT, "no memory to match a pattern");
	pcre2_set_match_limit(limits, STEPS_MAX);
	pcre2_set_heap_limit(limits, HEAP_KIB_MAX);
	int n = pcre2_match(code, (PCRE2_SPTR)subject.p, subject.n, from, 0, groups ? groups : own, limits);
	if (n >= 0)
		return n;
	if (n == PCRE2_ERROR_NOMATCH)
		return -FH_E_NOT_FOUND;
	char text[256] = "";
	pcre2_get_error_message(n, (PCRE2_UCHAR *)text, sizeof(text));
	return fh_error_set(err, FH_E_ARGUMENT, "%s", text);
}

bool fh_pattern_found(const pcre2_code *code, struct fh_str subject)
{
	return fh_pattern_match(code, subject, 0, NULL, NULL) >= 0;
}

/* ----------------------------------------------------------------------------------------------------- our patterns */

static pcre2_code *compile_own(const char *pattern, uint32_t options)
{
	int problem;
	PCRE2_SIZE offset;
	return pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, options, &problem, &offset, NULL);
}

bool fh_pattern_own_found(const char *pattern, uint32_t options, struct fh_str subject)
{
	fh_auto_pattern pcre2_code *code = compile_own(pattern, options);
	return code && fh_pattern_found(code, subject);
}

char *fh_pattern_own_replace(const char *pattern, uint32_t options, const char *text, const char *by)
{
	static const uint32_t how = PCRE2_SUBSTITUTE_GLOBAL | PCRE2_SUBSTITUTE_UNSET_EMPTY |
	                            PCRE2_SUBSTITUTE_UNKNOWN_UNSET | PCRE2_SUBSTITUTE_OVERFLOW_LENGTH;
	fh_auto_pattern pcre2_code *code = compile_own(pattern, options);
	PCRE2_SIZE n = strlen(text) * 2 + 1024;
	int r = PCRE2_ERROR_NOMEMORY;
	/* The second round has the length that the first asked for. */
	for (int i = 0; i < 2 && code && r == PCRE2_ERROR_NOMEMORY; i++) {
		fh_auto_free char *out = fh_xcalloc(n + 1, 1);
		r = pcre2_substitute(code, (PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED, 0, how, NULL, NULL, (PCRE2_SPTR)by,
		                     PCRE2_ZERO_TERMINATED, (PCRE2_UCHAR *)out, &n);
		if (r >= 0)
			return FH_TAKE_PTR(out);
	}
	return fh_xstrdup(text);
}
