/* SPDX-License-Identifier: MIT */
/* The structs behind the public handles of clients and sandboxes. */
#pragma once
#include "sandbox/connection/connection.h"
#include "sandbox/connection/placement.h"

struct fh_client {
	struct fh_connection *connection;
	const struct fh_placement *placement;
	struct fh_child child; /* the engine, or the tool that reaches it */
	bool leased;           /* a sandbox with a lease, and the engine that has it, may outlive this client */
};

struct fh_sandbox {
	struct fh_client *client;
	struct fh_id id;
	char hex[FH_ID_HEX];
	enum fh_start start; /* how the sandbox was started; AUTO: unknown, because another client made the sandbox */
	char *start_why;     /* NULL: no reason was given */
	char **left_out;     /* what fh_sandbox_left_out returns; NULL: an empty list */
};

/* Exchanges greetings over what a placement has reached. On failure the child is ended. `later`: see
 * fh_connection_greet. */
int fh_client_greet(const struct fh_placement *placement, const struct fh_reach *reach, int64_t greet_ms, bool later,
                    struct fh_client **ret, struct fh_error *err);
/* Opens a client on a running engine, for the short requests by which lists are made. */
int fh_client_attach(pid_t engine, int64_t greet_ms, struct fh_client **ret, struct fh_error *err);

/* Whether the engine has been found gone, or the connection to it broken: no call will succeed any more. */
bool fh_client_lost(const struct fh_client *client);

/* Whether the caller's option struct, which begins with its size, includes this field. */
#define FH_HAS(options, field) ((options)->size >= offsetof(__typeof__(*(options)), field) + sizeof((options)->field))
