/* SPDX-License-Identifier: MIT */
/*
 * The server that a command of `fumehood with` finds: one that runs already, else one of its own.
 *
 * Its own listens at a free port of the loopback and knows one key, which only the command's environment holds. The
 * socket is made here and handed over, so that the command starts at once: what it asks before the server is ready
 * waits in the socket. The server ends when the process that called this does, whatever program that has become by
 * then.
 */
#pragma once
#include "base/error.h"

struct fh_with_server {
	char url[64], key[64];
};
int fh_with_server_find(struct fh_with_server *ret, struct fh_error *err);
