/* SPDX-License-Identifier: MIT */
#include "script/script.h"

#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include "base/clock.h"
#include "base/host/data.h"
#include "base/path.h"
#include "script/environment.h"
#include "script/worker.h"

#define FH_SCRIPT_WORKERS 4
#define FH_SCRIPT_WORKERS_MAX 256
#define FH_SCRIPT_TICK_NS (50 * FH_NS_PER_MS)

static const struct {
	const char *name;
	const char *guest;       /* data file: the program that this interpreter runs as worker */
	const char *programs[2]; /* interpreters, searched on PATH in this order */
	const char *environment; /* variable that names another interpreter; NULL: no such variable */
	const char *flag;        /* argument before the guest; NULL: none */
	const char *package;
} fh_script_languages[FH_SCRIPT_LANGUAGE_COUNT_] = {
	[FH_SCRIPT_JAVASCRIPT] = { "javascript", "guest/worker.js", { "node", "nodejs" }, NULL, NULL, "nodejs" },
	[FH_SCRIPT_PYTHON] = { "python", "guest/worker.py", { "python3", "python" }, "PROMPTFOO_PYTHON", "-u", "python3" },
	[FH_SCRIPT_RUBY] = { "ruby", "guest/worker.rb", { "ruby", "ruby3" }, "PROMPTFOO_RUBY", NULL, "ruby" },
};

static const struct {
	const char *extension;
	enum fh_script_language language;
} fh_script_extensions[] = {
	{ ".js", FH_SCRIPT_JAVASCRIPT }, { ".cjs", FH_SCRIPT_JAVASCRIPT }, { ".mjs", FH_SCRIPT_JAVASCRIPT },
	{ ".ts", FH_SCRIPT_JAVASCRIPT }, { ".cts", FH_SCRIPT_JAVASCRIPT }, { ".mts", FH_SCRIPT_JAVASCRIPT },
	{ ".py", FH_SCRIPT_PYTHON },     { ".rb", FH_SCRIPT_RUBY },
};

bool fh_script_language_of(const char *file, enum fh_script_language *ret)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(fh_script_extensions); i++) {
		if (!fh_streq(fh_path_ext(file), fh_script_extensions[i].extension))
			continue;
		*ret = fh_script_extensions[i].language;
		return true;
	}
	return false;
}

/* A worker that is waiting for calls. */
struct fh_script_idle {
	struct fh_worker worker;
	char *kind; /* fh_script_kind of the calls that it can take */
};

/* A call that waits for a worker: for one that another call gives back, or for a new one that the keeper starts. */
struct fh_script_wait {
	const struct fh_script_call *call;
	const char *kind; /* fh_script_kind of the call */
	struct fh_worker *worker;
	struct fh_error *err;
	int64_t asked;          /* since when it waits, monotonic ns */
	pthread_cond_t changed; /* signalled when `done` is set, or when the call has to look again */
	bool may_start;         /* the keeper is to start a worker if none becomes free */
	bool begun;             /* the keeper is starting one */
	bool done;              /* `worker` is set, or `code` says why it cannot be */
	bool given;             /* the worker was given back by another call */
	int code;
	struct fh_script_wait *next;
};

struct fh_script_pool {
	pthread_mutex_t lock;
	pthread_cond_t wanted;        /* signalled when a start is wanted, or the pool ends; the keeper waits for that */
	struct fh_script_wait *waits; /* longest first */
	struct {
		struct fh_script_idle *idle; /* array of workers_max */
		unsigned idle_count, count;  /* count: workers that live, are being started, or are to be started */
		unsigned live;               /* those that were started */
		int64_t changed, took;       /* when the last one was started, monotonic ns; how long its start took */
		char *program;               /* the user's interpreter; NULL: search for one */
	} language[FH_SCRIPT_LANGUAGE_COUNT_];
	unsigned workers_max;
	uint64_t timeout_ms;
	struct fh_script_environment env;
	struct fh_script_sandbox sandbox;
	const volatile int *cancel;
	/* Workers die with the thread that started them (PR_SET_PDEATHSIG), so that none outlives a killed fumehood.
	 * Therefore one thread of the pool, which lives as long as the pool, starts them all. */
	pthread_t keeper;
	bool keeper_runs, ends;
	int64_t keeper_wakes; /* until when the keeper sleeps, monotonic ns; 0: it does not */
};

static void fh_script_cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t monotonic;
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

/* Removes an idle worker from the list and returns it. */
static struct fh_worker fh_script_take_idle(struct fh_script_pool *pool, enum fh_script_language l, unsigned i)
{
	struct fh_script_idle *idle = pool->language[l].idle;
	struct fh_worker taken = idle[i].worker;
	free(idle[i].kind);
	idle[i] = idle[--pool->language[l].idle_count];
	return taken;
}

static void fh_script_drop_idle(struct fh_script_pool *pool, enum fh_script_language l, unsigned i)
{
	struct fh_worker worker = fh_script_take_idle(pool, l, i);
	fh_worker_end(&worker);
	pool->language[l].live--;
	pool->language[l].count--;
}

struct fh_script_pool *fh_script_pool_new(const struct fh_script_pool_options *options)
{
	static const struct fh_script_pool_options none = { 0 };
	const struct fh_script_pool_options *o = options ? options : &none;
	struct fh_script_pool *pool = FH_NEW(struct fh_script_pool);
	pthread_mutex_init(&pool->lock, NULL);
	fh_script_cond_init(&pool->wanted);
	pool->workers_max = FH_MIN(o->workers_max ? o->workers_max : FH_SCRIPT_WORKERS, FH_SCRIPT_WORKERS_MAX);
	pool->timeout_ms = o->timeout_ms ? o->timeout_ms : FH_SCRIPT_TIMEOUT_MS;
	pool->cancel = o->cancel;
	pool->sandbox = o->sandbox;
	fh_script_environment_make(&pool->env, o->env, o->handed_over);
	pool->language[FH_SCRIPT_JAVASCRIPT].program = o->node ? fh_xstrdup(o->node) : NULL;
	pool->language[FH_SCRIPT_PYTHON].program = o->python ? fh_xstrdup(o->python) : NULL;
	for (int l = 0; l < FH_SCRIPT_LANGUAGE_COUNT_; l++)
		pool->language[l].idle = fh_xcalloc(pool->workers_max, sizeof(struct fh_script_idle));
	return pool;
}

void fh_script_pool_free(struct fh_script_pool *pool)
{
	if (!pool)
		return;
	pthread_mutex_lock(&pool->lock);
	pool->ends = true;
	pthread_cond_signal(&pool->wanted);
	pthread_mutex_unlock(&pool->lock);
	if (pool->keeper_runs)
		pthread_join(pool->keeper, NULL);
	for (int l = 0; l < FH_SCRIPT_LANGUAGE_COUNT_; l++) {
		while (pool->language[l].idle_count)
			fh_script_drop_idle(pool, (enum fh_script_language)l, pool->language[l].idle_count - 1);
		free(pool->language[l].idle);
		free(pool->language[l].program);
	}
	fh_script_environment_release(&pool->env);
	pthread_cond_destroy(&pool->wanted);
	pthread_mutex_destroy(&pool->lock);
	free(pool);
}

/* ------------------------------------------------------------------------------------------------ starting workers */

static const char *fh_script_variable(const struct fh_script_pool *pool, const char *name)
{
	size_t n = strlen(name);
	char **env = pool->env.list;
	for (size_t i = 0; env[i]; i++)
		if (strncmp(env[i], name, n) == 0 && env[i][n] == '=' && env[i][n + 1])
			return env[i] + n + 1;
	return NULL;
}

static int fh_script_program(const struct fh_script_pool *pool, enum fh_script_language l, const char *wanted,
                             char **ret, struct fh_error *err)
{
	const char *path = fh_script_variable(pool, "PATH");
	const char *environment = fh_script_languages[l].environment;
	const char *variable = environment && !wanted ? fh_script_variable(pool, environment) : NULL;
	const char *given = wanted ? wanted : variable ? variable : pool->language[l].program;
	const char *first = given ? given : fh_script_languages[l].programs[0];
	char *found = fh_path_which(first, path);
	if (!found && !given)
		found = fh_path_which(fh_script_languages[l].programs[1], path);
	if (found) {
		*ret = found;
		return 0;
	}
	fh_error_set(err, FH_E_NOT_FOUND, "cannot run %s code: there is no %s%s", fh_script_languages[l].name, first,
	             given ? "" : " on PATH");
	if (variable)
		fh_error_hint(err, "%s has to name a python program", environment);
	else if (!wanted)
		fh_error_hint(err, "install it: apt install %s", fh_script_languages[l].package);
	return -FH_E_NOT_FOUND;
}

static int fh_script_start_worker(const struct fh_script_pool *pool, const struct fh_script_call *call,
                                  struct fh_worker *ret, struct fh_error *err)
{
	enum fh_script_language l = call->language;
	fh_auto_free char *program = NULL, *guest = NULL;
	int code = fh_script_program(pool, l, call->program, &program, err);
	if (!code)
		code = fh_data_path(fh_script_languages[l].guest, &guest, err);
	if (code)
		return code;
	const char *flag = fh_script_languages[l].flag;
	const char *const argv[] = { program, flag ? flag : guest, flag ? guest : NULL, NULL };
	fh_auto_free const char **env = fh_script_environment_with(&pool->env, call->env);
	code = fh_worker_start(ret, argv, env, pool->cancel, err);
	return code && code != -FH_E_CANCELLED
	           ? fh_error_wrap(err, "cannot run %s code with %s", fh_script_languages[l].name, program)
	           : code;
}

static void fh_script_wait_until(struct fh_script_pool *pool, pthread_cond_t *cond, int64_t until)
{
	struct timespec t = { .tv_sec = until / FH_NS_PER_S, .tv_nsec = until % FH_NS_PER_S };
	pthread_cond_timedwait(cond, &pool->lock, &t);
}

/* When the start that a call waits for is due. The first worker of a language is started at once; a further one when
 * the call has waited for a free worker as long as a start takes, as most calls are over long before that. */
static int64_t fh_script_due(const struct fh_script_pool *pool, const struct fh_script_wait *wait)
{
	enum fh_script_language l = wait->call->language;
	return pool->language[l].live ? FH_MAX(wait->asked, pool->language[l].changed) + pool->language[l].took : 0;
}

/* The call whose start is due first; NULL: no start is wanted. */
static struct fh_script_wait *fh_script_first_due(struct fh_script_pool *pool)
{
	struct fh_script_wait *first = NULL;
	for (struct fh_script_wait *w = pool->waits; w; w = w->next)
		if (w->may_start && !w->begun && !w->done && (!first || fh_script_due(pool, w) < fh_script_due(pool, first)))
			first = w;
	return first;
}

static void *fh_script_keep(void *user)
{
	struct fh_script_pool *pool = user;
	pthread_mutex_lock(&pool->lock);
	while (!pool->ends) {
		struct fh_script_wait *wait = fh_script_first_due(pool);
		int64_t due = wait ? fh_script_due(pool, wait) : INT64_MAX;
		if (due > fh_now_ns()) {
			pool->keeper_wakes = due;
			if (wait)
				fh_script_wait_until(pool, &pool->wanted, due);
			else
				pthread_cond_wait(&pool->wanted, &pool->lock);
			pool->keeper_wakes = 0;
			continue;
		}
		wait->begun = true;
		enum fh_script_language l = wait->call->language;
		int64_t begun = fh_now_ns();
		pthread_mutex_unlock(&pool->lock);
		wait->code = fh_script_start_worker(pool, wait->call, wait->worker, wait->err);
		pthread_mutex_lock(&pool->lock);
		pool->language[l].live += wait->code == 0;
		pool->language[l].changed = fh_now_ns();
		pool->language[l].took = pool->language[l].changed - begun;
		wait->done = true;
		pthread_cond_signal(&wait->changed);
	}
	pthread_mutex_unlock(&pool->lock);
	return NULL;
}

/* Index of an idle worker of that kind; idle_count when there is none. */
static unsigned fh_script_find_idle(const struct fh_script_pool *pool, enum fh_script_language l, const char *kind)
{
	unsigned i = 0;
	while (i < pool->language[l].idle_count && !fh_streq(pool->language[l].idle[i].kind, kind))
		i++;
	return i;
}

/* The call that waits longest for a worker of that kind; NULL: there is none. */
static struct fh_script_wait *fh_script_longest_wait(struct fh_script_pool *pool, enum fh_script_language l,
                                                     const char *kind)
{
	struct fh_script_wait *w = pool->waits;
	while (w && (w->begun || w->done || w->call->language != l || !fh_streq(w->kind, kind)))
		w = w->next;
	return w;
}

/* Has all calls that wait look again for what they can do. */
static void fh_script_wake_all(struct fh_script_pool *pool)
{
	for (struct fh_script_wait *w = pool->waits; w; w = w->next)
		pthread_cond_signal(&w->changed);
}

static int fh_script_start_keeper(struct fh_script_pool *pool, struct fh_error *err)
{
	int sys = pool->keeper_runs ? 0 : pthread_create(&pool->keeper, NULL, fh_script_keep, pool);
	if (sys)
		return fh_error_sys(err, sys, "cannot start a thread");
	pool->keeper_runs = true;
	return 0;
}

/* Waits for a worker with the lock, which is released meanwhile. 1: there is none yet, and the caller has to look
 * again. With `may_start` the caller has counted a worker that the keeper may start; if another call gave its own
 * instead, that is taken back. */
static int fh_script_wait_for(struct fh_script_pool *pool, const struct fh_script_call *call, const char *kind,
                              bool may_start, struct fh_worker *ret, struct fh_error *err)
{
	int code = may_start ? fh_script_start_keeper(pool, err) : 0;
	if (code) {
		pool->language[call->language].count--;
		return code;
	}
	struct fh_script_wait wait = {
		.call = call, .kind = kind, .worker = ret, .err = err, .asked = fh_now_ns(), .may_start = may_start
	};
	fh_script_cond_init(&wait.changed);
	struct fh_script_wait **at = &pool->waits;
	while (*at)
		at = &(*at)->next;
	*at = &wait;
	if (may_start) {
		if (fh_script_due(pool, &wait) < pool->keeper_wakes)
			pthread_cond_signal(&pool->wanted);
		while (!wait.done)
			pthread_cond_wait(&wait.changed, &pool->lock);
	} else {
		fh_script_wait_until(pool, &wait.changed, fh_now_ns() + FH_SCRIPT_TICK_NS);
	}
	for (at = &pool->waits; *at != &wait;)
		at = &(*at)->next;
	*at = wait.next;
	pthread_cond_destroy(&wait.changed);
	if (may_start && (wait.given || wait.code))
		pool->language[call->language].count--;
	return wait.done ? wait.code : 1;
}

/* Workers are shared by calls with the same interpreter and the same variables of their own. NULL for a call with
 * neither, as most are. */
static char *fh_script_kind(const struct fh_script_call *call)
{
	bool own = call->env && call->env[0];
	if (!call->program && !own)
		return NULL;
	fh_auto_buf struct fh_buf kind = FH_BUF_INIT(0);
	fh_buf_adds(&kind, call->program ? call->program : "");
	for (size_t i = 0; own && call->env[i]; i++)
		fh_buf_addf(&kind, "\n%s", call->env[i]);
	return fh_buf_take(&kind, NULL);
}

/* Gives a worker to the call that waits longest for one of its kind, or makes it idle; ends it if it is not usable. */
static void fh_script_give_back(struct fh_script_pool *pool, const struct fh_script_call *call, struct fh_worker *w,
                                bool usable)
{
	enum fh_script_language l = call->language;
	char *kind = fh_script_kind(call);
	if (!usable)
		fh_worker_end(w);
	pthread_mutex_lock(&pool->lock);
	struct fh_script_wait *wait = usable ? fh_script_longest_wait(pool, l, kind) : NULL;
	if (wait) {
		*wait->worker = *w;
		wait->given = wait->done = true;
		pthread_cond_signal(&wait->changed);
	} else if (usable) {
		pool->language[l].idle[pool->language[l].idle_count++] = (struct fh_script_idle){ *w, kind };
		kind = NULL; /* from here on the list of idle workers owns it */
		fh_script_wake_all(pool);
	} else {
		pool->language[l].live--, pool->language[l].count--;
		fh_script_wake_all(pool);
		pthread_cond_signal(&pool->wanted); /* the start that the next call waits for may be due at once */
	}
	pthread_mutex_unlock(&pool->lock);
	free(kind);
}

static int fh_script_acquire_locked(struct fh_script_pool *pool, const struct fh_script_call *call, const char *kind,
                                    struct fh_worker *ret, struct fh_error *err)
{
	enum fh_script_language l = call->language;
	for (;;) {
		if (pool->cancel && *pool->cancel)
			return fh_error_set(err, FH_E_CANCELLED, "cancelled");
		unsigned i = fh_script_find_idle(pool, l, kind);
		if (i < pool->language[l].idle_count) {
			*ret = fh_script_take_idle(pool, l, i);
			return 0;
		}
		bool full = pool->language[l].count >= pool->workers_max;
		if (full && pool->language[l].idle_count) {
			/* A worker of another kind is idle: it is ended, and a new one takes its place. */
			fh_script_drop_idle(pool, l, 0);
			continue;
		}
		pool->language[l].count += !full;
		int code = fh_script_wait_for(pool, call, kind, !full, ret, err);
		if (code <= 0)
			return code;
	}
}

static int fh_script_acquire(struct fh_script_pool *pool, const struct fh_script_call *call, struct fh_worker *ret,
                             struct fh_error *err)
{
	fh_auto_free char *kind = fh_script_kind(call);
	for (;;) {
		pthread_mutex_lock(&pool->lock);
		int code = fh_script_acquire_locked(pool, call, kind, ret, err);
		pthread_mutex_unlock(&pool->lock);
		if (code < 0 || fh_worker_is_alive(ret))
			return code;
		fh_script_give_back(pool, call, ret, false);
	}
}

/* --------------------------------------------------------------------------------------------------------- one call */

static json_t *fh_script_message(const struct fh_script_call *call)
{
	static const char *const usual[] = { "output", "context", NULL };
	const char *const *names = call->names ? call->names : usual;
	json_t *message = json_object(), *list = json_array();
	for (size_t i = 0; names[i]; i++)
		json_array_append_new(list, json_string(names[i]));
	json_object_set_new(message, "names", list);
	json_object_set(message, "args", (json_t *)(uintptr_t)call->args);
	if (call->code)
		json_object_set_new(message, "code", fh_json_bytes(fh_str(call->code)));
	if (call->file)
		json_object_set_new(message, "file", json_string(call->file));
	if (call->function)
		json_object_set_new(message, "function", json_string(call->function));
	if (call->method)
		json_object_set_new(message, "method", json_string(call->method));
	if (call->construct)
		json_object_set(message, "construct", (json_t *)(uintptr_t)call->construct);
	if (call->source)
		json_object_set_new(message, "source", json_true());
	if (call->provider)
		json_object_set_new(message, "provider", json_integer(call->provider));
	if (call->in_place)
		json_object_set_new(message, "inPlace", json_integer(call->in_place));
	if (call->module)
		json_object_set_new(message, "module", json_true());
	return message;
}

void fh_script_result_release(struct fh_script_result *r)
{
	json_decref(r->value);
	free(r->type);
	free(r->error_name);
	free(r->error_message);
	free(r->error_traceback);
	*r = (struct fh_script_result){ 0 };
}

static struct fh_script_result fh_script_failure(enum fh_script_outcome outcome, const char *message)
{
	return (struct fh_script_result){
		.outcome = outcome,
		.error_name = fh_xstrdup(""),
		.error_message = fh_xstrdup(message),
		.error_traceback = fh_xstrdup(""),
	};
}

static struct fh_script_result fh_script_take_answer(json_t *answer)
{
	static const char *const outcomes[] = {
		[FH_SCRIPT_RETURNED] = "returned",
		[FH_SCRIPT_THREW] = "threw",
		[FH_SCRIPT_MISSING] = "missing",
	};
	const char *said = fh_json_str(answer, "outcome", "");
	for (size_t i = 0; i < FH_ARRAY_SIZE(outcomes); i++) {
		if (!fh_streq(said, outcomes[i]))
			continue;
		struct fh_script_result r = { .outcome = (enum fh_script_outcome)i };
		if (r.outcome == FH_SCRIPT_RETURNED) {
			json_t *value = json_object_get(answer, "value");
			r.value = value ? json_incref(value) : json_null();
			r.type = fh_xstrdup(fh_json_str(answer, "type", ""));
			return r;
		}
		r.error_name = fh_xstrdup(fh_json_str(answer, "name", ""));
		r.error_message = fh_xstrdup(fh_json_str(answer, "message", ""));
		r.error_traceback = fh_xstrdup(fh_json_str(answer, "traceback", ""));
		return r;
	}
	return fh_script_failure(FH_SCRIPT_DIED, "the worker's answer is invalid: the code wrote to its channel");
}

/* Adds a hint when the error names a withheld variable: its absence is the likeliest cause. */
static void fh_script_say_withheld(const struct fh_script_pool *pool, struct fh_script_result *r)
{
	const char *name = fh_script_environment_missed(&pool->env, r->error_message);
	if (r->outcome != FH_SCRIPT_THREW || !name)
		return;
	char *text = fh_xasprintf("%s (scripts do not see %s; --script-env %s passes it on)", r->error_message, name, name);
	free(r->error_message);
	r->error_message = text;
}

/* Makes a call in a worker, whose answer goes to *ret_answer. */
static int fh_script_ask_worker(struct fh_script_pool *pool, const struct fh_script_call *call, const json_t *message,
                                uint64_t timeout_ms, json_t **ret_answer, struct fh_error *why, int *ret_failure,
                                struct fh_error *err)
{
	struct fh_worker worker = FH_WORKER_INIT;
	int code = fh_script_acquire(pool, call, &worker, err);
	if (code)
		return code;
	bool usable;
	*ret_failure = fh_worker_ask(&worker, message, timeout_ms, pool->cancel, ret_answer, &usable, why);
	fh_script_give_back(pool, call, &worker, usable);
	return 0;
}

/* Makes a call inside a sandbox, where the guest answers a single call. */
static int fh_script_ask_sandbox(const struct fh_script_pool *pool, const struct fh_script_call *call,
                                 const json_t *message, uint64_t timeout_ms, json_t **ret_answer, struct fh_error *why,
                                 int *ret_failure, struct fh_error *err)
{
	if (!pool->sandbox.run)
		return fh_error_set(err, FH_E_UNAVAILABLE, "there is no sandbox for scripts here");
	fh_auto_free char *guest = NULL;
	int code = fh_data_path(fh_script_languages[call->language].guest, &guest, err);
	if (code)
		return code;
	struct fh_script_sandbox_call inside = { .language = fh_script_languages[call->language].name,
		                                     .guest = guest,
		                                     .file = call->file,
		                                     .message = message,
		                                     .timeout_ms = timeout_ms };
	return pool->sandbox.run(pool->sandbox.context, &inside, ret_answer, why, ret_failure, err);
}

int fh_script_call(struct fh_script_pool *pool, const struct fh_script_call *call, struct fh_script_result *ret,
                   struct fh_error *err)
{
	if (!call->code == !call->file || !json_is_array(call->args))
		return fh_error_set(err, FH_E_ARGUMENT, "a script call takes code or a file, and a list of arguments");
	fh_auto_json json_t *message = fh_script_message(call), *answer = NULL;
	uint64_t timeout = call->timeout_ms ? call->timeout_ms : pool->timeout_ms;
	struct fh_error why = FH_ERROR_INIT;
	int failure = 0;
	for (bool again = false;; again = true) {
		int code = call->sandbox || pool->sandbox.always
		               ? fh_script_ask_sandbox(pool, call, message, timeout, &answer, &why, &failure, err)
		               : fh_script_ask_worker(pool, call, message, timeout, &answer, &why, &failure, err);
		/* A worker that was killed before it was ready has run nothing of the call. */
		if (code && (again || !err || !err->retryable))
			return code;
		if (code) {
			*err = (struct fh_error)FH_ERROR_INIT;
			continue;
		}
		if (again || !failure || !why.retryable || !call->repeatable)
			break;
	}
	if (failure == -FH_E_CANCELLED)
		return fh_error_set(err, FH_E_CANCELLED, "cancelled");
	if (failure == -FH_E_TIMEOUT)
		snprintf(why.message, sizeof(why.message), "took longer than %llu ms", (unsigned long long)timeout);
	*ret = !failure ? fh_script_take_answer(answer)
	                : fh_script_failure(failure == -FH_E_TIMEOUT ? FH_SCRIPT_TIMED_OUT : FH_SCRIPT_DIED, why.message);
	fh_script_say_withheld(pool, ret);
	return 0;
}

const struct fh_script_environment *fh_script_pool_environment(const struct fh_script_pool *pool)
{
	return &pool->env;
}
