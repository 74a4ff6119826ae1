/* SPDX-License-Identifier: MIT */
#include "code/cpp_guard.h"

#include "code/declaration.h"
#include "code/outline.h"
#include "code/signature.h"

/* bound: names of macros that are looked at */
enum { MACROS_MAX = 2000 };
#define WHY "\"an operator of the program's own decides in the test\""

void fh_cpp_guard_release(struct fh_cpp_guard *g)
{
	fh_buf_release(&g->program);
	fh_buf_release(&g->behind);
}

static bool is_one_of(struct fh_str word, const char *const *words)
{
	while (*words && !fh_str_eq(word, *words))
		words++;
	return *words != NULL;
}

/* ----------------------------------------------------------------------------------------------------------- macros */

bool fh_cpp_next_macro(struct fh_str blanked, size_t *at, struct fh_str *ret)
{
	static const char define[] = "define";
	const char *end = blanked.p + blanked.n, *p = memmem(blanked.p + *at, blanked.n - *at, define, strlen(define));
	if (!p)
		return false;
	p += strlen(define);
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	*ret = fh_identifier((struct fh_str){ p, end - p });
	*at = p + ret->n - blanked.p;
	return true;
}

/* Appends the text without the line ends that a backslash hides, as the preprocessor reads it. */
static void add_joined(struct fh_buf *out, struct fh_str text)
{
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == '\\' && i + 1 < text.n && text.p[i + 1] == '\n')
			i++;
		else
			fh_buf_addc(out, text.p[i]);
	}
}

static bool defines_macro(struct fh_str blanked, struct fh_str name)
{
	struct fh_str found;
	for (size_t at = 0; fh_cpp_next_macro(blanked, &at, &found);)
		if (fh_str_same(found, name))
			return true;
	return false;
}

/* Ends the program's macros where the test begins, `#define int long long` too: the test's main returns an int. */
static void add_undefs(struct fh_buf *out, struct fh_str blanked, struct fh_str task)
{
	fh_auto_buf struct fh_buf joined = FH_BUF_INIT(0);
	struct fh_str name;
	size_t met = 0;
	add_joined(&joined, blanked);
	struct fh_str text = fh_buf_str(&joined);
	for (size_t at = 0; met < MACROS_MAX && fh_cpp_next_macro(text, &at, &name); met++)
		if (name.n > 0 && !defines_macro(task, name))
			fh_buf_addf(out, "#undef %.*s\n", FH_STR_ARGS(name));
}

/* -------------------------------------------------------------------------------------------------------- operators */

static bool is_of_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static size_t skip_back(struct fh_str s, size_t n)
{
	while (n > 0 && (fh_signature_space(s.p[n - 1]) || s.p[n - 1] == '\\'))
		n--;
	return n;
}

static struct fh_str word_before(struct fh_str s, size_t n)
{
	size_t begin = n;
	while (begin > 0 && is_of_name(s.p[begin - 1]))
		begin--;
	return (struct fh_str){ s.p + begin, n - begin };
}

/* Whether the word `operator` at s[n] is declared there, behind its result's type, and not called. */
static bool is_declared(struct fh_str s, size_t n)
{
	static const char *const others[] = { "return",   "throw", "else", "do", "case",  "co_return", "co_yield",
		                                  "co_await", "not",   "and",  "or", "using", NULL };
	n = skip_back(s, n);
	while (n > 1 && s.p[n - 1] == ':' && s.p[n - 2] == ':') {
		n = skip_back(s, n - 2);
		if (n > 0 && s.p[n - 1] == '>') /* of a class template's member */
			return true;
		n = skip_back(s, n - word_before(s, n).n);
	}
	bool refers = n > 0 && (s.p[n - 1] == '&' || s.p[n - 1] == '*');
	if (refers)
		n = skip_back(s, n - 1);
	char c = n > 0 ? s.p[n - 1] : '\0';
	if (is_of_name(c))
		return !is_one_of(word_before(s, n), others);
	return (c == '>' && !(n > 1 && s.p[n - 2] == '-')) || (!refers && (c == ')' || c == ']'));
}

/* The end of the operator's symbol at s[i] if a test's assertion could hang on it; else i. */
static size_t end_of_symbol(struct fh_str s, size_t i)
{
	static const char *const symbols[] = { "==", "!=", "<", ">", "<=", ">=", "<=>", "!", "&&", "||", ",", "-", NULL };
	static const char *const words[] = { "not_eq", "not", "and", "or", NULL };
	size_t n = i;
	while (n < s.n && (fh_signature_space(s.p[n]) || s.p[n] == '\\'))
		n++;
	struct fh_str word = fh_identifier(fh_str_from(s, n));
	if (word.n == 0)
		while (n + word.n < s.n && s.p[n + word.n] != '\0' && strchr("<>=!&|,-+*/%^~", s.p[n + word.n]))
			word = (struct fh_str){ s.p + n, word.n + 1 };
	return is_one_of(word, symbols) || is_one_of(word, words) ? n + word.n : i;
}

/* Whether the test names a class that the program defines: it may compare objects of it. */
static bool names_class(struct fh_str blanked, struct fh_str test)
{
	static const char *const kinds[] = { "struct", "class", "enum", "union", NULL };
	bool next = false;
	for (size_t i = 0; i < blanked.n;) {
		struct fh_str word = fh_identifier(fh_str_from(blanked, i));
		i += FH_MAX(word.n, (size_t)1);
		if (word.n == 0)
			continue;
		bool kind = is_one_of(word, kinds);
		if (next && !kind && fh_mentions(test, word, NULL))
			return true;
		next = kind;
	}
	return false;
}

/* How many times the text has the word. */
static size_t count_word(struct fh_str blanked, const char *wanted)
{
	size_t count = 0;
	for (size_t i = 0; i < blanked.n;) {
		struct fh_str word = fh_identifier(fh_str_from(blanked, i));
		count += fh_str_eq(word, wanted);
		i += FH_MAX(word.n, (size_t)1);
	}
	return count;
}

/* Whether macros may make the word `operator`, by their text or by joining parts of words. The text has no spliced
 * lines. */
static bool macros_make_operators(struct fh_str blanked)
{
	struct fh_str rest = blanked, line;
	while (fh_next_line(&rest, &line)) {
		bool joins = memmem(line.p, line.n, "##", 2) || memmem(line.p, line.n, "%:%:", 4);
		if (joins || (count_word(line, "define") && count_word(line, "operator")))
			return true;
	}
	return false;
}

/* Whether the word `operator` at s[n], whose symbol ends at `end`, is a conversion's: a type follows, and it is not
 * called. */
static bool is_conversion(struct fh_str s, size_t n, size_t end)
{
	static const char *const others[] = { "new", "delete", "co_await", NULL };
	while (end < s.n && (fh_signature_space(s.p[end]) || s.p[end] == '\\'))
		end++;
	struct fh_str type = fh_identifier(fh_str_from(s, end));
	n = skip_back(s, n);
	char before = n > 0 ? s.p[n - 1] : '\0';
	bool is_called =
	    before == '.' || (before == '>' && n > 1 && s.p[n - 2] == '-') || (before == ':' && n > 1 && s.p[n - 2] == ':');
	return !is_called && (type.n > 0 || (end < s.n && s.p[end] == ':')) && !is_one_of(type, others);
}

/* Appends the program, of whose operators each is marked so that the compiler tells where one is used. Returns whether
 * there is one. */
static bool add_marked(struct fh_buf *out, struct fh_str program, struct fh_str blanked)
{
	size_t done = 0;
	for (size_t i = 0; i < blanked.n;) {
		struct fh_str word = fh_identifier(fh_str_from(blanked, i));
		size_t at = i;
		i += FH_MAX(word.n, (size_t)1);
		if (!fh_str_eq(word, "operator") || (at > 0 && is_of_name(blanked.p[at - 1])))
			continue;
		size_t end = end_of_symbol(blanked, i);
		if (end > i && is_declared(blanked, at)) {
			fh_buf_add(out, program.p + done, end - done);
			fh_buf_adds(out, " [[__gnu__::__deprecated__(" WHY ")]] ");
			done = i = end;
		} else if (end == i && is_conversion(blanked, at, i)) {
			fh_buf_add(out, program.p + done, at - done);
			fh_buf_adds(out, " __attribute__((__deprecated__(" WHY "))) ");
			done = at;
		}
	}
	fh_buf_add_str(out, fh_str_from(program, done));
	return done > 0;
}

/* Marks the operators in the program as a compiler reads it: a line that is spliced within the word hides it. */
static void guard_operators(struct fh_cpp_guard *g, struct fh_str program, struct fh_str blanked)
{
	fh_auto_buf struct fh_buf joined = FH_BUF_INIT(0), blank = FH_BUF_INIT(0);
	add_joined(&joined, program);
	fh_signature_blank(&blank, fh_buf_str(&joined));
	struct fh_str text = fh_buf_str(&blank);
	bool marked = count_word(text, "operator") > count_word(blanked, "operator")
	                  ? add_marked(&g->program, fh_buf_str(&joined), text)
	                  : add_marked(&g->program, program, blanked);
	if (macros_make_operators(text))
		fh_buf_adds(&g->behind, "#error \"a macro of the program's may make operators of its own\"\n");
	if (marked)
		fh_buf_adds(&g->behind, "#pragma GCC diagnostic error \"-Wdeprecated-declarations\"\n");
}

void fh_cpp_guard(struct fh_str program, struct fh_str task, struct fh_str test, bool has_reference,
                  struct fh_cpp_guard *ret)
{
	fh_auto_buf struct fh_buf blank = FH_BUF_INIT(0), blank_task = FH_BUF_INIT(0);
	struct fh_cpp_guard g = { FH_BUF_INIT(0), FH_BUF_INIT(0) };
	fh_signature_blank(&blank, program);
	fh_signature_blank(&blank_task, task);
	struct fh_str text = fh_buf_str(&blank);
	add_undefs(&g.behind, text, fh_buf_str(&blank_task));
	if (!fh_mentions(fh_buf_str(&blank_task), fh_str("operator"), NULL) && (has_reference || !names_class(text, test)))
		guard_operators(&g, program, text);
	else
		fh_buf_add_str(&g.program, program);
	*ret = g;
}
