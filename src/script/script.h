/* SPDX-License-Identifier: MIT */
/*
 * Runs the user's own JavaScript, Python and Ruby: assertions, providers, variables, transforms, configs.
 *
 * It runs in persistent workers (node guest/worker.js, python3 guest/worker.py, ruby guest/worker.rb), plain processes
 * with the user's rights and environment (without secrets: environment.h), as these are the user's own files; code
 * under test never runs here. Code and arguments reach a worker as data (JSON in length-framed messages on a channel
 * of its own): never on a command line, never through a shell. Output of the code goes to our stderr, up to a bound
 * (worker.h). A call can also be made inside a sandbox, by a function that the pool's options give.
 *
 * A pool starts workers when they are needed, up to `workers_max` for each language: a further one when a call has
 * waited for a free one as long as a start takes. A worker makes one call at a time; calls are thread-safe. A call that
 * exceeds its timeout, or ends its worker, costs only that worker: the next call gets a new one.
 *
 * Errors of the code (an exception, a missing function, a syntax error, a timeout) are results; an error code means
 * that no code ran (no interpreter, cancelled).
 */
#pragma once
#include "base/error.h"
#include "json/json.h"

struct fh_script_pool;

enum fh_script_language { FH_SCRIPT_JAVASCRIPT, FH_SCRIPT_PYTHON, FH_SCRIPT_RUBY, FH_SCRIPT_LANGUAGE_COUNT_ };
/* The language of a file, by its name: .js .cjs .mjs .ts .cts .mts -> JavaScript, .py -> Python, .rb -> Ruby; false for
 * any other. */
bool fh_script_language_of(const char *file, enum fh_script_language *ret);

/* A call that is made inside a sandbox: `guest`, a program in `language`, is run with the argument "--once" and
 * `message` on its stdin, and prints the answer. It may read the folder of `file`. */
struct fh_script_sandbox_call {
	const char *language, *guest;
	FH_NULLABLE const char *file;
	const json_t *message;
	uint64_t timeout_ms;
};

struct fh_script_sandbox {
	/* Returns 0, with *ret_failure and *why as in fh_worker_ask; a negative code: no sandbox could be made. */
	int (*run)(void *context, const struct fh_script_sandbox_call *call, json_t **ret_answer, struct fh_error *why,
	           int *ret_failure, struct fh_error *err);
	void *context;
	bool always; /* make all calls in sandboxes, not only those that ask for it */
};

struct fh_script_environment; /* script/environment.h */

#define FH_SCRIPT_TIMEOUT_MS 300000

struct fh_script_pool_options {
	unsigned workers_max;                       /* maximum of workers for each language; 0: 4 */
	uint64_t timeout_ms;                        /* time limit of one call; 0: FH_SCRIPT_TIMEOUT_MS */
	FH_NULLABLE const char *python;             /* interpreter; NULL: $PROMPTFOO_PYTHON, python3 or python on PATH */
	FH_NULLABLE const char *node;               /* Node.js; NULL: node or nodejs on PATH */
	FH_NULLABLE const json_t *env;              /* {NAME: string}: added to our environment for the workers */
	FH_NULLABLE const char *const *handed_over; /* patterns of names of secrets that workers see nevertheless */
	struct fh_script_sandbox sandbox;
	FH_NULLABLE const volatile int *cancel; /* set to 1 elsewhere: calls end with FH_E_CANCELLED */
};

/* Makes a pool; starts no worker. Copies what it needs of the options (except `cancel`, which must outlive the
 * pool). */
FH_OWN struct fh_script_pool *fh_script_pool_new(FH_NULLABLE const struct fh_script_pool_options *options);
/* Ends the workers. No call may be running. NULL is fine. */
void fh_script_pool_free(struct fh_script_pool *pool);

/* A call of the user's code: inline `code`, or a function in a `file`; exactly one is given.
 *
 * Inline code, as in promptfoo: a single line is an expression (in JavaScript also `const x = …; …; expr`); several
 * lines are the body of a function, which has to return. `names` are its parameters.
 *
 * In a file, `function` names the function: in Python "fn" or "Class.method"; in JavaScript a member of the default
 * export (or of module.exports), or an export if the module has no default one. NULL: in JavaScript the default export;
 * in Python there is no default, so the caller gives one (get_assert, call_api, get_transform …). Promises and
 * coroutines are awaited. A JavaScript class is instantiated once for each file and worker, with `construct` as the
 * constructor's argument, and `method` (for a provider: "callApi") is called on the instance; `method` is also called
 * on a default export that is an object, and ignored if that is a plain function. */
struct fh_script_call {
	enum fh_script_language language;
	FH_NULLABLE const char *code;
	FH_NULLABLE const char *file;
	FH_NULLABLE const char *function;
	FH_NULLABLE const char *method;
	FH_NULLABLE const json_t *construct;
	bool source; /* of a JavaScript function: instead of calling it, return its source text */
	bool module; /* of a JavaScript file: return its default export, with functions as "file://FILE:NAME.NAME" to call
	                them by */
	FH_NULLABLE const char *program;    /* another interpreter for this call; NULL: the pool's */
	FH_NULLABLE const char *const *env; /* variables of this call: NULL-terminated "NAME=VALUE" */
	bool sandbox;                       /* run inside a sandbox; excludes program and env */
	bool repeatable; /* the call does nothing but return a value: it is made again, once, if a signal ends its worker */
	int in_place;    /* number, from 1, of the argument that a JavaScript function may change instead of returning
	                    something:    it is the value of a call that returned none; 0: none is */
	int provider; /* number, from 1, of the argument that is a provider, whose `id` JavaScript calls: id(); 0: none is
	               */
	const char *const *names; /* parameters of inline code, NULL-terminated; NULL: output, context */
	const json_t *args;       /* array; for inline code of as many members as `names` */
	uint64_t timeout_ms;      /* time limit of the call; 0: the pool's */
};

enum fh_script_outcome {
	FH_SCRIPT_RETURNED,  /* value, type */
	FH_SCRIPT_THREW,     /* error (name, message, traceback) */
	FH_SCRIPT_MISSING,   /* error.message: the file or the function does not exist */
	FH_SCRIPT_TIMED_OUT, /* error.message: the call took too long */
	FH_SCRIPT_DIED,      /* error.message: the worker ended during the call */
};

struct fh_script_result {
	enum fh_script_outcome outcome;
	json_t *value;       /* the returned value; null for undefined, None and values that JSON cannot hold (see type) */
	char *type;          /* javascript: typeof, or "null", "array"; python: the type's name ("bool", "NoneType") */
	char *error_name;    /* name of the exception, "" when unknown; NULL when the call returned */
	char *error_message; /* the message, without name and traceback */
	char *error_traceback; /* in the language's format, with the message; without the worker's own frames */
};
void fh_script_result_release(struct fh_script_result *r); /* frees the members and zeroes them */
#define fh_auto_script_result FH_CLEANUP(fh_script_result_release)

int fh_script_call(struct fh_script_pool *pool, const struct fh_script_call *call, struct fh_script_result *ret,
                   struct fh_error *err);
/* The environment of the pool's workers. */
const struct fh_script_environment *fh_script_pool_environment(const struct fh_script_pool *pool);
