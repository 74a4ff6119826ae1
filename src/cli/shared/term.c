/* SPDX-License-Identifier: MIT */
#include "cli/shared/term.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/text/parse.h"
#include "base/utf8.h"

/* -------------------------------------------------------------------------------------------------- the terminal */

bool fh_term_color(int fd, enum fh_color_mode mode)
{
	if (mode != FH_COLOR_AUTO)
		return mode == FH_COLOR_ALWAYS;
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
	if (no_color && no_color[0])
		return false;
	return isatty(fd) == 1 && term && term[0] && !fh_streq(term, "dumb");
}

bool fh_term_is_dumb(void)
{
	return fh_streq(getenv("TERM"), "dumb");
}

bool fh_term_is_ascii(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
	const char *said = NULL;
	for (size_t i = 0; i < FH_ARRAY_SIZE(names) && !(said && *said); i++)
		said = getenv(names[i]);
	return said && *said && !strcasestr(said, "utf-8") && !strcasestr(said, "utf8");
}

enum { WIDTH_UNKNOWN = 80, WIDTH_MAX = 10000 };

static unsigned width_or(int fd, unsigned unknown)
{
	const char *columns = getenv("COLUMNS");
	uint64_t n;
	if (columns && fh_parse_u64(columns, 10, WIDTH_MAX, &n, NULL) == 0)
		return (unsigned)n;
	struct winsize size;
	if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col >= 10)
		return size.ws_col;
	return unknown;
}

unsigned fh_term_width(int fd)
{
	return width_or(fd, WIDTH_UNKNOWN);
}

unsigned fh_term_list_width(int fd)
{
	return width_or(fd, isatty(fd) ? WIDTH_UNKNOWN : WIDTH_MAX);
}

/* ------------------------------------------------------------------------------------------------------ text width */

struct range {
	uint32_t first, last;
};

/* Code points without width: combining marks, joiners, variation selectors (Unicode 15, general categories Mn, Me and
 * Cf; neighbouring ranges with only unused code points between them are joined). */
static const struct range zero_width[] = {
	{ 0x300, 0x36F },     { 0x483, 0x489 },     { 0x591, 0x5BD },     { 0x5BF, 0x5BF },     { 0x5C1, 0x5C2 },
	{ 0x5C4, 0x5C5 },     { 0x5C7, 0x5C7 },     { 0x610, 0x61A },     { 0x64B, 0x65F },     { 0x670, 0x670 },
	{ 0x6D6, 0x6DC },     { 0x6DF, 0x6E4 },     { 0x6E7, 0x6E8 },     { 0x6EA, 0x6ED },     { 0x711, 0x711 },
	{ 0x730, 0x74A },     { 0x7A6, 0x7B0 },     { 0x7EB, 0x7F3 },     { 0x816, 0x819 },     { 0x81B, 0x823 },
	{ 0x8D3, 0x8E1 },     { 0x8E3, 0x902 },     { 0x93A, 0x93A },     { 0x93C, 0x93C },     { 0x941, 0x948 },
	{ 0x94D, 0x94D },     { 0x951, 0x957 },     { 0x962, 0x963 },     { 0x981, 0x981 },     { 0x9BC, 0x9BC },
	{ 0x9C1, 0x9C4 },     { 0x9CD, 0x9CD },     { 0xA01, 0xA02 },     { 0xA3C, 0xA3C },     { 0xA41, 0xA51 },
	{ 0xA70, 0xA71 },     { 0xABC, 0xABC },     { 0xAC1, 0xAC8 },     { 0xACD, 0xACD },     { 0xB3C, 0xB3C },
	{ 0xB3F, 0xB3F },     { 0xB41, 0xB44 },     { 0xB4D, 0xB56 },     { 0xBC0, 0xBC0 },     { 0xBCD, 0xBCD },
	{ 0xC3E, 0xC40 },     { 0xC46, 0xC56 },     { 0xCBC, 0xCBC },     { 0xCCC, 0xCCD },     { 0xD41, 0xD44 },
	{ 0xD4D, 0xD4D },     { 0xDCA, 0xDCA },     { 0xDD2, 0xDD6 },     { 0xE31, 0xE31 },     { 0xE34, 0xE3A },
	{ 0xE47, 0xE4E },     { 0xEB1, 0xEB1 },     { 0xEB4, 0xEBC },     { 0xEC8, 0xECD },     { 0xF18, 0xF19 },
	{ 0xF35, 0xF35 },     { 0xF37, 0xF37 },     { 0xF39, 0xF39 },     { 0xF71, 0xF7E },     { 0xF80, 0xF84 },
	{ 0xF86, 0xF87 },     { 0xF8D, 0xFBC },     { 0x102D, 0x1030 },   { 0x1032, 0x1037 },   { 0x1039, 0x103A },
	{ 0x103D, 0x103E },   { 0x1058, 0x1059 },   { 0x1160, 0x11FF },   { 0x135D, 0x135F },   { 0x1712, 0x1714 },
	{ 0x17B4, 0x17B5 },   { 0x17B7, 0x17BD },   { 0x17C6, 0x17C6 },   { 0x17C9, 0x17D3 },   { 0x180B, 0x180E },
	{ 0x1AB0, 0x1ACE },   { 0x1B00, 0x1B03 },   { 0x1B34, 0x1B34 },   { 0x1B36, 0x1B3A },   { 0x1DC0, 0x1DFF },
	{ 0x200B, 0x200F },   { 0x202A, 0x202E },   { 0x2060, 0x2064 },   { 0x2066, 0x206F },   { 0x20D0, 0x20F0 },
	{ 0x2CEF, 0x2CF1 },   { 0x2DE0, 0x2DFF },   { 0x302A, 0x302D },   { 0x3099, 0x309A },   { 0xA66F, 0xA672 },
	{ 0xA674, 0xA67D },   { 0xA69E, 0xA69F },   { 0xA6F0, 0xA6F1 },   { 0xA802, 0xA802 },   { 0xA8E0, 0xA8F1 },
	{ 0xABE5, 0xABE5 },   { 0xABE8, 0xABE8 },   { 0xABED, 0xABED },   { 0xFB1E, 0xFB1E },   { 0xFE00, 0xFE0F },
	{ 0xFE20, 0xFE2F },   { 0xFEFF, 0xFEFF },   { 0xFFF9, 0xFFFB },   { 0x1D167, 0x1D169 }, { 0x1D173, 0x1D182 },
	{ 0x1F3FB, 0x1F3FF }, { 0xE0001, 0xE007F }, { 0xE0100, 0xE01EF },
};

/* East Asian wide and full-width characters, and emoji that terminals draw with two columns. */
static const struct range two_columns[] = {
	{ 0x1100, 0x115F },   { 0x231A, 0x231B },   { 0x2329, 0x232A },   { 0x23E9, 0x23EC },   { 0x23F0, 0x23F0 },
	{ 0x23F3, 0x23F3 },   { 0x25FD, 0x25FE },   { 0x2614, 0x2615 },   { 0x2648, 0x2653 },   { 0x267F, 0x267F },
	{ 0x2693, 0x2693 },   { 0x26A1, 0x26A1 },   { 0x26AA, 0x26AB },   { 0x26BD, 0x26BE },   { 0x26C4, 0x26C5 },
	{ 0x26CE, 0x26CE },   { 0x26D4, 0x26D4 },   { 0x26EA, 0x26EA },   { 0x26F2, 0x26F3 },   { 0x26F5, 0x26F5 },
	{ 0x26FA, 0x26FA },   { 0x26FD, 0x26FD },   { 0x2705, 0x2705 },   { 0x270A, 0x270B },   { 0x2728, 0x2728 },
	{ 0x274C, 0x274C },   { 0x274E, 0x274E },   { 0x2753, 0x2755 },   { 0x2757, 0x2757 },   { 0x2795, 0x2797 },
	{ 0x27B0, 0x27B0 },   { 0x27BF, 0x27BF },   { 0x2B1B, 0x2B1C },   { 0x2B50, 0x2B50 },   { 0x2B55, 0x2B55 },
	{ 0x2E80, 0x303E },   { 0x3041, 0x33FF },   { 0x3400, 0x4DBF },   { 0x4E00, 0xA4CF },   { 0xA960, 0xA97F },
	{ 0xAC00, 0xD7A3 },   { 0xF900, 0xFAFF },   { 0xFE10, 0xFE19 },   { 0xFE30, 0xFE6F },   { 0xFF01, 0xFF60 },
	{ 0xFFE0, 0xFFE6 },   { 0x16FE0, 0x18D08 }, { 0x1B000, 0x1B2FB }, { 0x1F004, 0x1F004 }, { 0x1F0CF, 0x1F0CF },
	{ 0x1F18E, 0x1F18E }, { 0x1F191, 0x1F19A }, { 0x1F200, 0x1F320 }, { 0x1F32D, 0x1F335 }, { 0x1F337, 0x1F37C },
	{ 0x1F37E, 0x1F393 }, { 0x1F3A0, 0x1F3CA }, { 0x1F3CF, 0x1F3D3 }, { 0x1F3E0, 0x1F3F0 }, { 0x1F3F4, 0x1F3F4 },
	{ 0x1F3F8, 0x1F43E }, { 0x1F440, 0x1F440 }, { 0x1F442, 0x1F4FC }, { 0x1F4FF, 0x1F53D }, { 0x1F54B, 0x1F54E },
	{ 0x1F550, 0x1F567 }, { 0x1F57A, 0x1F57A }, { 0x1F595, 0x1F596 }, { 0x1F5A4, 0x1F5A4 }, { 0x1F5FB, 0x1F64F },
	{ 0x1F680, 0x1F6C5 }, { 0x1F6CC, 0x1F6CC }, { 0x1F6D0, 0x1F6D2 }, { 0x1F6D5, 0x1F6D7 }, { 0x1F6DC, 0x1F6DF },
	{ 0x1F6EB, 0x1F6EC }, { 0x1F6F4, 0x1F6FC }, { 0x1F7E0, 0x1F7EB }, { 0x1F90C, 0x1F93A }, { 0x1F93C, 0x1F945 },
	{ 0x1F947, 0x1F9FF }, { 0x1FA70, 0x1FAFF }, { 0x20000, 0x3FFFD },
};

static bool in_ranges(uint32_t cp, const struct range *table, size_t n)
{
	size_t low = 0;
	while (low < n) {
		size_t middle = low + (n - low) / 2;
		if (cp > table[middle].last)
			low = middle + 1;
		else if (cp < table[middle].first)
			n = middle;
		else
			return true;
	}
	return false;
}

static unsigned cp_width(uint32_t cp)
{
	if (cp < 0x20 || cp == 0x7F)
		return 0;
	if (cp < 0x300)
		return 1;
	if (in_ranges(cp, zero_width, FH_ARRAY_SIZE(zero_width)))
		return 0;
	return 1 + in_ranges(cp, two_columns, FH_ARRAY_SIZE(two_columns));
}

/* Length in bytes of the character at s.p, and its columns in *ret_width. A byte that is not UTF-8 counts as one
 * column. */
static size_t next_char(struct fh_str s, unsigned *ret_width)
{
	uint32_t cp;
	size_t n = fh_utf8_decode(s, &cp);
	*ret_width = n ? cp_width(cp) : 1;
	return n ? n : 1;
}

unsigned fh_term_text_width(struct fh_str s)
{
	unsigned total = 0, w;
	while (s.n > 0) {
		size_t n = next_char(s, &w);
		total += w;
		s.p += n;
		s.n -= n;
	}
	return total;
}

/* ---------------------------------------------------------------------------------------------------------- tables */

struct cell {
	char *text;        /* escaped; begins with the styled word */
	size_t size, word; /* bytes of the text, and of its first word */
	enum fh_style style;
};

struct fh_table {
	unsigned columns;
	struct cell *cells; /* row by row; the last row may be incomplete */
	size_t count, capacity;
};

static const char *const style_codes[] = {
	[FH_STYLE_NONE] = "",         [FH_STYLE_GOOD] = "\x1b[32m", [FH_STYLE_BAD] = "\x1b[31m",
	[FH_STYLE_WARN] = "\x1b[33m", [FH_STYLE_DIM] = "\x1b[2m",   [FH_STYLE_BOLD] = "\x1b[1m",
};

struct fh_table *fh_table_new(unsigned columns)
{
	struct fh_table *t = FH_NEW(struct fh_table);
	t->columns = FH_MAX(columns, 1u);
	return t;
}

static void add_without_tabs(struct fh_buf *out, struct fh_str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] == '\t')
			fh_buf_adds(out, "    ");
		else
			fh_buf_addc(out, s.p[i]);
}

void fh_table_cell(struct fh_table *t, enum fh_style style, const char *first_word, struct fh_str text)
{
	struct fh_buf out = FH_BUF_INIT(0);
	fh_auto_buf struct fh_buf escaped = FH_BUF_INIT(0);
	if (first_word) {
		fh_escape_terminal(&out, fh_str(first_word), false);
		if (text.n > 0)
			fh_buf_addc(&out, ' ');
	}
	size_t word = first_word ? out.n - (text.n > 0) : 0;
	fh_escape_terminal(&escaped, text, true);
	add_without_tabs(&out, fh_buf_str(&escaped));
	if (!first_word)
		word = out.n;
	struct cell *c = &FH_PUSH(t->cells, t->count, t->capacity);
	c->style = style;
	c->word = word;
	c->text = fh_buf_take(&out, &c->size);
}

void fh_table_text(struct fh_table *t, enum fh_style style, const char *text)
{
	fh_table_cell(t, style, NULL, fh_str(text));
}

void fh_table_row_end(struct fh_table *t)
{
	while (t->count == 0 || t->count % t->columns)
		fh_table_cell(t, FH_STYLE_NONE, NULL, fh_str(""));
}

struct fh_table *fh_table_headed(enum fh_style style, const char *const *heads, size_t count)
{
	struct fh_table *t = fh_table_new((unsigned)count);
	for (size_t i = 0; i < count; i++)
		fh_table_text(t, style, heads[i]);
	fh_table_row_end(t);
	return t;
}

void fh_table_free(struct fh_table *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->count; i++)
		free(t->cells[i].text);
	free(t->cells);
	free(t);
}

/* Width of the widest line of a cell. */
static unsigned natural_width(const struct cell *c)
{
	unsigned widest = 1;
	for (size_t at = 0; at <= c->size;) {
		const char *end = memchr(c->text + at, '\n', c->size - at);
		size_t n = end ? (size_t)(end - c->text) - at : c->size - at;
		widest = FH_MAX(widest, fh_term_text_width((struct fh_str){ c->text + at, n }));
		at += n + 1;
	}
	return widest;
}

/* Width of the widest word of a cell; at most WORD_MAX, since longer words such as hashes or URLs may be broken. */
static unsigned word_width(const struct cell *c)
{
	enum { WORD_MAX = 20 };
	unsigned widest = 1;
	for (size_t at = 0; at < c->size;) {
		size_t n = 0;
		while (at + n < c->size && c->text[at + n] != ' ' && c->text[at + n] != '\n')
			n++;
		widest = FH_MAX(widest, fh_term_text_width((struct fh_str){ c->text + at, n }));
		at += n + 1;
	}
	return FH_MIN(widest, WORD_MAX);
}

/* State of the computation of column widths. */
struct fit {
	unsigned *widths; /* natural width until the column is settled, then the final one */
	unsigned *words;  /* the widest word of each */
	bool *settled;
	unsigned room, words_left, left; /* width, widest words and number of the unsettled columns */
};

static void settle(struct fit *f, unsigned column, unsigned width)
{
	f->widths[column] = width;
	f->settled[column] = true;
	f->room -= width;
	f->words_left -= f->words[column];
	f->left--;
}

/* Settles columns by the even share of the room. False: none could be settled. */
static bool settle_some(struct fit *f, unsigned columns)
{
	unsigned share = f->room / f->left;
	bool changed = false;
	for (unsigned i = 0; i < columns && f->left > 0; i++) {
		bool others_fit = f->widths[i] + f->words_left - f->words[i] <= f->room;
		if (f->settled[i] || f->widths[i] > share || !others_fit)
			continue;
		settle(f, i, f->widths[i]);
		changed = true;
	}
	for (unsigned i = 0; i < columns && !changed; i++) {
		if (f->settled[i] || f->words[i] <= share)
			continue;
		settle(f, i, f->words[i]);
		changed = true;
	}
	return changed && f->left > 0;
}

/* Chooses column widths that fit: columns that need less than an even share get what they need, the others share the
 * rest. No column is narrower than its widest word, if all of these fit. */
static void choose_widths(const struct fh_table *t, unsigned width, unsigned *widths)
{
	unsigned borders = t->columns * 3 + 1;
	fh_auto_free bool *settled = fh_xcalloc(t->columns, sizeof(bool));
	fh_auto_free unsigned *words = fh_xcalloc(t->columns, sizeof(*words));
	struct fit f = { widths, words, settled, .left = t->columns };
	f.room = width > borders + t->columns ? width - borders : t->columns;
	for (size_t i = 0; i < t->count; i++) {
		widths[i % t->columns] = FH_MAX(widths[i % t->columns], natural_width(&t->cells[i]));
		words[i % t->columns] = FH_MAX(words[i % t->columns], word_width(&t->cells[i]));
	}
	for (unsigned i = 0; i < t->columns; i++)
		f.words_left += words[i];
	if (f.words_left > f.room) { /* the widest words do not all fit, so some will be broken */
		memset(words, 0, t->columns * sizeof(*words));
		f.words_left = 0;
	}
	while (settle_some(&f, t->columns))
		;
	for (unsigned i = 0; i < t->columns; i++)
		if (!settled[i])
			settle(&f, i, FH_MAX(f.room / f.left, 1u));
}

/* Length in bytes of a cell's line from `at` on: at most `width` columns, broken at a space if possible; *ret_next is
 * where the next line begins. */
static size_t line_length(const struct cell *c, size_t at, unsigned width, size_t *ret_next)
{
	size_t i = at, space = 0;
	unsigned column = 0, w;
	while (i < c->size && c->text[i] != '\n') {
		size_t n = next_char((struct fh_str){ c->text + i, c->size - i }, &w);
		if (column + w > width && i > at) {
			if (c->text[i] == ' ')
				space = i;
			*ret_next = space > at ? space + 1 : i;
			return (space > at ? space : i) - at;
		}
		if (c->text[i] == ' ')
			space = i;
		column += w;
		i += n;
	}
	*ret_next = i < c->size ? i + 1 : c->size + 1;
	return i - at;
}

/* Characters of a grid: for each horizontal rule its left end, crossing and right end. */
struct grid {
	const char *top[3], *middle[3], *bottom[3], *horizontal, *vertical;
};
static const struct grid boxes = {
	{ "┌", "┬", "┐" }, { "├", "┼", "┤" }, { "└", "┴", "┘" }, "─", "│",
};
static const struct grid ascii = { { "+", "+", "+" }, { "+", "+", "+" }, { "+", "+", "+" }, "-", "|" };

static void put_rule(struct fh_buf *out, const struct fh_table *t, const unsigned *widths, const struct grid *grid,
                     const char *const marks[3])
{
	for (unsigned i = 0; i < t->columns; i++) {
		fh_buf_adds(out, marks[i > 0]);
		for (unsigned k = 0; k < widths[i] + 2; k++)
			fh_buf_adds(out, grid->horizontal);
	}
	fh_buf_addf(out, "%s\n", marks[2]);
}

static void put_piece(struct fh_buf *out, const struct cell *c, size_t at, size_t n, bool header, bool color)
{
	enum fh_style style = header && c->style == FH_STYLE_NONE ? FH_STYLE_BOLD : c->style;
	size_t styled = at < c->word ? FH_MIN(n, c->word - at) : 0;
	if (!color || style == FH_STYLE_NONE || styled == 0) {
		fh_buf_add(out, c->text + at, n);
		return;
	}
	fh_buf_adds(out, style_codes[style]);
	fh_buf_add(out, c->text + at, styled);
	fh_buf_adds(out, "\x1b[0m");
	fh_buf_add(out, c->text + at + styled, n - styled);
}

static void put_row(struct fh_buf *out, const struct fh_table *t, size_t row, const unsigned *widths,
                    const struct grid *grid, bool color)
{
	const struct cell *cells = t->cells + row * t->columns;
	fh_auto_free size_t *at = fh_xcalloc(t->columns, sizeof(*at));
	for (bool more = true, first = true; more; first = false) {
		more = false;
		for (unsigned i = 0; i < t->columns; i++) {
			size_t n = 0, next = at[i];
			if (at[i] <= cells[i].size && (at[i] < cells[i].size || first))
				n = line_length(&cells[i], at[i], widths[i], &next);
			fh_buf_addf(out, "%s%s ", i ? " " : "", grid->vertical);
			put_piece(out, &cells[i], FH_MIN(at[i], cells[i].size), n, row == 0, color);
			unsigned used = n ? fh_term_text_width((struct fh_str){ cells[i].text + at[i], n }) : 0;
			fh_buf_addf(out, "%*s", (int)(widths[i] > used ? widths[i] - used : 0), "");
			at[i] = next;
			more |= at[i] < cells[i].size;
		}
		fh_buf_addf(out, " %s\n", grid->vertical);
	}
}

/* Whether a column is so narrow that its text would run down the screen in pieces of words. */
static bool is_unreadable(const struct fh_table *t, const unsigned *widths)
{
	enum { READABLE = 8 };
	for (size_t i = 0; i < t->count; i++)
		if (widths[i % t->columns] < FH_MIN(natural_width(&t->cells[i]), READABLE))
			return true;
	return false;
}

/* Prints the lines of a cell one below the other, indented; of a header only the first. */
static void put_folded(struct fh_buf *out, const struct cell *c, unsigned width, bool header, bool color)
{
	unsigned indent = header ? 0 : 2;
	for (size_t at = 0, next; at < c->size; at = next) {
		size_t n = line_length(c, at, FH_MAX(width, indent + 1) - indent, &next);
		fh_buf_addf(out, "%*s", (int)indent, "");
		put_piece(out, c, at, n, header, color);
		fh_buf_addc(out, '\n');
		if (header)
			return;
	}
}

/* Prints each row as a record, for terminals too narrow for the table: the name of each column, and its text below. */
static void put_records(struct fh_buf *out, const struct fh_table *t, unsigned width, const struct grid *grid,
                        bool color)
{
	for (size_t row = 1; row < t->count / t->columns; row++) {
		for (unsigned i = 0; i < width; i++)
			fh_buf_adds(out, grid->horizontal);
		fh_buf_addc(out, '\n');
		for (unsigned i = 0; i < t->columns; i++) {
			put_folded(out, &t->cells[i], width, true, color);
			put_folded(out, &t->cells[row * t->columns + i], width, false, color);
		}
	}
}

void fh_table_print(const struct fh_table *t, struct fh_buf *out, unsigned width, bool color)
{
	const struct grid *grid = fh_term_is_ascii() ? &ascii : &boxes;
	fh_auto_free unsigned *widths = fh_xcalloc(t->columns, sizeof(*widths));
	choose_widths(t, width, widths);
	if (t->count > t->columns && is_unreadable(t, widths)) {
		put_records(out, t, width, grid, color);
		return;
	}
	put_rule(out, t, widths, grid, grid->top);
	for (size_t row = 0; row < t->count / t->columns; row++) {
		if (row > 0)
			put_rule(out, t, widths, grid, grid->middle);
		put_row(out, t, row, widths, grid, color);
	}
	put_rule(out, t, widths, grid, grid->bottom);
}
