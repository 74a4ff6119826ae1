/* SPDX-License-Identifier: MIT */
#include "template/template_internal.h"

#include <stdio.h>

struct fh_tpl_loop {
	size_t i, n;
};

/* ---- failing and counting ---- */

static void set_failed(struct fh_tpl_render *r, int code, const char *message)
{
	if (r->failed)
		return;
	fh_error_at(r->err, r->scope->t->name, r->at ? r->at->line : 0, r->at ? r->at->column : 0, "%s", message);
	if (r->err)
		r->err->code = (enum fh_code)code;
	r->failed = -code;
}

struct fh_tpl_value fh_tpl_render_fail(struct fh_tpl_render *r, const char *format, ...)
{
	char message[256];
	va_list args;
	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	set_failed(r, FH_E_CONFIG, message);
	return FH_TPL_VALUE_UNDEFINED;
}

void fh_tpl_render_limit(struct fh_tpl_render *r, const char *what)
{
	char message[256];
	snprintf(message, sizeof(message), "the template is stopped: %s is too large", what);
	set_failed(r, FH_E_LIMIT, message);
}

bool fh_tpl_render_step(struct fh_tpl_render *r, const struct fh_tpl_node *node)
{
	if (!r->failed && ++r->steps > FH_TEXT_TEMPLATE_STEPS_MAX) {
		r->at = node;
		fh_tpl_render_limit(r, "the number of its steps");
	}
	return !r->failed;
}

json_t *fh_tpl_render_keep(struct fh_tpl_render *r, json_t *json, size_t bytes)
{
	r->memory += bytes + 64;
	if (r->memory > FH_TEXT_TEMPLATE_MEMORY_MAX)
		fh_tpl_render_limit(r, "what it holds in memory");
	if (json)
		FH_PUSH(r->pool, r->n_pool, r->cap_pool) = json;
	return json;
}

/* ---- variables ---- */

static struct fh_tpl_binding *find(const struct fh_tpl_frame *frame, const char *name)
{
	for (size_t i = 0; i < frame->n; i++)
		if (fh_streq(frame->items[i].name, name))
			return &frame->items[i];
	return NULL;
}

const struct fh_tpl_binding *fh_tpl_frame_find(const struct fh_tpl_frame *frame, const char *name)
{
	return find(frame, name);
}

void fh_tpl_frame_bind(struct fh_tpl_frame *frame, const char *name, struct fh_tpl_value value)
{
	struct fh_tpl_binding *binding = find(frame, name);
	if (!binding) {
		binding = &FH_PUSH(frame->items, frame->n, frame->cap);
		binding->name = name;
	}
	binding->value = value;
}

void fh_tpl_frame_release(struct fh_tpl_frame *frame)
{
	free(frame->items);
}

bool fh_tpl_frame_enter(struct fh_tpl_render *r, struct fh_tpl_frame *frame)
{
	bool deeper = frame->isolated || frame->top;
	frame->below = r->frame;
	frame->serial = ++r->serial;
	frame->depth = (r->frame ? r->frame->depth : 0) + deeper;
	r->frame = frame;
	if (frame->depth > FH_TEXT_TEMPLATE_DEPTH_MAX)
		fh_tpl_render_limit(r, "the depth of macro calls and included templates");
	return !r->failed;
}

void fh_tpl_frame_leave(struct fh_tpl_render *r)
{
	r->frame = r->frame->below;
}

static struct fh_tpl_value loop_object(struct fh_tpl_render *r, const struct fh_tpl_loop *loop)
{
	struct fh_tpl_value o = fh_tpl_value_object(r);
	json_object_set_new(o.json, "index", json_integer((json_int_t)loop->i + 1));
	json_object_set_new(o.json, "index0", json_integer((json_int_t)loop->i));
	json_object_set_new(o.json, "revindex", json_integer((json_int_t)(loop->n - loop->i)));
	json_object_set_new(o.json, "revindex0", json_integer((json_int_t)(loop->n - loop->i - 1)));
	json_object_set_new(o.json, "first", json_boolean(loop->i == 0));
	json_object_set_new(o.json, "last", json_boolean(loop->i + 1 == loop->n));
	json_object_set_new(o.json, "length", json_integer((json_int_t)loop->n));
	return o;
}

struct fh_tpl_value fh_tpl_render_lookup(struct fh_tpl_render *r, const char *name)
{
	bool is_loop = fh_streq(name, "loop");
	for (const struct fh_tpl_frame *frame = r->frame; frame; frame = frame->parent) {
		const struct fh_tpl_binding *binding = find(frame, name);
		if (binding && binding->value.kind != FH_TPL_UNDEFINED)
			return binding->value;
		if (is_loop && frame->loop)
			return loop_object(r, frame->loop);
	}
	const struct fh_tpl_binding *set = find(&r->scope->context, name);
	if (set)
		return set->value;
	json_t *variable = json_object_get(r->scope->vars, name);
	return variable ? fh_tpl_value_from_json(variable) : fh_tpl_function_global(r, name);
}

/* Assigns as {% set %} does: in the innermost frame that has the name, else in the current one. Macros see what was set
 * at the top level. */
static void assign(struct fh_tpl_render *r, const char *name, struct fh_tpl_value value)
{
	struct fh_tpl_frame *to = r->frame;
	for (struct fh_tpl_frame *frame = r->frame; frame; frame = r->frame->isolated ? NULL : frame->parent) {
		const struct fh_tpl_binding *binding = find(frame, name);
		if (binding && binding->value.kind != FH_TPL_UNDEFINED) {
			to = frame;
			break;
		}
	}
	fh_tpl_frame_bind(to, name, value);
	if (r->frame->top)
		fh_tpl_frame_bind(&r->scope->context, name, value);
}

/* ---- statements ---- */

typedef void (*render_fn)(struct fh_tpl_render *r, const struct fh_tpl_node *node);

static void check_output(struct fh_tpl_render *r)
{
	if (r->out->overflowed)
		fh_tpl_render_limit(r, "its output");
}

static void render_block(struct fh_tpl_render *r, const struct fh_tpl_node *node)
{
	for (size_t i = 0; i < node->n_kids && !r->failed; i++)
		fh_tpl_render_node(r, node->kids[i]);
}

static void render_text(struct fh_tpl_render *r, const struct fh_tpl_node *node)
{
	fh_buf_add(r->out, node->name, node->name_n);
	check_output(r);
}

static void render_output(struct fh_tpl_render *r, const struct fh_tpl_node *node)
{
	struct fh_tpl_value value = fh_tpl_render_eval(r, node->a);
	r->at = node;
	if (!r->failed && value.kind > FH_TPL_NULL)
		fh_tpl_value_write(r->out, value);
	check_output(r);
}

static void render_if(struct fh_tpl_render *r, const struct fh_tpl_node *node)
{
	bool truth = fh_tpl_value_truthy(fh_tpl_render_eval(r, node->a));
	if (!r->failed && (truth || node->c))
		fh_tpl_render_node(r, truth ? node->b : node->c);
}

/* What a for iterates over, as a list: the characters of a string, or [key, value] pairs of an object if there are two
 * names. */
static struct fh_tpl_value iterable(struct fh_tpl_render *r, struct fh_tpl_value value, size_t n_names)
{
	struct fh_tpl_value list = fh_tpl_value_array(r);
	if (value.kind == FH_TPL_ARRAY)
		return value;
	if (value.kind == FH_TPL_STRING && n_names == 1)
		return fh_tpl_filter_find("list")->apply(r, value, NULL);
	if (value.kind == FH_TPL_OBJECT && n_names == 2) {
		const char *key;
		json_t *member;
		json_object_foreach(value.json, key, member)
		{
			struct fh_tpl_value pair = fh_tpl_value_array(r);
			fh_tpl_value_append(r, pair, fh_tpl_value_string(r, fh_str(key)));
			json_array_append(pair.json, member);
			fh_tpl_value_append(r, list, pair);
		}
	}
	return list;
}

static void render_for(struct fh_tpl_render *r, const struct fh_tpl_node *node)
{
	struct fh_tpl_value value = fh_tpl_render_eval(r, node->a);
	if (r->failed)
		return;
	struct fh_tpl_value list = iterable(r, value, node->n_kids);
	struct fh_tpl_loop loop = { 0, json_array_size(list.json) };
	fh_auto_tframe struct fh_tpl_frame frame = { .parent = r->frame, .loop = &loop };
	fh_tpl_frame_enter(r, &frame);
	for (; loop.i < loop.n && fh_tpl_render_step(r, node); loop.i++) {
		struct fh_tpl_value item = fh_tpl_value_from_json(json_array_get(list.json, loop.i));
		if (node->n_kids == 1)
			fh_tpl_frame_bind(&frame, node->kids[0]->name, item);
		for (size_t k = 0; node->n_kids > 1 && k < node->n_kids; k++)
			fh_tpl_frame_bind(&frame, node->kids[k]->name, fh_tpl_value_item(r, item, k));
		fh_tpl_render_node(r, node->b);
	}
	fh_tpl_frame_leave(r);
	if (loop.n == 0 && node->c && !r->failed)
		fh_tpl_render_node(r, node->c);
}

/* The first case with the value is rendered; one without a body is rendered as the next. */
static void render_switch(struct fh_tpl_render *r, const struct fh_tpl_node *node)
{
	struct fh_tpl_value value = fh_tpl_render_eval(r, node->a);
	bool matched = false;
	for (size_t i = 0; i < node->n_kids && !r->failed; i++) {
		const struct fh_tpl_node *one = node->kids[i];
		matched = matched || fh_tpl_value_strict_equal(value, fh_tpl_render_eval(r, one->a));
		if (!matched || one->b->n_kids == 0)
			continue;
		fh_tpl_render_node(r, one->b);
		return;
	}
	if (node->c && !r->failed)
		fh_tpl_render_node(r, node->c);
}

struct fh_tpl_value fh_tpl_render_capture(struct fh_tpl_render *r, const struct fh_tpl_node *body)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(FH_TEXT_TEMPLATE_MEMORY_MAX);
	struct fh_buf *out = r->out;
	r->out = &text;
	fh_tpl_render_node(r, body);
	r->out = out;
	return r->failed ? FH_TPL_VALUE_UNDEFINED : fh_tpl_value_take(r, &text);
}

static void render_set(struct fh_tpl_render *r, const struct fh_tpl_node *node)
{
	struct fh_tpl_value value = node->a ? fh_tpl_render_eval(r, node->a) : fh_tpl_render_capture(r, node->b);
	for (size_t i = 0; i < node->n_kids && !r->failed; i++)
		assign(r, node->kids[i]->name, value);
}

static void render_macro(struct fh_tpl_render *r, const struct fh_tpl_node *node)
{
	struct fh_tpl_value macro = fh_tpl_function_of(r, node);
	fh_tpl_frame_bind(r->frame, node->name, macro);
	if (r->frame->top)
		fh_tpl_frame_bind(&r->scope->context, node->name, macro);
}

static void render_filter_block(struct fh_tpl_render *r, const struct fh_tpl_node *node)
{
	struct fh_tpl_value text = fh_tpl_render_capture(r, node->b);
	if (r->failed)
		return;
	struct fh_tpl_value value = fh_tpl_render_filter(r, node->a, text);
	if (!r->failed && value.kind > FH_TPL_NULL)
		fh_tpl_value_write(r->out, value);
	check_output(r);
}

static const render_fn renderers[FH_N_COUNT_] = {
	[FH_N_BLOCK] = render_block,
	[FH_N_TEXT] = render_text,
	[FH_N_OUTPUT] = render_output,
	[FH_N_IF] = render_if,
	[FH_N_FOR] = render_for,
	[FH_N_SET] = render_set,
	[FH_N_MACRO] = render_macro,
	[FH_N_FILTER_BLOCK] = render_filter_block,
	[FH_N_SWITCH] = render_switch,
	[FH_N_INCLUDE] = fh_tpl_render_include,
	[FH_N_IMPORT] = fh_tpl_render_import,
	[FH_N_FROM] = fh_tpl_render_import,
	[FH_N_EXTENDS] = fh_tpl_render_extends,
	[FH_N_NAMED_BLOCK] = fh_tpl_render_named_block,
};

void fh_tpl_render_node(struct fh_tpl_render *r, const struct fh_tpl_node *node)
{
	if (fh_tpl_render_step(r, node))
		renderers[node->kind](r, node);
}

/* ---- the render as a whole ---- */

static void render_release(struct fh_tpl_render *r)
{
	/* Later values refer to earlier ones, so the pool is freed from its end. */
	while (r->n_pool > 0)
		json_decref(r->pool[--r->n_pool]);
	free(r->pool);
	fh_tpl_functions_release(r);
	fh_tpl_scopes_release(r);
}

int fh_text_template_render(const struct fh_text_template *t, const json_t *vars,
                            const struct fh_text_template_host *host, struct fh_buf *out, struct fh_error *err)
{
	union {
		const json_t *in;
		json_t *out; /* shared: only its reference count changes */
	} v = { .in = vars };
	size_t before = out->n;
	bool overflowed = out->overflowed;
	FH_CLEANUP(render_release)
	struct fh_tpl_render r = { .host = host, .err = err, .out = out };
	if (t->mutates && vars)
		v.out = fh_tpl_render_keep(&r, json_deep_copy(vars), 0);
	r.scope = fh_tpl_scope_new(&r, t, v.out);
	fh_auto_tframe struct fh_tpl_frame top = { .top = true };
	out->overflowed = false;
	if (fh_tpl_frame_enter(&r, &top))
		fh_tpl_scope_render(&r);
	out->overflowed = overflowed;
	if (r.failed)
		fh_buf_truncate(out, before);
	return r.failed;
}

static bool sets_name(const struct fh_text_template *t, const char *name)
{
	for (const struct fh_tpl_node *n = t->nodes; n; n = n->next) {
		bool binds = n->kind == FH_N_FOR || n->kind == FH_N_SET || n->kind == FH_N_MACRO || n->kind == FH_N_CALLER;
		if (n->kind == FH_N_IMPORT && fh_streq(n->b->name, name))
			return true;
		for (size_t i = 0; n->kind == FH_N_FROM && i < n->n_kids; i++)
			if (fh_streq(n->kids[i]->a->name, name))
				return true;
		if (n->kind == FH_N_MACRO && fh_streq(n->name, name))
			return true;
		for (size_t i = 0; binds && i < n->n_kids; i++)
			if (fh_streq(n->kids[i]->name, name))
				return true;
	}
	return false;
}

void fh_text_template_each_name(const struct fh_text_template *t, void (*each)(void *context, const char *name),
                                void *context)
{
	static const char *const built_in[] = { "loop",  "range", "cycler", "joiner", "caller",
		                                    "super", "true",  "false",  "none",   "null" };
	for (const struct fh_tpl_node *n = t->nodes; n; n = n->next) {
		bool known = n->kind != FH_N_SYMBOL || sets_name(t, n->name);
		for (size_t i = 0; i < FH_ARRAY_SIZE(built_in) && !known; i++)
			known = strcmp(built_in[i], n->name) == 0;
		if (!known)
			each(context, n->name);
	}
}

int fh_text_template_render_text(struct fh_str source, const char *name, const json_t *vars,
                                 const struct fh_text_template_host *host, struct fh_buf *out, struct fh_error *err)
{
	if (!fh_text_template_has_tags(source)) {
		if (fh_buf_add(out, source.p, source.n) < 0)
			return fh_error_set(err, FH_E_LIMIT, "the output of %s is too large", name ? name : "a template");
		return 0;
	}
	fh_auto_template struct fh_text_template *t = fh_text_template_compile(source, name, err);
	return t ? fh_text_template_render(t, vars, host, out, err) : -FH_E_CONFIG;
}
