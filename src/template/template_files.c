/* SPDX-License-Identifier: MIT */
#include "template/template_internal.h"

/* Templates of several files: include, import, extends, and the blocks that extending templates replace. */

/* ---- scopes ---- */

static struct fh_tpl_block *block_named(struct fh_tpl_scope *scope, const char *name)
{
	for (size_t i = 0; i < scope->n_blocks; i++)
		if (fh_streq(scope->blocks[i].name, name))
			return &scope->blocks[i];
	return NULL;
}

/* Adds the blocks of a template behind those of the templates that extend it. The list of nodes begins with the last.
 */
static void add_blocks(struct fh_tpl_scope *scope, const struct fh_text_template *t)
{
	for (const struct fh_tpl_node *node = t->nodes; node; node = node->next) {
		if (node->kind != FH_N_NAMED_BLOCK)
			continue;
		struct fh_tpl_block *block = block_named(scope, node->name);
		if (!block) {
			block = &FH_PUSH(scope->blocks, scope->n_blocks, scope->cap_blocks);
			block->name = node->name;
		}
		FH_PUSH(block->bodies, block->n, block->cap) = node->b;
	}
}

struct fh_tpl_scope *fh_tpl_scope_new(struct fh_tpl_render *r, const struct fh_text_template *t, json_t *vars)
{
	struct fh_tpl_scope *scope = FH_NEW(struct fh_tpl_scope);
	scope->t = t;
	scope->vars = vars;
	scope->next = r->scopes;
	r->scopes = scope;
	add_blocks(scope, t);
	fh_tpl_render_keep(r, NULL, sizeof(*scope) + scope->n_blocks * sizeof(*scope->blocks));
	return scope;
}

void fh_tpl_scopes_release(struct fh_tpl_render *r)
{
	while (r->scopes) {
		struct fh_tpl_scope *scope = r->scopes;
		r->scopes = scope->next;
		for (size_t i = 0; i < scope->n_blocks; i++)
			free(scope->blocks[i].bodies);
		free(scope->blocks);
		fh_tpl_frame_release(&scope->context);
		free(scope);
	}
	while (r->loaded) {
		struct fh_tpl_loaded *loaded = r->loaded;
		r->loaded = loaded->next;
		fh_text_template_free(loaded->t);
		free(loaded->name);
		free(loaded);
	}
}

void fh_tpl_scope_render(struct fh_tpl_render *r)
{
	const struct fh_text_template *t = r->scope->t;
	struct fh_buf *out = r->out;
	for (unsigned n = 0; t && !r->failed; n++) {
		if (n >= FH_TEXT_TEMPLATE_DEPTH_MAX) {
			fh_tpl_render_limit(r, "the number of templates that extend each other");
			return;
		}
		/* What an extending template has outside of its blocks is rendered, since it may set variables, and dropped. */
		fh_auto_buf struct fh_buf text = FH_BUF_INIT(FH_TEXT_TEMPLATE_MEMORY_MAX);
		bool apart = t->extends;
		r->out = apart ? &text : out;
		r->scope->extended = NULL;
		r->scope->t = t;
		fh_tpl_render_node(r, t->root);
		t = r->scope->extended;
		r->out = out;
		if (apart && !t && !r->failed && fh_buf_add(out, fh_buf_str(&text).p, text.n) < 0)
			fh_tpl_render_limit(r, "its output");
	}
}

/* ---- loading ---- */

/* The template that an expression names. NULL: the render failed, or there is none and `optional`. */
static const struct fh_text_template *load(struct fh_tpl_render *r, const struct fh_tpl_node *node, bool optional)
{
	struct fh_tpl_value value = fh_tpl_render_eval(r, node->a);
	r->at = node;
	if (r->failed)
		return NULL;
	if (value.kind != FH_TPL_STRING) {
		fh_tpl_render_fail(r, "the name of a template has to be text");
		return NULL;
	}
	const char *name = json_string_value(value.json);
	for (const struct fh_tpl_loaded *l = r->loaded; l; l = l->next)
		if (fh_streq(l->name, name))
			return l->t;
	fh_auto_buf struct fh_buf source = FH_BUF_INIT(FH_TEXT_TEMPLATE_SOURCE_MAX);
	struct fh_error err = FH_ERROR_INIT;
	if (!r->host || !r->host->load) {
		fh_tpl_render_fail(r, "this template may not load others");
		return NULL;
	}
	int code = r->host->load(r->host->context, name, &source, &err);
	if (code == -FH_E_NOT_FOUND && optional)
		return NULL;
	struct fh_text_template *t = code < 0 ? NULL : fh_text_template_compile(fh_buf_str(&source), name, &err);
	if (!t) {
		fh_tpl_render_fail(r, "template '%.60s': %.150s", name, err.message);
		return NULL;
	}
	fh_tpl_render_keep(r, NULL, 16 * source.n);
	struct fh_tpl_loaded *loaded = FH_NEW(struct fh_tpl_loaded);
	*loaded = (struct fh_tpl_loaded){ fh_xstrdup(name), t, r->loaded };
	r->loaded = loaded;
	return t;
}

/* Renders a template in a scope and a frame of its own. */
static void render_apart(struct fh_tpl_render *r, struct fh_tpl_scope *scope, struct fh_tpl_frame *frame)
{
	struct fh_tpl_scope *outer = r->scope;
	const char *block = r->block;
	r->scope = scope;
	r->block = NULL;
	if (fh_tpl_frame_enter(r, frame))
		fh_tpl_scope_render(r);
	fh_tpl_frame_leave(r);
	r->scope = outer;
	r->block = block;
}

static void copy_context(struct fh_tpl_scope *to, const struct fh_tpl_scope *from)
{
	for (size_t i = 0; i < from->context.n; i++)
		fh_tpl_frame_bind(&to->context, from->context.items[i].name, from->context.items[i].value);
}

void fh_tpl_render_include(struct fh_tpl_render *r, const struct fh_tpl_node *node)
{
	const struct fh_text_template *t = load(r, node, node->flag);
	if (!t)
		return;
	struct fh_tpl_scope *scope = fh_tpl_scope_new(r, t, r->scope->vars);
	copy_context(scope, r->scope);
	fh_auto_tframe struct fh_tpl_frame frame = { .parent = r->frame, .top = true, .isolated = true };
	render_apart(r, scope, &frame);
}

/* Gives a value a name here, as {% set %} does for a new one. */
static void name_here(struct fh_tpl_render *r, const char *name, struct fh_tpl_value value)
{
	fh_tpl_frame_bind(r->frame, name, value);
	if (r->frame->top)
		fh_tpl_frame_bind(&r->scope->context, name, value);
}

void fh_tpl_render_import(struct fh_tpl_render *r, const struct fh_tpl_node *node)
{
	const struct fh_text_template *t = load(r, node, false);
	if (!t)
		return;
	struct fh_tpl_scope *scope = fh_tpl_scope_new(r, t, node->flag ? r->scope->vars : NULL);
	fh_auto_tframe struct fh_tpl_frame frame = { .parent = node->flag ? r->frame : NULL, .top = true };
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(FH_TEXT_TEMPLATE_MEMORY_MAX);
	struct fh_buf *out = r->out;
	r->out = &text;
	render_apart(r, scope, &frame);
	r->out = out;
	r->at = node;
	if (r->failed)
		return;
	struct fh_tpl_module *module = fh_tpl_module_new(r);
	for (size_t i = 0; i < scope->context.n; i++)
		if (scope->context.items[i].name[0] != '_')
			fh_tpl_frame_bind(&module->members, scope->context.items[i].name, scope->context.items[i].value);
	if (node->kind == FH_N_IMPORT)
		name_here(r, node->b->name, (struct fh_tpl_value){ .kind = FH_TPL_MODULE, .module = module });
	for (size_t i = 0; i < node->n_kids && !r->failed; i++) {
		const struct fh_tpl_node *pair = node->kids[i];
		const struct fh_tpl_binding *member = fh_tpl_frame_find(&module->members, pair->name);
		if (member)
			name_here(r, pair->a->name, member->value);
		else
			fh_tpl_render_fail(r, "template '%.60s' has no '%.60s' to import", t->name, pair->name);
	}
}

/* ---- inheritance ---- */

void fh_tpl_render_extends(struct fh_tpl_render *r, const struct fh_tpl_node *node)
{
	const struct fh_text_template *t = load(r, node, false);
	if (!t)
		return;
	r->scope->extended = t;
	add_blocks(r->scope, t);
}

static void render_body(struct fh_tpl_render *r, const struct fh_tpl_block *block, size_t i)
{
	const struct fh_tpl_node *body = block->bodies[i];
	const char *outer = r->block;
	size_t at = r->at_body;
	fh_auto_tframe struct fh_tpl_frame frame = { .parent = r->frame, .isolated = true };
	r->block = block->name;
	r->at_body = i;
	if (fh_tpl_frame_enter(r, &frame))
		fh_tpl_render_node(r, body);
	fh_tpl_frame_leave(r);
	r->block = outer;
	r->at_body = at;
}

void fh_tpl_render_named_block(struct fh_tpl_render *r, const struct fh_tpl_node *node)
{
	if (!r->scope->extended)
		render_body(r, block_named(r->scope, node->name), 0);
}

struct fh_tpl_value fh_tpl_render_super(struct fh_tpl_render *r, const struct fh_tpl_node *call)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(FH_TEXT_TEMPLATE_MEMORY_MAX);
	struct fh_buf *out = r->out;
	const struct fh_tpl_block *block = block_named(r->scope, r->block);
	r->at = call;
	if (!block || r->at_body + 1 >= block->n)
		return fh_tpl_render_fail(r, "no template that is extended has a block '%.60s' for super()", r->block);
	r->out = &text;
	render_body(r, block, r->at_body + 1);
	r->out = out;
	if (r->failed)
		return FH_TPL_VALUE_UNDEFINED;
	struct fh_tpl_value value = fh_tpl_value_take(r, &text);
	value.safe = true;
	return value;
}
