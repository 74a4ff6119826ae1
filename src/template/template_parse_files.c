/* SPDX-License-Identifier: MIT */
#include "template/template_internal.h"

/* The tags that name other templates: include, import, from, extends; and block, which extends replaces. */

static struct fh_tnode *loading(struct fh_tparser *p, enum fh_tnode_kind kind, const struct fh_ttoken *at)
{
	struct fh_tnode *node = fh_tparser_node(p, kind, at);
	p->t->mutates = true;
	node->a = fh_tparser_expression(p);
	return node->a ? node : NULL;
}

/* "with context" or "without context", the default. */
static bool parse_context(struct fh_tparser *p, struct fh_tnode *node)
{
	char seen[64];
	bool with = fh_tparser_skip_word(p, "with");
	if (!with && !fh_tparser_skip_word(p, "without"))
		return true;
	node->flag = with;
	if (fh_tparser_skip_word(p, "context"))
		return true;
	fh_tparser_fail(p, fh_tparser_peek(p), "expected 'context', not %s", fh_ttoken_text(fh_tparser_peek(p), seen));
	return false;
}

static struct fh_tnode *parse_name(struct fh_tparser *p)
{
	const struct fh_ttoken *name = fh_tparser_next(p);
	char seen[64];
	if (name->kind != FH_TK_NAME)
		return fh_tparser_fail(p, name, "expected a name, not %s", fh_ttoken_text(name, seen));
	struct fh_tnode *symbol = fh_tparser_node(p, FH_N_SYMBOL, name);
	fh_tnode_name(symbol, name->text);
	return symbol;
}

struct fh_tnode *fh_tparser_include(struct fh_tparser *p, const struct fh_ttoken *at)
{
	struct fh_tnode *node = loading(p, FH_N_INCLUDE, at);
	if (!node)
		return NULL;
	node->flag = fh_tparser_skip_word(p, "ignore") && fh_tparser_skip_word(p, "missing");
	return fh_tparser_tag_end(p) ? node : NULL;
}

struct fh_tnode *fh_tparser_import(struct fh_tparser *p, const struct fh_ttoken *at)
{
	struct fh_tnode *node = loading(p, FH_N_IMPORT, at);
	char seen[64];
	if (!node)
		return NULL;
	if (!fh_tparser_skip_word(p, "as"))
		return fh_tparser_fail(p, fh_tparser_peek(p), "expected 'as', not %s",
		                       fh_ttoken_text(fh_tparser_peek(p), seen));
	node->b = parse_name(p);
	return node->b && parse_context(p, node) && fh_tparser_tag_end(p) ? node : NULL;
}

struct fh_tnode *fh_tparser_from(struct fh_tparser *p, const struct fh_ttoken *at)
{
	struct fh_tnode *node = loading(p, FH_N_FROM, at);
	char seen[64];
	if (!node)
		return NULL;
	if (!fh_tparser_skip_word(p, "import"))
		return fh_tparser_fail(p, fh_tparser_peek(p), "expected 'import', not %s",
		                       fh_ttoken_text(fh_tparser_peek(p), seen));
	do {
		struct fh_tnode *pair = fh_tparser_node(p, FH_N_PAIR, fh_tparser_peek(p)), *name = parse_name(p);
		if (!name)
			return NULL;
		if (name->name[0] == '_')
			return fh_tparser_fail(p, fh_tparser_peek(p), "names that begin with an underscore cannot be imported");
		fh_tnode_name(pair, (struct fh_str){ name->name, name->name_n });
		pair->a = fh_tparser_skip_word(p, "as") ? parse_name(p) : name;
		if (!pair->a)
			return NULL;
		fh_tnode_add(node, pair);
	} while (fh_tparser_skip_op(p, ","));
	return parse_context(p, node) && fh_tparser_tag_end(p) ? node : NULL;
}

struct fh_tnode *fh_tparser_extends(struct fh_tparser *p, const struct fh_ttoken *at)
{
	struct fh_tnode *node = loading(p, FH_N_EXTENDS, at);
	p->t->extends = true;
	return node && fh_tparser_tag_end(p) ? node : NULL;
}

struct fh_tnode *fh_tparser_block(struct fh_tparser *p, const struct fh_ttoken *at)
{
	struct fh_tnode *node = fh_tparser_node(p, FH_N_NAMED_BLOCK, at), *name = parse_name(p);
	if (!name || !fh_tparser_tag_end(p))
		return NULL;
	fh_tnode_name(node, (struct fh_str){ name->name, name->name_n });
	node->b = fh_tparser_body(p, at, "endblock");
	if (!node->b)
		return NULL;
	fh_tparser_next(p);
	fh_tparser_skip_word(p, node->name);
	return fh_tparser_tag_end(p) ? node : NULL;
}
