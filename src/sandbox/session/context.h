/* SPDX-License-Identifier: MIT */
/* The parts of a context: its languages, what its events mean, its process, and its runs (context.c). */
#pragma once
#include <pthread.h>

#include "fumehood/context.h"
#include "json/json.h"
#include "proto/frame.h"

/* ---- languages (context_language.c) ---- */

struct fh_context_kind {
	const char *name;
	const char *const *aliases; /* NULL-terminated */
	const char *const *argv;    /* reads one line of JSON, { file: content, …, "options": … }, and runs the first */
	const char *const *files;   /* below guest/context, NULL-terminated */
	const char *package;        /* for the hint when the sandbox has no such interpreter */
	bool relay;                 /* it cannot read its own output: guest/context/relay.c stands in front */
};
/* FH_E_NOT_FOUND names those that there are. */
int fh_context_kind_find(const char *name, const struct fh_context_kind **ret, struct fh_error *err);
/* The line that argv reads, with its newline: the files' contents and the options. */
int fh_context_prelude(const struct fh_context_kind *kind, const json_t *options, struct fh_buf *ret,
                       struct fh_error *err);

/* ---- events (context_event.c) ---- */

/* An event as it came, and what the public view of it points into. */
struct fh_context_line {
	json_t *json;
	char *text; /* the line, NUL-terminated */
	struct fh_context_item *items;
	char **owned; /* JSON texts of items */
	size_t owned_count;
};
void fh_context_line_release(struct fh_context_line *line);

/* What one line of the driver is. */
enum fh_context_said {
	FH_CONTEXT_SAID_GARBAGE,
	FH_CONTEXT_SAID_NOTHING, /* a type that we do not know */
	FH_CONTEXT_SAID_EVENT,
	FH_CONTEXT_SAID_READY,
	FH_CONTEXT_SAID_REFUSED, /* instead of ready: `why` */
	FH_CONTEXT_SAID_END,
};
/* Reads a line without its newline; `line` was released or is zero. */
enum fh_context_said fh_context_line_read(struct fh_context_line *line, struct fh_str text,
                                          struct fh_context_event *ret);

/* ---- its process (context_process.c) ---- */

/* Bytes of one line from the driver at most. */
#define FH_CONTEXT_LINE_MAX ((size_t)32 << 20)

/* The driver's process and the lines that it sends. */
struct fh_context_driver {
	struct fh_process *process;
	struct fh_buf unread;
	size_t searched; /* bytes of `unread` that hold no newline */
	size_t taken;    /* bytes of the line that was handed out, which are dropped first */
	int64_t checked_ns;
	bool at_end; /* nothing more comes: the process ends */
};
struct fh_context_start {
	struct fh_sandbox *sandbox;
	const struct fh_context_kind *kind;
	const char *cwd;
	const json_t *options;
	uint64_t timeout_ms;
};
/* Starts it and waits for its `ready`, of which *ret_interpreter (free() it) is what it says of itself. */
int fh_context_driver_start(struct fh_context_driver *d, const struct fh_context_start *start, char **ret_interpreter,
                            struct fh_error *err);
/* The next line, without newline, valid until the next call: 1; 0: the process's output is at its end, or the process
 * has ended; -FH_E_TIMEOUT; -FH_E_PROTOCOL: a line longer than FH_CONTEXT_LINE_MAX. */
int fh_context_driver_line(struct fh_context_driver *d, int64_t timeout_ms, struct fh_str *ret, struct fh_error *err);
/* Hands it a request. -FH_E_TIMEOUT: it does not read. */
int fh_context_driver_send(struct fh_context_driver *d, struct fh_str line, int64_t timeout_ms, struct fh_error *err);
/* Kills its process group and forgets it; how it ended, as a text for people, when `why` is not NULL. */
void fh_context_driver_end(struct fh_context_driver *d, char *why, size_t size);
void fh_context_driver_forget(struct fh_context_driver *d);
