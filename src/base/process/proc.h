/* SPDX-License-Identifier: MIT */
/*
 * Starts a program of the user's and exchanges data with it. Never used for tested code, which runs in a sandbox.
 *
 * No shell is involved. The child gets descriptors 0, 1 and 2 only, default signal dispositions and an empty signal
 * mask, and is killed by SIGKILL when the thread that started it ends.
 */
#pragma once
#include "base/buf.h"
#include "base/process/child.h"
#include "base/error.h"

enum fh_stdio { FH_STDIO_NULL, FH_STDIO_PIPE, FH_STDIO_INHERIT, FH_STDIO_FD };

struct fh_proc_options {
	const char *const *argv;            /* NULL-terminated; argv[0] is searched on PATH if it has no slash */
	FH_NULLABLE const char *const *env; /* NULL: our environment */
	FH_NULLABLE const char *cwd;
	enum fh_stdio stdio[3];
	int stdio_fd[3]; /* for FH_STDIO_FD; the caller keeps ownership */
	bool own_group;  /* starts it in a process group of its own, so that the whole group can be killed */
};

struct fh_proc {
	pid_t pid;
	int stdio[3]; /* our ends of the pipes, -1: no pipe; closed by fh_proc_release */
	struct fh_child child;
};

/* If exec fails, the error names the program and the reason; nothing is left running. */
int fh_proc_start(struct fh_proc *p, const struct fh_proc_options *o, struct fh_error *err);
/* Waits up to timeout_ms (-1: without limit). Returns the wait status in *ret_status, or -FH_E_TIMEOUT. */
int fh_proc_wait(struct fh_proc *p, int64_t timeout_ms, int *ret_status, struct fh_error *err);
/* Kills the process, or its group if it has one, if it still runs; closes the pipes. */
void fh_proc_release(struct fh_proc *p);

/* Runs a program to its end: writes `input`, collects stdout and stderr, each up to its own max. */
int fh_proc_run(const struct fh_proc_options *o, struct fh_str input, int64_t timeout_ms, struct fh_buf *out,
                struct fh_buf *errout, int *ret_status, struct fh_error *err);
