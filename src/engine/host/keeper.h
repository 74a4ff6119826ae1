/* SPDX-License-Identifier: MIT */
/* The keeper: a process that removes our control groups if we are killed. */
#pragma once
#include <sys/types.h>

struct fh_keeper {
	pid_t pid; /* -1: not running */
	int pipe;  /* we hold the write end; the reader sees end of file when we die */
};
void fh_keeper_start(struct fh_keeper *k);
void fh_keeper_end(struct fh_keeper *k); /* call after cleaning up */
