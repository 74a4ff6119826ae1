/* SPDX-License-Identifier: MIT */
/* Shared by the files of `fumehood session`: options, and finding a session. */
#pragma once
#include "cli/shared/options.h"
#include "fumehood/session.h"

struct fh_session_options {
	const char *name, *language, *image, *user, *cwd, *tag, *from, *code;
	struct fh_opt_list env;
	uint64_t lease_ms, memory, disk, processes;       /* settings and limits of a session */
	uint64_t wall_ms, cpu_ms, output, command_memory; /* limits of a command; 0: the session's */
	bool json, terminal, interactive, detach, recursive, root;
};
extern struct fh_session_options fh_session_options;

/* A running session, found by its name or the first letters of its id, and a client of its engine. */
struct fh_session_handle {
	struct fh_client *client;
	struct fh_sandbox *sandbox;
	struct fh_sandbox_info info;
};
int fh_session_open(const char *name, struct fh_session_handle *ret, struct fh_error *err);
void fh_session_close(struct fh_session_handle *h);
#define fh_auto_session __attribute__((cleanup(fh_session_close)))
/* Splits NAME:PATH; false: there is no colon. */
bool fh_session_split(const char *text, char **ret_name, const char **ret_path);

/* An action such as exec; args[0] is its first argument. Returns the exit status, or a negative code with err. */
typedef int fh_session_action(const char *const *args, size_t count, struct fh_error *err);
fh_session_action fh_session_exec, fh_session_attach;                                  /* session_exec.c */
fh_session_action fh_session_run;                                                      /* session_run.c */
fh_session_action fh_session_cp, fh_session_ls, fh_session_watch, fh_session_snapshot; /* session_files.c */

/* For session_run.c: a command as the options say it, run to its end; returns its exit status. `env`: variables beside
 * the session's own, or NULL. */
int fh_session_command(struct fh_session_handle *h, const char *const *argv, const char *const *env, bool no_stdin,
                       struct fh_error *err);
/* Prints what became of a command, for --json. */
struct fh_result;
void fh_session_print_result(const struct fh_result *r);
