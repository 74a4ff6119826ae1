/* SPDX-License-Identifier: MIT */
/* A RUN of several members that are joined by pipes. They are started when all are ready. When the leader ends, or any
 * member fails, the others are ended. The request number of member i is that of the RUN plus i. */
#pragma once
#include "engine/core/sandbox.h"

struct fh_group_member {
	struct fh_plan *plan; /* NULL once a sandbox owns it */
	bool stdin_open;
	size_t window;
};
struct fh_group_request {
	struct fh_group_member members[FH_MEMBERS_MAX];
	size_t member_count;
	struct fh_link links[FH_LINKS_MAX];
	size_t link_count;
	uint64_t leader; /* index of a member; member_count or more: none */
};
/* Sends all answers itself, errors too. */
void fh_group_start(struct fh_engine *e, struct fh_group_request *g, struct fh_connection *c, uint64_t request);
void fh_group_on_ready(struct fh_sandbox *b); /* a member's sandbox is ready, so its program can be started */
void fh_group_on_over(struct fh_sandbox *b, bool failed); /* a member's program ended, or the member failed */
void fh_group_leave(struct fh_sandbox *b);                /* a member's sandbox is being freed */
