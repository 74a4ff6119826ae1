/* SPDX-License-Identifier: MIT */
/*
 * The users of a hosted sandbox, and what a command of theirs begins with: environment, working directory, paths.
 *
 * There are "user" (uid 1000, /home/user) and "root" (uid 0, /root). Where the host gives a sandbox one id only, both
 * names stand for it: its processes say uid 1000 whatever was asked for.
 */
#pragma once
#include "e2b/connect.h"
#include "e2b/server.h"

/* The user that a request names by HTTP's basic authentication (envd) or by ?username=; "user" when it names none.
 * NULL with *e set: there is no such user. */
const char *fh_account_of_request(const struct fh_http_request *r, struct fh_connect_error *e);
FH_NULLABLE const char *fh_account_named(FH_NULLABLE const char *name);
/* What libfumehood is to be told: NULL where this sandbox has one id only. */
FH_NULLABLE const char *fh_account_for(const struct fh_hosted *h, const char *user);
const char *fh_account_home(const char *user);
uint32_t fh_account_uid(const char *user);
/* "user", "root", or the number as text in `buffer`. */
const char *fh_account_name(uint32_t uid, char buffer[16]);

/* An absolute, clean path: "~" and relative ones start in the user's home. */
FH_OWN char *fh_account_path(const char *user, const char *path);
bool fh_account_has_folder(struct fh_hosted *h, FH_NULLABLE const char *user, const char *path);

/* A process's config {"cmd", "args", "envs", "cwd"} as a command. */
struct fh_command {
	char **argv, **env;
	char *cwd;
};
int fh_command_read(const struct fh_hosted *h, const json_t *config, const char *user, bool pty, struct fh_command *ret,
                    struct fh_connect_error *e);
void fh_command_release(struct fh_command *c);
/* The environment of `user` alone, with the sandbox's own variables and then `more` (an object of strings, or NULL). */
FH_OWN char **fh_account_env(const struct fh_hosted *h, const char *user, bool pty, FH_NULLABLE const json_t *more);
void fh_strings_free(FH_OWN char **strings);
