/* SPDX-License-Identifier: MIT */
#include "template/template_internal.h"

#include <stdio.h>

struct fh_tloop {
	size_t i, n;
};

/* ---- failing and counting ---- */

static void set_failed(struct fh_trender *r, int code, const char *message)
{
	if (r->failed)
		return;
	fh_error_at(r->err, r->t->name, r->at ? r->at->line : 0, r->at ? r->at->column : 0, "%s", message);
	if (r->err)
		r->err->code = (enum fh_code)code;
	r->failed = -code;
}

struct fh_tval fh_trender_fail(struct fh_trender *r, const char *format, ...)
{
	char message[256];
	va_list args;
	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	set_failed(r, FH_E_CONFIG, message);
	return FH_TVAL_UNDEFINED;
}

void fh_trender_limit(struct fh_trender *r, const char *what)
{
	char message[256];
	snprintf(message, sizeof(message), "the template is stopped: %s is too large", what);
	set_failed(r, FH_E_LIMIT, message);
}

bool fh_trender_step(struct fh_trender *r, const struct fh_tnode *node)
{
	if (!r->failed && ++r->steps > FH_TEMPLATE_STEPS_MAX) {
		r->at = node;
		fh_trender_limit(r, "the number of its steps");
	}
	return !r->failed;
}

json_t *fh_trender_keep(struct fh_trender *r, json_t *json, size_t bytes)
{
	r->memory += bytes + 64;
	if (r->memory > FH_TEMPLATE_MEMORY_MAX)
		fh_trender_limit(r, "what it holds in memory");
	if (json)
		FH_PUSH(r->pool, r->n_pool, r->cap_pool) = json;
	return json;
}

/* ---- variables ---- */

static struct fh_tbinding *find(const struct fh_tframe *frame, const char *name)
{
	for (size_t i = 0; i < frame->n; i++)
		if (fh_streq(frame->items[i].name, name))
			return &frame->items[i];
	return NULL;
}

static void bind(struct fh_tframe *frame, const char *name, struct fh_tval value)
{
	struct fh_tbinding *binding = find(frame, name);
	if (!binding) {
		binding = &FH_PUSH(frame->items, frame->n, frame->cap);
		binding->name = name;
	}
	binding->value = value;
}

static void frame_release(struct fh_tframe *frame)
{
	free(frame->items);
}
#define auto_frame FH_CLEANUP(frame_release)

static struct fh_tval loop_object(struct fh_trender *r, const struct fh_tloop *loop)
{
	struct fh_tval o = fh_tval_object(r);
	json_object_set_new(o.json, "index", json_integer((json_int_t)loop->i + 1));
	json_object_set_new(o.json, "index0", json_integer((json_int_t)loop->i));
	json_object_set_new(o.json, "revindex", json_integer((json_int_t)(loop->n - loop->i)));
	json_object_set_new(o.json, "revindex0", json_integer((json_int_t)(loop->n - loop->i - 1)));
	json_object_set_new(o.json, "first", json_boolean(loop->i == 0));
	json_object_set_new(o.json, "last", json_boolean(loop->i + 1 == loop->n));
	json_object_set_new(o.json, "length", json_integer((json_int_t)loop->n));
	return o;
}

struct fh_tval fh_trender_lookup(struct fh_trender *r, const char *name)
{
	bool is_loop = fh_streq(name, "loop");
	for (const struct fh_tframe *frame = r->frame; frame; frame = frame->parent) {
		const struct fh_tbinding *binding = find(frame, name);
		if (binding && binding->value.kind != FH_T_UNDEFINED)
			return binding->value;
		if (is_loop && frame->loop)
			return loop_object(r, frame->loop);
	}
	const struct fh_tbinding *set = find(&r->context, name);
	if (set)
		return set->value;
	json_t *variable = json_object_get(r->vars, name);
	if (!variable && fh_streq(name, "range"))
		return (struct fh_tval){ .kind = FH_T_FUNCTION };
	return fh_tval_from_json(variable);
}

/* Assigns as {% set %} does: in the innermost frame that has the name, else in the current one. Macros see what was set
 * at the top level. */
static void assign(struct fh_trender *r, const char *name, struct fh_tval value)
{
	struct fh_tframe *to = r->frame;
	for (struct fh_tframe *frame = r->frame; frame; frame = frame->parent) {
		const struct fh_tbinding *binding = find(frame, name);
		if (binding && binding->value.kind != FH_T_UNDEFINED) {
			to = frame;
			break;
		}
	}
	bind(to, name, value);
	if (!r->frame->parent && r->frame->n_macro == 0)
		bind(&r->context, name, value);
}

/* ---- statements ---- */

typedef void (*render_fn)(struct fh_trender *r, const struct fh_tnode *node);

static void check_output(struct fh_trender *r)
{
	if (r->out->overflowed)
		fh_trender_limit(r, "its output");
}

static void render_block(struct fh_trender *r, const struct fh_tnode *node)
{
	for (size_t i = 0; i < node->n_kids && !r->failed; i++)
		fh_trender_node(r, node->kids[i]);
}

static void render_text(struct fh_trender *r, const struct fh_tnode *node)
{
	fh_buf_add(r->out, node->name, node->name_n);
	check_output(r);
}

static void render_output(struct fh_trender *r, const struct fh_tnode *node)
{
	struct fh_tval value = fh_trender_eval(r, node->a);
	r->at = node;
	if (!r->failed && value.kind > FH_T_NULL)
		fh_tval_write(r->out, value);
	check_output(r);
}

static void render_if(struct fh_trender *r, const struct fh_tnode *node)
{
	bool truth = fh_tval_truthy(fh_trender_eval(r, node->a));
	if (!r->failed && (truth || node->c))
		fh_trender_node(r, truth ? node->b : node->c);
}

/* What a for iterates over, as a list: the characters of a string, or [key, value] pairs of an object if there are two
 * names. */
static struct fh_tval iterable(struct fh_trender *r, struct fh_tval value, size_t n_names)
{
	struct fh_tval list = fh_tval_array(r);
	if (value.kind == FH_T_ARRAY)
		return value;
	if (value.kind == FH_T_STRING && n_names == 1)
		return fh_tfilter_find("list")->apply(r, value, NULL);
	if (value.kind == FH_T_OBJECT && n_names == 2) {
		const char *key;
		json_t *member;
		json_object_foreach(value.json, key, member)
		{
			struct fh_tval pair = fh_tval_array(r);
			fh_tval_append(r, pair, fh_tval_string(r, fh_str(key)));
			json_array_append(pair.json, member);
			fh_tval_append(r, list, pair);
		}
	}
	return list;
}

static void render_for(struct fh_trender *r, const struct fh_tnode *node)
{
	struct fh_tval value = fh_trender_eval(r, node->a);
	if (r->failed)
		return;
	struct fh_tval list = iterable(r, value, node->n_kids);
	struct fh_tloop loop = { 0, json_array_size(list.json) };
	auto_frame struct fh_tframe frame = { .parent = r->frame, .loop = &loop, .n_macro = r->frame->n_macro };
	r->frame = &frame;
	for (; loop.i < loop.n && fh_trender_step(r, node); loop.i++) {
		struct fh_tval item = fh_tval_from_json(json_array_get(list.json, loop.i));
		if (node->n_kids == 1)
			bind(&frame, node->kids[0]->name, item);
		for (size_t k = 0; node->n_kids > 1 && k < node->n_kids; k++)
			bind(&frame, node->kids[k]->name, fh_tval_item(r, item, k));
		fh_trender_node(r, node->b);
	}
	r->frame = frame.parent;
	if (loop.n == 0 && node->c && !r->failed)
		fh_trender_node(r, node->c);
}

/* Renders a body into a string. */
static struct fh_tval capture(struct fh_trender *r, const struct fh_tnode *body)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(FH_TEMPLATE_MEMORY_MAX);
	struct fh_buf *out = r->out;
	r->out = &text;
	fh_trender_node(r, body);
	r->out = out;
	return r->failed ? FH_TVAL_UNDEFINED : fh_tval_take(r, &text);
}

static void render_set(struct fh_trender *r, const struct fh_tnode *node)
{
	struct fh_tval value = node->a ? fh_trender_eval(r, node->a) : capture(r, node->b);
	for (size_t i = 0; i < node->n_kids && !r->failed; i++)
		assign(r, node->kids[i]->name, value);
}

static void render_macro(struct fh_trender *r, const struct fh_tnode *node)
{
	struct fh_tval macro = { .kind = FH_T_FUNCTION, .macro = node };
	bind(r->frame, node->name, macro);
	if (!r->frame->parent)
		bind(&r->context, node->name, macro);
}

static void render_filter_block(struct fh_trender *r, const struct fh_tnode *node)
{
	struct fh_tval text = capture(r, node->b);
	if (r->failed)
		return;
	struct fh_tval value = fh_trender_filter(r, node->a, text);
	if (!r->failed && value.kind > FH_T_NULL)
		fh_tval_write(r->out, value);
	check_output(r);
}

static const struct fh_tnode *argument_of(const struct fh_tnode *call, const char *name, size_t position)
{
	size_t at = 0;
	for (size_t i = 0; i < call->n_kids; i++) {
		const struct fh_tnode *kid = call->kids[i];
		if (kid->kind == FH_N_PAIR ? fh_streq(kid->name, name) : at++ == position)
			return kid->kind == FH_N_PAIR ? kid->a : kid;
	}
	return NULL;
}

struct fh_tval fh_trender_call_macro(struct fh_trender *r, const struct fh_tnode *macro, const struct fh_tnode *call)
{
	auto_frame struct fh_tframe frame = { .n_macro = r->frame->n_macro + 1 };
	if (frame.n_macro > FH_TEMPLATE_DEPTH_MAX) {
		fh_trender_limit(r, "the depth of macro calls");
		return FH_TVAL_UNDEFINED;
	}
	for (size_t i = 0; i < macro->n_kids; i++) {
		const struct fh_tnode *parameter = macro->kids[i], *argument = argument_of(call, parameter->name, i);
		struct fh_tval value = argument ? fh_trender_eval(r, argument) : FH_TVAL_UNDEFINED;
		if (!argument && parameter->a)
			value = fh_trender_eval(r, parameter->a);
		bind(&frame, parameter->name, value);
	}
	struct fh_tframe *caller = r->frame;
	r->frame = &frame;
	struct fh_tval text = capture(r, macro->b);
	r->frame = caller;
	text.safe = true;
	return text;
}

static const render_fn renderers[FH_N_COUNT_] = {
	[FH_N_BLOCK] = render_block,   [FH_N_TEXT] = render_text,
	[FH_N_OUTPUT] = render_output, [FH_N_IF] = render_if,
	[FH_N_FOR] = render_for,       [FH_N_SET] = render_set,
	[FH_N_MACRO] = render_macro,   [FH_N_FILTER_BLOCK] = render_filter_block,
};

void fh_trender_node(struct fh_trender *r, const struct fh_tnode *node)
{
	if (fh_trender_step(r, node))
		renderers[node->kind](r, node);
}

/* ---- the render as a whole ---- */

static void render_release(struct fh_trender *r)
{
	/* Later values refer to earlier ones, so the pool is freed from its end. */
	while (r->n_pool > 0)
		json_decref(r->pool[--r->n_pool]);
	free(r->pool);
	frame_release(&r->context);
}

int fh_template_render_with(const struct fh_template *t, const json_t *vars, const struct fh_template_filters *filters,
                            struct fh_buf *out, struct fh_error *err)
{
	union {
		const json_t *in;
		json_t *out; /* shared: only its reference count changes */
	} v = { .in = vars };
	size_t before = out->n;
	bool overflowed = out->overflowed;
	FH_CLEANUP(render_release)
	struct fh_trender r = { .t = t, .filters = filters, .err = err, .out = out, .vars = v.out };
	if (t->mutates && vars)
		r.vars = fh_trender_keep(&r, json_deep_copy(vars), 0);
	auto_frame struct fh_tframe top = { 0 };
	r.frame = &top;
	out->overflowed = false;
	fh_trender_node(&r, t->root);
	out->overflowed = overflowed;
	if (r.failed)
		fh_buf_truncate(out, before);
	return r.failed;
}

int fh_template_render(const struct fh_template *t, const json_t *vars, struct fh_buf *out, struct fh_error *err)
{
	return fh_template_render_with(t, vars, NULL, out, err);
}

static bool sets_name(const struct fh_template *t, const char *name)
{
	for (const struct fh_tnode *n = t->nodes; n; n = n->next) {
		bool binds = n->kind == FH_N_FOR || n->kind == FH_N_SET || n->kind == FH_N_MACRO;
		if (n->kind == FH_N_MACRO && fh_streq(n->name, name))
			return true;
		for (size_t i = 0; binds && i < n->n_kids; i++)
			if (fh_streq(n->kids[i]->name, name))
				return true;
	}
	return false;
}

void fh_template_each_name(const struct fh_template *t, void (*each)(void *context, const char *name), void *context)
{
	static const char *const built_in[] = { "loop", "range", "caller", "true", "false", "none", "null" };
	for (const struct fh_tnode *n = t->nodes; n; n = n->next) {
		bool known = n->kind != FH_N_SYMBOL || sets_name(t, n->name);
		for (size_t i = 0; i < FH_ARRAY_SIZE(built_in) && !known; i++)
			known = strcmp(built_in[i], n->name) == 0;
		if (!known)
			each(context, n->name);
	}
}

int fh_template_render_text(struct fh_str source, const char *name, const json_t *vars, struct fh_buf *out,
                            struct fh_error *err)
{
	if (!fh_template_has_tags(source)) {
		if (fh_buf_add(out, source.p, source.n) < 0)
			return fh_error_set(err, FH_E_LIMIT, "the output of %s is too large", name ? name : "a template");
		return 0;
	}
	fh_auto_template struct fh_template *t = fh_template_compile(source, name, err);
	return t ? fh_template_render(t, vars, out, err) : -FH_E_CONFIG;
}
