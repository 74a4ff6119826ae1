/* SPDX-License-Identifier: MIT */
#include "template/template_internal.h"

/* Functions: macros, the `caller` of a {% call %}, and the built-in range, cycler and joiner. */

size_t fh_targs_eval(struct fh_trender *r, const struct fh_tnode *call, struct fh_tval args[FH_TARGS])
{
	size_t n = FH_MIN(call->n_kids, (size_t)FH_TARGS);
	for (size_t i = 0; i < FH_TARGS; i++)
		args[i] = FH_TVAL_UNDEFINED;
	for (size_t i = 0; i < n; i++)
		args[i] = fh_trender_eval(r, call->kids[i]->kind == FH_N_PAIR ? call->kids[i]->a : call->kids[i]);
	return n;
}

static struct fh_tfunction *new_function(struct fh_trender *r,
                                         struct fh_tval (*call)(struct fh_trender *r, struct fh_tfunction *self,
                                                                const struct fh_tnode *call))
{
	struct fh_tfunction *f = FH_NEW(struct fh_tfunction);
	f->call = call;
	f->next = r->functions;
	r->functions = f;
	fh_trender_keep(r, NULL, sizeof(*f));
	return f;
}

static struct fh_tval value_of(struct fh_tfunction *f)
{
	return (struct fh_tval){ .kind = FH_T_FUNCTION, .function = f };
}

struct fh_tmodule *fh_tmodule_new(struct fh_trender *r)
{
	struct fh_tmodule *m = FH_NEW(struct fh_tmodule);
	m->next = r->modules;
	r->modules = m;
	fh_trender_keep(r, NULL, sizeof(*m));
	return m;
}

void fh_tfunctions_release(struct fh_trender *r)
{
	while (r->functions) {
		struct fh_tfunction *f = r->functions;
		r->functions = f->next;
		free(f);
	}
	while (r->modules) {
		struct fh_tmodule *m = r->modules;
		r->modules = m->next;
		fh_tframe_release(&m->members);
		free(m);
	}
}

struct fh_tval fh_tfunction_call(struct fh_trender *r, struct fh_tval function, const struct fh_tnode *call)
{
	return function.function->call(r, function.function, call);
}

/* ---- macros ---- */

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

/* Whether the frame that a caller was written in is still there. */
static bool is_live(const struct fh_trender *r, const struct fh_tfunction *f)
{
	for (const struct fh_tframe *frame = r->frame; frame; frame = frame->below)
		if (frame == f->frame)
			return frame->serial == f->serial;
	return false;
}

static struct fh_tval call_macro(struct fh_trender *r, struct fh_tfunction *self, const struct fh_tnode *call)
{
	const struct fh_tnode *macro = self->node;
	if (self->frame && !is_live(r, self))
		return fh_trender_fail(r, "this caller() is called outside of its macro");
	fh_auto_tframe struct fh_tframe frame = { .parent = self->frame, .isolated = true };
	for (size_t i = 0; i < macro->n_kids; i++) {
		const struct fh_tnode *parameter = macro->kids[i], *argument = argument_of(call, parameter->name, i);
		struct fh_tval value = argument ? fh_trender_eval(r, argument) : FH_TVAL_UNDEFINED;
		if (!argument && parameter->a)
			value = fh_trender_eval(r, parameter->a);
		fh_tframe_bind(&frame, parameter->name, value);
	}
	const struct fh_tnode *caller = argument_of(call, "caller", SIZE_MAX);
	if (caller)
		fh_tframe_bind(&frame, "caller", fh_trender_eval(r, caller));
	struct fh_tscope *outer = r->scope;
	struct fh_tval text = FH_TVAL_UNDEFINED;
	r->scope = self->scope;
	if (fh_tframe_enter(r, &frame))
		text = fh_trender_capture(r, macro->b);
	fh_tframe_leave(r);
	r->scope = outer;
	text.safe = true;
	return text;
}

struct fh_tval fh_tfunction_of(struct fh_trender *r, const struct fh_tnode *macro_or_caller)
{
	struct fh_tfunction *f = new_function(r, call_macro);
	f->node = macro_or_caller;
	f->scope = r->scope;
	if (macro_or_caller->kind == FH_N_CALLER) {
		f->frame = r->frame;
		f->serial = r->frame->serial;
	}
	return value_of(f);
}

/* ---- built-in functions ---- */

static struct fh_tval call_range(struct fh_trender *r, struct fh_tfunction *self, const struct fh_tnode *call)
{
	struct fh_tval args[FH_TARGS], array = fh_tval_array(r);
	size_t n = fh_targs_eval(r, call, args);
	double first = n > 1 ? fh_tval_to_number(args[0]) : 0, end = fh_tval_to_number(args[n > 1 ? 1 : 0]);
	double by = n > 2 && fh_tval_truthy(args[2]) ? fh_tval_to_number(args[2]) : 1;
	(void)self;
	for (double i = first; by > 0 ? i < end : i > end; i += by) {
		if (!fh_trender_step(r, call))
			break;
		fh_tval_append(r, array, fh_tval_number(i));
	}
	return array;
}

static struct fh_tval cycle_next(struct fh_trender *r, struct fh_tfunction *self, const struct fh_tnode *call)
{
	size_t n = json_array_size(self->value.json);
	struct fh_tval item = fh_tval_item(r, self->value, n ? self->at++ % n : 0);
	(void)call;
	fh_tframe_bind(&self->module->members, "current", item);
	return item;
}

static struct fh_tval cycle_reset(struct fh_trender *r, struct fh_tfunction *self, const struct fh_tnode *call)
{
	(void)r, (void)call;
	fh_tframe_find(&self->module->members, "next")->value.function->at = 0;
	fh_tframe_bind(&self->module->members, "current", (struct fh_tval){ .kind = FH_T_NULL });
	return FH_TVAL_UNDEFINED;
}

static struct fh_tval call_cycler(struct fh_trender *r, struct fh_tfunction *self, const struct fh_tnode *call)
{
	struct fh_tmodule *cycler = fh_tmodule_new(r);
	struct fh_tfunction *next = new_function(r, cycle_next), *reset = new_function(r, cycle_reset);
	(void)self;
	next->value = fh_tval_array(r);
	for (size_t i = 0; i < call->n_kids; i++)
		fh_tval_append(r, next->value,
		               fh_trender_eval(r, call->kids[i]->kind == FH_N_PAIR ? call->kids[i]->a : call->kids[i]));
	next->module = reset->module = cycler;
	fh_tframe_bind(&cycler->members, "current", (struct fh_tval){ .kind = FH_T_NULL });
	fh_tframe_bind(&cycler->members, "next", value_of(next));
	fh_tframe_bind(&cycler->members, "reset", value_of(reset));
	return (struct fh_tval){ .kind = FH_T_MODULE, .module = cycler };
}

static struct fh_tval joiner_next(struct fh_trender *r, struct fh_tfunction *self, const struct fh_tnode *call)
{
	(void)call;
	return self->at++ == 0 ? fh_tval_string(r, fh_str("")) : self->value;
}

static struct fh_tval call_joiner(struct fh_trender *r, struct fh_tfunction *self, const struct fh_tnode *call)
{
	struct fh_tval args[FH_TARGS];
	struct fh_tfunction *f = new_function(r, joiner_next);
	(void)self;
	fh_targs_eval(r, call, args);
	f->value = fh_tval_truthy(args[0]) ? args[0] : fh_tval_string(r, fh_str(","));
	return value_of(f);
}

struct fh_tval fh_tfunction_global(struct fh_trender *r, const char *name)
{
	static const struct {
		const char *name;
		struct fh_tval (*call)(struct fh_trender *r, struct fh_tfunction *self, const struct fh_tnode *call);
	} globals[] = { { "range", call_range }, { "cycler", call_cycler }, { "joiner", call_joiner } };
	for (size_t i = 0; i < FH_ARRAY_SIZE(globals); i++)
		if (fh_streq(globals[i].name, name))
			return value_of(new_function(r, globals[i].call));
	return FH_TVAL_UNDEFINED;
}
