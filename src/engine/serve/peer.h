/* SPDX-License-Identifier: MIT */
/* Who connects to an engine's socket. */
#pragma once
#include <stdbool.h>
#include <sys/socket.h>

/* Whether the process at the other end of a connected Unix socket may use this engine. Only root and the engine's own
 * user may, and only from the engine's own user namespace: outside, programs in a user's sandboxes have that user's
 * uid, and a folder that is mounted in a sandbox, even read-only, may contain the engine's socket. A client can have
 * the engine show it any file of the user. */
bool fh_peer_may_ask(int socket, const struct ucred *peer);
