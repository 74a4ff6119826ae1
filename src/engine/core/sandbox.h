/* SPDX-License-Identifier: MIT */
/*
 * A sandbox, from its making until nothing of it is left.
 *
 * Its states, changed by making.c and ending.c alone:
 *
 *     MAKING ──▶ READY ──▶ DYING ──▶ SWEEPING ──▶ (gone)
 *        └─────────────────────▲        init is reaped; its control groups are being removed
 *
 * Every sandbox has an owner, the thing that it serves: a run (serve/run.c), a session (serve/session.c) or a pool
 * (warm/pool.c). It may have an origin, a template that it was made from (warm/made.c). Both are const tables of
 * callbacks through which this folder reports what happens to the sandbox. Fields of struct fh_sandbox that belong to
 * an owner or an origin say so.
 */
#pragma once
#include "base/error.h"
#include "engine/core/loop.h"
#include "engine/host/cgroup.h"
#include "engine/host/freezer.h"
#include "engine/host/ids.h"
#include "engine/host/kernel_word.h"
#include "engine/make/launch.h"
#include "fumehood/session.h"
#include "init/messages.h"
#include "proto/frame.h"
#include "proto/plan.h"

struct fh_connection; /* connection.h */
struct fh_engine;     /* engine.h */
struct fh_output;     /* stream.h */
struct fh_process;    /* process.h */
struct fh_transfer;   /* transfer.h */

enum {
	FH_MAKING_MS = 30000,     /* a sandbox that is not ready by then is destroyed */
	FH_INIT_PACKETS_MAX = 64, /* read from one init in a row before other descriptors have their turn */
	FH_FINISH_MS = 250,       /* time for init to kill all processes inside, before init itself is killed */
	FH_GETS_MAX = 64,         /* GET requests in progress for one sandbox */
	FH_SAMPLE_MS = 10,
	FH_KERNEL_MS = 20, /* between two samples where control groups count everything but socket buffers */
};

/* Bounds how long init may keep a request (start a program, put files, get a file) without progress: if a request is
 * unanswered at two checks this far apart, and no bytes moved between them, the sandbox is destroyed. Tests build the
 * engine with a smaller value. */
#ifndef FH_ANSWER_MS
#define FH_ANSWER_MS 20000
#endif

enum fh_sandbox_state { FH_MAKING, FH_READY, FH_DYING, FH_SWEEPING };

/* Callbacks to what a sandbox serves. Those without FH_NULLABLE are never NULL. */
struct fh_owner {
	/* The sandbox exists for one program: a limit that fires, and the end of that program, end the sandbox. */
	bool one_program;
	void (*on_ready)(struct fh_sandbox *b); /* a program can be started */
	/* Nothing of the sandbox is left on the host. The owner then calls fh_sandbox_release, at once or at any later
	 * time. */
	void (*on_gone)(struct fh_sandbox *b);
	FH_NULLABLE void (*on_dying)(struct fh_sandbox *b);       /* the state leaves READY; may be called twice */
	FH_NULLABLE void (*on_exit)(struct fh_sandbox *b);        /* init reported that a program has exited */
	FH_NULLABLE void (*on_finished)(struct fh_sandbox *b);    /* all processes inside but init are dead */
	FH_NULLABLE void (*on_program_end)(struct fh_sandbox *b); /* the program that was forked from a zygote has ended */
	/* The connection that the sandbox answered to is closed; b->connection is NULL already. May free the sandbox. */
	FH_NULLABLE void (*on_disconnect)(struct fh_sandbox *b, const struct fh_connection *c);
	FH_NULLABLE void (*on_free)(struct fh_sandbox *b); /* the sandbox is being freed: the last call */
	/* Making the sandbox from its template failed. NULL: the sandbox fails with that error. */
	FH_NULLABLE void (*on_origin_failed)(struct fh_sandbox *b, const struct fh_error *err);
};

struct fh_spawn;

/* Callbacks to what a sandbox was made from, besides its plan. */
struct fh_origin {
	/* init runs and its isolation was checked; continues the making until it calls fh_sandbox_is_ready */
	void (*on_made)(struct fh_sandbox *b);
	void (*on_ready)(struct fh_sandbox *b);  /* called before the owner's on_ready */
	void (*on_reaped)(struct fh_sandbox *b); /* init is reaped, so no process of the sandbox is left */
	void (*on_free)(struct fh_sandbox *b);
	/* Sends the run to the program that was forked for the sandbox (b->program). fds as for SPAWN. */
	int (*run_program)(struct fh_sandbox *b, const struct fh_spawn *s, const int *fds, size_t fd_count,
	                   struct fh_error *err);
	/* Finds out from its socket whether the program has begun. sure: its output or its end was seen, so it has begun
	 * unless it reported otherwise. */
	void (*settle_program)(struct fh_sandbox *b, bool sure);
};

/* A program that was forked from a zygote, before and while it runs (warm/zygote.c). The engine is its parent. */
struct fh_forked_program {
	int pidfd, socket; /* -1: none; the socket is closed when the program's own code has begun */
	uint64_t far_end;  /* inode of the program's end of the socket */
	struct fh_watch pid_watch, socket_watch;
	bool starting; /* RUN was sent to the program, which begins when it closes its socket, prints something or ends */
	bool replaced; /* the program could not do the run, so init started another one in its place */
};

/* An empty control group below a sandbox's, and what the programs that had it have used (process/program_group.h). */
struct fh_spare_group {
	struct fh_cgroup group;
	struct fh_usage used; /* memory_peak_bytes: what is still charged */
};
enum { FH_SPARE_GROUPS_MAX = 4 };

struct fh_sandbox {
	struct fh_sandbox *next;
	struct fh_engine *engine;
	struct fh_id id;
	struct fh_plan *plan;
	bool plan_is_shared; /* the plan belongs to the template, which lives longer */
	enum fh_sandbox_state state;
	struct fh_connection *connection; /* receives the sandbox's answers; NULL: no client */
	uint64_t request;                 /* number of the CREATE or RUN request that is not answered yet; 0: none */
	const struct fh_owner *owner;
	FH_NULLABLE const struct fh_origin *origin; /* what the sandbox was made from; NULL: from its plan alone */
	struct fh_run *run;                         /* set by the owner, for a RUN (serve/run.c) */
	struct fh_group_run *group;                 /* set by the owner, for a RUN of several members (serve/group.c) */
	/* ends of pipes that become the program's descriptors 3, 4, …; kept until the program is started; -1: none */
	int links[FH_DESCRIPTORS_MAX];
	char name[64]; /* "": no name */
	enum fh_pause paused;
	struct fh_hold *hold; /* the pause or resume that init is working on; NULL: none */
	struct fh_freezer freezer;
	struct fh_spare_group spare_groups[FH_SPARE_GROUPS_MAX]; /* control groups of ended programs, for the next ones */
	size_t spare_count;
	struct fh_cgroup *left_groups; /* control groups of ended programs that have background processes */
	size_t left_count, left_capacity;
	struct fh_ids ids;
	struct fh_cgroup cgroup;
	bool sampling;
	bool sampling_kernel; /* init reports what sockets and locks hold and the control groups do not count as memory */
	uint64_t kernel_peak; /* highest memory use, in bytes, including what the kernel holds for programs */
	struct fh_template *template; /* set by the origin; NULL: the sandbox was made fresh */
	struct fh_sandbox *next_parked;
	uint32_t token;            /* number of this sandbox in messages to the holder and the zygote */
	uint32_t network;          /* number of the sandbox's network namespace at the holder (holder.h) */
	bool asked, launched;      /* asked: the holder was asked to make the sandbox; launched: its set-up succeeded */
	bool parked;               /* the sandbox waits in a pool, and no request uses it yet */
	bool counted;              /* the engine's making_count includes this sandbox */
	bool files_come_along;     /* the plan's files are sent with the program's start, not before it */
	bool init_finished;        /* init's FINISHED message arrived before the end of the program was seen */
	int disk, rules;           /* descriptors of its writable layer and its Landlock rule set; -1: none */
	bool has_program;          /* the run's program was forked from a zygote, so it is no child of init */
	uint64_t program_baseline; /* resident bytes of the zygote that the program was forked from */
	struct fh_forked_program program;
	struct fh_launched child;
	struct fh_watch report_watch, socket_watch, pid_watch, oom_watch;
	struct fh_setup_report report;
	bool made, reaped;
	struct fh_timer making_timer, finish_timer, sweep_timer, lease_timer, oom_timer, answer_timer, stuck_timer;
	uint32_t stuck_seen; /* a bit for each of the last looks: whether init was stuck (stuck.h) */
	int64_t heard_ns;    /* when init last told what the programs use */
	int oom_looks;       /* checks of the out-of-memory counter that are left after a notification */
	int64_t born_ns, dying_ns;
	uint32_t next_token;
	struct fh_process *processes; /* the newest first */
	size_t process_count;
	struct fh_transfer *transfers;
	struct fh_output *files;     /* streams of GET requests */
	struct fh_init_usage sample; /* the latest */
	struct fh_usage peak;        /* highest values of all samples */
	uint64_t mapped_peak;        /* highest sampled size of mapped file pages, which no limit counts */
	/* how often a program was refused a process, or seen with as many as may be, when this was last read */
	uint64_t tasks_refused;
	bool oom_seen, disk_full;
	uint64_t oom_kills; /* processes that the kernel had killed for lack of memory when this was last read */
	enum fh_start start;
	char start_why[160]; /* why the program could not start faster, if the plan left the choice; "": no reason */
	uint32_t layers;
	struct fh_namespaces namespaces;    /* the namespaces of the sandbox's init */
	char missing[FH_LAYER_COUNT_][120]; /* for each isolation layer that is not in force, the reason */
	bool failed, cancelled;
	struct fh_error error;    /* set when failed */
	uint64_t destroy_request; /* request number of the DESTROY that is answered once the sandbox is gone; 0: none */
	struct fh_connection *destroy_connection;
};

/* Starts to make a sandbox. Takes ownership of the plan, on failure too. */
int fh_sandbox_make(struct fh_engine *e, const struct fh_owner *owner, FH_OWN struct fh_plan *plan,
                    struct fh_connection *c, uint64_t request, struct fh_sandbox **ret, struct fh_error *err);
void fh_sandbox_on_pid(struct fh_watch *w, uint32_t events); /* call when the sandbox's init has ended */
void fh_sandbox_gone_unmade(struct fh_sandbox *b);           /* ends a sandbox that has no processes to kill */
int fh_sandbox_send(struct fh_sandbox *b, const void *message, size_t size, const int *fds, int fd_count,
                    struct fh_error *err);
/* sends FINISH: init kills all other processes; after FH_FINISH_MS init is killed with them */
void fh_sandbox_kill_all(struct fh_sandbox *b);
/* sets only that deadline, when init finishes without being asked */
void fh_sandbox_await_finish(struct fh_sandbox *b);
/* called by the owner when it is done with a sandbox that is gone; frees it */
void fh_sandbox_release(struct fh_sandbox *b);
void fh_sandbox_destroy_now(struct fh_sandbox *b); /* kills init; a DESTROY is answered once all is removed */
/* destroys the sandbox; its request is answered with err */
void fh_sandbox_fail(struct fh_sandbox *b, const struct fh_error *err);
void fh_sandbox_lease(struct fh_sandbox *b, uint64_t ms);
void fh_sandbox_drop_connection(struct fh_engine *e, struct fh_connection *c);
FH_NULLABLE struct fh_sandbox *fh_sandbox_find(struct fh_engine *e, struct fh_id id);
FH_NULLABLE struct fh_process *fh_process_find(struct fh_engine *e, struct fh_id id);
