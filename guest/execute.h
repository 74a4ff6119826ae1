/* SPDX-License-Identifier: MIT */
/* For the freestanding programs that start others (context/relay.c, prefork/prefork.c). */
#pragma once

/* Executes a program as a shell would: a name without a slash is searched in the PATH of env. Returns only if there is
 * no such program. */
void fh_execute_program(char **argv, char **env);
/* Ends this process as another one did: status is an exit code, or 256 + the number of a signal. */
void fh_end_as(int status) __attribute__((noreturn));
