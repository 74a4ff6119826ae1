/* SPDX-License-Identifier: MIT */
/* Every escaper keeps its sink's promise for any bytes; base64 and UTF-8 undo what they did. */
#include "base/escape.h"
#include "base/text/base64.h"
#include "base/utf8.h"
#include "fuzz.h"

static bool moves_a_terminal(uint32_t cp)
{
	return cp < 0x20 || (cp >= 0x7f && cp < 0xa0) || (cp >= 0x202a && cp <= 0x202e) || (cp >= 0x2066 && cp <= 0x2069) ||
	       cp == 0x2028 || cp == 0x2029 || cp == 0x200e || cp == 0x200f || cp == 0x061c;
}

static void check_terminal(struct fh_str s, bool multiline)
{
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(0);
	fh_escape_terminal(&out, s, multiline);
	for (struct fh_str rest = fh_buf_str(&out); rest.n;) {
		uint32_t cp = 0;
		size_t n = fh_utf8_decode(rest, &cp);
		FH_FUZZ_CHECK(n > 0);
		FH_FUZZ_CHECK(!moves_a_terminal(cp) || (multiline && (cp == '\n' || cp == '\t')));
		rest.p += n, rest.n -= n;
	}
}

static void check_html(struct fh_str s)
{
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(0);
	fh_escape_html(&out, s);
	FH_FUZZ_CHECK(fh_utf8_valid(fh_buf_str(&out)));
	for (size_t i = 0; i < out.n; i++)
		FH_FUZZ_CHECK(!strchr("<>\"'\r", out.p[i]) && (out.p[i] != '&' || strchr("algq#", out.p[i + 1])));
}

/* What a shell makes of the word: quotes taken off. Nothing outside them may mean anything to it. */
static void check_shell(struct fh_str s)
{
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(0), word = FH_BUF_INIT(0);
	bool quoted = false;
	fh_escape_shell(&out, s);
	FH_FUZZ_CHECK(out.n > 0 && out.p[0] != '=');
	for (size_t i = 0; i < out.n; i++) {
		char c = out.p[i];
		if (c == '\'') {
			quoted = !quoted;
		} else if (!quoted && c == '\\') {
			fh_buf_addc(&word, out.p[++i]);
		} else {
			FH_FUZZ_CHECK(quoted || !strchr(" \t\n\r\"$`&|;<>(){}[]*?!#~^", c));
			fh_buf_addc(&word, c);
		}
	}
	FH_FUZZ_CHECK(!quoted && word.n == s.n && (!s.n || memcmp(word.p, s.p, s.n) == 0));
}

static void check_json(struct fh_str s)
{
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(0), clean = FH_BUF_INIT(0);
	struct fh_error err = FH_ERROR_INIT;
	fh_json_write_string(&out, s);
	fh_utf8_sanitize(&clean, s);
	FH_FUZZ_CHECK(fh_utf8_valid(fh_buf_str(&clean)));
	fh_auto_json json_t *back = fh_json_parse(fh_buf_str(&out), NULL, &err);
	FH_FUZZ_CHECK(json_is_string(back) && json_string_length(back) == clean.n);
	FH_FUZZ_CHECK(!clean.n || memcmp(json_string_value(back), clean.p, clean.n) == 0);
}

static void check_base64(struct fh_str s)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(0), back = FH_BUF_INIT(0), other = FH_BUF_INIT(0);
	fh_base64_encode(&text, s);
	FH_FUZZ_CHECK(fh_base64_decode(&back, fh_buf_str(&text)) == 0);
	FH_FUZZ_CHECK(back.n == s.n && (!s.n || memcmp(back.p, s.p, s.n) == 0));
	fh_buf_adds(&other, "kept");
	if (fh_base64_decode(&other, s) < 0) {
		FH_FUZZ_CHECK(other.n == 4);
	} else { /* one text stands for one value */
		fh_buf_truncate(&text, 0);
		fh_base64_encode(&text, (struct fh_str){ other.p + 4, other.n - 4 });
		FH_FUZZ_CHECK(text.n == s.n && (!s.n || memcmp(text.p, s.p, s.n) == 0));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy = fh_fuzz_copy(data, size);
	struct fh_str s = { copy, size };
	check_terminal(s, false);
	check_terminal(s, true);
	check_html(s);
	check_shell(s);
	check_json(s);
	check_base64(s);
	free(copy);
	return 0;
}
