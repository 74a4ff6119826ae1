/* SPDX-License-Identifier: MIT */
#include "template/template_internal.h"

#include <math.h>

/* Left-leaning trees (a ~ b ~ c …) are deeper than FH_TEXT_TEMPLATE_DEPTH_MAX, which counts nesting in the source. */
#define EVAL_DEPTH_MAX 1000

/* ---- operators ---- */

static bool is_text(struct fh_tpl_value v)
{
	return v.kind >= FH_TPL_STRING;
}

static struct fh_tpl_value op_concat(struct fh_tpl_render *r, struct fh_tpl_value a, struct fh_tpl_value b)
{
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(FH_TEXT_TEMPLATE_MEMORY_MAX);
	fh_tpl_value_write(&out, a);
	fh_tpl_value_write(&out, b);
	return fh_tpl_value_take(r, &out);
}

struct fh_tpl_value fh_tpl_add(struct fh_tpl_render *r, struct fh_tpl_value a, struct fh_tpl_value b)
{
	if (is_text(a) || is_text(b))
		return op_concat(r, a, b);
	return fh_tpl_value_number(fh_tpl_value_to_number(a) + fh_tpl_value_to_number(b));
}

#define ARITHMETIC(name, expression)                                                                                   \
	static struct fh_tpl_value name(struct fh_tpl_render *r, struct fh_tpl_value a, struct fh_tpl_value b)             \
	{                                                                                                                  \
		double x = fh_tpl_value_to_number(a), y = fh_tpl_value_to_number(b);                                           \
		(void)r;                                                                                                       \
		return fh_tpl_value_number(expression);                                                                        \
	}
ARITHMETIC(op_subtract, x - y)
ARITHMETIC(op_multiply, x *y)
ARITHMETIC(op_divide, x / y)
ARITHMETIC(op_remainder, fmod(x, y))
/* JavaScript's 1 ** NaN and 1 ** Infinity are NaN, C's pow() gives 1. */
ARITHMETIC(op_power, isnan(y) || (isinf(y) && fabs(x) == 1) ? (double)NAN : pow(x, y))

#define COMPARISON(name, expression)                                                                                   \
	static struct fh_tpl_value name(struct fh_tpl_render *r, struct fh_tpl_value a, struct fh_tpl_value b)             \
	{                                                                                                                  \
		int order = fh_tpl_value_compare(a, b);                                                                        \
		(void)r;                                                                                                       \
		return fh_tpl_value_bool(expression);                                                                          \
	}
COMPARISON(op_less, order == -1)
COMPARISON(op_greater, order == 1)
COMPARISON(op_less_equal, order == -1 || order == 0)
COMPARISON(op_greater_equal, order == 1 || order == 0)

#define EQUALITY(name, expression)                                                                                     \
	static struct fh_tpl_value name(struct fh_tpl_render *r, struct fh_tpl_value a, struct fh_tpl_value b)             \
	{                                                                                                                  \
		(void)r;                                                                                                       \
		return fh_tpl_value_bool(expression);                                                                          \
	}
EQUALITY(op_equal, fh_tpl_value_loose_equal(a, b))
EQUALITY(op_not_equal, !fh_tpl_value_loose_equal(a, b))
EQUALITY(op_same, fh_tpl_value_strict_equal(a, b))
EQUALITY(op_not_same, !fh_tpl_value_strict_equal(a, b))

static const struct fh_tpl_operator operators[] = {
	{ "~", op_concat, FH_TPL_LEVEL_ADD },
	{ "+", fh_tpl_add, FH_TPL_LEVEL_ADD },
	{ "-", op_subtract, FH_TPL_LEVEL_ADD },
	{ "*", op_multiply, FH_TPL_LEVEL_MULTIPLY },
	{ "/", op_divide, FH_TPL_LEVEL_MULTIPLY },
	{ "%", op_remainder, FH_TPL_LEVEL_MULTIPLY },
	{ "**", op_power, FH_TPL_LEVEL_CALL },
	{ "<", op_less, FH_TPL_LEVEL_COMPARE },
	{ ">", op_greater, FH_TPL_LEVEL_COMPARE },
	{ "<=", op_less_equal, FH_TPL_LEVEL_COMPARE },
	{ ">=", op_greater_equal, FH_TPL_LEVEL_COMPARE },
	{ "==", op_equal, FH_TPL_LEVEL_COMPARE },
	{ "!=", op_not_equal, FH_TPL_LEVEL_COMPARE },
	{ "===", op_same, FH_TPL_LEVEL_COMPARE },
	{ "!==", op_not_same, FH_TPL_LEVEL_COMPARE },
};

const struct fh_tpl_operator *fh_tpl_operator_find(const char *text)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(operators); i++)
		if (fh_streq(operators[i].text, text))
			return &operators[i];
	return NULL;
}

/* ---- nodes ---- */

typedef struct fh_tpl_value (*eval_fn)(struct fh_tpl_render *r, const struct fh_tpl_node *node);

static struct fh_tpl_value eval_literal(struct fh_tpl_render *r, const struct fh_tpl_node *node)
{
	(void)r;
	return node->value;
}

static struct fh_tpl_value eval_symbol(struct fh_tpl_render *r, const struct fh_tpl_node *node)
{
	return fh_tpl_render_lookup(r, node->name);
}

static struct fh_tpl_value eval_group(struct fh_tpl_render *r, const struct fh_tpl_node *node)
{
	struct fh_tpl_value last = FH_TPL_VALUE_UNDEFINED;
	for (size_t i = 0; i < node->n_kids; i++)
		last = fh_tpl_render_eval(r, node->kids[i]);
	return last;
}

static struct fh_tpl_value eval_array(struct fh_tpl_render *r, const struct fh_tpl_node *node)
{
	struct fh_tpl_value array = fh_tpl_value_array(r);
	for (size_t i = 0; i < node->n_kids; i++)
		fh_tpl_value_append(r, array, fh_tpl_render_eval(r, node->kids[i]));
	return array;
}

static struct fh_tpl_value eval_dict(struct fh_tpl_render *r, const struct fh_tpl_node *node)
{
	struct fh_tpl_value object = fh_tpl_value_object(r);
	for (size_t i = 0; i < node->n_kids; i++) {
		const struct fh_tpl_node *pair = node->kids[i];
		struct fh_tpl_value value = fh_tpl_render_eval(r, pair->a);
		if (value.kind != FH_TPL_UNDEFINED && value.kind < FH_TPL_FUNCTION)
			json_object_setn_new_nocheck(object.json, pair->name, pair->name_n, fh_tpl_value_to_json(value));
		fh_tpl_render_keep(r, NULL, 64 + pair->name_n);
	}
	return object;
}

static struct fh_tpl_value eval_lookup(struct fh_tpl_render *r, const struct fh_tpl_node *node)
{
	struct fh_tpl_value object = fh_tpl_render_eval(r, node->a);
	return fh_tpl_value_member(r, object, fh_tpl_render_eval(r, node->b));
}

static struct fh_tpl_value eval_negate(struct fh_tpl_render *r, const struct fh_tpl_node *node)
{
	return fh_tpl_value_number(-fh_tpl_value_to_number(fh_tpl_render_eval(r, node->a)));
}

static struct fh_tpl_value eval_plus(struct fh_tpl_render *r, const struct fh_tpl_node *node)
{
	return fh_tpl_value_number(fh_tpl_value_to_number(fh_tpl_render_eval(r, node->a)));
}

static struct fh_tpl_value eval_floor(struct fh_tpl_render *r, const struct fh_tpl_node *node)
{
	return fh_tpl_value_number(floor(fh_tpl_value_to_number(fh_tpl_render_eval(r, node->a))));
}

static struct fh_tpl_value eval_not(struct fh_tpl_render *r, const struct fh_tpl_node *node)
{
	return fh_tpl_value_bool(!fh_tpl_value_truthy(fh_tpl_render_eval(r, node->a)));
}

static struct fh_tpl_value eval_binary(struct fh_tpl_render *r, const struct fh_tpl_node *node)
{
	struct fh_tpl_value a = fh_tpl_render_eval(r, node->a), b = fh_tpl_render_eval(r, node->b);
	return r->failed ? FH_TPL_VALUE_UNDEFINED : node->op->apply(r, a, b);
}

static struct fh_tpl_value eval_and(struct fh_tpl_render *r, const struct fh_tpl_node *node)
{
	struct fh_tpl_value a = fh_tpl_render_eval(r, node->a);
	return fh_tpl_value_truthy(a) ? fh_tpl_render_eval(r, node->b) : a;
}

static struct fh_tpl_value eval_or(struct fh_tpl_render *r, const struct fh_tpl_node *node)
{
	struct fh_tpl_value a = fh_tpl_render_eval(r, node->a);
	return fh_tpl_value_truthy(a) ? a : fh_tpl_render_eval(r, node->b);
}

static struct fh_tpl_value eval_in(struct fh_tpl_render *r, const struct fh_tpl_node *node)
{
	struct fh_tpl_value key = fh_tpl_render_eval(r, node->a), in = fh_tpl_render_eval(r, node->b);
	if (r->failed)
		return FH_TPL_VALUE_UNDEFINED;
	if (in.kind == FH_TPL_OBJECT) {
		struct fh_str name = fh_tpl_value_str(fh_tpl_value_to_string(r, key));
		return fh_tpl_value_bool(json_object_getn(in.json, name.p, name.n) != NULL);
	}
	if (in.kind == FH_TPL_STRING)
		return fh_tpl_value_bool(
		    fh_tpl_text_find(fh_tpl_value_str(in), fh_tpl_value_str(fh_tpl_value_to_string(r, key)), 0) >= 0);
	if (in.kind != FH_TPL_ARRAY) {
		r->at = node;
		return fh_tpl_render_fail(r, "'in' takes a list, a string or an object on its right");
	}
	for (size_t i = 0; i < json_array_size(in.json); i++)
		if (fh_tpl_value_strict_equal(key, fh_tpl_value_from_json(json_array_get(in.json, i))))
			return fh_tpl_value_bool(true);
	return fh_tpl_value_bool(false);
}

static struct fh_tpl_value eval_is(struct fh_tpl_render *r, const struct fh_tpl_node *node)
{
	struct fh_tpl_value value = fh_tpl_render_eval(r, node->a), argument = FH_TPL_VALUE_UNDEFINED;
	bool known;
	if (node->n_kids > 0)
		argument = fh_tpl_render_eval(r, node->kids[0]);
	return fh_tpl_value_bool(fh_tpl_test_apply(node->name, value, argument, &known));
}

static struct fh_tpl_value eval_inline_if(struct fh_tpl_render *r, const struct fh_tpl_node *node)
{
	if (fh_tpl_value_truthy(fh_tpl_render_eval(r, node->b)))
		return fh_tpl_render_eval(r, node->a);
	return node->c ? fh_tpl_render_eval(r, node->c) : (struct fh_tpl_value){ .kind = FH_TPL_NULL };
}

/* ---- filters and calls ---- */

/* Calls a filter of the host's; the render fails when there is none with that name. */
static struct fh_tpl_value other_filter(struct fh_tpl_render *r, const struct fh_tpl_node *node,
                                        struct fh_tpl_value value)
{
	json_t *result = NULL;
	struct fh_error err = FH_ERROR_INIT;
	r->at = node;
	if (!r->host || !r->host->filter)
		return fh_tpl_render_fail(r, "unknown filter '%.60s'", node->name);
	fh_auto_json json_t *args = json_array();
	json_array_append_new(args, fh_tpl_value_to_json(value));
	for (size_t i = 0; i < node->n_kids; i++)
		json_array_append_new(args, fh_tpl_value_to_json(fh_tpl_render_eval(
		                                r, node->kids[i]->kind == FH_N_PAIR ? node->kids[i]->a : node->kids[i])));
	if (r->failed)
		return FH_TPL_VALUE_UNDEFINED;
	int code = r->host->filter(r->host->context, node->name, args, &result, &err);
	r->at = node;
	if (code == -FH_E_NOT_FOUND)
		return fh_tpl_render_fail(r, "unknown filter '%.60s'", node->name);
	if (code < 0)
		return fh_tpl_render_fail(r, "filter '%.60s': %.150s", node->name, err.message);
	fh_auto_free char *text = fh_json_text(result, 0);
	return fh_tpl_value_from_json(fh_tpl_render_keep(r, result, strlen(text)));
}

struct fh_tpl_value fh_tpl_render_filter(struct fh_tpl_render *r, const struct fh_tpl_node *node,
                                         struct fh_tpl_value value)
{
	const struct fh_tpl_filter *filter = fh_tpl_filter_find(node->name);
	if (!filter)
		return other_filter(r, node, value);
	struct fh_tpl_value args[FH_TPL_FILTER_PARAMS] = { FH_TPL_VALUE_UNDEFINED, FH_TPL_VALUE_UNDEFINED,
		                                               FH_TPL_VALUE_UNDEFINED };
	size_t position = 0;
	for (size_t i = 0; i < node->n_kids; i++) {
		const struct fh_tpl_node *kid = node->kids[i];
		size_t to = position;
		if (kid->kind == FH_N_PAIR)
			for (to = 0; to < FH_TPL_FILTER_PARAMS && !fh_streq(filter->params[to], kid->name);)
				to++;
		else
			position++;
		r->at = kid;
		if (to >= FH_TPL_FILTER_PARAMS)
			return fh_tpl_render_fail(r, "the filter '%s' takes no such argument", filter->name);
		args[to] = fh_tpl_render_eval(r, kid->kind == FH_N_PAIR ? kid->a : kid);
	}
	r->at = node;
	return r->failed ? FH_TPL_VALUE_UNDEFINED : filter->apply(r, value, args);
}

static struct fh_tpl_value eval_filter(struct fh_tpl_render *r, const struct fh_tpl_node *node)
{
	return fh_tpl_render_filter(r, node, fh_tpl_render_eval(r, node->a));
}

static struct fh_tpl_value eval_method(struct fh_tpl_render *r, const struct fh_tpl_node *node)
{
	const struct fh_tpl_node *callee = node->a;
	struct fh_tpl_value args[FH_TPL_ARGS], self = fh_tpl_render_eval(r, callee->a);
	if (self.kind == FH_TPL_MODULE) {
		const struct fh_tpl_binding *member = fh_tpl_frame_find(&self.module->members, callee->name);
		if (member && member->value.kind == FH_TPL_FUNCTION)
			return fh_tpl_function_call(r, member->value, node);
	}
	size_t n = fh_tpl_args_eval(r, node, args);
	bool known = false;
	r->at = callee;
	struct fh_tpl_value result =
	    r->failed ? FH_TPL_VALUE_UNDEFINED : fh_tpl_method_call(r, self, callee->name, args, n, &known);
	return known ? result : fh_tpl_render_fail(r, "there is no method '%s' of this value", callee->name);
}

static struct fh_tpl_value eval_call(struct fh_tpl_render *r, const struct fh_tpl_node *node)
{
	const struct fh_tpl_node *callee = node->a;
	if (callee->kind == FH_N_LOOKUP && callee->name)
		return eval_method(r, node);
	if (callee->kind == FH_N_SYMBOL && r->block && fh_streq(callee->name, "super"))
		return fh_tpl_render_super(r, node);
	struct fh_tpl_value function = fh_tpl_render_eval(r, callee);
	r->at = node;
	if (function.kind == FH_TPL_FUNCTION)
		return fh_tpl_function_call(r, function, node);
	if (callee->kind == FH_N_SYMBOL)
		return fh_tpl_render_fail(r, "cannot call '%.60s': there is no such function or macro", callee->name);
	return fh_tpl_render_fail(r, "this value is not a function");
}

static struct fh_tpl_value eval_caller(struct fh_tpl_render *r, const struct fh_tpl_node *node)
{
	return fh_tpl_function_of(r, node);
}

static struct fh_tpl_value eval_regex(struct fh_tpl_render *r, const struct fh_tpl_node *node)
{
	(void)r;
	return (struct fh_tpl_value){ .kind = FH_TPL_REGEX, .regex = node };
}

static const eval_fn evaluators[FH_N_COUNT_] = {
	[FH_N_LITERAL] = eval_literal, [FH_N_SYMBOL] = eval_symbol, [FH_N_GROUP] = eval_group,
	[FH_N_ARRAY] = eval_array,     [FH_N_DICT] = eval_dict,     [FH_N_LOOKUP] = eval_lookup,
	[FH_N_CALL] = eval_call,       [FH_N_FILTER] = eval_filter, [FH_N_NEGATE] = eval_negate,
	[FH_N_PLUS] = eval_plus,       [FH_N_FLOOR] = eval_floor,   [FH_N_NOT] = eval_not,
	[FH_N_BINARY] = eval_binary,   [FH_N_AND] = eval_and,       [FH_N_OR] = eval_or,
	[FH_N_IN] = eval_in,           [FH_N_IS] = eval_is,         [FH_N_INLINE_IF] = eval_inline_if,
	[FH_N_CALLER] = eval_caller,   [FH_N_REGEX] = eval_regex,
};

struct fh_tpl_value fh_tpl_render_eval(struct fh_tpl_render *r, const struct fh_tpl_node *node)
{
	if (!fh_tpl_render_step(r, node))
		return FH_TPL_VALUE_UNDEFINED;
	if (r->depth >= EVAL_DEPTH_MAX) {
		r->at = node;
		fh_tpl_render_limit(r, "the depth of an expression");
		return FH_TPL_VALUE_UNDEFINED;
	}
	r->depth++;
	struct fh_tpl_value value = evaluators[node->kind](r, node);
	r->depth--;
	return r->failed ? FH_TPL_VALUE_UNDEFINED : value;
}
