/* SPDX-License-Identifier: MIT */
/* The keeper: a process that removes our control groups when we are killed. */
#pragma once
#include <sys/types.h>

struct fh_keeper {
	pid_t pid; /* -1: none */
	int pipe;  /* held open; its end of file is our death */
};
void fh_keeper_start(struct fh_keeper *k);
void fh_keeper_end(struct fh_keeper *k); /* we have cleaned up ourselves */
