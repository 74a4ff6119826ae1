/* SPDX-License-Identifier: MIT */
/*
 * The keeper: a process beside the engine. It removes our control groups if we are killed, and sees to it that no
 * sandbox holds us up.
 *
 * Whoever reads, writes or closes a pipe waits in the kernel while another process holds it locked, and no signal ends
 * that wait. A program can draw it out: it writes from memory whose page faults wait for its own threads, beside busy
 * loops that keep these from the processors (seen: 113 s). So the engine says in shared memory what it is at, and the
 * keeper looks ten times a second, while there are such calls. When it has seen the engine asleep in calls of one
 * sandbox five times within three seconds, it kills that sandbox's init and all processes with it.
 */
#pragma once
#include <stdbool.h>
#include <sys/types.h>

struct fh_watched;
struct fh_keeper {
	pid_t pid; /* -1: not running */
	int pipe;  /* we hold the write end; the reader sees end of file when we die */
	struct fh_watched *watched;
};
/* `has_groups`: there are control groups to remove. */
void fh_keeper_start(struct fh_keeper *k, bool has_groups);
void fh_keeper_end(struct fh_keeper *k); /* call after cleaning up */

/* Around each call on a pipe that programs of the sandbox with this init hold too. */
void fh_keeper_watch(struct fh_keeper *k, pid_t init);
void fh_keeper_unwatch(struct fh_keeper *k); /* keeps errno */
/* Whether the keeper killed that init, which has ended. Says so once: the pid may pass to another's init. */
bool fh_keeper_killed(struct fh_keeper *k, pid_t init);
