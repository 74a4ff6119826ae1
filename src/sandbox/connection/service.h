/* SPDX-License-Identifier: MIT */
/*
 * The engine that a user keeps warm on a machine (`fumehood engine start`), and its socket.
 *
 * The socket is $XDG_RUNTIME_DIR/fumehood/engine.sock. Without that variable it is /tmp/fumehood-UID/engine.sock or, if
 * that folder is not the user's (in /tmp another user may have made it first), ~/.fumehood-engine/engine.sock. There is
 * no service unless the folder belongs to the user, is no link, and is closed to others. The listener must have the
 * same uid, as reported by the kernel.
 */
#pragma once
#include "fumehood/sandbox.h"

enum { FH_SERVICE_PATH_MAX = 100 }; /* limit of the path in a socket's address */

/* The socket's path. `make`: also makes its folder if that is missing. */
int fh_service_path(bool make, char ret[FH_SERVICE_PATH_MAX], struct fh_error *err);
/* Connects to the service. -FH_E_NOT_FOUND: none answers. */
int fh_service_connect(int *ret_fd, struct fh_error *err);

/* Starts a service, which runs until it is stopped or was idle for idle_ms (0: no limit). -FH_E_ARGUMENT: one is
 * running. */
int fh_service_start(uint64_t idle_ms, pid_t *ret_pid, struct fh_error *err);
/* The pid of the running service. */
int fh_service_status(pid_t *ret_pid, struct fh_error *err);
/* Asks the service to end and waits for that. Its sandboxes are destroyed. */
int fh_service_stop(pid_t *ret_pid, struct fh_error *err);
