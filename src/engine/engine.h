/* SPDX-License-Identifier: MIT */
/*
 * The engine's objects and who owns whom.
 *
 *     engine ── connections                    a client each; the first one keeps the engine alive
 *            └─ sandboxes ── processes ── streams
 *
 * A sandbox belongs to the engine; it *answers to* at most one connection, and to none once a lease has outlived it.
 * Streams send to a connection of their own, which an ATTACH changes. Everything runs on one event loop and nothing
 * blocks: what takes time is in the kernel (teardown), in the setup child, or in init.
 *
 * Life of a sandbox, moved by make.c and sandbox.c alone:
 *
 *     MAKING ──▶ READY ──▶ DYING ──▶ SWEEPING ──▶ (gone)
 *        └─────────────────────▲        init is reaped; its control groups are being removed
 *
 * A RUN (run.c) drives one sandbox through: files in, spawn, exit, everybody killed, files out, destroyed, result. A
 * RUN of a group (group.c) is several of them that start together.
 */
#pragma once
#include "base/error.h"
#include "engine/cgroup.h"
#include "engine/ids.h"
#include "engine/launch.h"
#include "engine/loop.h"
#include "fumehood/session.h"
#include "init/messages.h"
#include "proto/frame.h"
#include "proto/plan.h"

enum {
	FH_SANDBOXES_MAX = 4096,
	FH_CONNECTIONS_MAX = 256,
	FH_CONNECTION_OUT_MAX = 96 << 20, /* unsent bytes before a peer that does not read is dropped */
	FH_MAKING_MS = 30000,             /* a sandbox that is not ready by then is given up */
	FH_RUNS_MAKING_MAX = 64,          /* runs whose sandboxes are made at once; the others wait for their turn */
	FH_RUNS_WAITING_MAX = 16384,
	FH_ENDING_MAX = 16,       /* sandboxes that end when their run was answered; further answers wait */
	FH_INIT_PACKETS_MAX = 64, /* of one init, before others have their turn */
	FH_FINISH_MS = 250,       /* for init to kill everybody, before init itself is killed */
	FH_EXIT_KEPT_MS = 30000,
	FH_KILL_MS = 5000,            /* for a process of a session that is over its limit to be gone */
	FH_PROCESSES_KEPT_MAX = 2048, /* of one sandbox: alive, or ended within FH_EXIT_KEPT_MS */
	FH_WAITERS_MAX = 256,         /* for one process */
	FH_GETS_MAX = 64,             /* files under way out of one sandbox */
	FH_SAMPLE_MS = 10,
	FH_SOCKETS_MS = 20, /* where all but the buffers of sockets is counted by control groups */
	FH_STDIN_WINDOW = 256 << 10,
	FH_SPAWN_FDS_MAX = 3 + FH_DESCRIPTORS_MAX + 1 + FH_INIT_GROUPS_MAX, /* for its files, and its control groups */
};

/* What init is asked for (a program, files in, a file out) must be done, or a file be seen to move, between two looks
 * that are this far apart; else the sandbox is destroyed. The engine of a test has less. */
#ifndef FH_ANSWER_MS
#define FH_ANSWER_MS 20000
#endif

/* keeper.c: a process that removes our control groups when we are killed. */
struct fh_keeper {
	pid_t pid; /* -1: none */
	int pipe;  /* held open; its end of file is our death */
};
void fh_keeper_start(struct fh_keeper *k);
void fh_keeper_end(struct fh_keeper *k); /* we have cleaned up ourselves */

struct fh_engine {
	struct fh_loop *loop;
	int stop;
	struct fh_cgroup_host cgroups;
	struct fh_id_pool ids;
	unsigned cpus;
	struct fh_connection *connections; /* list by ->next */
	size_t connection_count;
	struct fh_connection *main;   /* NULL once it is closed */
	struct fh_sandbox *sandboxes; /* list by ->next, newest first */
	size_t sandbox_count;
	struct fh_watch listener, service_listener, signals;
	struct fh_timer idle_timer;                 /* of a service */
	int64_t idle_ns, used_ns;                   /* idle_ns 0: it stays */
	struct fh_template *templates;              /* list by ->next (template.h) */
	struct fh_seen *seen;                       /* kinds of runs, until they have a template */
	size_t parked_count;                        /* sandboxes that wait in pools, or are made for one */
	size_t making_count;                        /* runs whose sandbox is being made */
	size_t ending_count;                        /* runs that were answered while their sandbox ends */
	struct fh_deferred *waiting, *waiting_last; /* runs that wait for their turn, the first first (queue.c) */
	size_t waiting_count;
	struct fh_timer waiting_timer;
	uint32_t next_token; /* of messages to holders and zygotes */
	int spare;           /* a descriptor that is given up to turn a client away when there are no others */
	struct fh_keeper keeper;
	bool leaving;    /* a signal asked us to end */
	bool fresh_only; /* makes nothing ahead */
	bool service;    /* kept for separate clients: it lives without any, and warms up at the first run of a kind */
};

/* ------------------------------------------------------------------------------------------------------ connection */

struct fh_connection {
	struct fh_connection *next;
	struct fh_engine *engine;
	struct fh_watch in, out; /* one descriptor for both when it is a socket: then `out` is not used */
	int in_fd, out_fd;
	struct fh_frame_decoder decoder;
	struct fh_buf pending; /* to be written */
	size_t written;        /* of pending */
	pid_t peer_pid;
	uid_t peer_uid; /* the kernel's word; over a pipe: ours */
	bool lost;      /* the peer takes nothing more: what is written from here on is dropped, and loss_timer closes it */
	struct fh_timer loss_timer;
	bool closing;
};

struct fh_connection *fh_connection_new(struct fh_engine *e, int in_fd, int out_fd, pid_t peer);
/* Where frames for the peer are appended; follow it by fh_connection_flush. That never closes the connection itself,
 * though the peer may be gone: its caller is at work on what a close would end. The loop closes it right after. */
struct fh_buf *fh_connection_out(struct fh_connection *c);
void fh_connection_flush(struct fh_connection *c);
void fh_connection_error(struct fh_connection *c, uint64_t request, const struct fh_error *err);
void fh_connection_close(struct fh_connection *c);

/* requests.c: one frame from a client. A negative code: the peer is out of order, the connection ends. */
int fh_request(struct fh_connection *c, const struct fh_frame *f, struct fh_error *err);

/* --------------------------------------------------------------------------------------------------------- streams */

/* Bytes from a pipe or terminal to a client. buffer holds what the client has not yet said that it consumed, from
 * offset `acked` on; so a second client that attaches gets everything from there. */
struct fh_output {
	struct fh_output *next; /* of its owner */
	struct fh_id id;
	enum fh_stream_kind kind;
	struct fh_sandbox *sandbox; /* NULL once that is gone */
	struct fh_process *process; /* NULL for a file */
	struct fh_connection *connection;
	struct fh_watch watch;
	int fd; /* -1: at its end */
	struct fh_buf buffer;
	uint64_t acked, sent, limit; /* offsets; limit: bytes that are kept, FH_UNLIMITED: all */
	size_t window;
	bool ended, truncated, end_sent;
	bool drop;                           /* while no connection reads, the oldest bytes make room */
	void (*on_end)(struct fh_output *s); /* all bytes and END are with the client */
};
struct fh_output *fh_output_new(struct fh_engine *e, enum fh_stream_kind kind, struct fh_connection *c, size_t window,
                                uint64_t limit);
void fh_output_open(struct fh_engine *e, struct fh_output *s, int fd); /* takes fd; starts to read */
void fh_output_credit(struct fh_engine *e, struct fh_output *s, uint64_t offset);
void fh_output_attach(struct fh_engine *e, struct fh_output *s, struct fh_connection *c);
void fh_output_detach(struct fh_engine *e, struct fh_output *s); /* its connection is gone */
void fh_output_end(struct fh_engine *e, struct fh_output *s);    /* nothing more is read */
void fh_output_finish(struct fh_engine *e, struct fh_output *s); /* what is there now is sent, then END */
void fh_output_free(struct fh_engine *e, struct fh_output *s);

/* Bytes from a client to a pipe or terminal. */
struct fh_input {
	struct fh_id id;
	struct fh_process *process;
	struct fh_watch watch;
	int fd; /* -1: closed, or not there yet */
	bool terminal, broken, end_seen;
	struct fh_buf buffer;
	size_t taken;               /* of buffer: written, and not yet dropped */
	uint64_t received, written; /* offsets */
};
void fh_input_open(struct fh_engine *e, struct fh_input *in, int fd); /* takes fd */
/* Bytes of the client's at that offset; false: beyond the window or out of order. */
bool fh_input_data(struct fh_engine *e, struct fh_input *in, uint64_t offset, struct fh_str bytes, bool end);
/* Tells the client that nothing reads its stream any more. */
void fh_input_gone(struct fh_input *in);
void fh_input_close(struct fh_engine *e, struct fh_input *in);

/* ------------------------------------------------------------------------------------------------------- processes */

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
void fh_process_use(const struct fh_process *p,
                    struct fh_usage *ret);           /* so far; of the sandbox where nothing counts it */
bool fh_process_remove_groups(struct fh_sandbox *b); /* of its programs that ended; false: some are busy */

/* limits.c */
void fh_limits_start(struct fh_process *p);
void fh_limits_stop(struct fh_process *p);
void fh_limits_fire(struct fh_process *p, enum fh_limit limit);       /* notes it, and ends what it ends */
void fh_limits_use(struct fh_sandbox *b, struct fh_usage *ret);       /* of the sandbox so far */
void fh_limits_cpu(const struct fh_sandbox *b, struct fh_usage *ret); /* the same, of CPU time alone */
void fh_limits_hold(struct fh_process *p);                            /* its clocks stop */
void fh_limits_go_on(struct fh_process *p);
/* Whether a process whose resident memory grew to that was stopped by RLIMIT_DATA rather than by itself. */
bool fh_limits_met_data(const struct fh_sandbox *b, uint64_t resident_peak_bytes);
enum fh_enforced fh_limits_enforced(const struct fh_sandbox *b, enum fh_limit limit);
size_t fh_limits_rlimits(const struct fh_sandbox *b, struct fh_init_rlimit *ret); /* at most FH_INIT_RLIMITS_MAX */

/* --------------------------------------------------------------------------------------------------------- sandbox */

enum fh_sandbox_state { FH_MAKING, FH_READY, FH_DYING, FH_SWEEPING };

/* Something that init was asked for: files in, a file out. */
struct fh_transfer {
	struct fh_transfer *next;
	uint32_t token, op;
	struct fh_connection *connection;
	uint64_t request;
	struct fh_output *stream; /* of a file out, until its fate is known */
	bool awaited;             /* at the last look it was under way, */
	uint64_t moved;           /* and that many bytes had come */
	void (*done)(struct fh_sandbox *b, struct fh_transfer *t,
	             const struct fh_init_done *m); /* NULL m: the sandbox died */
};

/* The namespaces of a process, by the numbers of their inodes; 0: not known, or the kernel does not have it. */
enum { FH_NAMESPACES = 7 };
struct fh_namespaces {
	uint64_t inode[FH_NAMESPACES];
};

/* A program that was forked from a zygote, before and while it runs (warm.c). Its parent is the engine. */
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
	enum fh_sandbox_state state;
	struct fh_connection *connection; /* whom it answers to; NULL: nobody */
	uint64_t request;                 /* CREATE or RUN that is still to be answered; 0: none */
	struct fh_run *run;               /* of a RUN */
	struct fh_group_run *group;       /* of a RUN of several members */
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
	struct fh_template *template; /* what it is made of; NULL: made fresh */
	struct fh_sandbox *next_parked;
	uint32_t token;        /* in messages to the holder and the zygote */
	uint32_t network;      /* what the holder calls its network namespace (holder.h) */
	bool asked, launched;  /* the holder was asked to make it; its set-up is through */
	bool parked;           /* no request has it */
	bool counted;          /* in making_count */
	bool files_come_along; /* with the program's start, instead of before it */
	bool init_finished;    /* FINISHED came before its program's end was seen */
	int disk, rules;       /* descriptors of its writable layer and its Landlock rule set; -1: none */
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
	bool ending;              /* its run was answered: nobody waits for its end; in ending_count */
	struct fh_error error;    /* why, when failed */
	uint64_t destroy_request; /* DESTROY to answer when it is gone */
	struct fh_connection *destroy_connection;
};

/* Starts to make one. The plan becomes the sandbox's, on failure too. */
int fh_sandbox_make(struct fh_engine *e, FH_OWN struct fh_plan *plan, struct fh_connection *c, uint64_t request,
                    struct fh_sandbox **ret, struct fh_error *err);
/* The same of a template (template.c); plan NULL: to be parked. */
int fh_sandbox_make_of(struct fh_template *t, FH_NULLABLE FH_OWN struct fh_plan *plan, struct fh_connection *c,
                       uint64_t request, struct fh_sandbox **ret, struct fh_error *err);
/* Its pidfd is there; its set-up is through: on it goes when both are. */
void fh_sandbox_on_launched(struct fh_sandbox *b);
void fh_sandbox_on_pid(struct fh_watch *w, uint32_t events); /* its init ended */
void fh_sandbox_on_program(struct fh_sandbox *b);            /* its program is forked and isolated */
void fh_sandbox_on_program_end(struct fh_sandbox *b, const struct fh_init_exited *m);
/* A parked one becomes a request's. */
void fh_sandbox_adopt(struct fh_sandbox *b, FH_OWN struct fh_plan *plan, struct fh_connection *c, uint64_t request);
/* Whether a parked one can serve the plan beside what is in the key: control groups that its limits need are there. */
bool fh_sandbox_fits(const struct fh_sandbox *b, const struct fh_plan *plan);
/* Its template cannot make it after all: fresh, where the plan leaves the choice. */
void fh_sandbox_fall_back(struct fh_sandbox *b, const char *why);
void fh_sandbox_gone_unmade(struct fh_sandbox *b); /* it is to go, and there is nothing to kill */
/* Ends the engine, once nobody needs it. */
void fh_engine_settle(struct fh_engine *e);
pid_t fh_pid_of(int pidfd);                         /* -1: it was reaped */
void fh_reap_later(struct fh_engine *e, int pidfd); /* takes it over: a child whose end concerns nobody */
/* Called every few ms while a template goes. Its holder and its zygote make children of ours and tell us of each; a
 * child whose maker was killed before it could tell is nobody's. Whoever is known is reaped in the turn of the loop
 * that sees its end, so one who is still there at the second look (*last: whom the one before saw) is not known. */
void fh_reap_unknown(pid_t *last);
int fh_sandbox_send(struct fh_sandbox *b, const void *message, size_t size, const int *fds, int fd_count,
                    struct fh_error *err);
void fh_sandbox_kill_all(struct fh_sandbox *b);     /* FINISH: everybody but init, in FH_FINISH_MS or init with them */
void fh_sandbox_await_finish(struct fh_sandbox *b); /* init is at it by itself: only the deadline */
void fh_sandbox_release(struct fh_sandbox *b);      /* the run is answered: forget the sandbox */
void fh_sandbox_destroy_now(struct fh_sandbox *b);  /* to the end; answers its request when gone */
void fh_sandbox_fail(struct fh_sandbox *b, const struct fh_error *err); /* destroys, and answers with this */
void fh_sandbox_lease(struct fh_sandbox *b, uint64_t ms);
void fh_sandbox_drop_connection(struct fh_engine *e, struct fh_connection *c);
struct fh_sandbox *fh_sandbox_find(struct fh_engine *e, struct fh_id id);
struct fh_process *fh_process_find(struct fh_engine *e, struct fh_id id);

/* pause.c */
/* Answers the request once everybody is held still, or has been let go. */
int fh_pause(struct fh_sandbox *b, struct fh_connection *c, uint64_t request, struct fh_error *err);
int fh_resume(struct fh_sandbox *b, struct fh_connection *c, uint64_t request, struct fh_error *err);
bool fh_pause_is_stuck(struct fh_sandbox *b);                           /* init does not answer: at the second look */
int fh_pause_refuses(const struct fh_sandbox *b, struct fh_error *err); /* paused: nothing is started; else 0 */
void fh_pause_on_held(struct fh_sandbox *b, const struct fh_init_held *m);
void fh_pause_end(struct fh_sandbox *b); /* lets go for its end; answers nobody */
void fh_pause_drop_connection(struct fh_sandbox *b, struct fh_connection *c);

/* talk.c: the callbacks of socket_watch and oom_watch; fh_sandbox_send is there too. */
void fh_talk_on_socket(struct fh_watch *w, uint32_t events);
void fh_talk_on_oom(struct fh_watch *w, uint32_t events);

/* transfers.c */
int fh_transfer_put(struct fh_sandbox *b, const struct fh_plan_file *files, size_t count, const char *base,
                    const uint64_t *append_flags, struct fh_transfer *t, struct fh_error *err);
int fh_transfer_get(struct fh_sandbox *b, const char *name, uint64_t max_bytes, struct fh_transfer *t,
                    struct fh_error *err);
/* FILE: which stream carries the file, before its bytes. */
void fh_transfer_announce(const struct fh_output *s, struct fh_connection *c, uint64_t request, uint64_t index);
/* Entries as PUT reads them, in memory: a descriptor, or -FH_E_SYSTEM. */
int fh_transfer_entries(const struct fh_plan_file *files, size_t count, const uint64_t *append_flags,
                        struct fh_error *err);
const char *fh_transfer_refused(const struct fh_init_done *m, char *buffer, size_t size); /* why, in words */
/* Says why entry m->size of the plan's files could not be put; m is a PUT_DONE that refuses. */
void fh_transfer_explain(const struct fh_plan *plan, const struct fh_init_done *m, struct fh_error *err);
void fh_transfer_on_done(struct fh_sandbox *b, const struct fh_init_done *m);
void fh_transfer_drop_all(struct fh_sandbox *b);

/* queue.c */
bool fh_queue_is_needed(const struct fh_engine *e);
int fh_queue_add(struct fh_engine *e, const struct fh_deferred *asked, struct fh_error *err); /* takes its plan */
void fh_queue_forget(struct fh_engine *e, struct fh_connection *c, uint64_t request);         /* 0: all of c's */
void fh_queue_count(struct fh_sandbox *b);                                                    /* of a run, begun */
void fh_queue_is_made(struct fh_sandbox *b); /* it is ready, or gone: the next may have its turn */

/* run.c */
/* *ret is NULL when it waits, for a parked sandbox or for its turn (only where may_defer). fh_run_begin follows. */
int fh_run_start(struct fh_engine *e, FH_OWN struct fh_plan *plan, bool stdin_open, size_t window, bool may_defer,
                 struct fh_connection *c, uint64_t request, struct fh_sandbox **ret, struct fh_error *err);
/* The same for one that has had its turn; its plan is taken. */
int fh_run_start_now(struct fh_engine *e, const struct fh_deferred *asked, struct fh_sandbox **ret,
                     struct fh_error *err);
void fh_run_begin(struct fh_sandbox *b); /* after fh_run_start: for one that is ready already */
void fh_run_on_ready(struct fh_sandbox *b);
void fh_run_serve_deferred(struct fh_template *t); /* one is parked, and somebody waits for it */
void fh_run_forget_deferred(struct fh_engine *e, struct fh_connection *c, uint64_t request); /* 0: all of c's */
void fh_run_on_finished(struct fh_sandbox *b);
void fh_run_on_last_exit(struct fh_sandbox *b); /* its program's, when no file is to come out: init may go too */
void fh_run_on_gone(struct fh_sandbox *b);      /* releases the sandbox, later if bytes are still to be sent */
void fh_run_on_exit(struct fh_sandbox *b);
void fh_run_disconnect(struct fh_sandbox *b, const struct fh_connection *c); /* that connection is gone */
void fh_run_settle(struct fh_sandbox *b); /* its connection is gone, or it was cancelled: it may free the sandbox */
struct fh_output *fh_run_output(struct fh_sandbox *b, struct fh_id id);
void fh_run_spawn(struct fh_sandbox *b); /* its files are there */

/* group.c: members of one RUN, joined by pipes. They are spawned when all are ready; when the leader has ended, or when
 * one has failed, the others are ended. Member i answers under the number of the request plus i. */
struct fh_group_member {
	struct fh_plan *plan; /* NULL once it is a sandbox's */
	bool stdin_open;
	size_t window;
};
struct fh_group_request {
	struct fh_group_member members[FH_MEMBERS_MAX];
	size_t member_count;
	struct fh_link links[FH_LINKS_MAX];
	size_t link_count;
	uint64_t leader; /* member_count or more: none */
};
/* Answers everything itself, errors too. */
void fh_group_start(struct fh_engine *e, struct fh_group_request *g, struct fh_connection *c, uint64_t request);
void fh_group_on_ready(struct fh_sandbox *b);             /* may be spawned */
void fh_group_on_over(struct fh_sandbox *b, bool failed); /* its program ended, or it failed */
void fh_group_leave(struct fh_sandbox *b);                /* it is freed */

/* isolation.c: what the kernel says of init, into b->layers and b->missing. */
void fh_isolation_read(struct fh_sandbox *b);
void fh_namespaces_read(pid_t pid, struct fh_namespaces *ret);
const char *fh_namespace_name(size_t i);
/* A file of /proc/PID, as text; how long it is, 0: nothing to be had. */
enum { FH_PROC_STATUS_MAX = 4096 }; /* of /proc/PID/status: about 1,500 bytes, and 10 for each group */
size_t fh_proc_text(pid_t pid, const char *file, char *buffer, size_t size);
/* The number on the line "NAME:" of /proc/PID/status; `otherwise` where there is none. */
uint64_t fh_proc_number(const char *status, const char *name, int base, uint64_t otherwise);
/* Those that programs with uid 0 are to start with; 0: none. */
uint32_t fh_root_capabilities(const struct fh_sandbox *b);
void fh_isolation_add_state(struct fh_sandbox *b, const struct fh_init_state *s);
/* Whether all bits of plan->require hold, of those that are known before a program starts or (final) after. */
int fh_isolation_check(const struct fh_sandbox *b, bool final, struct fh_error *err);
/* Layers, what is missing and how limits are enforced, for RESULT and EXIT. */
void fh_isolation_write(const struct fh_sandbox *b, struct fh_buf *out);
