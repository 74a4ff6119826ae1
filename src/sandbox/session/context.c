/* SPDX-License-Identifier: MIT */
/* Code contexts and their runs. */
#include "sandbox/session/context.h"

#include <signal.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/error.h"
#include "sandbox/connection/client.h"

enum {
	START_MS = 60000,
	GRACE_MS = 5000,
	SEND_MS = 10000, /* time for the driver to read a request, which is all that it does between runs */
	LOOK_MS = 100,   /* period at which a run checks `cancel` */
	EVENTS_BYTES = 64 << 20,
	EVENT_COST = 64, /* what an event counts in addition to its bytes, so that a flood of small events is stopped too */
};

/*
 * `lock` guards all fields but those that are set once and those that only the current run uses (driver.unread). One
 * call at a time is `busy`: a run or a restart. Only the busy call changes the process, and it holds `lock` to do so.
 * An interrupt holds `lock` while it is sent, so it reaches the run that it was meant for and no later one.
 */
struct fh_context {
	struct fh_sandbox *sandbox;
	const struct fh_context_kind *kind;
	char id[FH_ID_HEX];
	char *cwd;
	json_t *options;
	uint64_t start_timeout_ms;
	char *interpreter;
	char *
	    *not_branched; /* if this context is a branch: what it lacks of its parent's state (fh_context_not_branched) */

	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool busy, running, interrupted, removed;
	bool signalled; /* SIGINT was sent since the last request, and no KeyboardInterrupt came: it may arrive too late */
	struct fh_context_driver driver;
	bool alive; /* the driver is running and accepts code */
	uint64_t runs, count;
	struct fh_context *next; /* list of all contexts of this process */
};

/* All contexts of this process, oldest first. */
static struct fh_context *all;
static pthread_mutex_t all_lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- turns ---- */

/* Waits for this call's turn. -FH_E_CANCELLED when `cancel` is set before. */
static int turn_begin(struct fh_context *c, const volatile int *cancel, struct fh_error *err)
{
	int r = 0;
	pthread_mutex_lock(&c->lock);
	while (c->busy && !c->removed && r == 0) {
		struct timespec until;
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += LOOK_MS * FH_NS_PER_MS;
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

static void turn_end(struct fh_context *c)
{
	pthread_mutex_lock(&c->lock);
	c->busy = c->running = false;
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->lock);
}

/* Ends the interpreter; `why` receives how it ended, as text for the user. Called by the busy call. */
static void drop(struct fh_context *c, char *why, size_t size)
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

static int launch(struct fh_context *c, struct fh_error *err)
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
		r = launch(c, err);
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
	return fh_context_driver_send(&c->driver, fh_buf_str(&line), SEND_MS, err);
}

int fh_context_adopt(struct fh_context *context, const char *const *env, struct fh_error *err)
{
	int r = turn_begin(context, NULL, err);
	if (r < 0)
		return r;
	r = hand_over(context, env, err);
	turn_end(context);
	return r;
}

/* Forks the interpreter. The caller has the turn. */
static int fork_into(struct fh_context *from, struct fh_context *to, struct fh_error *err)
{
	const struct fh_context_start start = start_of(from);
	struct fh_context_ready ready = { NULL };
	if (from->kind->cannot_branch) {
		(void)fh_error_set(err, FH_E_UNAVAILABLE, "a context in %s cannot branch: %s", from->kind->name,
		                   from->kind->cannot_branch);
		fh_error_hint(err, "contexts in python can");
		return -FH_E_UNAVAILABLE;
	}
	if (!from->alive)
		return fh_error_set(err, FH_E_NOT_FOUND, "the context's interpreter ended: there is no state to branch");
	int r = fh_context_driver_branch(&from->driver, &start, ++from->runs, &to->driver, &ready, err);
	if (r < 0)
		return r;
	to->kind = from->kind;
	to->cwd = from->cwd ? fh_xstrdup(from->cwd) : NULL;
	to->options = json_incref(from->options);
	to->start_timeout_ms = from->start_timeout_ms;
	to->alive = true;
	to->count = from->count;
	to->interpreter = FH_TAKE_PTR(ready.interpreter);
	to->not_branched = FH_TAKE_PTR(ready.not_branched);
	return 0;
}

int fh_context_branch(struct fh_context *context, struct fh_context **ret, struct fh_error *err)
{
	int r = turn_begin(context, NULL, err);
	if (r < 0)
		return r;
	struct fh_context *made = new_context(context->sandbox);
	r = fork_into(context, made, err);
	turn_end(context);
	if (r < 0) {
		fh_context_free(made);
		return r;
	}
	enlist(made);
	*ret = made;
	return 0;
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
	int r = turn_begin(c, NULL, err);
	if (r == 0)
		drop(c, NULL, 0);
	return r;
}

int fh_context_restart(struct fh_context *context, struct fh_error *err)
{
	int r = stop_all(context, err);
	if (r < 0)
		return r;
	r = launch(context, err);
	turn_end(context);
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
	turn_end(context);
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
		if (c->sandbox->client == sandbox->client && strcmp(c->sandbox->hex, sandbox->hex) == 0)
			FH_PUSH(list, count, capacity) = c;
	pthread_mutex_unlock(&all_lock);
	*ret = list;
	*ret_count = count;
	return 0;
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

/* ---- runs ---- */

struct run {
	struct fh_context *c;
	struct fh_context_run_options o;
	uint64_t id, bytes;
	int64_t timeout_ns, grace_ns; /* deadlines; 0: none */
	enum fh_context_status why;   /* why it was interrupted; FH_CONTEXT_OK: it was not */
	struct fh_context_outcome *outcome;
};

static int write_request(struct run *r, struct fh_buf *line, struct fh_error *err)
{
	fh_auto_json json_t *request = json_object();
	json_object_set_new(request, "op", json_string("run"));
	json_object_set_new(request, "id", json_integer((json_int_t)r->id));
	json_object_set_new(request, "count", json_integer((json_int_t)r->c->count));
	if (r->o.silent)
		json_object_set_new(request, "silent", json_true());
	if (r->c->signalled)
		json_object_set_new(request, "late_interrupt", json_true());
	r->c->signalled = false;
	int code = fh_context_add_variables(request, "env", r->o.env, err);
	if (code < 0)
		return code;
	if (r->o.code.size > FH_CONTEXT_CODE_MAX)
		return fh_error_set(err, FH_E_LIMIT, "the code has %zu bytes; at most %zu are allowed", r->o.code.size,
		                    FH_CONTEXT_CODE_MAX);
	json_object_set_new(request, "code", fh_json_bytes((struct fh_str){ r->o.code.data, r->o.code.size }));
	fh_json_write(line, request, 0);
	(void)fh_buf_addc(line, '\n');
	return 0;
}

/* Asks the code to stop, once, and gives it the grace period to do so. */
static void stop(struct run *r, enum fh_context_status why)
{
	if (r->why != FH_CONTEXT_OK)
		return;
	r->why = why;
	r->c->signalled = true;
	r->grace_ns = fh_now_ns() + (int64_t)r->o.grace_ms * FH_NS_PER_MS;
	(void)fh_process_signal(r->c->driver.process, SIGINT, NULL);
}

/* The interpreter ended or does not react: drops it. */
static void lost(struct run *r, const char *what)
{
	struct fh_context_outcome *o = r->outcome;
	char how[128] = "";
	drop(r->c, how, sizeof(how));
	o->status = r->why != FH_CONTEXT_OK ? r->why : FH_CONTEXT_ENDED;
	o->state_lost = true;
	const char *hint = fh_streq(how, "exit code 1") ? r->c->kind->may_end : NULL;
	snprintf(o->message, sizeof(o->message), "%s (%s); its state is lost, and the next run starts another%s%s", what,
	         how, hint ? ". " : "", hint ? hint : "");
}

/* Handles one line from the driver. True: the run is over. */
static bool take(struct run *r, struct fh_str text)
{
	struct fh_context_line line = { 0 };
	struct fh_context_event event;
	struct fh_context_outcome *o = r->outcome;
	bool over = false;
	r->bytes += text.n + EVENT_COST;
	enum fh_context_said said = fh_context_line_read(&line, text, &event);
	if (said == FH_CONTEXT_SAID_GARBAGE) {
		lost(r, "the code wrote what is not an event to its context's own channel");
		over = true;
	} else if (r->bytes > r->o.max_bytes) {
		stop(r, FH_CONTEXT_OUTPUT_LIMIT);
	} else if (said == FH_CONTEXT_SAID_EVENT) {
		if (event.kind == FH_CONTEXT_ERROR && strcmp(event.name, "KeyboardInterrupt") == 0)
			r->c->signalled = false;
		if (r->o.on_event && r->why != FH_CONTEXT_OUTPUT_LIMIT && r->o.on_event(r->o.context, &event))
			stop(r, FH_CONTEXT_INTERRUPTED);
	}
	if (said == FH_CONTEXT_SAID_END && fh_json_int(line.json, "id", -1) == (int64_t)r->id) {
		bool failed = strcmp(fh_json_str(line.json, "status", ""), "ok") != 0;
		over = true;
		o->status = r->why != FH_CONTEXT_OK ? r->why : failed ? FH_CONTEXT_FAILED : FH_CONTEXT_OK;
		if (fh_json_bool(line.json, "exiting", false)) {
			drop(r->c, NULL, 0);
			o->state_lost = true;
			bool errexit = fh_streq(fh_json_str(line.json, "why", ""), "set -e"); /* the words are the code's, too */
			snprintf(o->message, sizeof(o->message), "the code ended its interpreter; the next run starts another%s",
			         errexit ? ". `set -e` was on, which ends the whole shell at a command that fails; ( set -e; … ) "
			                   "ends only what is in the brackets"
			                 : "");
		}
	}
	fh_context_line_release(&line);
	return over;
}

/* Checks what may end the run from outside. True: it is over. */
static bool look(struct run *r)
{
	int64_t now = fh_now_ns();
	pthread_mutex_lock(&r->c->lock);
	bool asked = r->c->interrupted;
	pthread_mutex_unlock(&r->c->lock);
	if (asked && r->why == FH_CONTEXT_OK) /* an interrupt was sent; the code may still catch it and continue */
		r->why = FH_CONTEXT_INTERRUPTED;
	if (r->o.cancel && *r->o.cancel)
		stop(r, FH_CONTEXT_INTERRUPTED);
	if (r->timeout_ns && now >= r->timeout_ns) {
		if (r->why == FH_CONTEXT_INTERRUPTED && !r->grace_ns)
			r->why = FH_CONTEXT_OK;
		stop(r, FH_CONTEXT_TIMEOUT);
		r->timeout_ns = 0;
	}
	if (!r->grace_ns || now < r->grace_ns)
		return false;
	lost(r, "the code did not end when it was interrupted");
	return true;
}

static int64_t piece_ms(const struct run *r)
{
	int64_t now = fh_now_ns(), until = now + LOOK_MS * FH_NS_PER_MS;
	if (r->timeout_ns)
		until = FH_MIN(until, r->timeout_ns);
	if (r->grace_ns)
		until = FH_MIN(until, r->grace_ns);
	return FH_MAX((until - now + FH_NS_PER_MS - 1) / FH_NS_PER_MS, (int64_t)0);
}

static int follow(struct run *r, struct fh_error *err)
{
	for (;;) {
		struct fh_str text;
		struct fh_error error = FH_ERROR_INIT;
		if (look(r))
			return 0;
		int got = fh_context_driver_line(&r->c->driver, piece_ms(r), &text, &error);
		if (got == 1) {
			if (take(r, text))
				return 0;
		} else if (got == 0) {
			lost(r, "the code's interpreter ended");
			return 0;
		} else if (got == -FH_E_LIMIT) {
			lost(r, "the code wrote an endless line to its context's own channel");
			return 0;
		} else if (got != -FH_E_TIMEOUT) {
			if (err)
				*err = error;
			return got;
		} else if (r->o.on_wait && r->o.on_wait(r->o.context)) {
			stop(r, FH_CONTEXT_INTERRUPTED);
		}
	}
}

/* Sends the COUNT event, the only event that does not come from inside, because runs are counted here. */
static void say_count(struct run *r)
{
	char text[64];
	struct fh_context_event event = { .kind = FH_CONTEXT_COUNT, .count = r->c->count };
	snprintf(text, sizeof(text), "{\"type\":\"count\",\"count\":%llu}", (unsigned long long)event.count);
	event.json = (struct fh_bytes){ text, strlen(text) };
	event.text = (struct fh_bytes){ "", 0 };
	event.name = event.value = event.traceback = "";
	if (r->o.on_event && r->o.on_event(r->o.context, &event))
		stop(r, FH_CONTEXT_INTERRUPTED);
}

/* Executes the run. The interpreter must be alive, and the caller must have the turn. */
static int execute(struct run *r, struct fh_error *err)
{
	fh_auto_buf struct fh_buf line = FH_BUF_INIT(0);
	struct fh_context *c = r->c;
	c->count += !r->o.silent;
	r->outcome->count = c->count;
	int code = write_request(r, &line, err);
	if (code < 0)
		return code;
	pthread_mutex_lock(&c->lock);
	c->running = true;
	c->interrupted = false;
	pthread_mutex_unlock(&c->lock);
	if (r->o.timeout_ms)
		r->timeout_ns = fh_now_ns() + (int64_t)r->o.timeout_ms * FH_NS_PER_MS;
	code = fh_context_driver_send(&c->driver, fh_buf_str(&line),
	                              r->o.timeout_ms ? (int64_t)(r->o.timeout_ms + r->o.grace_ms) : SEND_MS, err);
	if (code == -FH_E_NOT_FOUND || code == -FH_E_TIMEOUT) {
		lost(r, code == -FH_E_TIMEOUT ? "the context's interpreter takes no code" : "the context's interpreter ended");
		return 0;
	}
	if (code < 0)
		return code;
	if (!r->o.silent)
		say_count(r);
	return follow(r, err);
}

int fh_context_run(struct fh_context *context, const struct fh_context_run_options *options,
                   struct fh_context_outcome *ret, struct fh_error *err)
{
	struct fh_context_outcome outcome = { 0 };
	struct run r = { .c = context, .o = FH_CONTEXT_RUN_OPTIONS_INIT, .outcome = &outcome };
	memcpy(&r.o, options, FH_MIN(options->size, sizeof(r.o)));
	r.o.grace_ms = r.o.grace_ms ? r.o.grace_ms : GRACE_MS;
	r.o.max_bytes = r.o.max_bytes ? r.o.max_bytes : EVENTS_BYTES;
	int code = turn_begin(context, r.o.cancel, err);
	if (code < 0)
		return code;
	if (!context->alive) {
		code = launch(context, err);
		outcome.restarted = code == 0;
	}
	if (code == 0) {
		r.id = ++context->runs;
		code = execute(&r, err);
	}
	turn_end(context);
	if (code == 0)
		*ret = outcome;
	return code;
}
