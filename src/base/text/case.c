/* SPDX-License-Identifier: MIT */
#include "base/text/case.h"
#include <locale.h>
#include <pthread.h>
#include <wctype.h>
#include "base/buf.h"
#include "base/utf8.h"

static locale_t utf8_locale;

static void make_locale(void)
{
	/* glibc always has C.UTF-8; with another libc only ASCII letters may change case. */
	utf8_locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
}

static uint32_t other_case(uint32_t cp, bool upper)
{
	if (!utf8_locale)
		return cp;
	return (uint32_t)(upper ? towupper_l((wint_t)cp, utf8_locale) : towlower_l((wint_t)cp, utf8_locale));
}

/* Letters whose upper case is more than one letter (Unicode's SpecialCasing.txt, without Greek ones with an iota
 * below). */
static const struct {
	uint32_t cp;
	const char *upper;
} longer[] = {
	{ 0xDF, "SS" },
	{ 0x149, "\u02BCN" },
	{ 0x1F0, "J\u030C" },
	{ 0x390, "\u0399\u0308\u0301" },
	{ 0x3B0, "\u03A5\u0308\u0301" },
	{ 0x587, "\u0535\u0552" },
	{ 0x1E96, "H\u0331" },
	{ 0x1E97, "T\u0308" },
	{ 0x1E98, "W\u030A" },
	{ 0x1E99, "Y\u030A" },
	{ 0x1E9A, "A\u02BE" },
	{ 0xFB00, "FF" },
	{ 0xFB01, "FI" },
	{ 0xFB02, "FL" },
	{ 0xFB03, "FFI" },
	{ 0xFB04, "FFL" },
	{ 0xFB05, "ST" },
	{ 0xFB06, "ST" },
	{ 0xFB13, "\u0544\u0546" },
	{ 0xFB14, "\u0544\u0535" },
	{ 0xFB15, "\u0544\u053B" },
	{ 0xFB16, "\u054E\u0546" },
	{ 0xFB17, "\u0544\u053D" },
};

static const char *longer_upper(uint32_t cp)
{
	for (size_t i = 0; cp >= longer[0].cp && i < FH_ARRAY_SIZE(longer); i++)
		if (longer[i].cp == cp)
			return longer[i].upper;
	return NULL;
}

static bool is_cased(uint32_t cp)
{
	return other_case(cp, true) != cp || other_case(cp, false) != cp;
}

/* What may stand within a word without being a letter of it: accents, apostrophes, dots. */
static bool is_ignorable(uint32_t cp)
{
	static const uint32_t marks[] = { '\'', '.',  ':',  '^',    '`',    0xA8,   0xAD,  0xAF,
		                              0xB4, 0xB7, 0xB8, 0x2018, 0x2019, 0x2024, 0x2027 };
	for (size_t i = 0; i < FH_ARRAY_SIZE(marks); i++)
		if (marks[i] == cp)
			return true;
	return (cp >= 0x300 && cp <= 0x36F) || (cp >= 0x2B0 && cp <= 0x2FF);
}

static bool begins_with_cased(struct fh_str s)
{
	uint32_t cp = 0;
	size_t n;
	while (s.n > 0 && (n = fh_utf8_decode(s, &cp)) > 0 && is_ignorable(cp))
		s.p += n, s.n -= n;
	return s.n > 0 && n > 0 && is_cased(cp);
}

/* Appends the lower case of the character cp; `rest` is what comes behind it, `in_word` whether a letter is before it.
 */
static void add_lower(struct fh_buf *out, uint32_t cp, bool in_word, struct fh_str rest)
{
	char utf8[4];
	if (cp == 0x130) {
		fh_buf_adds(out, "i\u0307");
		return;
	}
	uint32_t lower = cp == 0x3A3 && in_word && !begins_with_cased(rest) ? 0x3C2 : other_case(cp, false);
	fh_buf_add(out, utf8, fh_utf8_encode(lower, utf8));
}

static void map_case(struct fh_buf *out, struct fh_str s, bool upper)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, make_locale);
	for (bool in_word = false; s.n > 0;) {
		uint32_t cp = 0;
		char utf8[4];
		size_t n = fh_utf8_decode(s, &cp);
		const char *several = upper ? longer_upper(cp) : NULL;
		struct fh_str rest = { s.p + FH_MAX(n, 1u), s.n - FH_MAX(n, 1u) };
		if (n == 0) {
			fh_buf_addc(out, *s.p);
		} else if (cp < 0x80) {
			bool change = upper ? cp >= 'a' && cp <= 'z' : cp >= 'A' && cp <= 'Z';
			fh_buf_addc(out, (char)(change ? cp ^ 0x20 : cp));
		} else if (several) {
			fh_buf_adds(out, several);
		} else if (upper) {
			fh_buf_add(out, utf8, fh_utf8_encode(other_case(cp, true), utf8));
		} else {
			add_lower(out, cp, in_word, rest);
		}
		in_word = is_ignorable(cp) ? in_word : (cp | 0x20) - 'a' < 26 || (cp >= 0x80 && is_cased(cp));
		s = rest;
	}
}

void fh_case_upper(struct fh_buf *out, struct fh_str s)
{
	map_case(out, s, true);
}

void fh_case_lower(struct fh_buf *out, struct fh_str s)
{
	map_case(out, s, false);
}
