/* SPDX-License-Identifier: MIT */
/*
 * Code contexts: interpreters in a sandbox that keep their state from one run of code to the next.
 *
 *     sandbox ──fh_context_create──▶ context ──fh_context_run──▶ events, outcome        any number of times
 *
 * A context is one process of a session's sandbox (fh_sandbox_create): a *driver* inside the interpreter of its
 * language receives code and sends events. Runs in one context are executed one after another; calls from several
 * threads wait for their turn. The driver shares its process with the code, so the code can forge events: nothing that
 * the driver sends is trusted for more than the result of that context. docs/contexts.md has the types of results, the
 * languages and the protocol.
 *
 * Errors are as in sandbox.h: whatever code can cause, including the end of its interpreter, is reported in the
 * outcome.
 */
#pragma once
#include "fumehood/sandbox.h"

#ifdef __cplusplus
extern "C" {
#endif

struct fh_context;

struct fh_context_options {
	size_t size;
	const char *language;   /* "python", "r", … (fh_context_language_name); NULL: "python" */
	const char *cwd;        /* NULL: the sandbox's */
	const char *const *env; /* "NAME=value", added to the sandbox's for all runs */
	/* Python only. "auto" (the default): IPython's shell if it can be imported, else the built-in one; "ipython";
	 * "small": the built-in one */
	const char *shell;
	const char *const *preload; /* Python only: modules to import before the first run */
	uint64_t start_timeout_ms;  /* 0: 60,000 */
	bool preload_quietly;       /* the first run is not told which of `preload` cannot be imported */
};
#define FH_CONTEXT_OPTIONS_INIT                                                                                        \
	{                                                                                                                  \
		.size = sizeof(struct fh_context_options)                                                                      \
	}

enum fh_context_event_kind {
	FH_CONTEXT_COUNT,   /* the run has begun; has count */
	FH_CONTEXT_STDOUT,  /* has text */
	FH_CONTEXT_STDERR,  /* has text */
	FH_CONTEXT_RESULT,  /* the value of the code; has items */
	FH_CONTEXT_DISPLAY, /* an object that the code displays; has items, display_id, update */
	FH_CONTEXT_CLEAR,   /* the code asks to clear its output; wait: not before the next output arrives */
	FH_CONTEXT_ERROR,   /* an exception; has name, value, traceback */
	FH_CONTEXT_EVENT_KIND_COUNT_
};
FH_PUBLIC const char *fh_context_event_name(enum fh_context_event_kind kind); /* "count", "stdout", … */

/* One form of a result. */
struct fh_context_item {
	const char *name; /* "text", "html", … "data", "chart" (fh_context_result_name), or the MIME type */
	const char *mime; /* this and all that follows is untrusted text */
	const char *data; /* text; base64 for images and PDF; JSON on one line if `json` is set. Followed by a NUL */
	size_t size;
	bool json;
};

/* Valid until the callback returns. */
struct fh_context_event {
	enum fh_context_event_kind kind;
	uint64_t count; /* for COUNT and RESULT */
	struct fh_bytes text;
	const struct fh_context_item *items;
	size_t item_count;
	const char *display_id; /* NULL: no id */
	bool update;            /* replaces the output that was displayed with this display_id */
	bool wait;
	const char *name, *value, *traceback;
	struct fh_bytes json; /* the whole event as one JSON object, in the form of docs/contexts.md */
};

enum fh_context_status {
	FH_CONTEXT_OK,
	FH_CONTEXT_FAILED,       /* the code raised an exception, which was sent as an ERROR event */
	FH_CONTEXT_TIMEOUT,      /* interrupted after timeout_ms */
	FH_CONTEXT_INTERRUPTED,  /* by fh_context_interrupt, the callback or `cancel` */
	FH_CONTEXT_OUTPUT_LIMIT, /* interrupted after max_bytes of events */
	FH_CONTEXT_ENDED,        /* the interpreter ended, or was ended because it violated the protocol */
	FH_CONTEXT_STATUS_COUNT_
};
FH_PUBLIC const char *fh_context_status_name(enum fh_context_status s); /* "ok", "failed", "timeout", … */

struct fh_context_run_options {
	size_t size;
	struct fh_bytes code;   /* UTF-8, at most FH_CONTEXT_CODE_MAX */
	const char *const *env; /* "NAME=value", for this run only */
	uint64_t timeout_ms;    /* then the code is interrupted; 0: no limit */
	uint64_t grace_ms;      /* time after an interrupt until the interpreter is killed; 0: 5,000 */
	uint64_t max_bytes;     /* of all events together; 0: 64 MiB */
	bool silent;            /* no count, no result, no history */
	/* Called for each event, in the thread that called fh_context_run. A result other than 0 interrupts the run. May be
	 * NULL. */
	int (*on_event)(void *context, const struct fh_context_event *event);
	/* Called about ten times a second while no event arrives. A result other than 0 interrupts the run. May be NULL. */
	int (*on_wait)(void *context);
	void *context; /* first argument of both functions */
	/* any thread or signal handler may set it to a value other than 0, which interrupts the run; may be NULL */
	const volatile int *cancel;
};
#define FH_CONTEXT_RUN_OPTIONS_INIT                                                                                    \
	{                                                                                                                  \
		.size = sizeof(struct fh_context_run_options)                                                                  \
	}
#define FH_CONTEXT_CODE_MAX ((size_t)2 << 20)

struct fh_context_outcome {
	enum fh_context_status status;
	uint64_t count;    /* the context's execution count */
	bool state_lost;   /* the interpreter ended, and its variables are lost; the next run starts a new one */
	bool restarted;    /* a new interpreter was started for this run */
	char message[256]; /* details, if status does not tell everything; contains no untrusted text */
};

/* Starts the interpreter in the sandbox and waits until it accepts code. The sandbox must outlive the context. */
FH_PUBLIC int fh_context_create(struct fh_sandbox *sandbox, const struct fh_context_options *options,
                                struct fh_context **ret, struct fh_error *err);
/* Gives a context that was started ahead of its use, and has run nothing, to its user: `env` is added to its variables,
 * and modules that were installed since it started are found. Python only. FH_E_UNAVAILABLE: another language, or `env`
 * has a variable that an interpreter reads when it starts (PYTHONHASHSEED, LANG, TZ, …) with a new value;
 * FH_E_NOT_FOUND: it has run code, or has ended. Then make another. */
FH_PUBLIC int fh_context_adopt(struct fh_context *context, const char *const *env, struct fh_error *err);
FH_PUBLIC int fh_context_run(struct fh_context *context, const struct fh_context_run_options *options,
                             struct fh_context_outcome *ret, struct fh_error *err);
/* Interrupts the current run, as Ctrl-C does. To be called from another thread. Does nothing if no run is in
 * progress. */
FH_PUBLIC int fh_context_interrupt(struct fh_context *context, struct fh_error *err);
/* Starts a new interpreter. A run in progress ends with FH_CONTEXT_ENDED. */
FH_PUBLIC int fh_context_restart(struct fh_context *context, struct fh_error *err);
/* Kills the interpreter and removes the context from the list. Every later call but fh_context_free fails. */
FH_PUBLIC int fh_context_remove(struct fh_context *context, struct fh_error *err);
/* no call may be in progress; NULL is allowed; kills nothing */
FH_PUBLIC void fh_context_free(struct fh_context *context);

/*
 * Another context in the same sandbox with the state that this one has now, by a fork of its interpreter: memory is
 * shared until one of the two writes to it. From then on they know nothing of each other, but see the same files.
 * Waits for a run in progress to end. Python only: FH_E_UNAVAILABLE otherwise, and where the interpreter refuses.
 * Seeds of random generators and process ids differ; what a fork leaves behind is named by fh_context_not_branched.
 */
FH_PUBLIC int fh_context_branch(struct fh_context *context, struct fh_context **ret, struct fh_error *err);
/*
 * Another context in `into`, a sandbox that this one's files are in (fh_sandbox_branch) or may not be in, with the
 * state that this one has now, by value: its variables, the functions and classes of its code, modules by their names,
 * the working directory, sys.path and variables of the environment that the code changed. Both sandboxes need the same
 * Python. Takes time and memory by the state's size, in both sandboxes. The context's own sandbox: fh_context_branch.
 */
FH_PUBLIC int fh_context_branch_into(struct fh_context *context, struct fh_sandbox *into, struct fh_context **ret,
                                     struct fh_error *err);
/* What of its parent's state a branch lacks, or shares with it: threads, tasks, child processes, sockets, variables
 * that have no value that can be carried, each as a text for people. NULL-terminated; it belongs to the context.
 * Untrusted texts. */
FH_PUBLIC const char *const *fh_context_not_branched(const struct fh_context *context);

/* Whether code runs in it at this moment. */
FH_PUBLIC bool fh_context_is_running(struct fh_context *context);
FH_PUBLIC const char *fh_context_id(const struct fh_context *context); /* 32 hexadecimal digits */
FH_PUBLIC const char *fh_context_language(const struct fh_context *context);
FH_PUBLIC const char *fh_context_cwd(const struct fh_context *context); /* as requested; NULL: the sandbox's */
/* What the driver reports about its interpreter: "ipython 9.1.0", "small 3.11.2". Untrusted text. */
FH_PUBLIC const char *fh_context_interpreter(const struct fh_context *context);

/* The contexts that this client made in the sandbox, oldest first; free() *ret. The contexts still belong to their
 * owners. */
FH_PUBLIC int fh_context_list(struct fh_sandbox *sandbox, struct fh_context ***ret, size_t *ret_count,
                              struct fh_error *err);

/*
 * How a context in a language is started, as a JSON object on one line, for clients that speak the engine's protocol
 * themselves (docs/contexts.md, "The protocol"); free() *ret.
 */
FH_PUBLIC int fh_context_explain(const char *language, char **ret, struct fh_error *err);
/* "python", "javascript", … for i from 0; NULL after the last one. */
FH_PUBLIC const char *fh_context_language_name(size_t i);
/* The language's name for a name or an alias of it, in upper or lower case ("JS": "javascript"); NULL: there are no
 * contexts in it. */
FH_PUBLIC const char *fh_context_language_find(const char *word);
/* The name of a MIME type in results ("image/png": "png"); NULL: it has none. */
FH_PUBLIC const char *fh_context_result_name(const char *mime);

#ifdef __cplusplus
}
#endif
