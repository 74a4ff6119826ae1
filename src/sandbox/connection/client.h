/* SPDX-License-Identifier: MIT */
/* What a client, a sandbox and a process are inside this library. */
#pragma once
#include "sandbox/connection/connection.h"
#include "sandbox/connection/placement.h"

struct fh_client {
	struct fh_connection *connection;
	const struct fh_placement *placement;
	struct fh_child child; /* the engine, or what reaches it */
	bool leased;           /* a sandbox of ours may outlive us, and with it the engine */
};

struct fh_sandbox {
	struct fh_client *client;
	struct fh_id id;
	char hex[FH_ID_HEX];
};

/* Greets over what a placement has reached; on failure what it had started is ended. `later`: fh_connection_greet. */
int fh_client_greet(const struct fh_placement *placement, const struct fh_reach *reach, int64_t greet_ms, bool later,
                    struct fh_client **ret, struct fh_error *err);
/* Opens a client on an engine that runs already, for the short word with each of them that lists need. */
int fh_client_attach(pid_t engine, int64_t greet_ms, struct fh_client **ret, struct fh_error *err);

/* Whether an option struct of the caller, which begins with its size, reaches as far as this field. */
#define FH_HAS(options, field) ((options)->size >= offsetof(__typeof__(*(options)), field) + sizeof((options)->field))
