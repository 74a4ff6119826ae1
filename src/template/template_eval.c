/* SPDX-License-Identifier: MIT */
#include "template/template_internal.h"

#include <math.h>

/* Left-leaning trees (a ~ b ~ c …) are deeper than FH_TEMPLATE_DEPTH_MAX, which counts nesting in the source. */
#define EVAL_DEPTH_MAX 1000

/* ---- operators ---- */

static bool is_text(struct fh_tval v)
{
	return v.kind >= FH_T_STRING;
}

static struct fh_tval op_concat(struct fh_trender *r, struct fh_tval a, struct fh_tval b)
{
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(FH_TEMPLATE_MEMORY_MAX);
	fh_tval_write(&out, a);
	fh_tval_write(&out, b);
	return fh_tval_take(r, &out);
}

static struct fh_tval op_add(struct fh_trender *r, struct fh_tval a, struct fh_tval b)
{
	if (is_text(a) || is_text(b))
		return op_concat(r, a, b);
	return fh_tval_number(fh_tval_to_number(a) + fh_tval_to_number(b));
}

#define ARITHMETIC(name, expression)                                                                                   \
	static struct fh_tval name(struct fh_trender *r, struct fh_tval a, struct fh_tval b)                               \
	{                                                                                                                  \
		double x = fh_tval_to_number(a), y = fh_tval_to_number(b);                                                     \
		(void)r;                                                                                                       \
		return fh_tval_number(expression);                                                                             \
	}
ARITHMETIC(op_subtract, x - y)
ARITHMETIC(op_multiply, x *y)
ARITHMETIC(op_divide, x / y)
ARITHMETIC(op_remainder, fmod(x, y))
/* JavaScript's 1 ** NaN and 1 ** Infinity are NaN, C's pow() gives 1. */
ARITHMETIC(op_power, isnan(y) || (isinf(y) && fabs(x) == 1) ? (double)NAN : pow(x, y))

#define COMPARISON(name, expression)                                                                                   \
	static struct fh_tval name(struct fh_trender *r, struct fh_tval a, struct fh_tval b)                               \
	{                                                                                                                  \
		int order = fh_tval_compare(a, b);                                                                             \
		(void)r;                                                                                                       \
		return fh_tval_bool(expression);                                                                               \
	}
COMPARISON(op_less, order == -1)
COMPARISON(op_greater, order == 1)
COMPARISON(op_less_equal, order == -1 || order == 0)
COMPARISON(op_greater_equal, order == 1 || order == 0)

#define EQUALITY(name, expression)                                                                                     \
	static struct fh_tval name(struct fh_trender *r, struct fh_tval a, struct fh_tval b)                               \
	{                                                                                                                  \
		(void)r;                                                                                                       \
		return fh_tval_bool(expression);                                                                               \
	}
EQUALITY(op_equal, fh_tval_loose_equal(a, b))
EQUALITY(op_not_equal, !fh_tval_loose_equal(a, b))
EQUALITY(op_same, fh_tval_strict_equal(a, b))
EQUALITY(op_not_same, !fh_tval_strict_equal(a, b))

static const struct fh_toperator operators[] = {
	{ "~", op_concat, FH_TLEVEL_ADD },
	{ "+", op_add, FH_TLEVEL_ADD },
	{ "-", op_subtract, FH_TLEVEL_ADD },
	{ "*", op_multiply, FH_TLEVEL_MULTIPLY },
	{ "/", op_divide, FH_TLEVEL_MULTIPLY },
	{ "%", op_remainder, FH_TLEVEL_MULTIPLY },
	{ "**", op_power, FH_TLEVEL_CALL },
	{ "<", op_less, FH_TLEVEL_COMPARE },
	{ ">", op_greater, FH_TLEVEL_COMPARE },
	{ "<=", op_less_equal, FH_TLEVEL_COMPARE },
	{ ">=", op_greater_equal, FH_TLEVEL_COMPARE },
	{ "==", op_equal, FH_TLEVEL_COMPARE },
	{ "!=", op_not_equal, FH_TLEVEL_COMPARE },
	{ "===", op_same, FH_TLEVEL_COMPARE },
	{ "!==", op_not_same, FH_TLEVEL_COMPARE },
};

const struct fh_toperator *fh_toperator_find(const char *text)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(operators); i++)
		if (fh_streq(operators[i].text, text))
			return &operators[i];
	return NULL;
}

/* ---- nodes ---- */

typedef struct fh_tval (*eval_fn)(struct fh_trender *r, const struct fh_tnode *node);

static struct fh_tval eval_literal(struct fh_trender *r, const struct fh_tnode *node)
{
	(void)r;
	return node->value;
}

static struct fh_tval eval_symbol(struct fh_trender *r, const struct fh_tnode *node)
{
	return fh_trender_lookup(r, node->name);
}

static struct fh_tval eval_group(struct fh_trender *r, const struct fh_tnode *node)
{
	struct fh_tval last = FH_TVAL_UNDEFINED;
	for (size_t i = 0; i < node->n_kids; i++)
		last = fh_trender_eval(r, node->kids[i]);
	return last;
}

static struct fh_tval eval_array(struct fh_trender *r, const struct fh_tnode *node)
{
	struct fh_tval array = fh_tval_array(r);
	for (size_t i = 0; i < node->n_kids; i++)
		fh_tval_append(r, array, fh_trender_eval(r, node->kids[i]));
	return array;
}

static struct fh_tval eval_dict(struct fh_trender *r, const struct fh_tnode *node)
{
	struct fh_tval object = fh_tval_object(r);
	for (size_t i = 0; i < node->n_kids; i++) {
		const struct fh_tnode *pair = node->kids[i];
		struct fh_tval value = fh_trender_eval(r, pair->a);
		if (value.kind != FH_T_UNDEFINED && value.kind < FH_T_FUNCTION)
			json_object_setn_new_nocheck(object.json, pair->name, pair->name_n, fh_tval_to_json(value));
		fh_trender_keep(r, NULL, 64 + pair->name_n);
	}
	return object;
}

static struct fh_tval eval_lookup(struct fh_trender *r, const struct fh_tnode *node)
{
	struct fh_tval object = fh_trender_eval(r, node->a);
	return fh_tval_member(r, object, fh_trender_eval(r, node->b));
}

static struct fh_tval eval_negate(struct fh_trender *r, const struct fh_tnode *node)
{
	return fh_tval_number(-fh_tval_to_number(fh_trender_eval(r, node->a)));
}

static struct fh_tval eval_plus(struct fh_trender *r, const struct fh_tnode *node)
{
	return fh_tval_number(fh_tval_to_number(fh_trender_eval(r, node->a)));
}

static struct fh_tval eval_floor(struct fh_trender *r, const struct fh_tnode *node)
{
	return fh_tval_number(floor(fh_tval_to_number(fh_trender_eval(r, node->a))));
}

static struct fh_tval eval_not(struct fh_trender *r, const struct fh_tnode *node)
{
	return fh_tval_bool(!fh_tval_truthy(fh_trender_eval(r, node->a)));
}

static struct fh_tval eval_binary(struct fh_trender *r, const struct fh_tnode *node)
{
	struct fh_tval a = fh_trender_eval(r, node->a), b = fh_trender_eval(r, node->b);
	return r->failed ? FH_TVAL_UNDEFINED : node->op->apply(r, a, b);
}

static struct fh_tval eval_and(struct fh_trender *r, const struct fh_tnode *node)
{
	struct fh_tval a = fh_trender_eval(r, node->a);
	return fh_tval_truthy(a) ? fh_trender_eval(r, node->b) : a;
}

static struct fh_tval eval_or(struct fh_trender *r, const struct fh_tnode *node)
{
	struct fh_tval a = fh_trender_eval(r, node->a);
	return fh_tval_truthy(a) ? a : fh_trender_eval(r, node->b);
}

static struct fh_tval eval_in(struct fh_trender *r, const struct fh_tnode *node)
{
	struct fh_tval key = fh_trender_eval(r, node->a), in = fh_trender_eval(r, node->b);
	if (r->failed)
		return FH_TVAL_UNDEFINED;
	if (in.kind == FH_T_OBJECT) {
		struct fh_str name = fh_tval_str(fh_tval_to_string(r, key));
		return fh_tval_bool(json_object_getn(in.json, name.p, name.n) != NULL);
	}
	if (in.kind == FH_T_STRING)
		return fh_tval_bool(fh_ttext_find(fh_tval_str(in), fh_tval_str(fh_tval_to_string(r, key)), 0) >= 0);
	if (in.kind != FH_T_ARRAY) {
		r->at = node;
		return fh_trender_fail(r, "'in' takes a list, a string or an object on its right");
	}
	for (size_t i = 0; i < json_array_size(in.json); i++)
		if (fh_tval_strict_equal(key, fh_tval_from_json(json_array_get(in.json, i))))
			return fh_tval_bool(true);
	return fh_tval_bool(false);
}

static struct fh_tval eval_is(struct fh_trender *r, const struct fh_tnode *node)
{
	struct fh_tval value = fh_trender_eval(r, node->a), argument = FH_TVAL_UNDEFINED;
	bool known;
	if (node->n_kids > 0)
		argument = fh_trender_eval(r, node->kids[0]);
	return fh_tval_bool(fh_ttest_apply(node->name, value, argument, &known));
}

static struct fh_tval eval_inline_if(struct fh_trender *r, const struct fh_tnode *node)
{
	if (fh_tval_truthy(fh_trender_eval(r, node->b)))
		return fh_trender_eval(r, node->a);
	return node->c ? fh_trender_eval(r, node->c) : (struct fh_tval){ .kind = FH_T_NULL };
}

/* ---- filters and calls ---- */

/* Calls a filter of the host's; the render fails when there is none with that name. */
static struct fh_tval other_filter(struct fh_trender *r, const struct fh_tnode *node, struct fh_tval value)
{
	json_t *result = NULL;
	struct fh_error err = FH_ERROR_INIT;
	r->at = node;
	if (!r->host || !r->host->filter)
		return fh_trender_fail(r, "unknown filter '%.60s'", node->name);
	fh_auto_json json_t *args = json_array();
	json_array_append_new(args, fh_tval_to_json(value));
	for (size_t i = 0; i < node->n_kids; i++)
		json_array_append_new(args, fh_tval_to_json(fh_trender_eval(
		                                r, node->kids[i]->kind == FH_N_PAIR ? node->kids[i]->a : node->kids[i])));
	if (r->failed)
		return FH_TVAL_UNDEFINED;
	int code = r->host->filter(r->host->context, node->name, args, &result, &err);
	r->at = node;
	if (code == -FH_E_NOT_FOUND)
		return fh_trender_fail(r, "unknown filter '%.60s'", node->name);
	if (code < 0)
		return fh_trender_fail(r, "filter '%.60s': %.150s", node->name, err.message);
	fh_auto_free char *text = fh_json_text(result, 0);
	return fh_tval_from_json(fh_trender_keep(r, result, strlen(text)));
}

struct fh_tval fh_trender_filter(struct fh_trender *r, const struct fh_tnode *node, struct fh_tval value)
{
	const struct fh_tfilter *filter = fh_tfilter_find(node->name);
	if (!filter)
		return other_filter(r, node, value);
	struct fh_tval args[FH_TFILTER_PARAMS] = { FH_TVAL_UNDEFINED, FH_TVAL_UNDEFINED, FH_TVAL_UNDEFINED };
	size_t position = 0;
	for (size_t i = 0; i < node->n_kids; i++) {
		const struct fh_tnode *kid = node->kids[i];
		size_t to = position;
		if (kid->kind == FH_N_PAIR)
			for (to = 0; to < FH_TFILTER_PARAMS && !fh_streq(filter->params[to], kid->name);)
				to++;
		else
			position++;
		r->at = kid;
		if (to >= FH_TFILTER_PARAMS)
			return fh_trender_fail(r, "the filter '%s' takes no such argument", filter->name);
		args[to] = fh_trender_eval(r, kid->kind == FH_N_PAIR ? kid->a : kid);
	}
	r->at = node;
	return r->failed ? FH_TVAL_UNDEFINED : filter->apply(r, value, args);
}

static struct fh_tval eval_filter(struct fh_trender *r, const struct fh_tnode *node)
{
	return fh_trender_filter(r, node, fh_trender_eval(r, node->a));
}

static struct fh_tval eval_method(struct fh_trender *r, const struct fh_tnode *node)
{
	const struct fh_tnode *callee = node->a;
	struct fh_tval args[FH_TARGS], self = fh_trender_eval(r, callee->a);
	if (self.kind == FH_T_MODULE) {
		const struct fh_tbinding *member = fh_tframe_find(&self.module->members, callee->name);
		if (member && member->value.kind == FH_T_FUNCTION)
			return fh_tfunction_call(r, member->value, node);
	}
	size_t n = fh_targs_eval(r, node, args);
	bool known = false;
	r->at = callee;
	struct fh_tval result = r->failed ? FH_TVAL_UNDEFINED : fh_tmethod_call(r, self, callee->name, args, n, &known);
	return known ? result : fh_trender_fail(r, "there is no method '%s' of this value", callee->name);
}

static struct fh_tval eval_call(struct fh_trender *r, const struct fh_tnode *node)
{
	const struct fh_tnode *callee = node->a;
	if (callee->kind == FH_N_LOOKUP && callee->name)
		return eval_method(r, node);
	if (callee->kind == FH_N_SYMBOL && r->block && fh_streq(callee->name, "super"))
		return fh_trender_super(r, node);
	struct fh_tval function = fh_trender_eval(r, callee);
	r->at = node;
	if (function.kind == FH_T_FUNCTION)
		return fh_tfunction_call(r, function, node);
	if (callee->kind == FH_N_SYMBOL)
		return fh_trender_fail(r, "cannot call '%.60s': there is no such function or macro", callee->name);
	return fh_trender_fail(r, "this value is not a function");
}

static struct fh_tval eval_caller(struct fh_trender *r, const struct fh_tnode *node)
{
	return fh_tfunction_of(r, node);
}

static struct fh_tval eval_regex(struct fh_trender *r, const struct fh_tnode *node)
{
	(void)r;
	return (struct fh_tval){ .kind = FH_T_REGEX, .regex = node };
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

struct fh_tval fh_trender_eval(struct fh_trender *r, const struct fh_tnode *node)
{
	if (!fh_trender_step(r, node))
		return FH_TVAL_UNDEFINED;
	if (r->depth >= EVAL_DEPTH_MAX) {
		r->at = node;
		fh_trender_limit(r, "the depth of an expression");
		return FH_TVAL_UNDEFINED;
	}
	r->depth++;
	struct fh_tval value = evaluators[node->kind](r, node);
	r->depth--;
	return r->failed ? FH_TVAL_UNDEFINED : value;
}
