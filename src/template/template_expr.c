/* SPDX-License-Identifier: MIT */
#include "template/template_internal.h"

#include <stdio.h>

/*
 * Expressions. Nunjucks parses them with a level of its own for each operator, but then writes them as JavaScript
 * without parentheses, so that JavaScript's precedence applies (2 * 7 % 4 is 2, `not a == b` is (not a) == b).
 * Parentheses stay only around operators that become a function call (// and **, in, is) and where the author wrote
 * them. We get the same result by rotating the tree where two operators of one JavaScript level meet.
 */

typedef struct fh_tpl_node *(*level_fn)(struct fh_tpl_parser *p);

static struct fh_tpl_node *parse_unary(struct fh_tpl_parser *p, bool filters);

/* Builds the node of `a op b` as JavaScript parses the text without parentheses: with x - y as b, a + b becomes (a + x)
 * - y. */
static struct fh_tpl_node *combine(struct fh_tpl_parser *p, const struct fh_tpl_token *at,
                                   const struct fh_tpl_operator *op, struct fh_tpl_node *a, struct fh_tpl_node *b)
{
	struct fh_tpl_node *node = fh_tpl_parser_node(p, FH_N_BINARY, at), *right = b;
	node->op = op;
	node->a = a;
	node->b = b;
	if (op->level < FH_TPL_LEVEL_ADD || b->kind != FH_N_BINARY || b->op->level != op->level)
		return node;
	/* b leans to the left: the operand next to a is b's leftmost. */
	while (right->a->kind == FH_N_BINARY && right->a->op->level == op->level)
		right = right->a;
	node->b = right->a;
	right->a = node;
	return b;
}

static struct fh_tpl_node *binary(struct fh_tpl_parser *p, const struct fh_tpl_token *at, struct fh_tpl_node *a,
                                  struct fh_tpl_node *b)
{
	char text[8];
	snprintf(text, sizeof(text), "%.*s", FH_STR_ARGS(at->text));
	if (!fh_streq(text, "//"))
		return combine(p, at, fh_tpl_operator_find(text), a, b);
	struct fh_tpl_node *node = fh_tpl_parser_node(p, FH_N_FLOOR, at);
	node->a = combine(p, at, fh_tpl_operator_find("/"), a, b);
	return node;
}

static struct fh_tpl_node *parse_arithmetic(struct fh_tpl_parser *p, size_t level)
{
	static const char *const levels[] = { "~", "+", "-", "*", "/", "//", "%", "**" };
	if (level == FH_ARRAY_SIZE(levels))
		return parse_unary(p, true);
	struct fh_tpl_node *node = parse_arithmetic(p, level + 1);
	while (node) {
		const struct fh_tpl_token *at = fh_tpl_parser_peek(p);
		if (!fh_tpl_parser_skip_op(p, levels[level]))
			break;
		struct fh_tpl_node *right = parse_arithmetic(p, level + 1);
		node = right ? binary(p, at, node, right) : NULL;
	}
	return node;
}

static struct fh_tpl_node *parse_comparison(struct fh_tpl_parser *p, bool equality)
{
	static const char *const operators[2][4] = { { "<", ">", "<=", ">=" }, { "==", "===", "!=", "!==" } };
	struct fh_tpl_node *node = equality ? parse_comparison(p, false) : parse_arithmetic(p, 0);
	while (node) {
		const struct fh_tpl_token *at = fh_tpl_parser_peek(p);
		bool found = false;
		for (size_t i = 0; i < FH_ARRAY_SIZE(operators[0]) && !found; i++)
			found = fh_tpl_parser_skip_op(p, operators[equality][i]);
		if (!found)
			break;
		struct fh_tpl_node *right = equality ? parse_comparison(p, false) : parse_arithmetic(p, 0);
		node = right ? binary(p, at, node, right) : NULL;
	}
	return node;
}

static struct fh_tpl_node *parse_compare(struct fh_tpl_parser *p)
{
	return parse_comparison(p, true);
}

static struct fh_tpl_node *negated(struct fh_tpl_parser *p, const struct fh_tpl_token *at, struct fh_tpl_node *operand)
{
	struct fh_tpl_node *node = fh_tpl_parser_node(p, FH_N_NOT, at), *left = operand;
	bool flat = operand->kind == FH_N_BINARY && operand->op->level != FH_TPL_LEVEL_CALL;
	while (flat && left->a->kind == FH_N_BINARY && left->a->op->level != FH_TPL_LEVEL_CALL)
		left = left->a;
	node->a = flat ? left->a : operand;
	if (flat)
		left->a = node;
	return flat ? operand : node;
}

static struct fh_tpl_node *parse_is(struct fh_tpl_parser *p)
{
	struct fh_tpl_node *node = parse_compare(p);
	const struct fh_tpl_token *at = fh_tpl_parser_peek(p);
	if (!node || !fh_tpl_parser_skip_word(p, "is"))
		return node;
	bool invert = fh_tpl_parser_skip_word(p, "not");
	const struct fh_tpl_token *name = fh_tpl_parser_next(p);
	char seen[64];
	if (name->kind != FH_TPL_TOKEN_NAME)
		return fh_tpl_parser_fail(p, name, "expected the name of a test after 'is', not %s",
		                          fh_tpl_token_text(name, seen));
	struct fh_tpl_node *test = fh_tpl_parser_node(p, FH_N_IS, at);
	fh_tpl_node_name(test, fh_str_eq(name->text, "none") ? fh_str("null") : name->text);
	test->a = node;
	bool known;
	fh_tpl_test_apply(test->name, FH_TPL_VALUE_UNDEFINED, FH_TPL_VALUE_UNDEFINED, &known);
	if (!known)
		return fh_tpl_parser_fail(p, name, "unknown test '%.60s'", test->name);
	if (fh_tpl_parser_skip_op(p, "(") && !fh_tpl_parser_arguments(p, test))
		return NULL;
	return invert ? negated(p, at, test) : test;
}

static struct fh_tpl_node *parse_in(struct fh_tpl_parser *p)
{
	struct fh_tpl_node *node = parse_is(p);
	while (node) {
		const struct fh_tpl_token *at = fh_tpl_parser_peek(p);
		size_t back = p->at;
		bool invert = fh_tpl_parser_skip_word(p, "not");
		if (!fh_tpl_parser_skip_word(p, "in")) {
			p->at = back;
			break;
		}
		struct fh_tpl_node *in = fh_tpl_parser_node(p, FH_N_IN, at);
		in->a = node;
		in->b = parse_is(p);
		node = !in->b ? NULL : invert ? negated(p, at, in) : in;
	}
	return node;
}

static struct fh_tpl_node *parse_not(struct fh_tpl_parser *p)
{
	const struct fh_tpl_token *at = fh_tpl_parser_peek(p);
	if (!fh_tpl_parser_skip_word(p, "not"))
		return parse_in(p);
	if (p->depth >= FH_TEXT_TEMPLATE_DEPTH_MAX)
		return fh_tpl_parser_fail(p, at, "nested more than %d levels deep", FH_TEXT_TEMPLATE_DEPTH_MAX);
	p->depth++;
	struct fh_tpl_node *operand = parse_not(p);
	p->depth--;
	return operand ? negated(p, at, operand) : NULL;
}

static struct fh_tpl_node *parse_logic(struct fh_tpl_parser *p, const char *word, enum fh_tpl_node_kind kind,
                                       level_fn below)
{
	struct fh_tpl_node *node = below(p);
	while (node) {
		const struct fh_tpl_token *at = fh_tpl_parser_peek(p);
		if (!fh_tpl_parser_skip_word(p, word))
			break;
		struct fh_tpl_node *logic = fh_tpl_parser_node(p, kind, at);
		logic->a = node;
		logic->b = below(p);
		node = logic->b ? logic : NULL;
	}
	return node;
}

static struct fh_tpl_node *parse_and(struct fh_tpl_parser *p)
{
	return parse_logic(p, "and", FH_N_AND, parse_not);
}

static struct fh_tpl_node *parse_or(struct fh_tpl_parser *p)
{
	return parse_logic(p, "or", FH_N_OR, parse_and);
}

static struct fh_tpl_node *parse_inline_if(struct fh_tpl_parser *p)
{
	struct fh_tpl_node *node = parse_or(p);
	const struct fh_tpl_token *at = fh_tpl_parser_peek(p);
	if (!node || !fh_tpl_parser_skip_word(p, "if"))
		return node;
	struct fh_tpl_node *choice = fh_tpl_parser_node(p, FH_N_INLINE_IF, at);
	choice->a = node;
	choice->b = parse_or(p);
	if (choice->b && fh_tpl_parser_skip_word(p, "else"))
		choice->c = parse_or(p);
	return p->failed ? NULL : choice;
}

struct fh_tpl_node *fh_tpl_parser_expression(struct fh_tpl_parser *p)
{
	if (p->depth >= FH_TEXT_TEMPLATE_DEPTH_MAX)
		return fh_tpl_parser_fail(p, fh_tpl_parser_peek(p), "nested more than %d levels deep",
		                          FH_TEXT_TEMPLATE_DEPTH_MAX);
	p->depth++;
	struct fh_tpl_node *node = parse_inline_if(p);
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

static struct fh_tpl_node *parse_word(struct fh_tpl_parser *p, const struct fh_tpl_token *at)
{
	static const struct {
		const char *word;
		struct fh_tpl_value value;
	} words[] = { { "true", { .kind = FH_TPL_BOOL, .truth = true } },
		          { "false", { .kind = FH_TPL_BOOL } },
		          { "none", { .kind = FH_TPL_NULL } },
		          { "null", { .kind = FH_TPL_NULL } } };
	for (size_t i = 0; i < FH_ARRAY_SIZE(words); i++) {
		if (!fh_str_eq(at->text, words[i].word))
			continue;
		struct fh_tpl_node *node = fh_tpl_parser_node(p, FH_N_LITERAL, at);
		node->value = words[i].value;
		return node;
	}
	struct fh_tpl_node *node = fh_tpl_parser_node(p, FH_N_SYMBOL, at);
	fh_tpl_node_name(node, at->text);
	return node;
}

/* Parses items up to `close`, separated by commas; a trailing comma is allowed. */
static struct fh_tpl_node *parse_items(struct fh_tpl_parser *p, struct fh_tpl_node *list, const char *close)
{
	while (list && !fh_tpl_parser_skip_op(p, close)) {
		struct fh_tpl_node *item = fh_tpl_parser_expression(p);
		if (!item)
			return NULL;
		fh_tpl_node_add(list, item);
		if (!fh_tpl_parser_skip_op(p, ",")) {
			if (!fh_tpl_parser_expect_op(p, close))
				return NULL;
			break;
		}
	}
	return list;
}

static struct fh_tpl_node *parse_dict(struct fh_tpl_parser *p, struct fh_tpl_node *dict)
{
	while (!fh_tpl_parser_skip_op(p, "}")) {
		const struct fh_tpl_token *at = fh_tpl_parser_next(p);
		char seen[64];
		if (at->kind != FH_TPL_TOKEN_NAME && at->kind != FH_TPL_TOKEN_STRING && at->kind != FH_TPL_TOKEN_NUMBER)
			return fh_tpl_parser_fail(p, at, "expected a key, not %s", fh_tpl_token_text(at, seen));
		struct fh_tpl_node *pair = fh_tpl_parser_node(p, FH_N_PAIR, at);
		fh_auto_json json_t *key =
		    at->kind == FH_TPL_TOKEN_STRING ? unescaped(at->text) : json_stringn_nocheck(at->text.p, at->text.n);
		fh_tpl_node_name(pair, (struct fh_str){ json_string_value(key), json_string_length(key) });
		if (!fh_tpl_parser_expect_op(p, ":"))
			return NULL;
		pair->a = fh_tpl_parser_expression(p);
		if (!pair->a)
			return NULL;
		fh_tpl_node_add(dict, pair);
		if (!fh_tpl_parser_skip_op(p, ",")) {
			if (!fh_tpl_parser_expect_op(p, "}"))
				return NULL;
			break;
		}
	}
	return dict;
}

static struct fh_tpl_node *parse_regex(struct fh_tpl_parser *p, const struct fh_tpl_token *at)
{
	struct fh_tpl_node *node = fh_tpl_parser_node(p, FH_N_REGEX, at);
	size_t end = at->text.n;
	while (at->text.p[end - 1] != '/')
		end--;
	fh_tpl_node_name(node, (struct fh_str){ at->text.p, end - 1 });
	snprintf(node->flags, sizeof(node->flags), "%.*s", (int)(at->text.n - end), at->text.p + end);
	return node;
}

static struct fh_tpl_node *parse_primary(struct fh_tpl_parser *p)
{
	const struct fh_tpl_token *at = fh_tpl_parser_next(p);
	struct fh_tpl_node *node;
	char seen[64];
	if (at->kind == FH_TPL_TOKEN_NAME)
		return parse_word(p, at);
	if (at->kind == FH_TPL_TOKEN_STRING || at->kind == FH_TPL_TOKEN_NUMBER) {
		node = fh_tpl_parser_node(p, FH_N_LITERAL, at);
		fh_auto_free char *digits = fh_xmemdup(at->text.p, at->text.n);
		node->value = at->kind == FH_TPL_TOKEN_NUMBER
		                  ? fh_tpl_value_number(strtod(digits, NULL))
		                  : (struct fh_tpl_value){ .kind = FH_TPL_STRING, .json = unescaped(at->text) };
		return node;
	}
	if (at->kind == FH_TPL_TOKEN_REGEX)
		return parse_regex(p, at);
	if (at->kind == FH_TPL_TOKEN_OPERATOR && *at->text.p == '(') {
		node = parse_items(p, fh_tpl_parser_node(p, FH_N_GROUP, at), ")");
		return node && node->n_kids == 0 ? fh_tpl_parser_fail(p, at, "nothing between ( and )") : node;
	}
	if (at->kind == FH_TPL_TOKEN_OPERATOR && *at->text.p == '[')
		return parse_items(p, fh_tpl_parser_node(p, FH_N_ARRAY, at), "]");
	if (at->kind == FH_TPL_TOKEN_OPERATOR && *at->text.p == '{')
		return parse_dict(p, fh_tpl_parser_node(p, FH_N_DICT, at));
	return fh_tpl_parser_fail(p, at, "expected a value, not %s", fh_tpl_token_text(at, seen));
}

bool fh_tpl_parser_arguments(struct fh_tpl_parser *p, struct fh_tpl_node *call)
{
	while (!fh_tpl_parser_skip_op(p, ")")) {
		const struct fh_tpl_token *at = fh_tpl_parser_peek(p);
		struct fh_tpl_node *argument;
		/* p->tokens ends with END, so a token follows the name. */
		if (at->kind == FH_TPL_TOKEN_NAME && at[1].kind == FH_TPL_TOKEN_OPERATOR && fh_str_eq(at[1].text, "=")) {
			argument = fh_tpl_parser_node(p, FH_N_PAIR, at);
			fh_tpl_node_name(argument, at->text);
			p->at += 2;
			argument->a = fh_tpl_parser_expression(p);
		} else {
			argument = fh_tpl_parser_expression(p);
		}
		if (p->failed)
			return false;
		fh_tpl_node_add(call, argument);
		if (!fh_tpl_parser_skip_op(p, ","))
			return fh_tpl_parser_expect_op(p, ")");
	}
	return true;
}

static struct fh_tpl_node *parse_dot(struct fh_tpl_parser *p, const struct fh_tpl_token *at, struct fh_tpl_node *object)
{
	const struct fh_tpl_token *name = fh_tpl_parser_next(p);
	char seen[64];
	if (name->kind != FH_TPL_TOKEN_NAME && name->kind != FH_TPL_TOKEN_NUMBER)
		return fh_tpl_parser_fail(p, name, "expected a name after '.', not %s", fh_tpl_token_text(name, seen));
	struct fh_tpl_node *node = fh_tpl_parser_node(p, FH_N_LOOKUP, at);
	node->a = object;
	node->b = fh_tpl_parser_node(p, FH_N_LITERAL, name);
	node->b->value =
	    (struct fh_tpl_value){ .kind = FH_TPL_STRING, .json = json_stringn_nocheck(name->text.p, name->text.n) };
	fh_tpl_node_name(node, name->text);
	static const char *const mutators[] = { "push", "pop", "shift", "unshift", "reverse", "sort", "splice" };
	for (size_t i = 0; i < FH_ARRAY_SIZE(mutators); i++)
		p->t->mutates = p->t->mutates || fh_str_eq(name->text, mutators[i]);
	return node;
}

static struct fh_tpl_node *parse_postfix(struct fh_tpl_parser *p, struct fh_tpl_node *node)
{
	while (node) {
		const struct fh_tpl_token *at = fh_tpl_parser_peek(p);
		if (fh_tpl_parser_skip_op(p, ".")) {
			node = parse_dot(p, at, node);
		} else if (fh_tpl_parser_skip_op(p, "[")) {
			struct fh_tpl_node *lookup = fh_tpl_parser_node(p, FH_N_LOOKUP, at);
			lookup->a = node;
			lookup->b = fh_tpl_parser_expression(p);
			node = lookup->b && fh_tpl_parser_expect_op(p, "]") ? lookup : NULL;
		} else if (fh_tpl_parser_skip_op(p, "(")) {
			struct fh_tpl_node *call = fh_tpl_parser_node(p, FH_N_CALL, at);
			call->a = node;
			node = fh_tpl_parser_arguments(p, call) ? call : NULL;
		} else {
			break;
		}
	}
	return node;
}

struct fh_tpl_node *fh_tpl_parser_filter(struct fh_tpl_parser *p, struct fh_tpl_node *operand)
{
	const struct fh_tpl_token *at = fh_tpl_parser_next(p);
	char seen[64];
	if (at->kind != FH_TPL_TOKEN_NAME)
		return fh_tpl_parser_fail(p, at, "expected the name of a filter, not %s", fh_tpl_token_text(at, seen));
	struct fh_tpl_node *node = fh_tpl_parser_node(p, FH_N_FILTER, at);
	fh_tpl_node_name(node, at->text);
	node->a = operand;
	if (fh_tpl_parser_skip_op(p, "(") && !fh_tpl_parser_arguments(p, node))
		return NULL;
	return node;
}

struct fh_tpl_node *fh_tpl_parser_primary(struct fh_tpl_parser *p)
{
	return parse_postfix(p, parse_primary(p));
}

static struct fh_tpl_node *parse_unary(struct fh_tpl_parser *p, bool filters)
{
	const struct fh_tpl_token *at = fh_tpl_parser_peek(p);
	struct fh_tpl_node *node;
	bool minus = fh_tpl_parser_skip_op(p, "-");
	if (minus || fh_tpl_parser_skip_op(p, "+")) {
		if (p->depth >= FH_TEXT_TEMPLATE_DEPTH_MAX)
			return fh_tpl_parser_fail(p, at, "nested more than %d levels deep", FH_TEXT_TEMPLATE_DEPTH_MAX);
		p->depth++;
		struct fh_tpl_node *operand = parse_unary(p, false);
		p->depth--;
		if (!operand)
			return NULL;
		node = fh_tpl_parser_node(p, minus ? FH_N_NEGATE : FH_N_PLUS, at);
		node->a = operand;
	} else {
		node = fh_tpl_parser_primary(p);
	}
	while (filters && node && fh_tpl_parser_skip_op(p, "|"))
		node = fh_tpl_parser_filter(p, node);
	return node;
}
