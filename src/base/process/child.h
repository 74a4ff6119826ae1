/* SPDX-License-Identifier: MIT */
/*
 * Starts a program: the lowest level. base/process/proc.h adds pipes and collecting output; placements start engines by
 * it.
 *
 * As with posix_spawn, the child shares our memory until exec. It gets descriptors 0, 1 and 2 only, default signal
 * dispositions and an empty signal mask. If a launcher is active (base/process/launcher.h), the launcher starts the
 * child.
 */
#pragma once
#include "base/base.h"
#include "base/error.h"

enum {
	FH_CHILD_SESSION = 1, /* setsid: a terminal's Ctrl-C does not reach it */
	FH_CHILD_GROUP = 2,   /* a process group of its own */
	/* SIGKILL when the thread that started it ends; if the launcher started it, when that ends */
	FH_CHILD_DIES_WITH_US = 4,
	FH_CHILD_IGNORES_INTERRUPT = 8 /* SIGINT and SIGQUIT are ignored from the start */
};

struct fh_child_options {
	const char *file; /* a path; PATH is not searched */
	const char *const *argv;
	FH_NULLABLE const char *const *env; /* NULL: our environment */
	FH_NULLABLE const char *cwd;
	int stdio[3]; /* descriptors that become 0, 1 and 2; -1: /dev/null */
	unsigned flags;
};

/* A child. pid 0: none, or waited for already. Until it is waited for or forgotten, its pid is not reused. */
struct fh_child {
	pid_t pid;
	int watch;     /* readable once it has ended; only for poll */
	bool launched; /* started by the launcher */
};

int fh_child_start(struct fh_child *ret, const struct fh_child_options *o, struct fh_error *err);
/* Waits up to timeout_ms (-1: without limit) for its end. Returns the wait status in *ret_status, or -FH_E_TIMEOUT. */
int fh_child_wait(struct fh_child *c, int64_t timeout_ms, int *ret_status, struct fh_error *err);
/* Sends SIGKILL, to its whole group if it leads one. The child must still be waited for. */
void fh_child_kill(const struct fh_child *c);
/* Gives up the handle; the child runs on. */
void fh_child_forget(struct fh_child *c);

/* For the launcher: makes the child directly. Returns true and *ret_pid, or false and the failure; ret_pidfd may be
 * NULL. */
struct fh_child_failure {
	int32_t stage, sys;
};
bool fh_child_make(const struct fh_child_options *o, pid_t *ret_pid, int *ret_pidfd, struct fh_child_failure *ret);
