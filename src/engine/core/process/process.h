/* SPDX-License-Identifier: MIT */
/* A process that a client started in a sandbox: its streams, limits and end, and the clients that wait for the end.
 * spawn.c starts it, process_life.c follows it from there to its end. */
#pragma once
#include "engine/core/process/stream.h"
#include "engine/host/cgroup.h"
#include "fumehood/session.h"
#include "init/messages.h"

struct fh_sandbox;

enum {
	FH_EXIT_KEPT_MS = 30000,
	FH_KILL_MS = 5000,       /* time for a session's process to die after it exceeded a limit */
	FH_PROCESSES_MAX = 2048, /* processes of one sandbox that are running or remembered */
	/* Of ended processes that a client has heard of: when there are more than the first number, those that ended first
	 * are forgotten before FH_EXIT_KEPT_MS is over, until the second number is left. */
	FH_HEARD_MAX = 512,
	FH_HEARD_LEFT = 256,
	FH_WAITERS_MAX = 256, /* clients that wait for one process */
	/* stdin, stdout, stderr, the plan's descriptors, a memory file with the plan's files, and control groups */
	FH_SPAWN_FDS_MAX = 3 + FH_DESCRIPTORS_MAX + 1 + FH_INIT_GROUPS_MAX,
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
	struct fh_connection *connection; /* receives STARTED */
	uint64_t request;
	bool awaited; /* init had not confirmed the process's start at the previous check of unanswered requests */
	bool pty, one_shot, started, exited;
	bool heard;  /* a client was told how the process ended */
	bool helper; /* a helper of init, which serves a client's request: not listed, and freed once its answer is read */
	uint32_t pid, uid; /* as numbered inside the sandbox */
	char tag[64];
	struct fh_cgroup group; /* for a process of a session: a group below the sandbox's */
	bool has_group;
	/* reports the usage of the whole sandbox, although the process has a control group of its own (F_WHOLE) */
	bool counts_whole;
	struct fh_input input;
	struct fh_output *streams; /* streams of stdout and stderr, or one for the terminal */
	struct fh_process_limits limits;
	struct fh_timer wall_timer, cpu_timer, forget_timer;
	int64_t start_ns;
	/* base: the usage, of the group that counts the process or of the sandbox, when it started; usage: the process's
	 * own, known once it has exited */
	struct fh_usage base, usage;
	int64_t held_since_ns; /* when the clocks of its limits were stopped; 0: they run */
	int64_t held_ns;       /* while the sandbox is paused: what was left of the wall time; -1: no limit */
	uint64_t moved;        /* helpers only: bytes that its streams had carried at the previous check */
	struct fh_id into;     /* helpers only: the helper that reads this one's stdout; zero: the client reads it */
	bool joined;           /* helpers only: another helper writes to this one's stdin */
	uint32_t fired;
	/* the sandbox's oom_kills and tasks_refused when the process started */
	uint64_t oom_kills_before, tasks_refused_before;
	int wait_status;
	bool stopped; /* the process belongs to a group of runs and was killed because the group's leader ended */
	struct fh_waiter *waiters;
	char command[128];
	char cwd[256]; /* its beginning, to name it in an error */
};

struct fh_spawn {
	char *const *argv, *const *env;
	const char *cwd;
	bool pty, stdin_open, one_shot, helper, drop, counts_whole;
	uint16_t rows, columns;
	uint32_t uid, gid;
	FH_NULLABLE const char *tag;
	size_t window;
	struct fh_process_limits limits;
	uint64_t memory_bytes; /* FH_UNLIMITED: only the sandbox's limit applies */
	struct fh_str stdin_data;
	/* Helpers only: the helper whose stdin this process's stdout becomes; no client writes to that stdin from then on.
	 * NULL: stdout is a stream to the client. */
	FH_NULLABLE struct fh_process *into;
};
/* Sends SPAWN to init. When init answers, `request` is answered on `c` with STARTED or ERROR. */
int fh_process_spawn_in(struct fh_sandbox *b, const struct fh_spawn *s, struct fh_connection *c, uint64_t request,
                        struct fh_process **ret, struct fh_error *err);
void fh_process_on_spawned(struct fh_process *p, const struct fh_init_spawned *m, int terminal);
/* Has init execute the program instead, after the one forked from a zygote could not be used and gave the descriptors
 * back. */
int fh_process_spawn_again(struct fh_process *p, const int *fds, int fd_count, struct fh_error *err);
/* Called when the run was sent to the program that was forked from a zygote: starts the clocks of its limits. */
void fh_process_on_sent(struct fh_process *p);
void fh_process_on_begun(struct fh_process *p); /* the program was forked from a zygote, and now runs its own code */
void fh_process_on_exited(struct fh_process *p, const struct fh_init_exited *m);
void fh_process_gone(struct fh_process *p);                                 /* the process's sandbox died */
void fh_process_write_exit(const struct fh_process *p, struct fh_buf *out); /* writes the F_EXIT field */
void fh_process_add_waiter(struct fh_process *p, struct fh_connection *c, uint64_t request, uint64_t timeout_ms);
void fh_process_drop_waiter(struct fh_waiter *w);
void fh_process_started(struct fh_process *p, struct fh_connection *c, uint64_t request); /* writes STARTED */
void fh_process_free_all(struct fh_sandbox *b);
/* Forgets the oldest ended processes when there are many, because every search for a process goes through them. */
void fh_process_forget_old(struct fh_sandbox *b);
/* Ends a helper whose client disconnected or cancelled. */
void fh_process_abandon(struct fh_process *p);
/* Kills the process and everything that it started. */
void fh_process_end_tree(struct fh_process *p);
/* Whether a control group counts what this process and everything that it started use, and nothing else. */
bool fh_process_is_counted(const struct fh_process *p);
void fh_process_on_helper_stream_end(struct fh_output *s);
