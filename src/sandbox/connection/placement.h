/* SPDX-License-Identifier: MIT */
/*
 * A placement is a way to start and reach an engine. Each is one const table in a file of its own.
 */
#pragma once
#include "base/process/child.h"
#include "fumehood/sandbox.h"

/* A byte stream to an engine. */
struct fh_reach {
	int in, out;           /* equal for a socket */
	struct fh_child child; /* the process that was started; pid 0: none */
};
#define FH_REACH_INIT                                                                                                  \
	{                                                                                                                  \
		.in = -1, .out = -1, .child = {.watch = -1 }                                                                   \
	}

struct fh_placement {
	const char *name;
	/* Fills in what it made. On failure nothing is left open or running. */
	int (*reach)(const struct fh_client_options *o, struct fh_reach *ret, struct fh_error *err);
	int64_t greet_ms;    /* time for the greeting: a container may have to start, or a person to type a password */
	const char *subject; /* what the child is called in errors */
	bool tool;           /* the child is the user's tool, not an engine, and must not outlive the client */
};

extern const struct fh_placement fh_placement_local;
extern const struct fh_placement fh_placement_command;
extern const struct fh_placement fh_placement_attach;
extern const struct fh_placement fh_placement_service;

/* Finds a placement by name; NULL means "local". */
FH_NULLABLE const struct fh_placement *fh_placement_find(FH_NULLABLE const char *name, struct fh_error *err);

/* Finds the engine's program: `wanted`, $FUMEHOOD_ENGINE, near the running program or this library (in a build tree),
 * or in the installation's libexec folder. free() *ret. */
int fh_engine_program(FH_NULLABLE const char *wanted, char **ret, struct fh_error *err);
/* The environment of engines: only those of the user's variables that concern fumehood. free() the list, not its
 * strings. */
FH_OWN const char **fh_engine_environment(void);
/* Opens a connection to this user's engine with that pid; -FH_E_NOT_FOUND if there is none. */
int fh_engine_connect(pid_t pid, int *ret_fd, struct fh_error *err);
