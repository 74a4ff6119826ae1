/* SPDX-License-Identifier: MIT */
/*
 * Sees to it that a sandbox's programs do not keep its init from its work.
 *
 * What init asks of the kernel about programs (what an epoll set watches, how much is in a pipe, what a process maps)
 * waits for locks that they hold, and no signal ends most of these waits. A program can draw them out as it can the
 * engine's (host/keeper.h): thirty processes with a hundred descriptors of an epoll set each held init for 20 s, in
 * which it counted neither memory nor CPU time. So the engine looks at it, and ends a sandbox whose init was stuck in
 * five of the last 32 looks.
 */
#pragma once
#include "engine/core/sandbox.h"

void fh_stuck_watch(struct fh_sandbox *b); /* call when init begins to sample */
