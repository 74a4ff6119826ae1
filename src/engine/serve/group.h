/* SPDX-License-Identifier: MIT */
/* Members of one RUN, joined by pipes. They are spawned when all are ready; when the leader has ended, or when
 * one has failed, the others are ended. Member i answers under the number of the request plus i. */
#pragma once
#include "engine/core/sandbox.h"

struct fh_group_member {
	struct fh_plan *plan; /* NULL once it is a sandbox's */
	bool stdin_open;
	size_t window;
};
struct fh_group_request {
	struct fh_group_member members[FH_MEMBERS_MAX];
	size_t member_count;
	struct fh_link links[FH_LINKS_MAX];
	size_t link_count;
	uint64_t leader; /* member_count or more: none */
};
/* Answers everything itself, errors too. */
void fh_group_start(struct fh_engine *e, struct fh_group_request *g, struct fh_connection *c, uint64_t request);
void fh_group_on_ready(struct fh_sandbox *b);             /* may be spawned */
void fh_group_on_over(struct fh_sandbox *b, bool failed); /* its program ended, or it failed */
void fh_group_leave(struct fh_sandbox *b);                /* it is freed */
