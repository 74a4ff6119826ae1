/* SPDX-License-Identifier: MIT */
/*
 * Starting a program of the user's (never tested code: that runs in a sandbox) and talking to it.
 *
 * No shell is involved. The child gets descriptors 0, 1 and 2 and nothing else, default signal dispositions and an
 * empty signal mask, and dies with SIGKILL when the thread that started it ends.
 */
#pragma once
#include "base/buf.h"
#include "base/child.h"
#include "base/error.h"

enum fh_stdio { FH_STDIO_NULL, FH_STDIO_PIPE, FH_STDIO_INHERIT, FH_STDIO_FD };

struct fh_proc_options {
	const char *const *argv;            /* NULL-terminated; argv[0] is looked up on PATH when it has no slash */
	FH_NULLABLE const char *const *env; /* NULL: ours */
	FH_NULLABLE const char *cwd;
	enum fh_stdio stdio[3];
	int stdio_fd[3]; /* for FH_STDIO_FD; stays the caller's */
	bool own_group;  /* a process group of its own, so that it can be killed whole */
};

struct fh_proc {
	pid_t pid;
	int stdio[3]; /* our ends of the pipes, -1 where there is none; closed by fh_proc_release */
	struct fh_child child;
};

/* On failure to exec, says which program and why; nothing is left running. */
int fh_proc_start(struct fh_proc *p, const struct fh_proc_options *o, struct fh_error *err);
/* Waits up to timeout_ms (-1: for ever). Returns the wait status in *ret_status, or -FH_E_TIMEOUT. */
int fh_proc_wait(struct fh_proc *p, int64_t timeout_ms, int *ret_status, struct fh_error *err);
void fh_proc_kill(struct fh_proc *p);    /* the group, if it has one; then reaps */
void fh_proc_release(struct fh_proc *p); /* kills what still runs, closes pipes */

/* Runs to the end: feeds `input`, collects stdout and stderr (each to its own max). */
int fh_proc_run(const struct fh_proc_options *o, struct fh_str input, int64_t timeout_ms, struct fh_buf *out,
                struct fh_buf *errout, int *ret_status, struct fh_error *err);
