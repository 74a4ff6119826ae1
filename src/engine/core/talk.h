/* SPDX-License-Identifier: MIT */
/* The engine's side of its conversation with a sandbox's init: the callbacks of socket_watch and oom_watch. */
#pragma once
#include "engine/core/sandbox.h"

void fh_talk_on_socket(struct fh_watch *w, uint32_t events);
void fh_talk_on_oom(struct fh_watch *w, uint32_t events);
