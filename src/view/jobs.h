/* SPDX-License-Identifier: MIT */
/*
 * Evals that were started from the page: `fumehood eval` of a configuration in the folder in which the viewer was
 * started, or `fumehood retry` of a stored eval, as programs of their own that go on when the viewer ends. What they do
 * is seen in the store; kept here is only whether they still run, how they ended, and what they printed.
 */
#pragma once
#include <pthread.h>
#include "base/child.h"
#include "json/json.h"

enum { FH_VIEW_JOBS_MAX = 32, FH_VIEW_JOBS_AT_ONCE = 4 };

struct fh_view_job {
	char *what; /* the configuration's name, or "retry ID" */
	struct fh_child child;
	int log; /* a memory file */
	bool ended;
	int status; /* of wait, when it has ended */
	int64_t began_ms;
};

struct fh_view_jobs {
	pthread_mutex_t lock;
	struct fh_view_job items[FH_VIEW_JOBS_MAX]; /* the oldest that has ended makes room */
	size_t count;
};

void fh_view_jobs_init(struct fh_view_jobs *j);
void fh_view_jobs_release(struct fh_view_jobs *j); /* what runs goes on */
