/* SPDX-License-Identifier: MIT */
/* Code contexts: their turns, life and branches; context_run.c has their runs. */
#include "sandbox/session/context.h"

#include <signal.h>

#include "base/clock.h"
#include "base/error.h"
#include "fumehood/session.h"
#include "sandbox/connection/client.h"

enum { START_MS = 60000 };

/* All contexts of this process, oldest first. */
static struct fh_context *all;
static pthread_mutex_t all_lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- turns ---- */

int fh_context_turn_begin(struct fh_context *c, const volatile int *cancel, struct fh_error *err)
{
	int r = 0;
	pthread_mutex_lock(&c->lock);
	while (c->busy && !c->removed && r == 0) {
		struct timespec until;
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += FH_CONTEXT_LOOK_MS * FH_NS_PER_MS;
		until.tv_sec += until.tv_nsec / FH_NS_PER_S;
		until.tv_nsec %= FH_NS_PER_S;
		(void)pthread_cond_timedwait(&c->changed, &c->lock, &until);
		if (cancel && *cancel)
			r = fh_error_set(err, FH_E_CANCELLED, "cancelled while it waited for another run of this context");
	}
	if (r == 0 && c->removed)
		r = fh_error_set(err, FH_E_NOT_FOUND, "the context was removed");
	if (r == 0)
		c->busy = true;
	pthread_mutex_unlock(&c->lock);
	return r;
}

void fh_context_turn_end(struct fh_context *c)
{
	pthread_mutex_lock(&c->lock);
	c->busy = c->running = false;
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->lock);
}

void fh_context_drop(struct fh_context *c, char *why, size_t size)
{
	pthread_mutex_lock(&c->lock);
	c->running = c->alive = false;
	fh_context_driver_end(&c->driver, why, size);
	pthread_mutex_unlock(&c->lock);
}

static struct fh_context_start start_of(const struct fh_context *c)
{
	return (struct fh_context_start){ c->sandbox, c->kind, c->cwd, c->options, c->start_timeout_ms };
}

int fh_context_launch(struct fh_context *c, struct fh_error *err)
{
	const struct fh_context_start start = start_of(c);
	struct fh_context_ready ready = { NULL };
	struct fh_context_driver driver;
	int r = fh_context_driver_start(&driver, &start, &ready, err);
	if (r < 0)
		return r;
	pthread_mutex_lock(&c->lock);
	c->driver = driver;
	c->alive = true;
	c->signalled = false;
	c->count = 0;
	if (!c->interpreter) /* not replaced by later starts, since callers hold the pointer */
		c->interpreter = FH_TAKE_PTR(ready.interpreter);
	pthread_mutex_unlock(&c->lock);
	fh_context_ready_release(&ready);
	return 0;
}

/* ---- life ---- */

static struct fh_context *new_context(struct fh_sandbox *sandbox)
{
	struct fh_context *c = FH_NEW(struct fh_context);
	struct fh_id id;
	fh_id_random(&id);
	fh_id_hex(id, c->id);
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->changed, NULL);
	c->sandbox = sandbox;
	return c;
}

static void enlist(struct fh_context *c)
{
	pthread_mutex_lock(&all_lock);
	struct fh_context **last = &all;
	while (*last)
		last = &(*last)->next;
	*last = c;
	pthread_mutex_unlock(&all_lock);
}

int fh_context_create(struct fh_sandbox *sandbox, const struct fh_context_options *options, struct fh_context **ret,
                      struct fh_error *err)
{
	const struct fh_context_options none = FH_CONTEXT_OPTIONS_INIT, *o = options ? options : &none;
	struct fh_context *c = new_context(sandbox);
	c->cwd = FH_HAS(o, cwd) && o->cwd ? fh_xstrdup(o->cwd) : NULL;
	c->start_timeout_ms = FH_HAS(o, start_timeout_ms) && o->start_timeout_ms ? o->start_timeout_ms : START_MS;
	int r = fh_context_kind_find(FH_HAS(o, language) && o->language ? o->language : "python", &c->kind, err);
	if (r == 0)
		r = fh_context_options_json(o, c->kind, &c->options, err);
	if (r == 0)
		r = fh_context_launch(c, err);
	if (r < 0) {
		fh_context_free(c);
		return r;
	}
	enlist(c);
	*ret = c;
	return 0;
}

/* Sends the variables to an interpreter that has run nothing. The caller has the turn. */
static int hand_over(struct fh_context *c, const char *const *env, struct fh_error *err)
{
	fh_auto_buf struct fh_buf line = FH_BUF_INIT(0);
	fh_auto_json json_t *request = json_object();
	if (!c->kind->adopts)
		return fh_error_set(err, FH_E_UNAVAILABLE, "a context in %s cannot be adopted", c->kind->name);
	if (c->runs || !c->alive)
		return fh_error_set(err, FH_E_NOT_FOUND, "the context has run code, or its interpreter ended");
	int r = fh_context_options_adopt(c->options, env, err);
	if (r < 0)
		return r;
	json_object_set_new(request, "op", json_string("adopt"));
	json_object_set(request, "env", json_object_get(c->options, "env"));
	fh_json_write(&line, request, 0);
	(void)fh_buf_addc(&line, '\n');
	return fh_context_driver_send(&c->driver, fh_buf_str(&line), FH_CONTEXT_SEND_MS, err);
}

int fh_context_adopt(struct fh_context *context, const char *const *env, struct fh_error *err)
{
	int r = fh_context_turn_begin(context, NULL, err);
	if (r < 0)
		return r;
	r = hand_over(context, env, err);
	fh_context_turn_end(context);
	return r;
}

static int can_branch(const struct fh_context *c, struct fh_error *err)
{
	if (c->kind->cannot_branch) {
		(void)fh_error_set(err, FH_E_UNAVAILABLE, "a context in %s cannot branch: %s", c->kind->name,
		                   c->kind->cannot_branch);
		fh_error_hint(err, "contexts in python can");
		return -FH_E_UNAVAILABLE;
	}
	return c->alive ? 0
	                : fh_error_set(err, FH_E_NOT_FOUND, "the context's interpreter ended: there is no state to branch");
}

/* Forks the interpreter. The caller has the turn. */
static int fork_into(struct fh_context *from, struct fh_context *to, struct fh_error *err)
{
	const struct fh_context_start start = start_of(from);
	struct fh_context_ready ready = { NULL };
	int r = fh_context_driver_branch(&from->driver, &start, ++from->runs, &to->driver, &ready, err);
	if (r < 0)
		return r;
	to->alive = true;
	to->interpreter = FH_TAKE_PTR(ready.interpreter);
	to->not_branched = FH_TAKE_PTR(ready.not_branched);
	return 0;
}

/* Starts an interpreter in the other sandbox, which reads the state of this one. The caller has the turn. */
static int carry_into(struct fh_context *from, struct fh_context *to, struct fh_error *err)
{
	const struct fh_context_start of_from = start_of(from), of_to = start_of(to);
	struct fh_context_ready ready = { NULL };
	char file[FH_CONTEXT_FILE_NAME];
	int r = fh_context_driver_save(&from->driver, &of_from, ++from->runs, file, err);
	if (r < 0)
		return r;
	r = fh_context_launch(to, err);
	if (r < 0) {
		(void)fh_files_remove(from->sandbox, NULL, file, false, NULL);
		return r;
	}
	r = fh_context_driver_load(&to->driver, &of_to, ++to->runs, from->sandbox, file, &ready, err);
	if (r < 0)
		fh_context_drop(to, NULL, 0);
	else
		to->not_branched = FH_TAKE_PTR(ready.not_branched);
	fh_context_ready_release(&ready);
	return r;
}

static bool same_sandbox(const struct fh_sandbox *a, const struct fh_sandbox *b)
{
	return a->client == b->client && strcmp(a->hex, b->hex) == 0;
}

int fh_context_branch_into(struct fh_context *context, struct fh_sandbox *into, struct fh_context **ret,
                           struct fh_error *err)
{
	int r = fh_context_turn_begin(context, NULL, err);
	if (r < 0)
		return r;
	struct fh_context *made = new_context(into);
	made->kind = context->kind;
	made->cwd = context->cwd ? fh_xstrdup(context->cwd) : NULL;
	made->options = json_incref(context->options);
	made->start_timeout_ms = context->start_timeout_ms;
	r = can_branch(context, err);
	if (r == 0)
		r = same_sandbox(context->sandbox, into) ? fork_into(context, made, err) : carry_into(context, made, err);
	made->count = context->count;
	fh_context_turn_end(context);
	if (r < 0) {
		fh_context_free(made);
		return r;
	}
	enlist(made);
	*ret = made;
	return 0;
}

int fh_context_branch(struct fh_context *context, struct fh_context **ret, struct fh_error *err)
{
	return fh_context_branch_into(context, context->sandbox, ret, err);
}

static void unlist(struct fh_context *c)
{
	pthread_mutex_lock(&all_lock);
	for (struct fh_context **at = &all; *at; at = &(*at)->next)
		if (*at == c) {
			*at = c->next;
			break;
		}
	pthread_mutex_unlock(&all_lock);
}

/* Kills the current run and takes the turn. */
static int stop_all(struct fh_context *c, struct fh_error *err)
{
	pthread_mutex_lock(&c->lock);
	if (c->running && c->alive)
		(void)fh_process_signal(c->driver.process, SIGKILL, NULL);
	pthread_mutex_unlock(&c->lock);
	int r = fh_context_turn_begin(c, NULL, err);
	if (r == 0)
		fh_context_drop(c, NULL, 0);
	return r;
}

int fh_context_restart(struct fh_context *context, struct fh_error *err)
{
	int r = stop_all(context, err);
	if (r < 0)
		return r;
	r = fh_context_launch(context, err);
	fh_context_turn_end(context);
	return r;
}

int fh_context_remove(struct fh_context *context, struct fh_error *err)
{
	int r = stop_all(context, err);
	if (r < 0)
		return r;
	pthread_mutex_lock(&context->lock);
	context->removed = true;
	pthread_mutex_unlock(&context->lock);
	fh_context_turn_end(context);
	unlist(context);
	return 0;
}

void fh_context_free(struct fh_context *context)
{
	if (!context)
		return;
	unlist(context);
	if (context->driver.process)
		fh_context_driver_forget(&context->driver);
	fh_buf_release(&context->driver.unread);
	json_decref(context->options);
	free(context->cwd);
	free(context->interpreter);
	for (char **one = context->not_branched; one && *one; one++)
		free(*one);
	free(context->not_branched);
	pthread_cond_destroy(&context->changed);
	pthread_mutex_destroy(&context->lock);
	free(context);
}

int fh_context_interrupt(struct fh_context *context, struct fh_error *err)
{
	int r = 0;
	pthread_mutex_lock(&context->lock);
	if (context->running) {
		context->interrupted = context->signalled = true;
		r = fh_process_signal(context->driver.process, SIGINT, err);
	}
	pthread_mutex_unlock(&context->lock);
	return r == -FH_E_NOT_FOUND ? 0 : r; /* the process has ended, and with it the code to interrupt */
}

int fh_context_list(struct fh_sandbox *sandbox, struct fh_context ***ret, size_t *ret_count, struct fh_error *err)
{
	(void)err;
	struct fh_context **list = NULL;
	size_t count = 0, capacity = 0;
	pthread_mutex_lock(&all_lock);
	for (struct fh_context *c = all; c; c = c->next)
		if (same_sandbox(c->sandbox, sandbox))
			FH_PUSH(list, count, capacity) = c;
	pthread_mutex_unlock(&all_lock);
	*ret = list;
	*ret_count = count;
	return 0;
}

bool fh_context_is_running(struct fh_context *context)
{
	pthread_mutex_lock(&context->lock);
	bool running = context->running;
	pthread_mutex_unlock(&context->lock);
	return running;
}

const char *fh_context_id(const struct fh_context *context)
{
	return context->id;
}

const char *fh_context_language(const struct fh_context *context)
{
	return context->kind->name;
}

const char *fh_context_cwd(const struct fh_context *context)
{
	return context->cwd;
}

const char *fh_context_interpreter(const struct fh_context *context)
{
	return context->interpreter;
}

const char *const *fh_context_not_branched(const struct fh_context *context)
{
	static const char *const nothing[] = { NULL };
	return context->not_branched ? (const char *const *)context->not_branched : nothing;
}
