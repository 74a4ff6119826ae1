/* SPDX-License-Identifier: MIT */
#include "template/template_internal.h"

/* Functions: macros, the `caller` of a {% call %}, and the built-in range, cycler and joiner. */

size_t fh_tpl_args_eval(struct fh_tpl_render *r, const struct fh_tpl_node *call, struct fh_tpl_value args[FH_TPL_ARGS])
{
	size_t n = FH_MIN(call->n_kids, (size_t)FH_TPL_ARGS);
	for (size_t i = 0; i < FH_TPL_ARGS; i++)
		args[i] = FH_TPL_VALUE_UNDEFINED;
	for (size_t i = 0; i < n; i++)
		args[i] = fh_tpl_render_eval(r, call->kids[i]->kind == FH_N_PAIR ? call->kids[i]->a : call->kids[i]);
	return n;
}

static struct fh_tpl_function *new_function(struct fh_tpl_render *r,
                                            struct fh_tpl_value (*call)(struct fh_tpl_render *r,
                                                                        struct fh_tpl_function *self,
                                                                        const struct fh_tpl_node *call))
{
	struct fh_tpl_function *f = FH_NEW(struct fh_tpl_function);
	f->call = call;
	f->next = r->functions;
	r->functions = f;
	fh_tpl_render_keep(r, NULL, sizeof(*f));
	return f;
}

static struct fh_tpl_value value_of(struct fh_tpl_function *f)
{
	return (struct fh_tpl_value){ .kind = FH_TPL_FUNCTION, .function = f };
}

struct fh_tpl_module *fh_tpl_module_new(struct fh_tpl_render *r)
{
	struct fh_tpl_module *m = FH_NEW(struct fh_tpl_module);
	m->next = r->modules;
	r->modules = m;
	fh_tpl_render_keep(r, NULL, sizeof(*m));
	return m;
}

void fh_tpl_functions_release(struct fh_tpl_render *r)
{
	while (r->functions) {
		struct fh_tpl_function *f = r->functions;
		r->functions = f->next;
		free(f);
	}
	while (r->modules) {
		struct fh_tpl_module *m = r->modules;
		r->modules = m->next;
		fh_tpl_frame_release(&m->members);
		free(m);
	}
}

struct fh_tpl_value fh_tpl_function_call(struct fh_tpl_render *r, struct fh_tpl_value function,
                                         const struct fh_tpl_node *call)
{
	return function.function->call(r, function.function, call);
}

/* ---- macros ---- */

static const struct fh_tpl_node *argument_of(const struct fh_tpl_node *call, const char *name, size_t position)
{
	size_t at = 0;
	for (size_t i = 0; i < call->n_kids; i++) {
		const struct fh_tpl_node *kid = call->kids[i];
		if (kid->kind == FH_N_PAIR ? fh_streq(kid->name, name) : at++ == position)
			return kid->kind == FH_N_PAIR ? kid->a : kid;
	}
	return NULL;
}

/* Whether the frame that a caller was written in is still there. */
static bool is_live(const struct fh_tpl_render *r, const struct fh_tpl_function *f)
{
	for (const struct fh_tpl_frame *frame = r->frame; frame; frame = frame->below)
		if (frame == f->frame)
			return frame->serial == f->serial;
	return false;
}

static struct fh_tpl_value call_macro(struct fh_tpl_render *r, struct fh_tpl_function *self,
                                      const struct fh_tpl_node *call)
{
	const struct fh_tpl_node *macro = self->node;
	if (self->frame && !is_live(r, self))
		return fh_tpl_render_fail(r, "this caller() is called outside of its macro");
	fh_auto_tframe struct fh_tpl_frame frame = { .parent = self->frame, .isolated = true };
	for (size_t i = 0; i < macro->n_kids; i++) {
		const struct fh_tpl_node *parameter = macro->kids[i], *argument = argument_of(call, parameter->name, i);
		struct fh_tpl_value value = argument ? fh_tpl_render_eval(r, argument) : FH_TPL_VALUE_UNDEFINED;
		if (!argument && parameter->a)
			value = fh_tpl_render_eval(r, parameter->a);
		fh_tpl_frame_bind(&frame, parameter->name, value);
	}
	const struct fh_tpl_node *caller = argument_of(call, "caller", SIZE_MAX);
	if (caller)
		fh_tpl_frame_bind(&frame, "caller", fh_tpl_render_eval(r, caller));
	struct fh_tpl_scope *outer = r->scope;
	struct fh_tpl_value text = FH_TPL_VALUE_UNDEFINED;
	r->scope = self->scope;
	if (fh_tpl_frame_enter(r, &frame))
		text = fh_tpl_render_capture(r, macro->b);
	fh_tpl_frame_leave(r);
	r->scope = outer;
	text.safe = true;
	return text;
}

struct fh_tpl_value fh_tpl_function_of(struct fh_tpl_render *r, const struct fh_tpl_node *macro_or_caller)
{
	struct fh_tpl_function *f = new_function(r, call_macro);
	f->node = macro_or_caller;
	f->scope = r->scope;
	if (macro_or_caller->kind == FH_N_CALLER) {
		f->frame = r->frame;
		f->serial = r->frame->serial;
	}
	return value_of(f);
}

/* ---- built-in functions ---- */

static struct fh_tpl_value call_range(struct fh_tpl_render *r, struct fh_tpl_function *self,
                                      const struct fh_tpl_node *call)
{
	struct fh_tpl_value args[FH_TPL_ARGS], array = fh_tpl_value_array(r);
	size_t n = fh_tpl_args_eval(r, call, args);
	double first = n > 1 ? fh_tpl_value_to_number(args[0]) : 0, end = fh_tpl_value_to_number(args[n > 1 ? 1 : 0]);
	double by = n > 2 && fh_tpl_value_truthy(args[2]) ? fh_tpl_value_to_number(args[2]) : 1;
	(void)self;
	for (double i = first; by > 0 ? i < end : i > end; i += by) {
		if (!fh_tpl_render_step(r, call))
			break;
		fh_tpl_value_append(r, array, fh_tpl_value_number(i));
	}
	return array;
}

static struct fh_tpl_value cycle_next(struct fh_tpl_render *r, struct fh_tpl_function *self,
                                      const struct fh_tpl_node *call)
{
	size_t n = json_array_size(self->value.json);
	struct fh_tpl_value item = fh_tpl_value_item(r, self->value, n ? self->at++ % n : 0);
	(void)call;
	fh_tpl_frame_bind(&self->module->members, "current", item);
	return item;
}

static struct fh_tpl_value cycle_reset(struct fh_tpl_render *r, struct fh_tpl_function *self,
                                       const struct fh_tpl_node *call)
{
	(void)r, (void)call;
	fh_tpl_frame_find(&self->module->members, "next")->value.function->at = 0;
	fh_tpl_frame_bind(&self->module->members, "current", (struct fh_tpl_value){ .kind = FH_TPL_NULL });
	return FH_TPL_VALUE_UNDEFINED;
}

static struct fh_tpl_value call_cycler(struct fh_tpl_render *r, struct fh_tpl_function *self,
                                       const struct fh_tpl_node *call)
{
	struct fh_tpl_module *cycler = fh_tpl_module_new(r);
	struct fh_tpl_function *next = new_function(r, cycle_next), *reset = new_function(r, cycle_reset);
	(void)self;
	next->value = fh_tpl_value_array(r);
	for (size_t i = 0; i < call->n_kids; i++)
		fh_tpl_value_append(r, next->value,
		                    fh_tpl_render_eval(r, call->kids[i]->kind == FH_N_PAIR ? call->kids[i]->a : call->kids[i]));
	next->module = reset->module = cycler;
	fh_tpl_frame_bind(&cycler->members, "current", (struct fh_tpl_value){ .kind = FH_TPL_NULL });
	fh_tpl_frame_bind(&cycler->members, "next", value_of(next));
	fh_tpl_frame_bind(&cycler->members, "reset", value_of(reset));
	return (struct fh_tpl_value){ .kind = FH_TPL_MODULE, .module = cycler };
}

static struct fh_tpl_value joiner_next(struct fh_tpl_render *r, struct fh_tpl_function *self,
                                       const struct fh_tpl_node *call)
{
	(void)call;
	return self->at++ == 0 ? fh_tpl_value_string(r, fh_str("")) : self->value;
}

static struct fh_tpl_value call_joiner(struct fh_tpl_render *r, struct fh_tpl_function *self,
                                       const struct fh_tpl_node *call)
{
	struct fh_tpl_value args[FH_TPL_ARGS];
	struct fh_tpl_function *f = new_function(r, joiner_next);
	(void)self;
	fh_tpl_args_eval(r, call, args);
	f->value = fh_tpl_value_truthy(args[0]) ? args[0] : fh_tpl_value_string(r, fh_str(","));
	return value_of(f);
}

struct fh_tpl_value fh_tpl_function_global(struct fh_tpl_render *r, const char *name)
{
	static const struct {
		const char *name;
		struct fh_tpl_value (*call)(struct fh_tpl_render *r, struct fh_tpl_function *self,
		                            const struct fh_tpl_node *call);
	} globals[] = { { "range", call_range }, { "cycler", call_cycler }, { "joiner", call_joiner } };
	for (size_t i = 0; i < FH_ARRAY_SIZE(globals); i++)
		if (fh_streq(globals[i].name, name))
			return value_of(new_function(r, globals[i].call));
	return FH_TPL_VALUE_UNDEFINED;
}
