/* SPDX-License-Identifier: MIT */
/*
 * The server for `fumehood with`: one that already runs, or one that is started for the command. The latter listens at
 * a free port of the loopback interface and accepts one key, which only the command's environment holds.
 *
 * The socket is made here and passed to it, so the command can start at once: requests before the server is ready wait
 * in the socket. The server ends with the process that called this, whatever program that process executes.
 */
#pragma once
#include "base/error.h"

struct fh_with_server {
	char url[64], key[64];
};
int fh_with_server_find(struct fh_with_server *ret, struct fh_error *err);
