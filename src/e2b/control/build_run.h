/* SPDX-License-Identifier: MIT */
/* One build, and the function of its thread. */
#pragma once
#include "base/text/uuid.h"
#include "e2b/hosted/e2b.h"

enum fh_template_build_state { FH_BUILD_WAITING, FH_BUILD_BUILDING, FH_BUILD_READY, FH_BUILD_FAILED };

struct fh_template_build {
	struct fh_e2b *server;
	const struct fh_key *owner;
	char id[FH_UUID_SIZE];
	char *name;
	json_t *tags, *size, *request; /* members of the client's requests; immutable. size: cpuCount, memoryMB */

	pthread_mutex_t lock; /* guards the members below */
	enum fh_template_build_state state;
	json_t *log;            /* [{"timestamp", "level", "message"}] */
	char *reason, step[24]; /* step: the one that runs (set_step) */

	atomic_int references;
	struct fh_template_build *next; /* next build in the table; guarded by the table's lock */
};
void fh_template_build_drop(struct fh_template_build *b);
void *fh_template_build_run(void *build); /* thread function; takes over a reference */
/* A descriptor of the complete archive with that hash; its offset is shared with others. -1: it was not uploaded. */
int fh_template_build_archive_read(struct fh_e2b *s, const struct fh_key *owner, const char *hash);
