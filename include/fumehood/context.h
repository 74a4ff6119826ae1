/* SPDX-License-Identifier: MIT */
/*
 * Code contexts: interpreters in a sandbox that keep their state from one run of code to the next.
 *
 *     sandbox ──fh_context_create──▶ context ──fh_context_run──▶ events, outcome        any number of times
 *
 * A context is one process of a session's sandbox (fh_sandbox_create): a *driver* of ours inside the interpreter of its
 * language takes code and sends events. Runs in one context are done one after the other; calls from several threads
 * wait for their turn. What the events say is what the code inside wants to have said: the driver shares its process
 * with the code, and nothing it sends is trusted with more than the result of that context. docs/contexts.md has the
 * types of results, the languages and the protocol.
 *
 * Errors as in sandbox.h: what code can provoke, up to the end of its interpreter, is in the outcome.
 */
#pragma once
#include "fumehood/sandbox.h"

#ifdef __cplusplus
extern "C" {
#endif

struct fh_context;

struct fh_context_options {
	size_t size;
	const char *language;       /* "python", "javascript", … (fh_context_language_name); NULL: "python" */
	const char *cwd;            /* NULL: the sandbox's */
	const char *const *env;     /* "NAME=value", added to the sandbox's for all runs */
	const char *shell;          /* Python: "auto" (NULL): IPython's where it is importable; "ipython"; "small" */
	const char *const *preload; /* Python: modules to import before the first run */
	uint64_t start_timeout_ms;  /* 0: 60,000 */
};
#define FH_CONTEXT_OPTIONS_INIT                                                                                        \
	{                                                                                                                  \
		.size = sizeof(struct fh_context_options)                                                                      \
	}

enum fh_context_event_kind {
	FH_CONTEXT_COUNT,   /* the run has begun: count */
	FH_CONTEXT_STDOUT,  /* text */
	FH_CONTEXT_STDERR,  /* text */
	FH_CONTEXT_RESULT,  /* the value of the code: items */
	FH_CONTEXT_DISPLAY, /* something that the code shows: items, display_id, update */
	FH_CONTEXT_CLEAR,   /* the code asks to clear what was shown; wait: when the next output comes */
	FH_CONTEXT_ERROR,   /* an exception: name, value, traceback */
	FH_CONTEXT_EVENT_KIND_COUNT_
};
FH_PUBLIC const char *fh_context_event_name(enum fh_context_event_kind kind); /* "count", "stdout", … */

/* One form of a result. */
struct fh_context_item {
	const char *name; /* "text", "html", … "data", "chart" (fh_context_result_name), or the MIME type */
	const char *mime; /* untrusted text, as all that follows */
	const char *data; /* text; images and PDF in base64; JSON (one line) when `json`. A NUL follows */
	size_t size;
	bool json;
};

/* Valid until the callback returns. */
struct fh_context_event {
	enum fh_context_event_kind kind;
	uint64_t count; /* of COUNT and RESULT */
	struct fh_bytes text;
	const struct fh_context_item *items;
	size_t item_count;
	const char *display_id; /* NULL: none */
	bool update;            /* replaces what was shown with this display_id */
	bool wait;
	const char *name, *value, *traceback;
	struct fh_bytes json; /* the whole event, one JSON object, as docs/contexts.md has it */
};

enum fh_context_status {
	FH_CONTEXT_OK,
	FH_CONTEXT_FAILED,       /* the code raised; an ERROR event came */
	FH_CONTEXT_TIMEOUT,      /* interrupted after timeout_ms */
	FH_CONTEXT_INTERRUPTED,  /* by fh_context_interrupt, the callback or `cancel` */
	FH_CONTEXT_OUTPUT_LIMIT, /* interrupted after max_bytes of events */
	FH_CONTEXT_ENDED,        /* its interpreter ended, or was ended because it did not obey the protocol */
	FH_CONTEXT_STATUS_COUNT_
};
FH_PUBLIC const char *fh_context_status_name(enum fh_context_status s); /* "ok", "failed", "timeout", … */

struct fh_context_run_options {
	size_t size;
	struct fh_bytes code;   /* UTF-8, at most FH_CONTEXT_CODE_MAX */
	const char *const *env; /* "NAME=value", for this run only */
	uint64_t timeout_ms;    /* 0: none. At its end the code is interrupted */
	uint64_t grace_ms;      /* after an interrupt, until the interpreter is killed; 0: 5,000 */
	uint64_t max_bytes;     /* of all events together; 0: 64 MiB */
	bool silent;            /* no count, no result, no history */
	/* Called for each event from the thread that called fh_context_run; other than 0 interrupts the run. NULL: none. */
	int (*on_event)(void *context, const struct fh_context_event *event);
	/* Called about ten times a second while no event comes; other than 0 interrupts the run. NULL: none. */
	int (*on_wait)(void *context);
	void *context;              /* of both */
	const volatile int *cancel; /* set to other than 0 by anybody: interrupts the run. NULL: never */
};
#define FH_CONTEXT_RUN_OPTIONS_INIT                                                                                    \
	{                                                                                                                  \
		.size = sizeof(struct fh_context_run_options)                                                                  \
	}
#define FH_CONTEXT_CODE_MAX ((size_t)2 << 20)

struct fh_context_outcome {
	enum fh_context_status status;
	uint64_t count;    /* the context's execution count */
	bool state_lost;   /* the interpreter is gone, and its variables with it; the next run starts another */
	bool restarted;    /* this run was the first of an interpreter that was started for it */
	char message[256]; /* what happened, where status does not say all; untrusted in no part */
};

/* Starts the interpreter in the sandbox, which must outlive the context, and waits until it takes code. */
FH_PUBLIC int fh_context_create(struct fh_sandbox *sandbox, const struct fh_context_options *options,
                                struct fh_context **ret, struct fh_error *err);
FH_PUBLIC int fh_context_run(struct fh_context *context, const struct fh_context_run_options *options,
                             struct fh_context_outcome *ret, struct fh_error *err);
/* From another thread: ends what runs, as Ctrl-C does. Nothing runs: nothing happens. */
FH_PUBLIC int fh_context_interrupt(struct fh_context *context, struct fh_error *err);
/* A new interpreter; a run that is under way ends with FH_CONTEXT_ENDED. */
FH_PUBLIC int fh_context_restart(struct fh_context *context, struct fh_error *err);
/* Kills its interpreter and takes it off the list; every later call but fh_context_free fails. */
FH_PUBLIC int fh_context_remove(struct fh_context *context, struct fh_error *err);
FH_PUBLIC void fh_context_free(struct fh_context *context); /* no call may be under way; NULL is fine. Kills nothing */

FH_PUBLIC const char *fh_context_id(const struct fh_context *context); /* 32 hexadecimal digits */
FH_PUBLIC const char *fh_context_language(const struct fh_context *context);
FH_PUBLIC const char *fh_context_cwd(const struct fh_context *context); /* as asked; NULL: the sandbox's */
/* What the driver says of its interpreter: "ipython 9.1.0", "small 3.11.2"; untrusted text. */
FH_PUBLIC const char *fh_context_interpreter(const struct fh_context *context);

/* The contexts that this client made in the sandbox, oldest first; free() *ret. The handles stay their owners'. */
FH_PUBLIC int fh_context_list(struct fh_sandbox *sandbox, struct fh_context ***ret, size_t *ret_count,
                              struct fh_error *err);

/* "python", "javascript", … for i from 0; NULL behind the last one. */
FH_PUBLIC const char *fh_context_language_name(size_t i);
/* The name that a MIME type has in results ("image/png": "png"); NULL: none. */
FH_PUBLIC const char *fh_context_result_name(const char *mime);

#ifdef __cplusplus
}
#endif
