/* SPDX-License-Identifier: MIT */
#include "script/script.h"

#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include "base/clock.h"
#include "base/data.h"
#include "base/path.h"
#include "script/environment.h"
#include "script/worker.h"

#define FH_SCRIPT_WORKERS 4
#define FH_SCRIPT_WORKERS_MAX 256
#define FH_SCRIPT_TICK_NS (50 * FH_NS_PER_MS)

static const struct {
	const char *name;
	const char *guest;       /* the worker's own part of the channel, as a data file */
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

const char *fh_script_language_name(enum fh_script_language l)
{
	return fh_script_languages[l].name;
}

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

/* A request to the keeper to start a worker. */
struct fh_script_start {
	const struct fh_script_call *call;
	struct fh_worker *worker;
	struct fh_error *err;
	int64_t asked; /* monotonic ns */
	int code;
	bool begun, done;
	struct fh_script_start *next;
};

struct fh_script_pool {
	pthread_mutex_t lock;
	pthread_cond_t changed; /* signalled when a worker is free, a start is requested or done, or the pool ends */
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
	struct fh_script_start *starts;
};

static void *fh_script_keep(void *user);

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
	pthread_condattr_t monotonic;
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&pool->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
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
	pthread_cond_broadcast(&pool->changed);
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
	pthread_cond_destroy(&pool->changed);
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

static void fh_script_wait_until(struct fh_script_pool *pool, int64_t until)
{
	struct timespec t = { .tv_sec = until / FH_NS_PER_S, .tv_nsec = until % FH_NS_PER_S };
	pthread_cond_timedwait(&pool->changed, &pool->lock, &t);
}

/* When a start that was asked for is due. The first worker of a language is started at once; a further one when the
 * call has waited for a free worker as long as a start takes, as most calls are over long before that. */
static int64_t fh_script_due(const struct fh_script_pool *pool, const struct fh_script_start *start)
{
	enum fh_script_language l = start->call->language;
	return pool->language[l].live ? FH_MAX(start->asked, pool->language[l].changed) + pool->language[l].took : 0;
}

/* The place in the queue of the start that is due first. */
static struct fh_script_start **fh_script_first_due(struct fh_script_pool *pool)
{
	struct fh_script_start **first = &pool->starts;
	for (struct fh_script_start **at = first; *at; at = &(*at)->next)
		if (fh_script_due(pool, *at) < fh_script_due(pool, *first))
			first = at;
	return first;
}

static void *fh_script_keep(void *user)
{
	struct fh_script_pool *pool = user;
	pthread_mutex_lock(&pool->lock);
	while (!pool->ends) {
		struct fh_script_start **at = fh_script_first_due(pool), *start = *at;
		if (!start) {
			pthread_cond_wait(&pool->changed, &pool->lock);
			continue;
		}
		int64_t due = fh_script_due(pool, start);
		if (due > fh_now_ns()) {
			fh_script_wait_until(pool, due);
			continue;
		}
		*at = start->next;
		start->begun = true;
		enum fh_script_language l = start->call->language;
		int64_t begun = fh_now_ns();
		pthread_mutex_unlock(&pool->lock);
		start->code = fh_script_start_worker(pool, start->call, start->worker, start->err);
		pthread_mutex_lock(&pool->lock);
		pool->language[l].live += start->code == 0;
		pool->language[l].changed = fh_now_ns();
		pool->language[l].took = pool->language[l].changed - begun;
		start->done = true;
		pthread_cond_broadcast(&pool->changed);
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

static void fh_script_forget_start(struct fh_script_pool *pool, const struct fh_script_start *start)
{
	struct fh_script_start **at = &pool->starts;
	while (*at != start)
		at = &(*at)->next;
	*at = start->next;
}

/* Has the keeper start a worker. Called with the lock, which is released during the wait. 1: nothing was started, as a
 * worker of that kind has become free meanwhile. */
static int fh_script_ask_for_start(struct fh_script_pool *pool, const struct fh_script_call *call, const char *kind,
                                   struct fh_worker *ret, struct fh_error *err)
{
	enum fh_script_language l = call->language;
	if (!pool->keeper_runs) {
		int sys = pthread_create(&pool->keeper, NULL, fh_script_keep, pool);
		if (sys)
			return fh_error_sys(err, sys, "cannot start a thread");
		pool->keeper_runs = true;
	}
	struct fh_script_start start = {
		.call = call, .worker = ret, .err = err, .asked = fh_now_ns(), .next = pool->starts
	};
	pool->starts = &start;
	pthread_cond_broadcast(&pool->changed);
	while (!start.done) {
		if (!start.begun && fh_script_find_idle(pool, l, kind) < pool->language[l].idle_count) {
			fh_script_forget_start(pool, &start);
			return 1;
		}
		pthread_cond_wait(&pool->changed, &pool->lock);
	}
	return start.code;
}

static void fh_script_wait_a_tick(struct fh_script_pool *pool)
{
	fh_script_wait_until(pool, fh_now_ns() + FH_SCRIPT_TICK_NS);
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

static int fh_script_acquire_locked(struct fh_script_pool *pool, const struct fh_script_call *call, const char *kind,
                                    struct fh_worker *ret, struct fh_error *err)
{
	enum fh_script_language l = call->language;
	for (;;) {
		if (pool->cancel && *pool->cancel)
			return fh_error_set(err, FH_E_CANCELLED, "cancelled");
		unsigned i = fh_script_find_idle(pool, l, kind);
		if (i < pool->language[l].idle_count && !fh_worker_is_alive(&pool->language[l].idle[i].worker)) {
			fh_script_drop_idle(pool, l, i);
		} else if (i < pool->language[l].idle_count) {
			*ret = fh_script_take_idle(pool, l, i);
			return 0;
		} else if (pool->language[l].count < pool->workers_max) {
			pool->language[l].count++;
			int code = fh_script_ask_for_start(pool, call, kind, ret, err);
			if (code)
				pool->language[l].count--;
			if (code <= 0)
				return code;
		} else if (pool->language[l].idle_count) {
			/* The maximum of workers is reached, but one of another kind is idle: it is replaced. */
			fh_script_drop_idle(pool, l, 0);
		} else {
			fh_script_wait_a_tick(pool);
		}
	}
}

static int fh_script_acquire(struct fh_script_pool *pool, const struct fh_script_call *call, struct fh_worker *ret,
                             struct fh_error *err)
{
	fh_auto_free char *kind = fh_script_kind(call);
	pthread_mutex_lock(&pool->lock);
	int code = fh_script_acquire_locked(pool, call, kind, ret, err);
	pthread_mutex_unlock(&pool->lock);
	return code;
}

static void fh_script_give_back(struct fh_script_pool *pool, const struct fh_script_call *call, struct fh_worker *w,
                                bool usable)
{
	enum fh_script_language l = call->language;
	if (!usable)
		fh_worker_end(w);
	pthread_mutex_lock(&pool->lock);
	if (usable)
		pool->language[l].idle[pool->language[l].idle_count++] = (struct fh_script_idle){ *w, fh_script_kind(call) };
	else
		pool->language[l].live--, pool->language[l].count--;
	pthread_cond_broadcast(&pool->changed);
	pthread_mutex_unlock(&pool->lock);
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
	return fh_script_failure(FH_SCRIPT_DIED, "the worker answered with nonsense: code wrote to its channel");
}

/* Adds a hint when the error names a withheld variable: its absence is the likeliest cause. */
static void fh_script_say_withheld(const struct fh_script_pool *pool, struct fh_script_result *r)
{
	const char *name = fh_script_environment_missed(&pool->env, r->error_message);
	if (r->outcome != FH_SCRIPT_THREW || !name)
		return;
	char *text =
	    fh_xasprintf("%s (scripts do not see %s; --script-env %s hands it over)", r->error_message, name, name);
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
	int code = call->sandbox || pool->sandbox.always
	               ? fh_script_ask_sandbox(pool, call, message, timeout, &answer, &why, &failure, err)
	               : fh_script_ask_worker(pool, call, message, timeout, &answer, &why, &failure, err);
	if (code)
		return code;
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
