/* SPDX-License-Identifier: MIT */
/*
 * Evals that were started from the page: `fumehood eval` with a configuration in the viewer's folder, or `fumehood
 * retry` of a stored eval. They are separate programs, which continue when the viewer ends. Their progress is in the
 * store; here is only whether they are running, how they ended, and what they printed.
 */
#pragma once
#include <pthread.h>
#include "base/process/child.h"
#include "json/json.h"

enum { FH_VIEW_JOBS_MAX = 32, FH_VIEW_JOBS_AT_ONCE = 4 };

struct fh_view_job {
	size_t number; /* the job's id in the API; never used twice */
	char *what;    /* the configuration's name, or "retry ID" */
	struct fh_child child;
	int log; /* a memory file with its output */
	bool ended;
	int status; /* exit status as from waitpid(), once the job has ended */
	int64_t began_ms;
};

struct fh_view_jobs {
	pthread_mutex_t lock;
	struct fh_view_job items[FH_VIEW_JOBS_MAX]; /* a new job replaces the oldest one that has ended */
	size_t count, begun;                        /* begun: number of jobs that were started so far */
};

void fh_view_jobs_init(struct fh_view_jobs *j);
void fh_view_jobs_release(struct fh_view_jobs *j); /* running jobs continue */
