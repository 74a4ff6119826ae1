/* SPDX-License-Identifier: MIT */
/* The parts of a code context: its languages, the meaning of its events, its process, and what its own files share. */
#pragma once
#include <pthread.h>

#include "fumehood/context.h"
#include "json/json.h"
#include "proto/frame.h"

/* ---- languages (context_language.c) ---- */

#define FH_CONTEXT_PROGRAM "{program}"
struct fh_context_kind {
	const char *name;
	const char *const *aliases; /* NULL-terminated */
	/* argv of an interpreter that reads one line of JSON, { file: content, …, "options": … }, and runs the first
	 * file */
	const char *const *argv;
	const char *const *files; /* file names below guest/context, NULL-terminated */
	/* A file below guest/context that is put into the sandbox's /tmp, where argv has FH_CONTEXT_PROGRAM; its program
	 * removes it. For interpreters that read programs from files only. NULL: none */
	const char *program;
	const char *package;       /* named in the hint if the sandbox has no such interpreter */
	bool relay;                /* the interpreter cannot read its own output, so guest/context/relay.c starts it */
	bool adopts;               /* an interpreter that was started ahead can be given its user's variables later */
	const char *cannot_branch; /* why it cannot be forked with its state; NULL: it can */
	const char *may_end;       /* what may end it with exit code 1, so that its driver cannot say why; NULL: nothing */
};
/* Reads a file below guest/context. */
int fh_context_file(const char *name, struct fh_buf *ret, struct fh_error *err);
/* If there is no such language, FH_E_NOT_FOUND names the known ones. */
int fh_context_kind_find(const char *name, const struct fh_context_kind **ret, struct fh_error *err);
/* The line that argv reads, with its newline: the contents of the files, and the options. */
int fh_context_prelude(const struct fh_context_kind *kind, const json_t *options, struct fh_buf *ret,
                       struct fh_error *err);

/* ---- options (context_options.c) ---- */

/* Adds "NAME=value" texts as an object; NULL: adds nothing. */
int fh_context_add_variables(json_t *object, const char *key, const char *const *env, struct fh_error *err);
int fh_context_options_json(const struct fh_context_options *o, const struct fh_context_kind *kind, json_t **ret,
                            struct fh_error *err);
/* Adds variables to the options of an interpreter that has started. FH_E_UNAVAILABLE: it would have read one of them at
 * its start. */
int fh_context_options_adopt(json_t *options, const char *const *env, struct fh_error *err);
/* Their variables as "NAME=value"; NULL: there are none. */
FH_OWN FH_NULLABLE char **fh_context_options_env(const json_t *options);

/* ---- events (context_event.c) ---- */

/* An event as received, and the memory that the public view of it points to. */
struct fh_context_line {
	json_t *json;
	char *text; /* the line, NUL-terminated */
	struct fh_context_item *items;
	char **owned; /* JSON texts of items */
	size_t owned_count;
};
void fh_context_line_release(struct fh_context_line *line);

/* The kinds of lines that a driver sends. */
enum fh_context_said {
	FH_CONTEXT_SAID_GARBAGE,
	FH_CONTEXT_SAID_NOTHING, /* an event type of a newer driver */
	FH_CONTEXT_SAID_EVENT,
	FH_CONTEXT_SAID_READY,
	FH_CONTEXT_SAID_REFUSED, /* sent instead of READY; the reason is in `why` */
	FH_CONTEXT_SAID_END,
};
/* Reads a line without its newline. `line` must be zeroed or released. */
enum fh_context_said fh_context_line_read(struct fh_context_line *line, struct fh_str text,
                                          struct fh_context_event *ret);

/* ---- its process (context_process.c) ---- */

/* The tag of its process, in lists. */
#define FH_CONTEXT_TAG "context"
/* Maximum size of a line from the driver. */
#define FH_CONTEXT_LINE_MAX ((size_t)32 << 20)
/* Credit window of its streams: enough for a prelude and most events. */
#define FH_CONTEXT_WINDOW (2 << 20)

/* The driver's process and the lines that it sends. */
struct fh_context_driver {
	struct fh_process *process;
	struct fh_buf unread;
	size_t searched; /* bytes of `unread` that contain no newline */
	size_t taken;    /* bytes of the last line that was returned, which the next call drops */
	int64_t checked_ns;
	bool at_end;   /* end of file was read from the driver */
	bool branched; /* the driver's process is a proxy (proxy.h) */
};
struct fh_context_start {
	struct fh_sandbox *sandbox;
	const struct fh_context_kind *kind;
	const char *cwd;
	const json_t *options;
	uint64_t timeout_ms;
};
/* What a driver reports about itself when it is ready. All of it is untrusted text. */
struct fh_context_ready {
	char *interpreter;
	/* if the context is a branch: what it lacks of its parent's state; NULL-terminated; NULL: it lacks nothing */
	char **not_branched;
};
void fh_context_ready_release(struct fh_context_ready *ready);
/* The list that ready and answers have; NULL: it is empty. */
FH_OWN FH_NULLABLE char **fh_context_not_branched_read(const json_t *said);
/* Starts the process and waits for its `ready`. */
int fh_context_driver_start(struct fh_context_driver *d, const struct fh_context_start *start,
                            struct fh_context_ready *ret, struct fh_error *err);
/* The next line, without newline, valid until the next call. Returns 1; 0: end of file, or the process has ended;
 * -FH_E_TIMEOUT; -FH_E_LIMIT: a line longer than FH_CONTEXT_LINE_MAX. */
int fh_context_driver_line(struct fh_context_driver *d, int64_t timeout_ms, struct fh_str *ret, struct fh_error *err);
/* Lines that the next call reads first, each with its newline. They may be no more than FH_CONTEXT_LINE_MAX bytes. */
void fh_context_driver_put_back(struct fh_context_driver *d, struct fh_str lines);
/* Sends a request. -FH_E_TIMEOUT: the driver does not read it. */
int fh_context_driver_send(struct fh_context_driver *d, struct fh_str line, int64_t timeout_ms, struct fh_error *err);
/* Kills the process group and frees the process. `why`, if not NULL, receives how it ended, as text for the user. */
void fh_context_driver_end(struct fh_context_driver *d, char *why, size_t size);
void fh_context_driver_forget(struct fh_context_driver *d);

/* For context_branch.c. */
enum { FH_CONTEXT_FILE_NAME = 64 };
/* A new name in the sandbox's /tmp. */
void fh_context_file_name(const char *ending, char name[FH_CONTEXT_FILE_NAME]);
/* Puts a file into the sandbox's /tmp that removes itself, or that its reader removes, when it was read. */
int fh_context_put_file(const struct fh_context_start *start, const char *ending, struct fh_bytes data,
                        char name[FH_CONTEXT_FILE_NAME], struct fh_error *err);
/* Waits for the line that says that the driver accepts code. `deadline_ns`: of fh_now_ns. */
int fh_context_driver_await(struct fh_context_driver *d, const struct fh_context_start *start, int64_t deadline_ns,
                            struct fh_context_ready *ret, struct fh_error *err);

/* ---- branches (context_branch.c) ---- */

/* Has an idle interpreter fork: the child is driver `ret`, with the state of the parent and streams of its own. `id` is
 * the number of the request, as of a run. `start` is what the parent was started with. What the parent sends meanwhile
 * stays unread. Does not change whether the parent is alive, which the caller finds out at its next use. */
int fh_context_driver_branch(struct fh_context_driver *parent, const struct fh_context_start *start, uint64_t id,
                             struct fh_context_driver *ret, struct fh_context_ready *ret_ready, struct fh_error *err);

/* Has an idle interpreter write its state to a file in its sandbox. A fork of it does, so that it stays as it is,
 * within the memory that the sandbox has left. */
int fh_context_driver_save(struct fh_context_driver *driver, const struct fh_context_start *start, uint64_t id,
                           char file[FH_CONTEXT_FILE_NAME], struct fh_error *err);
/* Carries that file to the sandbox of an interpreter which has run nothing, has it read the state, and removes both
 * files, whether it can or not. What is missing is in ret->not_branched. */
int fh_context_driver_load(struct fh_context_driver *driver, const struct fh_context_start *start, uint64_t id,
                           struct fh_sandbox *from, const char *file, struct fh_context_ready *ret,
                           struct fh_error *err);

/* ---- the context (context.c) ---- */

enum {
	FH_CONTEXT_SEND_MS = 10000, /* time for the driver to read a request, which is all that it does between runs */
	FH_CONTEXT_LOOK_MS = 100,   /* period at which who waits looks at `cancel` */
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
/* Waits for this call's turn. -FH_E_CANCELLED when `cancel` is set before. */
int fh_context_turn_begin(struct fh_context *c, const volatile int *cancel, struct fh_error *err);
void fh_context_turn_end(struct fh_context *c);
/* Starts an interpreter without state. Called by the busy call. */
int fh_context_launch(struct fh_context *c, struct fh_error *err);
/* Ends the interpreter; `why` receives how it ended, as text for the user. Called by the busy call. */
void fh_context_drop(struct fh_context *c, char *why, size_t size);
