/* SPDX-License-Identifier: MIT */
/* A process as STARTED announces it: of a session (process.c) or of a run (run.c). */
#pragma once
#include "sandbox/session/session.h"

struct fh_started {
	const void *key; /* whom the streams wake; NULL: each its own readers */
	bool started;
	struct fh_id process, sandbox;
	uint32_t pid;                             /* inside; 0: not said */
	struct fh_flow streams[FH_STREAM_COUNT_]; /* a zero id: there is no such stream */
};
/* Reads a STARTED frame and opens the streams. Lock held (for on_answer). Negative: it breaks the protocol. */
int fh_started_read(struct fh_started *s, struct fh_connection *c, const struct fh_frame *f, struct fh_error *err);
void fh_started_release(struct fh_started *s, struct fh_connection *c);

/* As fh_process_write, but -FH_E_TIMEOUT when the process does not read; how much it has taken is not known then. One
 * writer at a time. */
int fh_process_write_within(struct fh_process *process, const void *data, size_t n, int64_t timeout_ms,
                            struct fh_error *err);
/* A helper (init/helper.h): a process whose stdout is records. With open_stdin it is written to. fh_process_free ends
 * it. */
int fh_process_spawn_helper(struct fh_sandbox *sandbox, FH_NULLABLE const char *user, const char *const *argv,
                            bool open_stdin, struct fh_process **ret, struct fh_error *err);
