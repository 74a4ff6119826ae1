/* SPDX-License-Identifier: MIT */
/* Children of the engine, addressed by pidfd. */
#pragma once
#include "engine/core/loop.h"
#include <sys/resource.h>
#include <sys/wait.h>

pid_t fh_pid_of(int pidfd); /* -1: the process was reaped */
/* Whether a child has ended, which reaps it. One that died before it was reported, and was reaped as an unknown one
 * (below), counts as killed, without usage: its pidfd would stay readable for ever. */
bool fh_child_ended(int pidfd, siginfo_t *ret, struct rusage *ret_use);
/* Reaps the child when it ends, without reporting its end to anyone. Takes ownership of pidfd. */
void fh_reap_later(struct fh_loop *l, int pidfd);

/* A dead child, and the turn of the loop that saw it. pid 0: none. */
struct fh_unknown {
	pid_t pid;
	uint64_t turn;
};
/* Reaps children that the engine was never told of. The holder and the zygote of a template fork children of the engine
 * and report each one; when either is killed before its report, nothing else would reap that child. Called every few ms
 * while a template is ending. A known child is reaped in the loop's turn that sees its end, so a dead child that is
 * still there a whole turn later is an unknown one. *last: what the previous call saw. */
void fh_reap_unknown(const struct fh_loop *l, struct fh_unknown *last);
