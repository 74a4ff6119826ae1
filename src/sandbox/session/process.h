/* SPDX-License-Identifier: MIT */
/* A process, as announced by STARTED: of a session (process.c) or of a run (run.c). */
#pragma once
#include "sandbox/session/session.h"

struct fh_started {
	const void *key; /* key for the waits of all its streams; NULL: each stream has its own */
	bool started;
	struct fh_id process, sandbox;
	uint32_t pid;                             /* in the sandbox; 0: unknown */
	struct fh_flow streams[FH_STREAM_COUNT_]; /* a zero id means that there is no such stream */
};
/* Reads a STARTED frame and opens the streams. Lock held (it is called from on_answer). Negative: a protocol error. */
int fh_started_read(struct fh_started *s, struct fh_connection *c, const struct fh_frame *f, struct fh_error *err);
void fh_started_release(struct fh_started *s, struct fh_connection *c);

/* Like fh_process_write, but fails with -FH_E_TIMEOUT if the process does not read; it is unknown then how much it has
 * read. One writer at a time. */
int fh_process_write_within(struct fh_process *process, const void *data, size_t n, int64_t timeout_ms,
                            struct fh_error *err);
/* As fh_process_spawn, for a process that stands for one which another process of the sandbox starts: what it uses is
 * counted for the whole sandbox. */
int fh_process_spawn_proxy(struct fh_sandbox *sandbox, const struct fh_spawn_options *options, struct fh_process **ret,
                           struct fh_error *err);
/* Starts a helper (init/helpers/helper.h), a process whose stdout consists of records. open_stdin: it has input. into:
 * a helper, of any sandbox of the same client, whose stdin gets these records; they cannot be read here then.
 * fh_process_free ends it. */
int fh_process_spawn_helper(struct fh_sandbox *sandbox, FH_NULLABLE const char *user, const char *const *argv,
                            bool open_stdin, FH_NULLABLE const struct fh_process *into, struct fh_process **ret,
                            struct fh_error *err);
