/* SPDX-License-Identifier: MIT */
/*
 * What a verdict on calls is worth. The program's process holds the calls and nothing that is expected; what the calls
 * give is compared outside. A program that takes over its process can make a call give any value, but so can the
 * function itself, and both have to know the expected value to pass. So where the value is what the program's function
 * returns or raises, the verdict is worth as much as one on printed output: FH_INTEGRITY_OUTSIDE.
 *
 * An expression over the call is another matter: "f(5).size", "str(f(5)) == 'x'" tell what is expected or narrow it
 * down, and the program decides what they give: FH_INTEGRITY_IN_PROCESS. (Many are judged apart from the program, and
 * then this is not asked: code_apart.h.)
 */
#include "eval/assertions/code/code_integrity.h"

#include <ctype.h>

#include "code/literal.h"
#include "eval/assertions/code/code_language.h"
#include "eval/common/text.h"
#include "judge/common/outcome.h"

/* Whether the language itself has a function of this name: a call of it is an expression over what the program gives.
 */
static bool is_own_function(struct fh_str name, const char *language)
{
	const struct fh_code_calling *l = fh_code_calling_find(language);
	const char *const *const lists[] = { l ? l->words : NULL, l ? l->others : NULL };
	for (size_t i = 0; i < FH_ARRAY_SIZE(lists); i++)
		for (const char *const *word = lists[i]; word && *word; word++)
			if (fh_str_eq(name, *word))
				return true;
	return false;
}

/* The offset behind the bracket that closes the one at `at`; 0 when none does. */
static size_t closing(struct fh_str s, size_t at, enum fh_syntax syntax)
{
	size_t depth = 0;
	while (at < s.n) {
		size_t end = fh_literal_end(s, at, syntax);
		if (end > at) {
			at = end;
			continue;
		}
		depth += strchr("([{", s.p[at]) && s.p[at] ? 1 : 0;
		if (strchr(")]}", s.p[at]) && s.p[at] && --depth == 0)
			return at + 1;
		at++;
	}
	return 0;
}

bool fh_code_gives_a_result(struct fh_str call, const char *function, const char *language)
{
	struct fh_str s = fh_text_trim(call);
	size_t n = 0;
	while (n < s.n && (isalnum((unsigned char)s.p[n]) || s.p[n] == '_' || s.p[n] == '$'))
		n++;
	struct fh_str name = { s.p, n };
	if (n == 0 || isdigit((unsigned char)s.p[0]))
		return false;
	if (function ? !fh_str_eq(name, function) : is_own_function(name, language))
		return false;
	return n == s.n || (s.p[n] == '(' && closing(s, n, fh_literal_syntax(language)) == s.n);
}

const char *fh_code_integrity(const struct fh_code_spec *spec)
{
	for (size_t i = 0; !spec->whole && i < spec->n; i++) {
		const char *call = spec->cases[i].call;
		if (call && !fh_code_gives_a_result(fh_str(call), spec->function, spec->language))
			return FH_INTEGRITY_IN_PROCESS;
	}
	return spec->proof ? FH_INTEGRITY_IN_PROCESS : FH_INTEGRITY_OUTSIDE; /* the word of a proof stands inside */
}
