/* SPDX-License-Identifier: MIT */
/* Who connects to an engine's socket. */
#pragma once
#include <stdbool.h>
#include <sys/socket.h>

/*
 * Whether the process behind a connected Unix socket may be served. Only root and the engine's own user may, and only
 * from the engine's own user namespace: the programs of a user's sandboxes have the user's uid outside, and a folder
 * that one is shown, even read-only, may hold the engine's socket. Whoever is heard by an engine may have it show any
 * file of the user's.
 */
bool fh_peer_may_ask(int socket, const struct ucred *peer);
