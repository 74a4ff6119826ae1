/* SPDX-License-Identifier: MIT */
/* The engine's side of init/zygote.h: zygotes and the programs that they fork. */
#pragma once
#include "engine/warm/template.h"

int fh_zygote_library(struct fh_error *err); /* the warm library in sealed memory; -1 with err: this build has none */
void fh_zygote_fork(struct fh_sandbox *b);   /* the sandbox's init is ready: asks the zygote to fork its program */
void fh_zygote_on_packet(struct fh_watch *w, uint32_t events);
/* Sends RUN, with the plan's files if they go with the start. fds as for SPAWN. */
int fh_zygote_run(struct fh_sandbox *b, const struct fh_spawn *s, const int *fds, size_t fd_count,
                  struct fh_error *err);
/* Finds out from its socket whether the program has begun. sure: its output or its end was seen, so it has begun unless
 * it reported otherwise. */
void fh_zygote_settle(struct fh_sandbox *b, bool sure);
bool fh_zygote_signal(struct fh_sandbox *b, int signal);
