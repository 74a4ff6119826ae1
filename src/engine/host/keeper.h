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

enum {
	FH_STUCK = 'D',
	FH_STUCK_LOOK_MS = 100,
	FH_STUCK_MOST = 5, /* of the last 32 looks: whoever was stuck so often is kept from its work */
};

/* The state of a process as proc_pid_stat(5) has it; '?': unknown. FH_STUCK: it waits in the kernel for something that
 * no signal ends. One that waits for a processor does not. */
char fh_state_of(pid_t pid);
/* Kills all processes of init's pid namespace. The end of init would be theirs, but a stuck init ends late. */
void fh_kill_all_of(pid_t init, int init_pidfd);

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
