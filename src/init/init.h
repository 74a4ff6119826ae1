/* SPDX-License-Identifier: MIT */
/*
 * fumehood-init: pid 1 of every sandbox (what it does for the engine: messages.h).
 *
 * Freestanding: no libc, no heap, no thread-local storage, so that it runs whatever the image holds, or nothing. It
 * is not dumpable and, where the host gives more than one id, of another uid than the programs, so that they cannot
 * look into it. It never blocks on what a program does: file contents are moved by forked children that have become
 * the program's user.
 */
#pragma once
#include "init/messages.h"
#include "init/sys.h"

enum { FH_INIT_SOCKET = 3 }; /* where the engine's end of the pair is */

struct fh_init {
	struct fh_init_start start;
	int started;
	int one_shot_token; /* the process whose exit is followed by FINISHED; -1: none */
	struct {
		int32_t pid; /* 0: free */
		uint32_t token;
		uint32_t op; /* SPAWN, PUT or GET: what its exit answers */
		int result;  /* pipe from a transfer's child, -1 otherwise */
	} child[FH_INIT_PROCESSES_MAX];
	uint64_t reaped_user_us, reaped_sys_us;
};

/* spawn.c. In the parent: the message to send is in *ret. fds: stdin, stdout, stderr. */
int fh_init_spawn(struct fh_init *in, const struct fh_init_spawn *m, const char *text, const int *fds, int fd_count,
                  struct fh_init_spawned *ret, int *ret_terminal);

/* user.c */
int fh_init_become_user(const struct fh_init_start *as); /* in a child; 0 or -errno; gives up all capabilities */
/* Of the calling process, soft and hard; 0 or -errno, then *ret_resource is the one that was refused. */
int fh_init_lower_limits(const struct fh_init_rlimit *limits, uint32_t count, uint32_t *ret_resource);
void fh_init_read_state(struct fh_init_state *s); /* of the calling process */
/* In a helper: the user's rights on files, and where the host gives more than one id a user id of its own, so that no
 * program can stop or kill it. */
int fh_init_become_helper(const struct fh_init_start *as);

/* files.c; each runs in a child of its own and returns what the child reports. */
void fh_init_put(const char *base, int pipe, struct fh_init_done *ret);
void fh_init_get(const struct fh_init_get *m, int pipe, struct fh_init_done *ret);

/* tree.c: processes as /proc and control groups show them */
void fh_tree_kill(int32_t pid, int procs); /* procs: of its control group, or -1 */
void fh_tree_hold(uint32_t how, const int *fds, int fd_count, struct fh_init_held *ret);

/* sample.c */
void fh_init_sample(const struct fh_init *in, struct fh_init_usage *ret);
void fh_init_disk(const struct fh_init *in, struct fh_init_finished *ret);

/* shared.c: memory that belongs to no process alone. For each sample: begin; every memfd that a process holds (returns
 * what it adds: each counts once) and every process; then the bytes of what only mappings and segments hold. */
void fh_shared_begin(void);
uint64_t fh_shared_add_memfd(uint64_t inode, uint64_t bytes);
uint64_t fh_shared_add_process(const char *pid); /* the bytes of its page tables */
uint64_t fh_shared_bytes(uint64_t tasks);

/* sockets.c: whether the sandbox's sockets can be looked at, and the bytes in their buffers. */
int fh_sockets_can(void);
uint64_t fh_sockets_bytes(void);

/* lib.c */
void *memcpy(void *to, const void *from, size_t n);
void *memset(void *p, int c, size_t n);
int memcmp(const void *a, const void *b, size_t n);
size_t strlen(const char *s);
int fh_read_full(int fd, void *p, size_t n);        /* 1: all n; 0: end of file before the first; -errno (-EIO: torn) */
int fh_write_full(int fd, const void *p, size_t n); /* 0 or -errno */
