/* SPDX-License-Identifier: MIT */
#include "template/template_internal.h"

#include <stdio.h>

/*
 * Expressions. Nunjucks parses them with a level of its own for each operator, but then writes them as JavaScript
 * without parentheses, so that JavaScript's precedence applies (2 * 7 % 4 is 2, `not a == b` is (not a) == b).
 * Parentheses stay only around operators that become a function call (// and **, in, is) and where the author wrote
 * them. We get the same result by rotating the tree where two operators of one JavaScript level meet.
 */

typedef struct fh_tnode *(*level_fn)(struct fh_tparser *p);

static struct fh_tnode *parse_unary(struct fh_tparser *p, bool filters);

/* Builds the node of `a op b` as JavaScript parses the text without parentheses: with x - y as b, a + b becomes (a + x)
 * - y. */
static struct fh_tnode *combine(struct fh_tparser *p, const struct fh_ttoken *at, const struct fh_toperator *op,
                                struct fh_tnode *a, struct fh_tnode *b)
{
	struct fh_tnode *node = fh_tparser_node(p, FH_N_BINARY, at), *right = b;
	node->op = op;
	node->a = a;
	node->b = b;
	if (op->level < FH_TLEVEL_ADD || b->kind != FH_N_BINARY || b->op->level != op->level)
		return node;
	/* b leans to the left: the operand next to a is b's leftmost. */
	while (right->a->kind == FH_N_BINARY && right->a->op->level == op->level)
		right = right->a;
	node->b = right->a;
	right->a = node;
	return b;
}

static struct fh_tnode *binary(struct fh_tparser *p, const struct fh_ttoken *at, struct fh_tnode *a, struct fh_tnode *b)
{
	char text[8];
	snprintf(text, sizeof(text), "%.*s", FH_STR_ARGS(at->text));
	if (!fh_streq(text, "//"))
		return combine(p, at, fh_toperator_find(text), a, b);
	struct fh_tnode *node = fh_tparser_node(p, FH_N_FLOOR, at);
	node->a = combine(p, at, fh_toperator_find("/"), a, b);
	return node;
}

static struct fh_tnode *parse_arithmetic(struct fh_tparser *p, size_t level)
{
	static const char *const levels[] = { "~", "+", "-", "*", "/", "//", "%", "**" };
	if (level == FH_ARRAY_SIZE(levels))
		return parse_unary(p, true);
	struct fh_tnode *node = parse_arithmetic(p, level + 1);
	while (node) {
		const struct fh_ttoken *at = fh_tparser_peek(p);
		if (!fh_tparser_skip_op(p, levels[level]))
			break;
		struct fh_tnode *right = parse_arithmetic(p, level + 1);
		node = right ? binary(p, at, node, right) : NULL;
	}
	return node;
}

static struct fh_tnode *parse_comparison(struct fh_tparser *p, bool equality)
{
	static const char *const operators[2][4] = { { "<", ">", "<=", ">=" }, { "==", "===", "!=", "!==" } };
	struct fh_tnode *node = equality ? parse_comparison(p, false) : parse_arithmetic(p, 0);
	while (node) {
		const struct fh_ttoken *at = fh_tparser_peek(p);
		bool found = false;
		for (size_t i = 0; i < FH_ARRAY_SIZE(operators[0]) && !found; i++)
			found = fh_tparser_skip_op(p, operators[equality][i]);
		if (!found)
			break;
		struct fh_tnode *right = equality ? parse_comparison(p, false) : parse_arithmetic(p, 0);
		node = right ? binary(p, at, node, right) : NULL;
	}
	return node;
}

static struct fh_tnode *parse_compare(struct fh_tparser *p)
{
	return parse_comparison(p, true);
}

static struct fh_tnode *negated(struct fh_tparser *p, const struct fh_ttoken *at, struct fh_tnode *operand)
{
	struct fh_tnode *node = fh_tparser_node(p, FH_N_NOT, at), *left = operand;
	bool flat = operand->kind == FH_N_BINARY && operand->op->level != FH_TLEVEL_CALL;
	while (flat && left->a->kind == FH_N_BINARY && left->a->op->level != FH_TLEVEL_CALL)
		left = left->a;
	node->a = flat ? left->a : operand;
	if (flat)
		left->a = node;
	return flat ? operand : node;
}

static struct fh_tnode *parse_is(struct fh_tparser *p)
{
	struct fh_tnode *node = parse_compare(p);
	const struct fh_ttoken *at = fh_tparser_peek(p);
	if (!node || !fh_tparser_skip_word(p, "is"))
		return node;
	bool invert = fh_tparser_skip_word(p, "not");
	const struct fh_ttoken *name = fh_tparser_next(p);
	char seen[64];
	if (name->kind != FH_TK_NAME)
		return fh_tparser_fail(p, name, "expected the name of a test after 'is', not %s", fh_ttoken_text(name, seen));
	struct fh_tnode *test = fh_tparser_node(p, FH_N_IS, at);
	fh_tnode_name(test, fh_str_eq(name->text, "none") ? fh_str("null") : name->text);
	test->a = node;
	bool known;
	fh_ttest_apply(test->name, FH_TVAL_UNDEFINED, FH_TVAL_UNDEFINED, &known);
	if (!known)
		return fh_tparser_fail(p, name, "unknown test '%.60s'", test->name);
	if (fh_tparser_skip_op(p, "(") && !fh_tparser_arguments(p, test))
		return NULL;
	return invert ? negated(p, at, test) : test;
}

static struct fh_tnode *parse_in(struct fh_tparser *p)
{
	struct fh_tnode *node = parse_is(p);
	while (node) {
		const struct fh_ttoken *at = fh_tparser_peek(p);
		size_t back = p->at;
		bool invert = fh_tparser_skip_word(p, "not");
		if (!fh_tparser_skip_word(p, "in")) {
			p->at = back;
			break;
		}
		struct fh_tnode *in = fh_tparser_node(p, FH_N_IN, at);
		in->a = node;
		in->b = parse_is(p);
		node = !in->b ? NULL : invert ? negated(p, at, in) : in;
	}
	return node;
}

static struct fh_tnode *parse_not(struct fh_tparser *p)
{
	const struct fh_ttoken *at = fh_tparser_peek(p);
	if (!fh_tparser_skip_word(p, "not"))
		return parse_in(p);
	if (p->depth >= FH_TEMPLATE_DEPTH_MAX)
		return fh_tparser_fail(p, at, "nested more than %d levels deep", FH_TEMPLATE_DEPTH_MAX);
	p->depth++;
	struct fh_tnode *operand = parse_not(p);
	p->depth--;
	return operand ? negated(p, at, operand) : NULL;
}

static struct fh_tnode *parse_logic(struct fh_tparser *p, const char *word, enum fh_tnode_kind kind, level_fn below)
{
	struct fh_tnode *node = below(p);
	while (node) {
		const struct fh_ttoken *at = fh_tparser_peek(p);
		if (!fh_tparser_skip_word(p, word))
			break;
		struct fh_tnode *logic = fh_tparser_node(p, kind, at);
		logic->a = node;
		logic->b = below(p);
		node = logic->b ? logic : NULL;
	}
	return node;
}

static struct fh_tnode *parse_and(struct fh_tparser *p)
{
	return parse_logic(p, "and", FH_N_AND, parse_not);
}

static struct fh_tnode *parse_or(struct fh_tparser *p)
{
	return parse_logic(p, "or", FH_N_OR, parse_and);
}

static struct fh_tnode *parse_inline_if(struct fh_tparser *p)
{
	struct fh_tnode *node = parse_or(p);
	const struct fh_ttoken *at = fh_tparser_peek(p);
	if (!node || !fh_tparser_skip_word(p, "if"))
		return node;
	struct fh_tnode *choice = fh_tparser_node(p, FH_N_INLINE_IF, at);
	choice->a = node;
	choice->b = parse_or(p);
	if (choice->b && fh_tparser_skip_word(p, "else"))
		choice->c = parse_or(p);
	return p->failed ? NULL : choice;
}

struct fh_tnode *fh_tparser_expression(struct fh_tparser *p)
{
	if (p->depth >= FH_TEMPLATE_DEPTH_MAX)
		return fh_tparser_fail(p, fh_tparser_peek(p), "nested more than %d levels deep", FH_TEMPLATE_DEPTH_MAX);
	p->depth++;
	struct fh_tnode *node = parse_inline_if(p);
	p->depth--;
	return node;
}

/* ---- operands ---- */

static json_t *unescaped(struct fh_str s)
{
	static const char from[] = "ntr", to[] = "\n\t\r";
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(0);
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] != '\\' || i + 1 >= s.n) {
			fh_buf_addc(&out, s.p[i]);
			continue;
		}
		const char *known = s.p[++i] ? strchr(from, s.p[i]) : NULL;
		fh_buf_addc(&out, known ? to[known - from] : s.p[i]);
	}
	return json_stringn_nocheck(fh_buf_cstr(&out), out.n);
}

static struct fh_tnode *parse_word(struct fh_tparser *p, const struct fh_ttoken *at)
{
	static const struct {
		const char *word;
		struct fh_tval value;
	} words[] = { { "true", { .kind = FH_T_BOOL, .truth = true } },
		          { "false", { .kind = FH_T_BOOL } },
		          { "none", { .kind = FH_T_NULL } },
		          { "null", { .kind = FH_T_NULL } } };
	for (size_t i = 0; i < FH_ARRAY_SIZE(words); i++) {
		if (!fh_str_eq(at->text, words[i].word))
			continue;
		struct fh_tnode *node = fh_tparser_node(p, FH_N_LITERAL, at);
		node->value = words[i].value;
		return node;
	}
	struct fh_tnode *node = fh_tparser_node(p, FH_N_SYMBOL, at);
	fh_tnode_name(node, at->text);
	return node;
}

/* Parses items up to `close`, separated by commas; a trailing comma is allowed. */
static struct fh_tnode *parse_items(struct fh_tparser *p, struct fh_tnode *list, const char *close)
{
	while (list && !fh_tparser_skip_op(p, close)) {
		struct fh_tnode *item = fh_tparser_expression(p);
		if (!item)
			return NULL;
		fh_tnode_add(list, item);
		if (!fh_tparser_skip_op(p, ",")) {
			if (!fh_tparser_expect_op(p, close))
				return NULL;
			break;
		}
	}
	return list;
}

static struct fh_tnode *parse_dict(struct fh_tparser *p, struct fh_tnode *dict)
{
	while (!fh_tparser_skip_op(p, "}")) {
		const struct fh_ttoken *at = fh_tparser_next(p);
		char seen[64];
		if (at->kind != FH_TK_NAME && at->kind != FH_TK_STRING && at->kind != FH_TK_NUMBER)
			return fh_tparser_fail(p, at, "expected a key, not %s", fh_ttoken_text(at, seen));
		struct fh_tnode *pair = fh_tparser_node(p, FH_N_PAIR, at);
		fh_auto_json json_t *key =
		    at->kind == FH_TK_STRING ? unescaped(at->text) : json_stringn_nocheck(at->text.p, at->text.n);
		fh_tnode_name(pair, (struct fh_str){ json_string_value(key), json_string_length(key) });
		if (!fh_tparser_expect_op(p, ":"))
			return NULL;
		pair->a = fh_tparser_expression(p);
		if (!pair->a)
			return NULL;
		fh_tnode_add(dict, pair);
		if (!fh_tparser_skip_op(p, ",")) {
			if (!fh_tparser_expect_op(p, "}"))
				return NULL;
			break;
		}
	}
	return dict;
}

static struct fh_tnode *parse_regex(struct fh_tparser *p, const struct fh_ttoken *at)
{
	struct fh_tnode *node = fh_tparser_node(p, FH_N_REGEX, at);
	size_t end = at->text.n;
	while (at->text.p[end - 1] != '/')
		end--;
	fh_tnode_name(node, (struct fh_str){ at->text.p, end - 1 });
	snprintf(node->flags, sizeof(node->flags), "%.*s", (int)(at->text.n - end), at->text.p + end);
	return node;
}

static struct fh_tnode *parse_primary(struct fh_tparser *p)
{
	const struct fh_ttoken *at = fh_tparser_next(p);
	struct fh_tnode *node;
	char seen[64];
	if (at->kind == FH_TK_NAME)
		return parse_word(p, at);
	if (at->kind == FH_TK_STRING || at->kind == FH_TK_NUMBER) {
		node = fh_tparser_node(p, FH_N_LITERAL, at);
		fh_auto_free char *digits = fh_xmemdup(at->text.p, at->text.n);
		node->value = at->kind == FH_TK_NUMBER ? fh_tval_number(strtod(digits, NULL))
		                                       : (struct fh_tval){ .kind = FH_T_STRING, .json = unescaped(at->text) };
		return node;
	}
	if (at->kind == FH_TK_REGEX)
		return parse_regex(p, at);
	if (at->kind == FH_TK_OPERATOR && *at->text.p == '(') {
		node = parse_items(p, fh_tparser_node(p, FH_N_GROUP, at), ")");
		return node && node->n_kids == 0 ? fh_tparser_fail(p, at, "nothing between ( and )") : node;
	}
	if (at->kind == FH_TK_OPERATOR && *at->text.p == '[')
		return parse_items(p, fh_tparser_node(p, FH_N_ARRAY, at), "]");
	if (at->kind == FH_TK_OPERATOR && *at->text.p == '{')
		return parse_dict(p, fh_tparser_node(p, FH_N_DICT, at));
	return fh_tparser_fail(p, at, "expected a value, not %s", fh_ttoken_text(at, seen));
}

bool fh_tparser_arguments(struct fh_tparser *p, struct fh_tnode *call)
{
	while (!fh_tparser_skip_op(p, ")")) {
		const struct fh_ttoken *at = fh_tparser_peek(p);
		struct fh_tnode *argument;
		/* p->tokens ends with END, so a token follows the name. */
		if (at->kind == FH_TK_NAME && at[1].kind == FH_TK_OPERATOR && fh_str_eq(at[1].text, "=")) {
			argument = fh_tparser_node(p, FH_N_PAIR, at);
			fh_tnode_name(argument, at->text);
			p->at += 2;
			argument->a = fh_tparser_expression(p);
		} else {
			argument = fh_tparser_expression(p);
		}
		if (p->failed)
			return false;
		fh_tnode_add(call, argument);
		if (!fh_tparser_skip_op(p, ","))
			return fh_tparser_expect_op(p, ")");
	}
	return true;
}

static struct fh_tnode *parse_dot(struct fh_tparser *p, const struct fh_ttoken *at, struct fh_tnode *object)
{
	const struct fh_ttoken *name = fh_tparser_next(p);
	char seen[64];
	if (name->kind != FH_TK_NAME && name->kind != FH_TK_NUMBER)
		return fh_tparser_fail(p, name, "expected a name after '.', not %s", fh_ttoken_text(name, seen));
	struct fh_tnode *node = fh_tparser_node(p, FH_N_LOOKUP, at);
	node->a = object;
	node->b = fh_tparser_node(p, FH_N_LITERAL, name);
	node->b->value = (struct fh_tval){ .kind = FH_T_STRING, .json = json_stringn_nocheck(name->text.p, name->text.n) };
	fh_tnode_name(node, name->text);
	static const char *const mutators[] = { "push", "pop", "shift", "unshift", "reverse", "sort", "splice" };
	for (size_t i = 0; i < FH_ARRAY_SIZE(mutators); i++)
		p->t->mutates = p->t->mutates || fh_str_eq(name->text, mutators[i]);
	return node;
}

static struct fh_tnode *parse_postfix(struct fh_tparser *p, struct fh_tnode *node)
{
	while (node) {
		const struct fh_ttoken *at = fh_tparser_peek(p);
		if (fh_tparser_skip_op(p, ".")) {
			node = parse_dot(p, at, node);
		} else if (fh_tparser_skip_op(p, "[")) {
			struct fh_tnode *lookup = fh_tparser_node(p, FH_N_LOOKUP, at);
			lookup->a = node;
			lookup->b = fh_tparser_expression(p);
			node = lookup->b && fh_tparser_expect_op(p, "]") ? lookup : NULL;
		} else if (fh_tparser_skip_op(p, "(")) {
			struct fh_tnode *call = fh_tparser_node(p, FH_N_CALL, at);
			call->a = node;
			node = fh_tparser_arguments(p, call) ? call : NULL;
		} else {
			break;
		}
	}
	return node;
}

struct fh_tnode *fh_tparser_filter(struct fh_tparser *p, struct fh_tnode *operand)
{
	const struct fh_ttoken *at = fh_tparser_next(p);
	char seen[64];
	if (at->kind != FH_TK_NAME)
		return fh_tparser_fail(p, at, "expected the name of a filter, not %s", fh_ttoken_text(at, seen));
	struct fh_tnode *node = fh_tparser_node(p, FH_N_FILTER, at);
	fh_tnode_name(node, at->text);
	node->a = operand;
	if (fh_tparser_skip_op(p, "(") && !fh_tparser_arguments(p, node))
		return NULL;
	return node;
}

struct fh_tnode *fh_tparser_primary(struct fh_tparser *p)
{
	return parse_postfix(p, parse_primary(p));
}

static struct fh_tnode *parse_unary(struct fh_tparser *p, bool filters)
{
	const struct fh_ttoken *at = fh_tparser_peek(p);
	struct fh_tnode *node;
	bool minus = fh_tparser_skip_op(p, "-");
	if (minus || fh_tparser_skip_op(p, "+")) {
		if (p->depth >= FH_TEMPLATE_DEPTH_MAX)
			return fh_tparser_fail(p, at, "nested more than %d levels deep", FH_TEMPLATE_DEPTH_MAX);
		p->depth++;
		struct fh_tnode *operand = parse_unary(p, false);
		p->depth--;
		if (!operand)
			return NULL;
		node = fh_tparser_node(p, minus ? FH_N_NEGATE : FH_N_PLUS, at);
		node->a = operand;
	} else {
		node = fh_tparser_primary(p);
	}
	while (filters && node && fh_tparser_skip_op(p, "|"))
		node = fh_tparser_filter(p, node);
	return node;
}
