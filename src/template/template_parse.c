/* SPDX-License-Identifier: MIT */
#include "base/utf8.h"
#include "template/template_internal.h"

#include <stdio.h>

/* ---- functions shared by all of the parser ---- */

struct fh_tpl_node *fh_tpl_parser_node(struct fh_tpl_parser *p, enum fh_tpl_node_kind kind,
                                       const struct fh_tpl_token *at)
{
	struct fh_tpl_node *node = FH_NEW(struct fh_tpl_node);
	node->kind = kind;
	node->line = at->line;
	node->column = at->column;
	node->next = p->t->nodes;
	p->t->nodes = node;
	return node;
}

void fh_tpl_node_name(struct fh_tpl_node *node, struct fh_str name)
{
	free(node->name);
	node->name = fh_xmemdup(name.p, name.n);
	node->name_n = name.n;
}

void fh_tpl_node_add(struct fh_tpl_node *node, struct fh_tpl_node *kid)
{
	FH_PUSH(node->kids, node->n_kids, node->cap_kids) = kid;
}

struct fh_tpl_node *fh_tpl_parser_fail(struct fh_tpl_parser *p, const struct fh_tpl_token *at, const char *format, ...)
{
	if (p->failed)
		return NULL;
	p->failed = true;
	char message[256];
	va_list args;
	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	fh_error_at(p->err, p->t->name, at->line, at->column, "%s", message);
	return NULL;
}

const struct fh_tpl_token *fh_tpl_parser_peek(const struct fh_tpl_parser *p)
{
	return &p->tokens.items[p->at];
}

const struct fh_tpl_token *fh_tpl_parser_next(struct fh_tpl_parser *p)
{
	const struct fh_tpl_token *token = fh_tpl_parser_peek(p);
	p->at += token->kind != FH_TPL_TOKEN_END;
	return token;
}

static bool skip(struct fh_tpl_parser *p, enum fh_tpl_token_kind kind, const char *text)
{
	const struct fh_tpl_token *token = fh_tpl_parser_peek(p);
	bool same = token->kind == kind && fh_str_eq(token->text, text);
	p->at += same;
	return same;
}

bool fh_tpl_parser_skip_op(struct fh_tpl_parser *p, const char *op)
{
	return skip(p, FH_TPL_TOKEN_OPERATOR, op);
}

bool fh_tpl_parser_skip_word(struct fh_tpl_parser *p, const char *word)
{
	return skip(p, FH_TPL_TOKEN_NAME, word);
}

bool fh_tpl_parser_expect_op(struct fh_tpl_parser *p, const char *op)
{
	char seen[64];
	if (fh_tpl_parser_skip_op(p, op))
		return true;
	fh_tpl_parser_fail(p, fh_tpl_parser_peek(p), "expected '%s', not %s", op,
	                   fh_tpl_token_text(fh_tpl_parser_peek(p), seen));
	return false;
}

const char *fh_tpl_token_text(const struct fh_tpl_token *token, char buf[64])
{
	static const char *const names[] = { [FH_TPL_TOKEN_END] = "the end of the template",
		                                 [FH_TPL_TOKEN_DATA] = "text",
		                                 [FH_TPL_TOKEN_OUTPUT] = "{{",
		                                 [FH_TPL_TOKEN_OUTPUT_END] = "}}",
		                                 [FH_TPL_TOKEN_TAG] = "{%",
		                                 [FH_TPL_TOKEN_TAG_END] = "%}",
		                                 [FH_TPL_TOKEN_STRING] = "a string",
		                                 [FH_TPL_TOKEN_NUMBER] = "a number" };
	const char *name = token->kind < FH_ARRAY_SIZE(names) ? names[token->kind] : NULL;
	if (name)
		snprintf(buf, 64, "%s", name);
	else
		snprintf(buf, 64, "'%.*s'", (int)FH_MIN(token->text.n, (size_t)40), token->text.p);
	return buf;
}

/* ---- statements ---- */

typedef struct fh_tpl_node *(*tag_fn)(struct fh_tpl_parser *p, const struct fh_tpl_token *at);

bool fh_tpl_parser_tag_end(struct fh_tpl_parser *p)
{
	const struct fh_tpl_token *token = fh_tpl_parser_next(p);
	char seen[64];
	if (token->kind == FH_TPL_TOKEN_TAG_END)
		return true;
	fh_tpl_parser_fail(p, token, "expected %%}, not %s", fh_tpl_token_text(token, seen));
	return false;
}

static struct fh_tpl_node *parse_statement(struct fh_tpl_parser *p);

/* Whether the next tag ends the current body: its word is one of `words`, separated by "|". */
static bool at_end_tag(const struct fh_tpl_parser *p, const char *words)
{
	const struct fh_tpl_token *token = fh_tpl_parser_peek(p);
	if (token->kind != FH_TPL_TOKEN_TAG || token[1].kind != FH_TPL_TOKEN_NAME)
		return false;
	for (const char *w = words; *w; w += strcspn(w, "|"), w += *w == '|')
		if (strcspn(w, "|") == token[1].text.n && memcmp(w, token[1].text.p, token[1].text.n) == 0)
			return true;
	return false;
}

struct fh_tpl_node *fh_tpl_parser_body(struct fh_tpl_parser *p, const struct fh_tpl_token *open, const char *words)
{
	struct fh_tpl_node *block = fh_tpl_parser_node(p, FH_N_BLOCK, fh_tpl_parser_peek(p));
	if (p->depth >= FH_TEXT_TEMPLATE_DEPTH_MAX)
		return fh_tpl_parser_fail(p, open, "nested more than %d levels deep", FH_TEXT_TEMPLATE_DEPTH_MAX);
	p->depth++;
	while (!at_end_tag(p, words)) {
		if (fh_tpl_parser_peek(p)->kind == FH_TPL_TOKEN_END) {
			size_t first = strcspn(words, "|");
			const char *last = strrchr(words, '|');
			return fh_tpl_parser_fail(p, open, "this {%% %.*s %%} has no {%% %s %%}", FH_STR_ARGS(open->text),
			                          last    ? last + 1
			                          : first ? words
			                                  : "");
		}
		struct fh_tpl_node *node = parse_statement(p);
		if (!node)
			return NULL;
		fh_tpl_node_add(block, node);
	}
	p->depth--;
	fh_tpl_parser_next(p);
	return block;
}

static struct fh_tpl_node *parse_if(struct fh_tpl_parser *p, const struct fh_tpl_token *at)
{
	struct fh_tpl_node *node = fh_tpl_parser_node(p, FH_N_IF, at);
	node->a = fh_tpl_parser_expression(p);
	if (!node->a || !fh_tpl_parser_tag_end(p))
		return NULL;
	node->b = fh_tpl_parser_body(p, at, "elif|elseif|else|endif");
	if (!node->b)
		return NULL;
	const struct fh_tpl_token *word = fh_tpl_parser_next(p);
	if (fh_str_eq(word->text, "elif") || fh_str_eq(word->text, "elseif")) {
		if (p->depth >= FH_TEXT_TEMPLATE_DEPTH_MAX)
			return fh_tpl_parser_fail(p, word, "nested more than %d levels deep", FH_TEXT_TEMPLATE_DEPTH_MAX);
		p->depth++;
		node->c = parse_if(p, word);
		p->depth--;
		return node->c ? node : NULL;
	}
	if (fh_str_eq(word->text, "else")) {
		node->c = fh_tpl_parser_tag_end(p) ? fh_tpl_parser_body(p, at, "endif") : NULL;
		if (!node->c)
			return NULL;
		fh_tpl_parser_next(p);
	}
	return fh_tpl_parser_tag_end(p) ? node : NULL;
}

/* Parses the names a, b, c that a for or a set assigns to. */
static bool parse_names(struct fh_tpl_parser *p, struct fh_tpl_node *node)
{
	do {
		const struct fh_tpl_token *name = fh_tpl_parser_next(p);
		char seen[64];
		if (name->kind != FH_TPL_TOKEN_NAME) {
			fh_tpl_parser_fail(p, name, "expected a variable's name, not %s", fh_tpl_token_text(name, seen));
			return false;
		}
		struct fh_tpl_node *symbol = fh_tpl_parser_node(p, FH_N_SYMBOL, name);
		fh_tpl_node_name(symbol, name->text);
		fh_tpl_node_add(node, symbol);
	} while (fh_tpl_parser_skip_op(p, ","));
	return true;
}

static struct fh_tpl_node *parse_for(struct fh_tpl_parser *p, const struct fh_tpl_token *at)
{
	struct fh_tpl_node *node = fh_tpl_parser_node(p, FH_N_FOR, at);
	char seen[64];
	if (!parse_names(p, node))
		return NULL;
	if (!fh_tpl_parser_skip_word(p, "in"))
		return fh_tpl_parser_fail(p, fh_tpl_parser_peek(p), "expected 'in', not %s",
		                          fh_tpl_token_text(fh_tpl_parser_peek(p), seen));
	node->a = fh_tpl_parser_expression(p);
	if (!node->a || !fh_tpl_parser_tag_end(p))
		return NULL;
	const char *words = fh_str_eq(at->text, "for")         ? "else|endfor"
	                    : fh_str_eq(at->text, "asyncEach") ? "else|endeach"
	                                                       : "else|endall";
	node->b = fh_tpl_parser_body(p, at, words);
	if (!node->b)
		return NULL;
	if (fh_tpl_parser_skip_word(p, "else")) {
		node->c = fh_tpl_parser_tag_end(p) ? fh_tpl_parser_body(p, at, words + strlen("else|")) : NULL;
		if (!node->c)
			return NULL;
	}
	fh_tpl_parser_next(p);
	return fh_tpl_parser_tag_end(p) ? node : NULL;
}

static struct fh_tpl_node *parse_set(struct fh_tpl_parser *p, const struct fh_tpl_token *at)
{
	struct fh_tpl_node *node = fh_tpl_parser_node(p, FH_N_SET, at);
	if (!parse_names(p, node))
		return NULL;
	if (fh_tpl_parser_skip_op(p, "=")) {
		node->a = fh_tpl_parser_expression(p);
		return node->a && fh_tpl_parser_tag_end(p) ? node : NULL;
	}
	if (!fh_tpl_parser_tag_end(p))
		return NULL;
	node->b = fh_tpl_parser_body(p, at, "endset");
	if (!node->b)
		return NULL;
	fh_tpl_parser_next(p);
	return fh_tpl_parser_tag_end(p) ? node : NULL;
}

/* Those of a macro or a caller, from behind the '('. */
static bool parse_parameters(struct fh_tpl_parser *p, struct fh_tpl_node *node)
{
	char seen[64];
	while (!fh_tpl_parser_skip_op(p, ")")) {
		const struct fh_tpl_token *parameter = fh_tpl_parser_next(p);
		if (parameter->kind != FH_TPL_TOKEN_NAME) {
			fh_tpl_parser_fail(p, parameter, "expected a parameter's name, not %s", fh_tpl_token_text(parameter, seen));
			return false;
		}
		struct fh_tpl_node *pair = fh_tpl_parser_node(p, FH_N_PAIR, parameter);
		fh_tpl_node_name(pair, parameter->text);
		if (fh_tpl_parser_skip_op(p, "="))
			pair->a = fh_tpl_parser_expression(p);
		fh_tpl_node_add(node, pair);
		if (p->failed)
			return false;
		if (!fh_tpl_parser_skip_op(p, ","))
			return fh_tpl_parser_expect_op(p, ")");
	}
	return true;
}

static struct fh_tpl_node *parse_macro(struct fh_tpl_parser *p, const struct fh_tpl_token *at)
{
	struct fh_tpl_node *node = fh_tpl_parser_node(p, FH_N_MACRO, at);
	const struct fh_tpl_token *name = fh_tpl_parser_next(p);
	char seen[64];
	if (name->kind != FH_TPL_TOKEN_NAME)
		return fh_tpl_parser_fail(p, name, "expected the macro's name, not %s", fh_tpl_token_text(name, seen));
	fh_tpl_node_name(node, name->text);
	if (!fh_tpl_parser_expect_op(p, "(") || !parse_parameters(p, node))
		return NULL;
	node->b = fh_tpl_parser_tag_end(p) ? fh_tpl_parser_body(p, at, "endmacro") : NULL;
	if (!node->b)
		return NULL;
	fh_tpl_parser_next(p);
	fh_tpl_parser_skip_word(p, node->name);
	return fh_tpl_parser_tag_end(p) ? node : NULL;
}

/* {% call(a, b) macro(c) %}body{% endcall %}: prints the macro, to which `caller` is a function that renders the body.
 */
static struct fh_tpl_node *parse_call(struct fh_tpl_parser *p, const struct fh_tpl_token *at)
{
	struct fh_tpl_node *node = fh_tpl_parser_node(p, FH_N_OUTPUT, at), *caller = fh_tpl_parser_node(p, FH_N_CALLER, at);
	struct fh_tpl_node *argument = fh_tpl_parser_node(p, FH_N_PAIR, at);
	if (fh_tpl_parser_skip_op(p, "(") && !parse_parameters(p, caller))
		return NULL;
	node->a = fh_tpl_parser_primary(p);
	if (!node->a)
		return NULL;
	if (node->a->kind != FH_N_CALL)
		return fh_tpl_parser_fail(p, at, "expected the call of a macro after 'call'");
	caller->b = fh_tpl_parser_tag_end(p) ? fh_tpl_parser_body(p, at, "endcall") : NULL;
	if (!caller->b)
		return NULL;
	fh_tpl_node_name(argument, fh_str("caller"));
	argument->a = caller;
	fh_tpl_node_add(node->a, argument);
	fh_tpl_parser_next(p);
	return fh_tpl_parser_tag_end(p) ? node : NULL;
}

/* As Nunjucks does, the word of the first tag inside is not looked at: a `default` there is a case. */
static struct fh_tpl_node *parse_switch(struct fh_tpl_parser *p, const struct fh_tpl_token *at)
{
	struct fh_tpl_node *node = fh_tpl_parser_node(p, FH_N_SWITCH, at);
	node->a = fh_tpl_parser_expression(p);
	if (!node->a || !fh_tpl_parser_tag_end(p) || !fh_tpl_parser_body(p, at, "case|default|endswitch"))
		return NULL;
	fh_tpl_parser_skip_word(p, "case");
	do {
		struct fh_tpl_node *one = fh_tpl_parser_node(p, FH_N_CASE, fh_tpl_parser_peek(p));
		one->a = fh_tpl_parser_expression(p);
		one->b = one->a && fh_tpl_parser_tag_end(p) ? fh_tpl_parser_body(p, at, "case|default|endswitch") : NULL;
		if (!one->b)
			return NULL;
		fh_tpl_node_add(node, one);
	} while (fh_tpl_parser_skip_word(p, "case"));
	if (fh_tpl_parser_skip_word(p, "default")) {
		node->c = fh_tpl_parser_tag_end(p) ? fh_tpl_parser_body(p, at, "endswitch") : NULL;
		if (!node->c)
			return NULL;
	}
	fh_tpl_parser_next(p);
	return fh_tpl_parser_tag_end(p) ? node : NULL;
}

static struct fh_tpl_node *parse_filter_block(struct fh_tpl_parser *p, const struct fh_tpl_token *at)
{
	struct fh_tpl_node *node = fh_tpl_parser_node(p, FH_N_FILTER_BLOCK, at);
	node->a = fh_tpl_parser_filter(p, NULL);
	if (!node->a || !fh_tpl_parser_tag_end(p))
		return NULL;
	node->b = fh_tpl_parser_body(p, at, "endfilter");
	if (!node->b)
		return NULL;
	fh_tpl_parser_next(p);
	return fh_tpl_parser_tag_end(p) ? node : NULL;
}

static const struct {
	const char *word;
	tag_fn parse;
} tags[] = {
	{ "if", parse_if },
	{ "ifAsync", parse_if },
	{ "for", parse_for },
	{ "asyncEach", parse_for },
	{ "asyncAll", parse_for },
	{ "set", parse_set },
	{ "macro", parse_macro },
	{ "call", parse_call },
	{ "filter", parse_filter_block },
	{ "switch", parse_switch },
	{ "include", fh_tpl_parser_include },
	{ "import", fh_tpl_parser_import },
	{ "from", fh_tpl_parser_from },
	{ "extends", fh_tpl_parser_extends },
	{ "block", fh_tpl_parser_block },
};

static struct fh_tpl_node *parse_tag(struct fh_tpl_parser *p)
{
	const struct fh_tpl_token *word = fh_tpl_parser_next(p);
	char seen[64];
	for (size_t i = 0; i < FH_ARRAY_SIZE(tags); i++)
		if (word->kind == FH_TPL_TOKEN_NAME && fh_str_eq(word->text, tags[i].word))
			return tags[i].parse(p, word);
	bool closing = word->kind == FH_TPL_TOKEN_NAME && (fh_str_eq(word->text, "else") || fh_str_eq(word->text, "elif") ||
	                                                   (word->text.n > 3 && memcmp(word->text.p, "end", 3) == 0));
	fh_tpl_parser_fail(p, word, closing ? "this %s belongs to no open tag" : "unknown tag %s",
	                   fh_tpl_token_text(word, seen));
	fh_error_hint(
	    p->err,
	    "the tags are if, for, set, macro, call, switch, filter, include, import, from, extends, block and raw; text "
	    "that is not a template goes between {%% raw %%} and {%% endraw %%}");
	return NULL;
}

static struct fh_tpl_node *parse_statement(struct fh_tpl_parser *p)
{
	const struct fh_tpl_token *at = fh_tpl_parser_next(p);
	struct fh_tpl_node *node;
	char seen[64];
	if (at->kind == FH_TPL_TOKEN_TAG)
		return parse_tag(p);
	if (at->kind == FH_TPL_TOKEN_DATA) {
		node = fh_tpl_parser_node(p, FH_N_TEXT, at);
		fh_tpl_node_name(node, at->text);
		return node;
	}
	node = fh_tpl_parser_node(p, FH_N_OUTPUT, at);
	node->a = fh_tpl_parser_expression(p);
	if (!node->a)
		return NULL;
	const struct fh_tpl_token *end = fh_tpl_parser_next(p);
	if (end->kind != FH_TPL_TOKEN_OUTPUT_END)
		return fh_tpl_parser_fail(p, end, "expected }}, not %s", fh_tpl_token_text(end, seen));
	return node;
}

struct fh_tpl_node *fh_tpl_parser_template(struct fh_tpl_parser *p)
{
	struct fh_tpl_node *block = fh_tpl_parser_node(p, FH_N_BLOCK, fh_tpl_parser_peek(p));
	while (fh_tpl_parser_peek(p)->kind != FH_TPL_TOKEN_END) {
		struct fh_tpl_node *node = parse_statement(p);
		if (!node)
			return NULL;
		fh_tpl_node_add(block, node);
	}
	return block;
}

/* ---- the template as a whole ---- */

struct fh_text_template *fh_text_template_compile(struct fh_str source, const char *name, struct fh_error *err)
{
	if (source.n > FH_TEXT_TEMPLATE_SOURCE_MAX) {
		fh_error_at(err, name, 0, 0, "the template is larger than %zu bytes", FH_TEXT_TEMPLATE_SOURCE_MAX);
		return NULL;
	}
	fh_auto_buf struct fh_buf clean = FH_BUF_INIT(0);
	fh_utf8_sanitize(&clean, source);
	struct fh_text_template *t = FH_NEW(struct fh_text_template);
	t->name = fh_xstrdup(name ? name : "");
	struct fh_tpl_parser p = { .t = t, .err = err };
	if (fh_text_template_lex(fh_buf_str(&clean), t->name, &p.tokens, err) == 0)
		t->root = fh_tpl_parser_template(&p);
	free(p.tokens.items);
	if (!t->root)
		fh_text_template_free(FH_TAKE_PTR(t));
	return t;
}

void fh_text_template_free(struct fh_text_template *t)
{
	if (!t)
		return;
	while (t->nodes) {
		struct fh_tpl_node *node = t->nodes;
		t->nodes = node->next;
		if (node->kind == FH_N_LITERAL && node->value.kind == FH_TPL_STRING)
			json_decref(node->value.json);
		free(node->name);
		free(node->kids);
		free(node);
	}
	free(t->name);
	free(t);
}

bool fh_text_template_has_tags(struct fh_str source)
{
	for (size_t i = 0; i + 1 < source.n; i++)
		if (source.p[i] == '{' && source.p[i + 1] && strchr("{%#", source.p[i + 1]))
			return true;
	return false;
}
