/* SPDX-License-Identifier: MIT */
/*
 * Starting one program, the lowest level: base/proc.h puts pipes and collecting on top, placements start engines.
 *
 * The child is made as posix_spawn makes it (sharing memory until exec), gets descriptors 0, 1 and 2 and nothing else,
 * default signal dispositions and an empty signal mask. Where a launcher runs (base/launcher.h) it starts the child.
 */
#pragma once
#include "base/base.h"
#include "base/error.h"

enum {
	FH_CHILD_SESSION = 1,          /* setsid: out of reach of a terminal's Ctrl-C */
	FH_CHILD_GROUP = 2,            /* a process group of its own */
	FH_CHILD_DIES_WITH_US = 4,     /* SIGKILL when the thread that started it ends (or the launcher, if it did) */
	FH_CHILD_IGNORES_INTERRUPT = 8 /* SIGINT and SIGQUIT are ignored from the start */
};

struct fh_child_options {
	const char *file; /* a path; PATH is not searched */
	const char *const *argv;
	FH_NULLABLE const char *const *env; /* NULL: ours */
	FH_NULLABLE const char *cwd;
	int stdio[3]; /* what become 0, 1 and 2; -1: /dev/null */
	unsigned flags;
};

/* pid 0: none, or waited for. Until it is waited for or forgotten, the pid cannot be anyone else's. */
struct fh_child {
	pid_t pid;
	int watch;     /* readable when it has ended; for poll only */
	bool launched; /* by the launcher */
};

int fh_child_start(struct fh_child *ret, const struct fh_child_options *o, struct fh_error *err);
/* Waits up to timeout_ms (-1: for ever) for its end: the wait status, or -FH_E_TIMEOUT. */
int fh_child_wait(struct fh_child *c, int64_t timeout_ms, int *ret_status, struct fh_error *err);
/* SIGKILL, to its group as well when it leads one. It is still to be waited for. */
void fh_child_kill(const struct fh_child *c);
/* Lets it run on by itself. */
void fh_child_forget(struct fh_child *c);

/* For the launcher: makes the child here and now. 0 and *ret_pid, or what failed; *ret_pidfd may be NULL. */
struct fh_child_failure {
	int32_t stage, sys;
};
bool fh_child_make(const struct fh_child_options *o, pid_t *ret_pid, int *ret_pidfd, struct fh_child_failure *ret);
