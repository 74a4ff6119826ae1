/* SPDX-License-Identifier: MIT */
/*
 * Root without root's rights: a program that reads what a model wrote has no use for capabilities, but the engines that
 * it starts have.
 *
 * fh_launcher_start, called first thing in main, forks a small process that keeps the capabilities and starts programs
 * on request, and drops all capabilities of the caller; uid and files stay. From then on base/child.c, and all that
 * builds on it, goes through the launcher. It does nothing for a user who is not root or has no capabilities.
 *
 * The launcher ends when its caller does, who reaps it on exit(); children that were to die with their parent then die
 * too. It blocks every signal, since the terminal's are meant for the caller. Requests go over a SOCK_SEQPACKET pair,
 * one packet each: numbers, and as descriptors a socket of the child's own (for its start, then its wait status), a
 * memfd with the texts and the child's stdio. The child stays a zombie until that socket is closed, so that its pid
 * stays its own.
 */
#pragma once
#include "base/child.h"

/* 0 also when there is nothing to drop. Single-threaded callers only. */
int fh_launcher_start(struct fh_error *err);
bool fh_launcher_active(void);
/* Drops all capabilities of the caller without a launcher: for a program that has started its one engine already, and
 * starts nothing else that needs them. Programs started from then on by uid 0 get them anew from the kernel. */
int fh_launcher_forgo(struct fh_error *err);

/* For base/child.c. Negative: the launcher is gone. Otherwise *ret_pid is 0 when the child could not be made, and
 * *ret_failure says why; *ret_watch is the child's socket. */
int fh_launcher_make(const struct fh_child_options *o, pid_t *ret_pid, int *ret_watch,
                     struct fh_child_failure *ret_failure, struct fh_error *err);
