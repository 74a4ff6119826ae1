/* SPDX-License-Identifier: MIT */
/*
 * fumehood-init: pid 1 of every sandbox. messages.h describes what the engine asks it to do.
 *
 * It is freestanding: no libc, no heap, no thread-local storage, so it runs in any image or none. It is not dumpable
 * and, where the host has ids to spare, has another uid than the programs, so they cannot read its memory. It never
 * waits for a program's actions: files are moved by forked children that have become the program's user.
 */
#pragma once
#include "init/messages.h"
#include "init/lib/lib.h"

enum { FH_INIT_SOCKET = 3 }; /* descriptor of init's end of the socket pair with the engine */

struct fh_init {
	struct fh_init_start start;
	int started;
	int one_shot_token; /* token of the process after whose exit FINISHED is sent; -1: no such process */
	struct {
		int32_t pid; /* 0: unused */
		uint32_t token;
		uint32_t op; /* token of the SPAWN, PUT or GET request that the process's exit answers */
		int result;  /* pipe from a child that moves a file; -1: not such a child */
		int ours;    /* it executes nothing of the sandbox's: it moves a file, or is a helper */
	} child[FH_INIT_PROCESSES_MAX];
	uint64_t reaped, reaped_user_us, reaped_sys_us;
	int alone;        /* there is no other process: init has no child, and orphans become its children */
	int memory_group; /* the way back into the group that APART led out of; -1: init is in it */
	int resting;      /* USAGE was sent since init was last alone: see `rests` of START */
};

/* spawn.c. In the parent, *ret becomes the message to send. fds: stdin, stdout, stderr and further ones. */
int fh_init_spawn(struct fh_init *in, const struct fh_init_spawn *m, const char *text, const int *fds, int fd_count,
                  struct fh_init_spawned *ret, int *ret_terminal);

/* user.c */
/* in a child: becomes the program's user and drops all capabilities; 0 or -errno */
int fh_init_become_user(const struct fh_init_start *as);
/* In a child, first of all: enters the group that limits memory, if init is not in it. 0 or -errno. */
int fh_init_enter_memory_group(const struct fh_init *in);
/* Empties the bounding set, which a user namespace begins with full: one capability a call. Init does it for all its
 * children, which inherit it, and reads it back. 0 or -errno */
int fh_init_empty_bounding(void);
/* Sets soft and hard limits of the calling process. 0; or -errno, with the resource that failed in *ret_resource. */
int fh_init_lower_limits(const struct fh_init_rlimit *limits, uint32_t count, uint32_t *ret_resource);
void fh_init_read_state(struct fh_init_state *s); /* reads the state of the calling process */
/* In a helper's child: gains the user's rights on files. Where the host has ids to spare, it gets a user id of its own,
 * so that no program can stop or kill it. */
int fh_init_become_helper(const struct fh_init_start *as);

/* files.c; each runs in a child of its own and fills in what that reports. */
void fh_init_put(const char *base, int pipe, struct fh_init_done *ret);
void fh_init_get(const struct fh_init_get *m, int pipe, struct fh_init_done *ret);

/* tree.c: processes, as listed by /proc and control groups */
/* looks: descriptors of the process's cgroup.procs, one for each time that the list is read; none where the process has
 * no control group of its own. */
void fh_tree_kill(int32_t pid, const int *looks, int look_count);
void fh_tree_hold(uint32_t how, const int *fds, int fd_count, struct fh_init_held *ret);
/* Ends the processes that run after FH_HOLD_STOP: those that have timers send them SIGCONT. */
void fh_tree_keep_still(const struct fh_init *in);

/* lines.c */
struct fh_line_reader {
	int fd;
	size_t have, at;
	char text[16384];
};
/* The next line, without its newline; 0 at the end. A line longer than the buffer comes in pieces. */
const char *fh_line_reader_next(struct fh_line_reader *r);
uint64_t fh_number_in(const char **p, unsigned base);
int fh_begins(const char *s, const char *with);
enum { FH_CLOCK_MONOTONIC = 1, FH_CLOCK_OWN_CPU = 2 };
int64_t fh_clock_ns(int clock);
/* The text of /proc/meminfo, empty if it cannot be read; and a figure of it, whose name ends with a colon. */
enum { FH_MEMINFO_NAME_MAX = 32 };
const char *fh_meminfo(void);
uint64_t fh_meminfo_bytes(const char *text, const char *name);

/* sample.c */
void fh_init_sample(const struct fh_init *in, struct fh_init_usage *ret);
void fh_init_disk(const struct fh_init *in, struct fh_init_finished *ret);
/* A process goes on when its main thread has ended, and is then a zombie in /proc, without memory and descriptors.
 * These are shown under the number of each thread that is alive: ret becomes one of them. 0: there is none. */
int fh_living_thread(const char *pid, char *ret, size_t size);
/* Calls `visit` for each process but init, in the order of /proc, until it returns 0. 1: for all of them. */
int fh_each_process(int (*visit)(const char *pid, void *data), void *data);
int fh_is_helper(const struct fh_init *in, const char *pid); /* a process that init itself started for a request */

/* memfds.c: the files in memory that processes hold open. For each sample: begin, then every process in the order of
 * /proc, with its folder of descriptors, then the bytes of all of them. */
void fh_memfds_begin(void);
void fh_memfds_add_process(uint64_t pid, long folder);
void fh_memfds_add_closed(void); /* a process whose descriptors cannot be listed */
int fh_memfds_are_closed(void);
uint64_t fh_memfds_bytes(void);
int fh_memfds_held(uint64_t inode);
uint64_t fh_memfds_records(void); /* the sum of fh_records_of_descriptor() for all descriptors */
/* The sum of fh_pipes_most() for all pipes, to be called before fh_memfds_bytes(). */
uint64_t fh_memfds_pipes(int *ret_round_is_whole);

/* shared.c: memory that cannot be attributed to a single process. For each sample: begin, every process, and, after
 * those of memfds.c, the bytes held only by mappings and segments. */
void fh_shared_begin(void);
/* returns the bytes of its page tables, and of its private pages in swap */
uint64_t fh_shared_add_process(const char *pid);
uint64_t fh_shared_bytes(uint64_t tasks);
/* Whether a process maps a file in memory that no process held at the last sample, or has too many mappings to know;
 * -1: it has no mapping. */
int fh_shared_unheld(const char *pid, int64_t until_ns);
int fh_open_of(const char *pid, const char *name, int flags); /* opens /proc/PID/NAME */

/* spaces.c: which processes have one address space. For each sample: begin, then every process in the order of /proc,
 * whose memory counts with the parent's if 1 is returned. task: a living thread of it. */
void fh_spaces_begin(void);
int fh_spaces_add_process(uint64_t pid, uint64_t task, uint64_t parent, uint64_t resident_bytes);

/* hidden.c: files in memory that no figure of a process shows; counted: bytes of such files that are counted elsewhere.
 * To be called once for each sample, after those of memfds.c. */
uint64_t fh_hidden_bytes(const struct fh_init *in, uint64_t counted);

/* fdinfo.c: the bytes of file locks, to be called once for each sample; and whether descriptors may wait in a socket,
 * or -1 where there are so many descriptors that only the next samples tell. */
uint64_t fh_locks_bytes(void);
int fh_watches_are_too_many(void); /* as the last call of fh_locks_bytes() found */
int fh_descriptors_pass(void);

/* mappings.c: the bytes of the kernel's records of mappings, to be called once for each sample; and their number. */
uint64_t fh_mappings_bytes(void);
uint64_t fh_mappings_count(void);

/* records.c: the most that the kernel's own records of a descriptor can hold, by its link in /proc; and, once for each
 * sample, the bytes of the records of all that the sandbox has. counted: bytes of the kernel's that are counted
 * elsewhere. */
uint64_t fh_records_of_descriptor(const char *link);
uint64_t fh_records_bytes(uint64_t of_descriptors, uint64_t tasks, uint64_t inodes, uint64_t counted);

/* lives.c: the CPU time of processes that have ended and nobody waited for. For each sample: begin, then every process
 * in the order of /proc, with its own time and whether it runs or is about to, then what such processes had beyond the
 * time of those that were waited for. */
void fh_lives_begin(void);
void fh_lives_add_process(const char *pid, uint64_t us, int runs, uint64_t interval_us);
uint64_t fh_lives_bare_us(uint64_t waited_us);
int fh_lives_end(void); /* Processes have ended lately, so that samples are to come at random times. */

/* shares.c: whether it is time to look again; and looks, and ends all programs where one lowered a session's share. */
int fh_shares_are_due(void);
void fh_shares_look(void);

/* sockets.c: whether the sandbox has no sockets; the bytes in their buffers, beyond them, and, wherever the kernel
 * tells their number, of their records where there are very many. are_charged: without those in buffers. */
int fh_sockets_none(void); /* There are no such sockets; found out by one system call. */
uint64_t fh_sockets_bytes(int are_charged);
uint64_t fh_sockets_unnamed(void); /* what they held then of the memory that /proc/meminfo does not name */

/* fragments.c: both are called once for each sample. most: the maximum that packets can hold which count as
 * `beside_payload` bytes besides their payload. in: the same for a payload of which nothing else is known. bytes: what
 * the sandbox's sockets hold of that, besides the bytes that are counted for them. */
uint64_t fh_fragments_most(uint64_t beside_payload);
uint64_t fh_fragments_in(uint64_t bytes);
uint64_t fh_fragments_bytes(uint64_t most, uint64_t counted);
/* By how much memory of the host that the kernel gives no name in /proc has grown since it was least, beyond so many
 * bytes. A `before` of 0 begins anew. `now` is that memory where the growth is not 0. */
struct fh_unnamed {
	uint64_t before, now;
	uint32_t readings;
};
uint64_t fh_unnamed_growth(struct fh_unnamed *u, uint64_t beyond);

/* pipes.c: pages in pipes. For each sample: begin, then, if that returns 1, every pipe, as a name in a process's folder
 * of descriptors, for the most that it can hold, then the bytes that all hold. worth: the same as begin, to be asked
 * between samples; most calls read nothing. */
int fh_pipes_begin(void);
int fh_pipes_worth_looking(void);
uint64_t fh_pipes_most(long folder, const char *name);
uint64_t fh_pipes_bytes(uint64_t most, int round_is_whole);
