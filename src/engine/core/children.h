/* SPDX-License-Identifier: MIT */
/* Children of the engine by their pidfd. */
#pragma once
#include "engine/core/loop.h"
#include <sys/types.h>

pid_t fh_pid_of(int pidfd);                       /* -1: it was reaped */
void fh_reap_later(struct fh_loop *l, int pidfd); /* takes it over: a child whose end concerns nobody */
/* Called every few ms while a template goes. Its holder and its zygote make children of ours and tell us of each; a
 * child whose maker was killed before it could tell is nobody's. Whoever is known is reaped in the turn of the loop
 * that sees its end, so one who is still there at the second look (*last: whom the one before saw) is not known. */
void fh_reap_unknown(pid_t *last);
