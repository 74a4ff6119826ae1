/* SPDX-License-Identifier: MIT */
/*
 * Lets a command of root run without capabilities. A program that reads a model's output should have none, but the
 * engines that it starts need them.
 *
 * fh_launcher_start, called at the beginning of main, forks a small process (the launcher) that keeps the capabilities
 * and starts programs on request. Then it drops all capabilities of the caller, which keeps its uid and files. From
 * then on base/process/child.c, and everything that uses it, starts programs through the launcher. For a user who is
 * not root, or has no capabilities, it does nothing.
 *
 * The launcher ends with its caller, which reaps it on exit(); children started to die with their parent then die too.
 * The launcher blocks all signals, since those of the terminal are meant for the caller. Requests go over a
 * SOCK_SEQPACKET pair, one packet each: numbers and descriptors, which are a socket for this child (on which its start
 * and then its wait status are reported), a memfd with the texts, and the child's stdio. The child stays a zombie until
 * its socket is closed, so its pid is not reused before.
 */
#pragma once
#include "base/process/child.h"

/* Returns 0 also if there is nothing to drop. Single-threaded callers only. */
int fh_launcher_start(struct fh_error *err);
bool fh_launcher_active(void);
/* Whether a launcher that was started has ended, as when it is killed. None can be started again: the caller has no
 * capabilities left. */
bool fh_launcher_lost(void);
/* Drops all capabilities of the caller without a launcher, for a program that has already started its only engine and
 * starts nothing else that needs them. Programs that uid 0 starts after this get capabilities from the kernel again. */
int fh_launcher_forgo(struct fh_error *err);

/* For a command that starts no more programs: ends the launcher now if it never started one, so that exit() does not
 * wait for it. */
void fh_launcher_end_unused(void);

/* For base/process/child.c. Negative: the launcher is gone. Otherwise *ret_watch is the child's socket, and *ret_pid
 * its pid, or 0 if it could not be started, for the reason in *ret_failure. */
int fh_launcher_make(const struct fh_child_options *o, pid_t *ret_pid, int *ret_watch,
                     struct fh_child_failure *ret_failure, struct fh_error *err);
