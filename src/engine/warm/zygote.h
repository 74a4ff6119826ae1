/* SPDX-License-Identifier: MIT */
/* Zygotes and the programs that they fork: the engine's side of init/zygote.h. */
#pragma once
#include "engine/warm/template.h"

int fh_zygote_library(struct fh_error *err); /* the warm library in sealed memory, -1 with err: this build has none */
void fh_zygote_fork(struct fh_sandbox *b);   /* its init is ready: asks the zygote for its program */
void fh_zygote_on_packet(struct fh_watch *w, uint32_t events);
/* Sends RUN, with the files that come along. fds: as for SPAWN. */
int fh_zygote_run(struct fh_sandbox *b, const struct fh_spawn *s, const int *fds, size_t fd_count,
                  struct fh_error *err);
/* Whether the program began: by what is on its socket. sure: its output or its end was seen, so it did unless it has
 * said otherwise. */
void fh_zygote_settle(struct fh_sandbox *b, bool sure);
bool fh_zygote_signal(struct fh_sandbox *b, int signal);
