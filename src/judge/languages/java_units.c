/* SPDX-License-Identifier: MIT */
#include "judge/languages/java_units.h"

#include "code/declaration.h"
#include "code/outline.h"
#include "code/signature.h"

/* The end of the comment or literal that begins at s[i]; i if none begins there. */
static size_t skip_literal(struct fh_str s, size_t i)
{
	static const char quotes[] = "\"\"\"";
	if (s.n - i < 3 || memcmp(s.p + i, quotes, 3) != 0)
		return fh_cpp_skip(s, i);
	for (size_t j = i + 3; j + 3 <= s.n; j++) {
		if (s.p[j] == '\\')
			j++;
		else if (memcmp(s.p + j, quotes, 3) == 0)
			return j + 3;
	}
	return s.n;
}

/* Iterates over a text in pieces: words, comments, literals, and the single bytes between them. */
struct walk {
	struct fh_str rest;
	long depth;   /* depth of the braces in which the piece begins */
	bool is_word; /* the piece is an identifier, a keyword or a number */
};

static bool next_piece(struct walk *w, struct fh_str *ret)
{
	if (w->rest.n == 0)
		return false;
	size_t n = skip_literal(w->rest, 0);
	struct fh_str name = n ? (struct fh_str){ w->rest.p, 0 } : fh_identifier(w->rest);
	if (n == 0)
		n = FH_MAX(name.n, (size_t)1);
	w->is_word = name.n > 0;
	*ret = (struct fh_str){ w->rest.p, n };
	w->rest = (struct fh_str){ w->rest.p + n, w->rest.n - n };
	return true;
}

static void count_braces(struct walk *w, struct fh_str piece)
{
	if (piece.n == 1)
		w->depth += (*piece.p == '{') - (*piece.p == '}');
}

/* Appends as many blanks as the piece has bytes, keeping newlines. */
static void add_blank(struct fh_buf *out, struct fh_str piece)
{
	for (size_t i = 0; i < piece.n; i++)
		fh_buf_addc(out, piece.p[i] == '\n' ? '\n' : ' ');
}

/* `renamed`: pairs of a name and its new name, NULL-terminated; NULL: none. */
static void copy_program(struct fh_str text, const char *const *renamed, struct fh_buf *out)
{
	static const char word[] = "public";
	struct walk w = { .rest = text };
	struct fh_str piece;
	bool in_package = false, begun = false;
	while (next_piece(&w, &piece)) {
		/* the drivers' classes are in the unnamed package, from which classes of a named package cannot be used */
		in_package = in_package || (w.is_word && !begun && fh_str_eq(piece, "package"));
		begun = begun || w.is_word;
		if (in_package)
			add_blank(out, piece);
		else if (w.is_word && w.depth == 0 && fh_str_eq(piece, word))
			add_blank(out, piece);
		else if (w.is_word && renamed && fh_str_eq(piece, renamed[0]))
			fh_buf_adds(out, renamed[1]);
		else
			fh_buf_add_str(out, piece);
		in_package = in_package && !fh_str_eq(piece, ";");
		count_braces(&w, piece);
	}
}

void fh_java_program(struct fh_str text, struct fh_buf *out)
{
	copy_program(text, NULL, out);
}

void fh_java_program_beside_main(struct fh_str text, struct fh_buf *out)
{
	static const char *const renamed[] = { "Main", "Main_of_program" };
	copy_program(text, fh_java_defines(text, fh_str(renamed[0])) ? renamed : NULL, out);
}

static bool is_kind_of_type(struct fh_str word)
{
	static const char *const kinds[] = { "class", "interface", "enum", "record" };
	for (size_t i = 0; i < FH_ARRAY_SIZE(kinds); i++)
		if (fh_str_eq(word, kinds[i]))
			return true;
	return false;
}

bool fh_java_defines(struct fh_str text, struct fh_str name)
{
	struct walk w = { .rest = text };
	struct fh_str piece;
	bool is_next = false;
	while (next_piece(&w, &piece)) {
		if (w.is_word && is_next && piece.n == name.n && memcmp(piece.p, name.p, name.n) == 0)
			return true;
		if (w.is_word)
			is_next = w.depth == 0 && is_kind_of_type(piece);
		count_braces(&w, piece);
	}
	return false;
}

/* Whether the text has a block at its top level, and no type there. */
static bool is_methods_only(struct fh_str text)
{
	struct walk w = { .rest = text };
	struct fh_str piece;
	bool block = false;
	while (next_piece(&w, &piece)) {
		if (w.is_word && w.depth == 0 && is_kind_of_type(piece))
			return false;
		block = block || (w.depth == 0 && fh_str_eq(piece, "{"));
		count_braces(&w, piece);
	}
	return block;
}

void fh_java_add_whole(struct fh_str text, struct fh_str class, struct fh_buf *out)
{
	if (!is_methods_only(text)) {
		fh_buf_add_str(out, text);
		return;
	}
	fh_java_imports_before(text, out);
	fh_buf_addf(out, " class %.*s { ", FH_STR_ARGS(class));
	for (struct fh_str line; fh_next_line(&text, &line);) {
		if (!fh_str_begins(line, "import ") && !fh_str_begins(line, "package "))
			fh_buf_add_str(out, line);
		fh_buf_addc(out, '\n');
	}
	fh_buf_adds(out, "}\n");
}

static size_t skip_blanks(struct fh_str s, size_t i)
{
	while (i < s.n && fh_signature_space(s.p[i]))
		i++;
	return i;
}

/* Where the parenthesis opens of a `new Random(…)` that begins at blank.p[i]; 0: no such expression begins there, or it
 * has a class body. */
static size_t opens_random(struct fh_str blank, size_t i)
{
	static const char package[] = "java.util.", name[] = "Random";
	if (!fh_str_eq(fh_identifier(fh_str_from(blank, i)), "new") ||
	    (i > 0 && fh_identifier(fh_str_from(blank, i - 1)).n > 3))
		return 0;
	i = skip_blanks(blank, i + strlen("new"));
	if (fh_str_begins(fh_str_from(blank, i), package))
		i += strlen(package);
	if (!fh_str_eq(fh_identifier(fh_str_from(blank, i)), name))
		return 0;
	size_t open = skip_blanks(blank, i + strlen(name));
	size_t close = open < blank.n && blank.p[open] == '(' ? fh_signature_closing(blank, open) : blank.n;
	if (close == blank.n)
		return 0;
	size_t after = skip_blanks(blank, close + 1);
	return after < blank.n && blank.p[after] == '{' ? 0 : open;
}

void fh_java_test(struct fh_str text, struct fh_buf *out)
{
	fh_auto_buf struct fh_buf b = FH_BUF_INIT(0);
	fh_signature_blank(&b, text);
	struct fh_str blank = fh_buf_str(&b);
	bool own = fh_java_defines(text, fh_str("Random"));
	size_t done = 0;
	for (size_t i = 0; !own && i < blank.n; i++) {
		size_t open = opens_random(blank, i);
		if (open == 0)
			continue;
		fh_buf_add_str(out, (struct fh_str){ text.p + done, i - done });
		fh_buf_adds(out, "SplitJudge.random");
		i = done = open;
	}
	fh_buf_add_str(out, fh_str_from(text, done));
}

void fh_java_imports(struct fh_str head, struct fh_buf *out)
{
	struct fh_str line;
	while (fh_next_line(&head, &line)) {
		const char *comment = memmem(line.p, line.n, "//", 2), *end;
		if (comment)
			line.n = comment - line.p; /* others put the imports on one line */
		if (!fh_str_begins(line, "import ") || !(end = memrchr(line.p, ';', line.n)))
			continue;
		line.n = end + 1 - line.p;
		fh_buf_add_str(out, line);
		fh_buf_addc(out, '\n');
	}
}

void fh_java_imports_before(struct fh_str head, struct fh_buf *out)
{
	size_t begin = out->n;
	fh_java_imports(head, out);
	for (size_t i = begin; i < out->n; i++)
		if (out->p[i] == '\n' || out->p[i] == '\r')
			out->p[i] = ' ';
}

void fh_java_start(struct fh_plan *plan, const char *class_name)
{
	/* the last three allow seeding random numbers on the judge's side, and have no effect elsewhere */
	static const char *const options[] = { "--add-opens=java.base/java.io=ALL-UNNAMED", "-ea:Main",
		                                   "--add-opens=java.base/java.lang=ALL-UNNAMED",
		                                   "--add-opens=java.base/java.util=ALL-UNNAMED",
		                                   "-Djava.util.secureRandomSeed=true" };
	size_t count = fh_streq(class_name, FH_JAVA_JUDGE) ? FH_ARRAY_SIZE(options) : 2;
	char **argv = plan->argv;
	plan->argv = fh_xcalloc(1, sizeof(char *));
	for (size_t i = 0; argv[i]; i++) {
		fh_plan_add_string(&plan->argv, fh_streq(argv[i], "Main") ? class_name : argv[i]);
		for (size_t k = 0; i == 0 && k < count; k++)
			fh_plan_add_string(&plan->argv, options[k]);
		free(argv[i]);
	}
	free(argv);
}
