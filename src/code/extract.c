/* SPDX-License-Identifier: MIT */
#include "code/extract.h"

#include "base/buf.h"
#include "code/clean.h"
#include "code/extract_fence.h"
#include "code/literal.h"
#include "code/outline.h"

#define FH_EXTRACT_BLOCKS_MAX 256
#define FH_EXTRACT_PASSES_MAX 64

/* ----------------------------------------------------------------------------------------------------------- fences */

enum fh_block_fit {
	FH_FIT_NOT,      /* tagged as another language */
	FH_FIT_UNTAGGED, /* no tag, or a tag that tells no language */
	FH_FIT_TAGGED,
};

struct fh_block {
	enum fh_block_fit fit;
	bool open;          /* the block's fence was never closed */
	bool bare;          /* the block began with a fence without a tag */
	struct fh_buf text; /* dedented, without prompts */
	struct fh_outline outline;
};

static bool is_space(char c)
{
	return c == ' ' || c == '\t';
}

static enum fh_block_fit fit_of(struct fh_str tag, const char *language)
{
	const char *tagged = fh_extract_language_of_tag(tag);
	if (!tag.n || !tagged)
		return FH_FIT_UNTAGGED;
	const char *included = fh_syntax_row(language)->includes;
	if (fh_streq(tagged, language) || (included && fh_streq(tagged, included)) ||
	    (*tagged && !fh_extract_language_of_tag(fh_str(language))))
		return FH_FIT_TAGGED;
	return FH_FIT_NOT;
}

/* -------------------------------------------------------------------------------------------- cleaning up a block */

static size_t indent_of(struct fh_str line)
{
	size_t n = 0;
	while (n < line.n && is_space(line.p[n]))
		n++;
	return n;
}

/* The length of the indentation that all lines have in common; blank lines do not count. */
static size_t common_indent(struct fh_str text)
{
	struct fh_str rest = text, line, first = { NULL, 0 };
	size_t common = 0;
	while (fh_next_line(&rest, &line)) {
		size_t n = indent_of(line);
		if (n == line.n)
			continue;
		if (!first.p) {
			first = line;
			common = n;
		}
		size_t same = 0;
		while (same < common && same < n && line.p[same] == first.p[same])
			same++;
		common = same;
	}
	return common;
}

static void dedent(struct fh_buf *text)
{
	size_t common = common_indent(fh_buf_str(text));
	if (!common)
		return;
	struct fh_buf out = FH_BUF_INIT(FH_EXTRACT_MAX);
	struct fh_str rest = fh_buf_str(text), line;
	while (fh_next_line(&rest, &line)) {
		size_t n = FH_MIN(common, indent_of(line));
		fh_buf_add(&out, line.p + n, line.n - n);
		fh_buf_addc(&out, '\n');
	}
	fh_buf_release(text);
	*text = out;
}

/* The length of the interactive prompt (such as ">>> ") that a line begins with; 0: the line has none and is output. */
static size_t prompt_of(struct fh_str line, enum fh_syntax syntax)
{
	static const struct {
		enum fh_syntax syntax;
		const char *prompt;
	} prompts[] = {
		{ FH_SYNTAX_PYTHON, ">>> " }, { FH_SYNTAX_PYTHON, "... " }, { FH_SYNTAX_PYTHON, ">>>" },
		{ FH_SYNTAX_PYTHON, "..." },  { FH_SYNTAX_BASH, "$ " },
	};
	for (size_t i = 0; i < FH_ARRAY_SIZE(prompts); i++)
		if (prompts[i].syntax == syntax && line.n >= strlen(prompts[i].prompt) &&
		    memcmp(line.p, prompts[i].prompt, strlen(prompts[i].prompt)) == 0)
			return strlen(prompts[i].prompt);
	return 0;
}

static void strip_prompts(struct fh_buf *text, enum fh_syntax syntax)
{
	struct fh_str rest = fh_buf_str(text), line = { "", 0 };
	while (fh_next_line(&rest, &line) && indent_of(line) == line.n)
		;
	if (!prompt_of(line, syntax) || line.p[0] == '.')
		return;
	struct fh_buf out = FH_BUF_INIT(FH_EXTRACT_MAX);
	rest = fh_buf_str(text);
	while (fh_next_line(&rest, &line)) {
		size_t n = prompt_of(line, syntax);
		if (!n)
			continue;
		fh_buf_add(&out, line.p + n, line.n - n);
		fh_buf_addc(&out, '\n');
	}
	fh_buf_release(text);
	*text = out;
}

static void clean(struct fh_buf *text, enum fh_syntax syntax)
{
	dedent(text);
	strip_prompts(text, syntax);
	/* Removes blank lines before and after the text. */
	struct fh_str rest = fh_buf_str(text), line;
	size_t start = 0;
	while (fh_next_line(&rest, &line) && indent_of(line) == line.n)
		start = (size_t)(rest.p - text->p);
	fh_buf_drop(text, FH_MIN(start, text->n));
	while (text->n && strchr(" \t\r\n", text->p[text->n - 1]))
		fh_buf_truncate(text, text->n - 1);
	if (text->n)
		fh_buf_addc(text, '\n');
}

/* ----------------------------------------------------------------------------------------------------- the answer */

struct answer {
	const char *language;
	enum fh_syntax syntax;
	struct fh_str entry; /* the wanted function, up to a dot; empty when none is wanted */
	struct fh_block *blocks;
	size_t n, capacity;
	struct fh_buf outside; /* the lines outside of blocks */
	struct fh_buf before;  /* the lines before the first fence */
};

static void answer_release(struct answer *a)
{
	for (size_t i = 0; i < a->n; i++) {
		fh_buf_release(&a->blocks[i].text);
		fh_outline_release(&a->blocks[i].outline);
	}
	free(a->blocks);
	fh_buf_release(&a->outside);
	fh_buf_release(&a->before);
}

static void add_line(struct fh_buf *to, struct fh_str line, size_t indent)
{
	size_t n = 0;
	while (n < indent && n < line.n && (is_space(line.p[n]) || line.p[n] == '>'))
		n++;
	fh_buf_add(to, line.p + n, line.n - n);
	fh_buf_addc(to, '\n');
}

/* The closing fence of a block that nothing else closes may stand behind its last line: `}```. */
static void close_behind_line(struct fh_block *b)
{
	struct fh_str rest = fh_buf_str(&b->text), line;
	while (fh_next_line(&rest, &line)) {
		while (line.n > 0 && is_space(line.p[line.n - 1]))
			line.n--;
		if (line.n < FH_EXTRACT_FENCE_MIN ||
		    memcmp(line.p + line.n - FH_EXTRACT_FENCE_MIN, "```", FH_EXTRACT_FENCE_MIN) != 0)
			continue;
		fh_buf_truncate(&b->text, (size_t)(line.p - b->text.p) + line.n - FH_EXTRACT_FENCE_MIN);
		fh_buf_addc(&b->text, '\n');
		b->open = false;
		return;
	}
}

/* Whether a block holds an answer, with shorter fences of its own. */
static bool is_markdown(struct fh_str tag)
{
	return fh_str_eq(tag, "markdown") || fh_str_eq(tag, "md");
}

/* Splits the answer into blocks and the lines outside of them. */
static void split_answer(struct answer *a, struct fh_str text)
{
	struct fh_fence open = { 0 };
	struct fh_docstring docstring = { 0 };
	struct fh_str line;
	while (fh_next_line(&text, &line)) {
		struct fh_fence f;
		bool fence = fh_fence_of(line, &f) && !(open.mark && docstring.mark && docstring.end && line.p < docstring.end);
		/* A fence that is indented deeper than the block's own belongs to the code, for example to a docstring with an
		 * example. */
		bool inside = open.mark && (!fence || f.mark != open.mark || f.indent > open.indent + FH_EXTRACT_FENCE_MIN ||
		                            (f.length < open.length && !is_markdown(open.tag)));
		if (inside) {
			add_line(&a->blocks[a->n - 1].text, line, open.indent);
			if (a->syntax == FH_SYNTAX_PYTHON)
				fh_docstring_take(&docstring, line, text);
		} else if (!fence) {
			add_line(&a->outside, line, 0);
			if (!a->n)
				add_line(&a->before, line, 0);
		} else if (open.mark && f.closes) {
			a->blocks[a->n - 1].open = false;
			open.mark = 0;
		} else if (a->n < FH_EXTRACT_BLOCKS_MAX) {
			struct fh_block *b = &FH_PUSH(a->blocks, a->n, a->capacity);
			b->text.max = FH_EXTRACT_MAX * 2;
			b->fit = fit_of(f.tag, a->language);
			b->open = true;
			b->bare = f.closes;
			open = f;
			docstring = (struct fh_docstring){ 0 };
		}
	}
	if (open.mark == '`')
		close_behind_line(&a->blocks[a->n - 1]);
}

static bool defines_entry(const struct answer *a, const struct fh_outline *o)
{
	return !a->entry.n || fh_outline_defines(o, a->entry);
}

static size_t code_lines(struct fh_str text, enum fh_syntax syntax, size_t *ret_all)
{
	struct fh_str line;
	size_t code = 0, all = 0;
	while (fh_next_line(&text, &line)) {
		if (indent_of(line) == line.n)
			continue;
		all++;
		code += fh_outline_is_code_line(line, syntax);
	}
	*ret_all = all;
	return code;
}

/* Chooses the block that is the program; NULL when there is none. */
static struct fh_block *choose_block(struct answer *a)
{
	bool has_main = fh_syntax_row(a->language)->has_main;
	struct fh_block *best = NULL;
	unsigned best_rank = 0;
	for (size_t i = 0; i < a->n; i++) {
		struct fh_block *b = &a->blocks[i];
		size_t all, code = code_lines(fh_buf_str(&b->text), a->syntax, &all);
		if (!all)
			continue;
		bool wanted = a->entry.n ? fh_outline_defines(&b->outline, a->entry)
		                         : has_main && fh_outline_defines(&b->outline, fh_str("main"));
		if (b->fit == FH_FIT_NOT && !(wanted && a->entry.n))
			continue;
		unsigned rank = 1 + (wanted ? 8 : 0) + 2 * b->fit + (code * 2 >= all);
		bool longer = best && !a->entry.n && rank == best_rank && b->text.n > best->text.n;
		if (rank > best_rank || longer) {
			best = b;
			best_rank = rank;
		}
	}
	return best;
}

/* Whether a block defines the wanted function completely. */
static bool is_whole(const struct answer *a, const struct fh_block *b)
{
	return fh_outline_defines(&b->outline, a->entry) && fh_looks_complete(fh_buf_str(&b->text), a->entry, a->syntax);
}

/* As choose_block, but if that block is not complete, the last complete one: an answer may begin with a stub, or break
 * off and start again. */
static struct fh_block *choose_whole_block(struct answer *a)
{
	struct fh_block *best = choose_block(a);
	if (!best || !a->entry.n || !fh_outline_defines(&best->outline, a->entry) || is_whole(a, best))
		return best;
	for (size_t i = a->n; i-- > 0;)
		if (a->blocks[i].fit != FH_FIT_NOT && is_whole(a, &a->blocks[i]))
			return &a->blocks[i];
	return best;
}

/* ---------------------------------------------------------------------------------------------- what a block needs */

struct fh_words {
	struct fh_str *slots;
	size_t size, n; /* size is a power of two */
};

static size_t word_slot(const struct fh_words *w, struct fh_str word)
{
	uint64_t h = 14695981039346656037ULL;
	for (size_t i = 0; i < word.n; i++)
		h = (h ^ (unsigned char)word.p[i]) * 1099511628211ULL;
	size_t at = (h ^ h >> 32) & (w->size - 1);
	while (w->slots[at].n && (w->slots[at].n != word.n || memcmp(w->slots[at].p, word.p, word.n) != 0))
		at = (at + 1) & (w->size - 1);
	return at;
}

static void word_add(struct fh_words *w, struct fh_str word)
{
	if (w->n * 2 >= w->size) {
		struct fh_words larger = { .size = w->size ? w->size * 2 : 256 };
		larger.slots = fh_xcalloc(larger.size, sizeof(*larger.slots));
		for (size_t i = 0; i < w->size; i++)
			if (w->slots[i].n)
				larger.slots[word_slot(&larger, w->slots[i])] = w->slots[i];
		larger.n = w->n;
		free(w->slots);
		*w = larger;
	}
	size_t at = word_slot(w, word);
	w->n += !w->slots[at].n;
	w->slots[at] = word;
}

static bool word_known(const struct fh_words *w, struct fh_str word)
{
	return w->size && w->slots[word_slot(w, word)].n;
}

static void words_of(struct fh_words *w, struct fh_str text)
{
	while (text.n) {
		struct fh_str word = fh_identifier(text);
		size_t n = word.n;
		if (n)
			word_add(w, word);
		else /* skips the digits of a number */
			for (n = 1; n < text.n && *text.p >= '0' && *text.p <= '9' && text.p[n] >= '0' && text.p[n] <= '9';)
				n++;
		text.p += n;
		text.n -= n;
	}
}

/* Whether a statement of another block defines a name that is used but not yet defined. */
static bool is_needed(const struct fh_outline *o, const struct fh_outline_item *item, const struct fh_words *used,
                      const struct fh_words *defined)
{
	for (size_t i = 0; i < item->count; i++) {
		struct fh_str name = o->names[item->first + i];
		if (word_known(used, name) && !word_known(defined, name))
			return true;
	}
	return item->is_wanted;
}

struct fh_needs {
	struct fh_words used, defined;
	bool *taken; /* for each statement of all blocks, in order: it was added */
};

static void define_all(struct fh_words *w, const struct fh_outline *o, size_t first, size_t count)
{
	for (size_t i = 0; i < count; i++)
		word_add(w, o->names[first + i]);
}

/* Adds statements of other blocks that define needed names; true when any was added. */
static bool find_needs(const struct answer *a, const struct fh_block *program, struct fh_needs *needs)
{
	bool more = false;
	size_t at = 0;
	for (size_t i = 0; i < a->n; i++) {
		const struct fh_block *b = &a->blocks[i];
		for (size_t k = 0; k < b->outline.n; k++, at++) {
			const struct fh_outline_item *item = &b->outline.items[k];
			if (b == program || b->fit == FH_FIT_NOT || needs->taken[at] ||
			    !is_needed(&b->outline, item, &needs->used, &needs->defined))
				continue;
			needs->taken[at] = more = true;
			words_of(&needs->used, item->text);
			define_all(&needs->defined, &b->outline, item->first, item->count);
		}
	}
	return more;
}

/* Puts the needed statements of other blocks before the program. */
static void assemble(const struct answer *a, const struct fh_block *program, struct fh_buf *out)
{
	size_t statements = 0, at = 0;
	for (size_t i = 0; i < a->n; i++)
		statements += a->blocks[i].outline.n;
	struct fh_needs needs = { .taken = fh_xcalloc(statements + 1, sizeof(bool)) };
	words_of(&needs.used, fh_buf_str(&program->text));
	define_all(&needs.defined, &program->outline, 0, program->outline.name_count);
	for (int pass = 0; a->n > 1 && pass < FH_EXTRACT_PASSES_MAX && find_needs(a, program, &needs); pass++)
		;
	for (size_t i = 0; i < a->n; i++)
		for (size_t k = 0; k < a->blocks[i].outline.n; k++, at++)
			if (needs.taken[at])
				fh_buf_add(out, a->blocks[i].outline.items[k].text.p, a->blocks[i].outline.items[k].text.n);
	fh_buf_add(out, program->text.p, program->text.n);
	free(needs.taken);
	free(needs.used.slots);
	free(needs.defined.slots);
}

/* ----------------------------------------------------------------------------------------------- without a fence */

/* The part of an unfenced answer that is code: from the first line that begins a definition to the last line of code
 * before a sentence; all of the answer when it has no sentence. Empty when it has no code. */
static struct fh_str bare_code(struct fh_str text, enum fh_syntax syntax)
{
	struct fh_str rest = text, line;
	const char *start = NULL, *end = NULL;
	size_t all, code = code_lines(text, syntax, &all);
	if (all && code == all)
		return text;
	while (fh_next_line(&rest, &line)) {
		bool blank = indent_of(line) == line.n;
		if (!start && fh_outline_is_start_line(line, syntax))
			start = line.p;
		if (!start || blank)
			continue;
		/* A sentence ends the code unless more definitions follow; in that case the sentence stays in it. */
		if (fh_outline_is_code_line(line, syntax))
			end = rest.p;
		else if (end)
			break;
	}
	return start && end > start ? (struct fh_str){ start, (size_t)(end - start) } : (struct fh_str){ "", 0 };
}

static bool take_bare(const struct answer *a, const struct fh_buf *text, bool only_defining, struct fh_extraction *ret)
{
	struct fh_str found = bare_code(fh_buf_str(text), a->syntax);
	if (!found.n)
		return false;
	struct fh_buf code = FH_BUF_INIT(FH_EXTRACT_MAX * 2);
	fh_buf_add(&code, found.p, found.n);
	clean(&code, a->syntax);
	fh_auto_outline struct fh_outline outline = { 0 };
	fh_outline_make(&outline, fh_buf_str(&code), a->syntax);
	bool defines = defines_entry(a, &outline);
	if (!code.n || (only_defining && !defines)) {
		fh_buf_release(&code);
		return false;
	}
	ret->defines = defines;
	ret->code = fh_buf_take(&code, &ret->size);
	return true;
}

/* Markdown's other way to show code: every line indented. The lines around it are left out. */
static bool take_indented(const struct answer *a, struct fh_extraction *ret)
{
	enum { MARKDOWN_INDENT = 4 };
	fh_auto_buf struct fh_buf shown = FH_BUF_INIT(FH_EXTRACT_MAX * 2);
	struct fh_str rest = fh_buf_str(&a->outside), line;
	while (fh_next_line(&rest, &line)) {
		size_t n = line.n && line.p[0] == '\t' ? 1 : MARKDOWN_INDENT;
		if (n <= indent_of(line))
			fh_buf_add(&shown, line.p + n, line.n - n);
		fh_buf_addc(&shown, '\n');
	}
	return take_bare(a, &shown, false, ret);
}

/* ------------------------------------------------------------------------------------------------------ the whole */

/* The answer behind the last "</think>", unless nothing follows it. */
static struct fh_str without_thoughts(struct fh_str answer)
{
	static const char end[] = "</think>";
	struct fh_str rest = answer;
	for (const char *at; (at = memmem(rest.p, rest.n, end, sizeof(end) - 1));) {
		size_t n = (size_t)(at - rest.p) + sizeof(end) - 1;
		rest = (struct fh_str){ rest.p + n, rest.n - n };
	}
	for (size_t i = 0; i < rest.n; i++)
		if (!strchr(" \t\r\n", rest.p[i]))
			return rest;
	return answer;
}

static char *why_none(const struct answer *a, const char *language)
{
	size_t filled = 0;
	for (size_t i = 0; i < a->n; i++)
		filled += a->blocks[i].text.n > 0;
	const char *what = language ? language : "code";
	size_t lines;
	code_lines(fh_buf_str(&a->outside), a->syntax, &lines);
	if (!a->n && !lines)
		return fh_xasprintf("no code: the answer is empty");
	if (!a->n)
		return fh_xasprintf("no code: the answer has no fenced block and does not look like %s", what);
	if (!filled)
		return fh_xasprintf("no code: the answer's fenced blocks are empty");
	return fh_xasprintf("no code: none of the answer's %zu fenced blocks is %s", filled, what);
}

static void extract(struct answer *a, const char *language, struct fh_extraction *ret)
{
	for (size_t i = 0; i < a->n; i++) {
		clean(&a->blocks[i].text, a->syntax);
		fh_outline_make(&a->blocks[i].outline, fh_buf_str(&a->blocks[i].text), a->syntax);
	}
	/* The answer is code and a closing fence, which was taken for an opening one: its block is empty or holds prose. */
	bool stray = a->n && a->blocks[0].bare && (a->n > 1 || a->blocks[0].open);
	struct fh_block *program = choose_whole_block(a);
	bool defined = program && defines_entry(a, &program->outline);
	size_t all, code = program ? code_lines(fh_buf_str(&program->text), a->syntax, &all) : (all = 0);
	bool doubtful = !program || (a->entry.n ? !defined : a->n == 1 || code * 2 < all);
	if (stray && doubtful && take_bare(a, &a->before, program != NULL, ret))
		return;
	if (a->n && program && a->entry.n && !defined && take_bare(a, &a->outside, true, ret))
		return;
	if (!program) {
		if (!take_bare(a, &a->outside, false, ret) && (a->n > 0 || !take_indented(a, ret)))
			ret->reason = why_none(a, language);
		return;
	}
	struct fh_buf whole = FH_BUF_INIT(FH_EXTRACT_MAX * 4);
	assemble(a, program, &whole);
	ret->fenced = true;
	ret->defines = defined;
	ret->code = fh_buf_take(&whole, &ret->size);
}

static void clean_program(struct fh_extraction *e, const char *language)
{
	struct fh_buf cleaned = FH_BUF_INIT(0);
	if (!e->code)
		return;
	fh_clean_program(&cleaned, (struct fh_str){ e->code, e->size }, language);
	free(e->code);
	e->code = fh_buf_take(&cleaned, &e->size);
}

void fh_extract(struct fh_str answer, const struct fh_extract_options *options, struct fh_extraction *ret)
{
	*ret = (struct fh_extraction){ 0 };
	if (answer.n > FH_EXTRACT_MAX) {
		ret->reason = fh_xasprintf("no code: the answer is longer than %zu bytes", FH_EXTRACT_MAX);
		return;
	}
	FH_CLEANUP(answer_release)
	struct answer a = {
		.language = options->language ? options->language : "",
		.syntax = fh_literal_syntax(options->language),
		.entry = fh_str(options->entry_point ? options->entry_point : ""),
		.outside = FH_BUF_INIT(FH_EXTRACT_MAX * 2),
		.before = FH_BUF_INIT(FH_EXTRACT_MAX * 2),
	};
	const char *dot = memchr(a.entry.p, '.', a.entry.n);
	a.entry.n = dot ? (size_t)(dot - a.entry.p) : a.entry.n;
	split_answer(&a, without_thoughts(answer));
	extract(&a, options->language, ret);
	clean_program(ret, options->language);
}

void fh_extraction_release(struct fh_extraction *e)
{
	free(e->code);
	free(e->reason);
	*e = (struct fh_extraction){ 0 };
}
