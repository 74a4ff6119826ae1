/* SPDX-License-Identifier: MIT */
/*
 * A sandbox as it lives.
 *
 * Life of a sandbox, moved by making.c and sandbox.c alone:
 *
 *     MAKING ──▶ READY ──▶ DYING ──▶ SWEEPING ──▶ (gone)
 *        └─────────────────────▲        init is reaped; its control groups are being removed
 *
 * It has an owner, for whom it is: a run (serve/run.c), a session (serve/session.c) or a pool (warm/pool.c). And it may
 * have an origin, what it was made of beside its plan: a template (warm/made.c). Both are const tables, by which this
 * room tells them what happens to the sandbox; what they keep of their own about it are the fields that name them.
 */
#pragma once
#include "base/error.h"
#include "engine/core/process.h"
#include "engine/core/transfer.h"
#include "engine/host/cgroup.h"
#include "engine/host/freezer.h"
#include "engine/host/ids.h"
#include "engine/host/kernel_word.h"
#include "engine/make/launch.h"
#include "fumehood/session.h"
#include "init/messages.h"
#include "proto/plan.h"

struct fh_engine;

enum {
	FH_MAKING_MS = 30000,     /* a sandbox that is not ready by then is given up */
	FH_INIT_PACKETS_MAX = 64, /* of one init, before others have their turn */
	FH_FINISH_MS = 250,       /* for init to kill everybody, before init itself is killed */
	FH_GETS_MAX = 64,         /* files under way out of one sandbox */
	FH_SAMPLE_MS = 10,
	FH_SOCKETS_MS = 20, /* where all but the buffers of sockets is counted by control groups */
};

/* What init is asked for (a program, files in, a file out) must be done, or a file be seen to move, between two looks
 * that are this far apart; else the sandbox is destroyed. The engine of a test has less. */
#ifndef FH_ANSWER_MS
#define FH_ANSWER_MS 20000
#endif

enum fh_sandbox_state { FH_MAKING, FH_READY, FH_DYING, FH_SWEEPING };

/* For whom a sandbox is. Those without FH_NULLABLE are always there. */
struct fh_owner {
	/* Its one program is all that it is for: a limit that fires ends the sandbox, and so does that program's end. */
	bool one_program;
	void (*on_ready)(struct fh_sandbox *b); /* everything that a request needs is there */
	/* Nothing of it is left on the host. The owner calls fh_sandbox_release, now or later. */
	void (*on_gone)(struct fh_sandbox *b);
	FH_NULLABLE void (*on_dying)(struct fh_sandbox *b);       /* it is READY no more; may come twice */
	FH_NULLABLE void (*on_exit)(struct fh_sandbox *b);        /* init said that a program ended */
	FH_NULLABLE void (*on_finished)(struct fh_sandbox *b);    /* everybody inside but init is dead */
	FH_NULLABLE void (*on_program_end)(struct fh_sandbox *b); /* the program that was forked for it ended */
	/* The connection that it answered to is closed, and forgotten here already. May free the sandbox. */
	FH_NULLABLE void (*on_disconnect)(struct fh_sandbox *b, const struct fh_connection *c);
	FH_NULLABLE void (*on_free)(struct fh_sandbox *b); /* the last word */
	/* Making it of its template failed; NULL: the sandbox fails with that error. */
	FH_NULLABLE void (*on_origin_failed)(struct fh_sandbox *b, const struct fh_error *err);
};

struct fh_spawn;

/* What a sandbox was made of, beside its plan. */
struct fh_origin {
	/* init runs, and its isolation was checked: goes on, to fh_sandbox_is_ready in the end */
	void (*on_made)(struct fh_sandbox *b);
	void (*on_ready)(struct fh_sandbox *b);  /* before its owner is told */
	void (*on_reaped)(struct fh_sandbox *b); /* init is reaped: nobody is left in it */
	void (*on_free)(struct fh_sandbox *b);
	/* Sends its run to the program that was forked for it (b->program). fds: as for SPAWN. */
	int (*run_program)(struct fh_sandbox *b, const struct fh_spawn *s, const int *fds, size_t fd_count,
	                   struct fh_error *err);
	/* Whether that program began: by what is on its socket. sure: its output or its end was seen, so it did unless it
	 * has said otherwise. */
	void (*settle_program)(struct fh_sandbox *b, bool sure);
};

/* A program that was forked from a zygote, before and while it runs (warm/zygote.c). Its parent is the engine. */
struct fh_program {
	int pidfd, socket; /* -1: none; the socket is closed when its own code has begun */
	uint64_t far_end;  /* inode of the socket that the program itself has */
	struct fh_watch pid_watch, socket_watch;
	bool starting; /* RUN is sent: whether it began shows when its socket ends, or at its first output, or its end */
	bool replaced; /* it could not be the run, which init started instead */
};

struct fh_sandbox {
	struct fh_sandbox *next;
	struct fh_engine *engine;
	struct fh_id id;
	struct fh_plan *plan;
	bool plan_is_shared; /* the plan is its template's, which outlives it */
	enum fh_sandbox_state state;
	struct fh_connection *connection;           /* whom it answers to; NULL: nobody */
	uint64_t request;                           /* CREATE or RUN that is still to be answered; 0: none */
	const struct fh_owner *owner;               /* for whom it is */
	FH_NULLABLE const struct fh_origin *origin; /* what it was made of; NULL: of its plan alone */
	struct fh_run *run;                         /* its owner's: of a RUN (serve/run.c) */
	struct fh_group_run *group;                 /* its owner's: of a RUN of several members (serve/group.c) */
	int links[FH_DESCRIPTORS_MAX]; /* ends of pipes for descriptors 3, 4, …, until the program has them; -1: none */
	char name[64];                 /* "": none */
	enum fh_pause paused;
	struct fh_hold *hold; /* a pause that init is at; NULL: none */
	struct fh_freezer freezer;
	struct fh_cgroup *left_groups; /* of programs that ended, and what they have left runs */
	size_t left_count, left_capacity;
	struct fh_ids ids;
	struct fh_cgroup cgroup;
	bool sampling;
	bool sampling_sockets;        /* v1, which does not count the network's: init does */
	uint64_t sockets_peak;        /* bytes, with what v1 counted then */
	struct fh_template *template; /* its origin's; NULL: made fresh */
	struct fh_sandbox *next_parked;
	uint32_t token;            /* in messages to the holder and the zygote */
	uint32_t network;          /* what the holder calls its network namespace (holder.h) */
	bool asked, launched;      /* the holder was asked to make it; its set-up is through */
	bool parked;               /* no request has it */
	bool counted;              /* in making_count */
	bool files_come_along;     /* with the program's start, instead of before it */
	bool init_finished;        /* FINISHED came before its program's end was seen */
	int disk, rules;           /* descriptors of its writable layer and its Landlock rule set; -1: none */
	bool has_program;          /* its one program is forked from a zygote, and no child of init's */
	uint64_t program_baseline; /* resident bytes of the zygote that it is forked from */
	struct fh_program program;
	struct fh_child child;
	struct fh_watch report_watch, socket_watch, pid_watch, oom_watch;
	struct fh_setup_report report;
	bool made, reaped;
	struct fh_timer making_timer, finish_timer, sweep_timer, lease_timer, oom_timer, answer_timer;
	int oom_looks; /* that are left, after the kernel said that memory is short */
	int64_t born_ns, dying_ns;
	uint32_t next_token;
	struct fh_process *processes;
	struct fh_transfer *transfers;
	struct fh_output *files;     /* of GETs */
	struct fh_init_usage sample; /* the last one */
	struct fh_usage peak;        /* of samples */
	uint64_t mapped_peak;        /* the same, of pages that no limit counts */
	bool sampled_tasks_full;
	bool oom_seen, disk_full;
	uint64_t oom_kills; /* for memory, as counted last */
	enum fh_start start;
	char start_why[160]; /* why not faster, where the plan left the choice; "": nothing to say */
	uint32_t layers;
	struct fh_namespaces namespaces;    /* its init's */
	char missing[FH_LAYER_COUNT_][120]; /* why a layer is not there */
	bool failed, cancelled;
	struct fh_error error;    /* why, when failed */
	uint64_t destroy_request; /* DESTROY to answer when it is gone */
	struct fh_connection *destroy_connection;
};

/* Starts to make one. The plan becomes the sandbox's, on failure too. */
int fh_sandbox_make(struct fh_engine *e, const struct fh_owner *owner, FH_OWN struct fh_plan *plan,
                    struct fh_connection *c, uint64_t request, struct fh_sandbox **ret, struct fh_error *err);
void fh_sandbox_on_pid(struct fh_watch *w, uint32_t events); /* its init ended */
void fh_sandbox_gone_unmade(struct fh_sandbox *b);           /* it is to go, and there is nothing to kill */
int fh_sandbox_send(struct fh_sandbox *b, const void *message, size_t size, const int *fds, int fd_count,
                    struct fh_error *err);
void fh_sandbox_kill_all(struct fh_sandbox *b);     /* FINISH: everybody but init, in FH_FINISH_MS or init with them */
void fh_sandbox_await_finish(struct fh_sandbox *b); /* init is at it by itself: only the deadline */
void fh_sandbox_release(struct fh_sandbox *b);      /* its owner is through with it: it is freed */
void fh_sandbox_destroy_now(struct fh_sandbox *b);  /* to the end; answers its request when gone */
void fh_sandbox_fail(struct fh_sandbox *b, const struct fh_error *err); /* destroys, and answers with this */
void fh_sandbox_lease(struct fh_sandbox *b, uint64_t ms);
void fh_sandbox_drop_connection(struct fh_engine *e, struct fh_connection *c);
FH_NULLABLE struct fh_sandbox *fh_sandbox_find(struct fh_engine *e, struct fh_id id);
FH_NULLABLE struct fh_process *fh_process_find(struct fh_engine *e, struct fh_id id);
