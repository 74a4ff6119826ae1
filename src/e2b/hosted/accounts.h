/* SPDX-License-Identifier: MIT */
/*
 * The users of a hosted sandbox, and what their commands start with: environment, working directory, paths.
 *
 * The users are "user" (uid 1000, /home/user) and "root" (uid 0, /root). Where the host gives a sandbox only one id,
 * both names mean that one, and processes always have uid 1000.
 */
#pragma once
#include "e2b/common/connect.h"
#include "e2b/hosted/e2b.h"

/* The user that a request names by HTTP's basic authentication (envd) or by ?username=; "user" when it names none. NULL
 * with *e set: the user is unknown. */
const char *fh_account_of_request(const struct fh_http_request *r, struct fh_connect_error *e);
FH_NULLABLE const char *fh_account_named(FH_NULLABLE const char *name);
/* The user's name for libfumehood: NULL in a sandbox that has only one id. */
FH_NULLABLE const char *fh_account_for(const struct fh_hosted *h, const char *user);
const char *fh_account_home(const char *user);
uint32_t fh_account_uid(const char *user);
/* The user's name for a uid: "user", "root", or the number as text in `buffer`. */
const char *fh_account_name(uint32_t uid, char buffer[16]);

/* Makes a path absolute and clean: "~" and relative paths start in the user's home. */
FH_OWN char *fh_account_path(const char *user, const char *path);
bool fh_account_has_folder(struct fh_hosted *h, FH_NULLABLE const char *user, const char *path);

/* A command, made from a process's config {"cmd", "args", "envs", "cwd"}. */
struct fh_command {
	char **argv, **env;
	char *cwd;
};
int fh_command_read(const struct fh_hosted *h, const json_t *config, const char *user, bool pty, struct fh_command *ret,
                    struct fh_connect_error *e);
void fh_command_release(struct fh_command *c);
/* The environment for `user`: the user's own variables, the sandbox's, then `more` (an object of strings, or NULL). */
FH_OWN char **fh_account_env(const struct fh_hosted *h, const char *user, bool pty, FH_NULLABLE const json_t *more);
void fh_strings_free(FH_OWN char **strings);
