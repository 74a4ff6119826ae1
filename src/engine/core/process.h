/* SPDX-License-Identifier: MIT */
/* A process that a client started in a sandbox: its streams, its limits, its end and who waits for that. */
#pragma once
#include "engine/core/stream.h"
#include "engine/host/cgroup.h"
#include "fumehood/session.h"
#include "init/messages.h"

struct fh_sandbox;

enum {
	FH_EXIT_KEPT_MS = 30000,
	FH_KILL_MS = 5000,            /* for a process of a session that is over its limit to be gone */
	FH_PROCESSES_KEPT_MAX = 2048, /* of one sandbox: alive, or ended within FH_EXIT_KEPT_MS */
	FH_WAITERS_MAX = 256,         /* for one process */
	FH_SPAWN_FDS_MAX = 3 + FH_DESCRIPTORS_MAX + 1 + FH_INIT_GROUPS_MAX, /* for its files, and its control groups */
};

struct fh_waiter {
	struct fh_waiter *next;
	struct fh_process *process;
	struct fh_connection *connection;
	uint64_t request;
	struct fh_timer timer;
};

struct fh_process_limits {
	uint64_t wall_ms, cpu_ms, output_bytes;
};

struct fh_process {
	struct fh_process *next;
	struct fh_sandbox *sandbox;
	struct fh_id id;
	uint32_t token;
	struct fh_connection *connection; /* whom STARTED answers */
	uint64_t request;
	bool awaited; /* at the last look for answers of init's, its start was still to be answered */
	bool pty, one_shot, started, exited;
	bool helper;       /* init's own doing for a client: not in lists, and forgotten once its answer is read */
	uint32_t pid, uid; /* inside */
	char tag[64];
	struct fh_cgroup group; /* of a session's: below the sandbox's */
	bool has_group;
	struct fh_input input;
	struct fh_output *streams; /* stdout, stderr (or the terminal) */
	struct fh_process_limits limits;
	struct fh_timer wall_timer, cpu_timer, forget_timer;
	int64_t start_ns;
	struct fh_usage base, usage; /* of the sandbox when it started; its own once it exited */
	int64_t held_since_ns;       /* 0: its clocks run */
	int64_t held_ns;             /* while the sandbox is paused: what was left of the wall time; -1: no limit */
	uint64_t moved;              /* of a helper: bytes that its streams had carried at the last look */
	uint32_t fired;
	uint64_t oom_kills_before; /* the sandbox's, when it started */
	int wait_status;
	bool stopped; /* of a group: the leader's end ended it */
	struct fh_waiter *waiters;
	char command[128];
};

struct fh_spawn {
	char *const *argv, *const *env;
	const char *cwd;
	bool pty, stdin_open, one_shot, helper, drop;
	uint16_t rows, columns;
	uint32_t uid, gid;
	FH_NULLABLE const char *tag;
	size_t window;
	struct fh_process_limits limits;
	uint64_t memory_bytes; /* FH_UNLIMITED: the sandbox's alone */
	struct fh_str stdin_data;
};
/* Sends SPAWN to init; STARTED or ERROR answers `request` on `c` when init has. */
int fh_process_spawn_in(struct fh_sandbox *b, const struct fh_spawn *s, struct fh_connection *c, uint64_t request,
                        struct fh_process **ret, struct fh_error *err);
void fh_process_on_spawned(struct fh_process *p, const struct fh_init_spawned *m, int terminal);
/* Has init execute a program that was sent to a zygote's, with the descriptors that this one gave back. */
int fh_process_spawn_again(struct fh_process *p, const int *fds, int fd_count, struct fh_error *err);
void fh_process_on_sent(struct fh_process *p);  /* to a program that was forked ahead: from here on its clocks run */
void fh_process_on_begun(struct fh_process *p); /* forked from a zygote: its own code runs */
void fh_process_on_exited(struct fh_process *p, const struct fh_init_exited *m);
void fh_process_gone(struct fh_process *p);                                 /* its sandbox died under it */
void fh_process_write_exit(const struct fh_process *p, struct fh_buf *out); /* the F_EXIT field */
enum fh_status fh_process_status(const struct fh_process *p);
void fh_process_add_waiter(struct fh_process *p, struct fh_connection *c, uint64_t request, uint64_t timeout_ms);
void fh_process_drop_waiter(struct fh_waiter *w);
void fh_process_started(struct fh_process *p, struct fh_connection *c, uint64_t request); /* writes STARTED */
void fh_process_free_all(struct fh_sandbox *b);
/* A helper whose client is gone, or has had enough. */
void fh_process_abandon(struct fh_process *p);
/* Kills it and all that it started. */
void fh_process_end_tree(struct fh_process *p);
/* So far; of the sandbox where nothing counts it. */
void fh_process_use(const struct fh_process *p, struct fh_usage *ret);
void fh_process_on_helper_stream_end(struct fh_output *s);
