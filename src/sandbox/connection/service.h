/* SPDX-License-Identifier: MIT */
/*
 * The engine that one user keeps warm on a machine (`fumehood engine start`), and its socket.
 *
 * The socket is $XDG_RUNTIME_DIR/fumehood/engine.sock; without that variable, /tmp/fumehood-UID/engine.sock, or, where
 * that folder is not the user's (in /tmp anybody may have made it first), ~/.fumehood-engine/engine.sock. Its folder
 * must be the user's own, no link, and closed to others, or there is no service; whoever listens must be of the same
 * uid, by the kernel's word.
 */
#pragma once
#include "fumehood/sandbox.h"

enum { FH_SERVICE_PATH_MAX = 100 }; /* as a socket's address may be */

/* The socket's path; `make`: its folder too, where it is missing. */
int fh_service_path(bool make, char ret[FH_SERVICE_PATH_MAX], struct fh_error *err);
/* A connection to the service. -FH_E_NOT_FOUND: none answers. */
int fh_service_connect(int *ret_fd, struct fh_error *err);

/* Starts one, which lives until it is stopped or has been idle for idle_ms (0: no limit). -FH_E_ARGUMENT: one runs. */
int fh_service_start(uint64_t idle_ms, pid_t *ret_pid, struct fh_error *err);
/* The pid of the one that answers. */
int fh_service_status(pid_t *ret_pid, struct fh_error *err);
/* Asks it to end and waits until it has; what runs in it is destroyed. */
int fh_service_stop(pid_t *ret_pid, struct fh_error *err);
