/* SPDX-License-Identifier: MIT */
#include "template/template_internal.h"

/* The tags that name other templates: include, import, from, extends; and block, which extends replaces. */

static struct fh_tpl_node *loading(struct fh_tpl_parser *p, enum fh_tpl_node_kind kind, const struct fh_tpl_token *at)
{
	struct fh_tpl_node *node = fh_tpl_parser_node(p, kind, at);
	p->t->mutates = true;
	node->a = fh_tpl_parser_expression(p);
	return node->a ? node : NULL;
}

/* "with context" or "without context", the default. */
static bool parse_context(struct fh_tpl_parser *p, struct fh_tpl_node *node)
{
	char seen[64];
	bool with = fh_tpl_parser_skip_word(p, "with");
	if (!with && !fh_tpl_parser_skip_word(p, "without"))
		return true;
	node->flag = with;
	if (fh_tpl_parser_skip_word(p, "context"))
		return true;
	fh_tpl_parser_fail(p, fh_tpl_parser_peek(p), "expected 'context', not %s",
	                   fh_tpl_token_text(fh_tpl_parser_peek(p), seen));
	return false;
}

/* A name that is given, or that another template has: no symbol, whose value would be looked up. */
static struct fh_tpl_node *parse_name(struct fh_tpl_parser *p)
{
	const struct fh_tpl_token *name = fh_tpl_parser_next(p);
	char seen[64];
	if (name->kind != FH_TPL_TOKEN_NAME)
		return fh_tpl_parser_fail(p, name, "expected a name, not %s", fh_tpl_token_text(name, seen));
	struct fh_tpl_node *node = fh_tpl_parser_node(p, FH_N_PAIR, name);
	fh_tpl_node_name(node, name->text);
	return node;
}

struct fh_tpl_node *fh_tpl_parser_include(struct fh_tpl_parser *p, const struct fh_tpl_token *at)
{
	struct fh_tpl_node *node = loading(p, FH_N_INCLUDE, at);
	if (!node)
		return NULL;
	node->flag = fh_tpl_parser_skip_word(p, "ignore") && fh_tpl_parser_skip_word(p, "missing");
	return fh_tpl_parser_tag_end(p) ? node : NULL;
}

struct fh_tpl_node *fh_tpl_parser_import(struct fh_tpl_parser *p, const struct fh_tpl_token *at)
{
	struct fh_tpl_node *node = loading(p, FH_N_IMPORT, at);
	char seen[64];
	if (!node)
		return NULL;
	if (!fh_tpl_parser_skip_word(p, "as"))
		return fh_tpl_parser_fail(p, fh_tpl_parser_peek(p), "expected 'as', not %s",
		                          fh_tpl_token_text(fh_tpl_parser_peek(p), seen));
	node->b = parse_name(p);
	return node->b && parse_context(p, node) && fh_tpl_parser_tag_end(p) ? node : NULL;
}

struct fh_tpl_node *fh_tpl_parser_from(struct fh_tpl_parser *p, const struct fh_tpl_token *at)
{
	struct fh_tpl_node *node = loading(p, FH_N_FROM, at);
	char seen[64];
	if (!node)
		return NULL;
	if (!fh_tpl_parser_skip_word(p, "import"))
		return fh_tpl_parser_fail(p, fh_tpl_parser_peek(p), "expected 'import', not %s",
		                          fh_tpl_token_text(fh_tpl_parser_peek(p), seen));
	do {
		struct fh_tpl_node *pair = fh_tpl_parser_node(p, FH_N_PAIR, fh_tpl_parser_peek(p)), *name = parse_name(p);
		if (!name)
			return NULL;
		if (name->name[0] == '_')
			return fh_tpl_parser_fail(p, fh_tpl_parser_peek(p),
			                          "names that begin with an underscore cannot be imported");
		fh_tpl_node_name(pair, (struct fh_str){ name->name, name->name_n });
		pair->a = fh_tpl_parser_skip_word(p, "as") ? parse_name(p) : name;
		if (!pair->a)
			return NULL;
		fh_tpl_node_add(node, pair);
	} while (fh_tpl_parser_skip_op(p, ","));
	return parse_context(p, node) && fh_tpl_parser_tag_end(p) ? node : NULL;
}

struct fh_tpl_node *fh_tpl_parser_extends(struct fh_tpl_parser *p, const struct fh_tpl_token *at)
{
	struct fh_tpl_node *node = loading(p, FH_N_EXTENDS, at);
	p->t->extends = true;
	return node && fh_tpl_parser_tag_end(p) ? node : NULL;
}

struct fh_tpl_node *fh_tpl_parser_block(struct fh_tpl_parser *p, const struct fh_tpl_token *at)
{
	struct fh_tpl_node *node = fh_tpl_parser_node(p, FH_N_NAMED_BLOCK, at), *name = parse_name(p);
	if (!name || !fh_tpl_parser_tag_end(p))
		return NULL;
	fh_tpl_node_name(node, (struct fh_str){ name->name, name->name_n });
	node->b = fh_tpl_parser_body(p, at, "endblock");
	if (!node->b)
		return NULL;
	fh_tpl_parser_next(p);
	fh_tpl_parser_skip_word(p, node->name);
	return fh_tpl_parser_tag_end(p) ? node : NULL;
}
