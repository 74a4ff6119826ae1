/* SPDX-License-Identifier: MIT */
#include "base/escape.h"
#include "base/utf8.h"

/* Characters that move, hide or reorder text on a terminal. */
static const struct {
	uint32_t first, last;
} unsafe_on_terminal[] = {
	{ 0x00, 0x1F },       { 0x7F, 0x9F },     /* C0, DEL, C1 */
	{ 0x061C, 0x061C },   { 0x200E, 0x200F }, /* directional marks */
	{ 0x2028, 0x2029 },                       /* line and paragraph separator */
	{ 0x202A, 0x202E },   { 0x2066, 0x2069 }, /* bidirectional embeddings, overrides and isolates */
	{ 0xFFF9, 0xFFFB },                       /* interlinear annotation */
	{ 0xE0000, 0xE007F },                     /* tags, which no terminal shows */
};

static bool is_unsafe(uint32_t cp)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(unsafe_on_terminal); i++)
		if (cp >= unsafe_on_terminal[i].first && cp <= unsafe_on_terminal[i].last)
			return true;
	return false;
}

static void add_visible(struct fh_buf *out, uint32_t cp)
{
	if (cp == '\n')
		fh_buf_adds(out, "\\n");
	else if (cp == '\t')
		fh_buf_adds(out, "\\t");
	else if (cp == '\r')
		fh_buf_adds(out, "\\r");
	else if (cp < 0x80)
		fh_buf_addf(out, "\\x%02x", cp);
	else if (cp < 0x10000)
		fh_buf_addf(out, "\\u%04x", cp);
	else
		fh_buf_addf(out, "\\U%08x", cp);
}

void fh_escape_terminal(struct fh_buf *out, struct fh_str s, bool multiline)
{
	size_t good = 0;
	while (good < s.n) {
		uint32_t cp = 0;
		size_t n = fh_utf8_decode((struct fh_str){ s.p + good, s.n - good }, &cp);
		if (n && (!is_unsafe(cp) || (multiline && (cp == '\n' || cp == '\t')))) {
			good += n;
			continue;
		}
		fh_buf_add(out, s.p, good);
		if (n)
			add_visible(out, cp);
		else
			fh_buf_addf(out, "\\x%02x", (unsigned char)s.p[good]);
		good += n ? n : 1;
		s.p += good, s.n -= good;
		good = 0;
	}
	fh_buf_add(out, s.p, s.n);
}

void fh_escape_terminal_line(char *to, size_t size, struct fh_str s)
{
	fh_auto_buf struct fh_buf b = FH_BUF_INIT(0);
	fh_escape_terminal(&b, (struct fh_str){ s.p, FH_MIN(s.n, size) }, false);
	size_t n = FH_MIN(b.n, size - 1);
	while (n && n < b.n && ((unsigned char)b.p[n] & 0xc0) == 0x80) /* never cuts within a character */
		n--;
	memcpy(to, fh_buf_cstr(&b), n);
	to[n] = 0;
}

void fh_escape_html(struct fh_buf *out, struct fh_str s)
{
	static const char *const entity[128] = {
		['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;", ['\''] = "&#39;", ['\r'] = "&#13;",
	};
	while (s.n > 0) {
		uint32_t cp = 0;
		size_t n = fh_utf8_decode(s, &cp);
		bool forbidden = !n || (cp < 0x20 && cp != '\t' && cp != '\n' && cp != '\r') || cp == 0xFFFE || cp == 0xFFFF;
		if (!forbidden && cp < 128 && entity[cp])
			fh_buf_adds(out, entity[cp]);
		else if (!forbidden)
			fh_buf_add(out, s.p, n);
		else
			fh_buf_adds(out, "\xEF\xBF\xBD");
		n = n ? n : 1;
		s.p += n, s.n -= n;
	}
}

void fh_escape_csv(struct fh_buf *out, struct fh_str s)
{
	bool formula = s.n > 0 && s.p[0] && strchr("=+-@\t\r", s.p[0]);
	bool quoted = s.n > 0 && (s.p[0] == ' ' || s.p[s.n - 1] == ' ');
	for (size_t i = 0; i < s.n && !quoted; i++)
		quoted = s.p[i] == ',' || s.p[i] == '"' || s.p[i] == '\n' || s.p[i] == '\r';
	if (quoted)
		fh_buf_addc(out, '"');
	if (formula)
		fh_buf_addc(out, '\'');
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '"')
			fh_buf_addc(out, '"');
		fh_buf_addc(out, s.p[i]);
	}
	if (quoted)
		fh_buf_addc(out, '"');
}

static bool is_shell_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c && strchr("@%_-+=:,./", c));
}

void fh_escape_shell(struct fh_buf *out, struct fh_str s)
{
	/* Words that begin with = are quoted too, because zsh expands them to a path. */
	bool plain = s.n > 0 && s.p[0] != '=';
	for (size_t i = 0; i < s.n && plain; i++)
		plain = is_shell_plain(s.p[i]);
	if (plain) {
		fh_buf_add(out, s.p, s.n);
		return;
	}
	fh_buf_addc(out, '\'');
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '\'')
			fh_buf_adds(out, "'\\''");
		else
			fh_buf_addc(out, s.p[i]);
	}
	fh_buf_addc(out, '\'');
}

void fh_escape_fish(struct fh_buf *out, struct fh_str s)
{
	fh_buf_addc(out, '\'');
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '\'' || s.p[i] == '\\')
			fh_buf_addc(out, '\\');
		fh_buf_addc(out, s.p[i]);
	}
	fh_buf_addc(out, '\'');
}

void fh_escape_markdown(struct fh_buf *out, struct fh_str s)
{
	fh_auto_buf struct fh_buf visible = FH_BUF_INIT(0);
	fh_escape_terminal(&visible, s, false);
	for (size_t i = 0; i < visible.n; i++) {
		if (strchr("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", visible.p[i]))
			fh_buf_addc(out, '\\');
		fh_buf_addc(out, visible.p[i]);
	}
}
