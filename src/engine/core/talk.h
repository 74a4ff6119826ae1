/* SPDX-License-Identifier: MIT */
/* What the engine and a sandbox's init say to each other: the callbacks of its socket_watch and oom_watch. */
#pragma once
#include "engine/core/sandbox.h"

void fh_talk_on_socket(struct fh_watch *w, uint32_t events);
void fh_talk_on_oom(struct fh_watch *w, uint32_t events);
