/* SPDX-License-Identifier: MIT */
/*
 * A placement says how an engine is started and reached, and nothing else: one file each, one table.
 */
#pragma once
#include "base/child.h"
#include "fumehood/sandbox.h"

/* A byte stream to an engine. */
struct fh_reach {
	int in, out;           /* equal for a socket */
	struct fh_child child; /* what was started; pid 0: nothing */
};
#define FH_REACH_INIT                                                                                                  \
	{                                                                                                                  \
		.in = -1, .out = -1, .child = {.watch = -1 }                                                                   \
	}

struct fh_placement {
	const char *name;
	/* Fills in what it made; on failure nothing is left open or running. */
	int (*reach)(const struct fh_client_options *o, struct fh_reach *ret, struct fh_error *err);
	int64_t greet_ms;    /* how long a greeting may take: a container starts, a person types a password */
	const char *subject; /* what the child is, for errors */
	bool tool;           /* the child is the user's tool, not an engine: it must not outlive the client */
};

extern const struct fh_placement fh_placement_local;
extern const struct fh_placement fh_placement_command;
extern const struct fh_placement fh_placement_attach;
extern const struct fh_placement fh_placement_service;

/* By name; NULL is "local". */
FH_NULLABLE const struct fh_placement *fh_placement_find(FH_NULLABLE const char *name, struct fh_error *err);

/* The engine's program: the wanted one, $FUMEHOOD_ENGINE, near the running program or this library (a build tree), the
 * libexec folder of the installation. free() *ret. */
int fh_engine_program(FH_NULLABLE const char *wanted, char **ret, struct fh_error *err);
/* The environment that engines get: nothing of the user's but what concerns us. free() the list, not its strings. */
FH_OWN const char **fh_engine_environment(void);
/* One more connection to the engine of this user with that pid; -FH_E_NOT_FOUND when there is none. */
int fh_engine_connect(pid_t pid, int *ret_fd, struct fh_error *err);
