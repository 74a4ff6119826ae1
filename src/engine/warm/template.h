/* SPDX-License-Identifier: MIT */
/*
 * A template: the processes from which sandboxes are made ahead of a request. It serves all plans with the same park
 * part (what sandboxes are made from) and start part (what interpreters are started with); proto/plan.h defines the
 * parts.
 *
 *     engine ─┬─ anchor   pid 1 of the template's pid namespace: a sandbox made by setup.c, whose
 *             │           init idles. Its user namespace maps the ids of all sandboxes, its root is
 *             │           the part of the root that they share
 *             ├─ holder   makes inits (holder.h); has all capabilities in the template's user namespace
 *             ├─ zygote   the warmed-up interpreter (init/zygote.h); has CAP_SYS_ADMIN and CAP_SYS_CHROOT there,
 *             │           to enter the sandboxes' namespaces, which it is given for each program and
 *             │           cannot reach otherwise; absent if the plan has no start part
 *             ├─ stem     a copy of a zygote that can import modules; only used to branch other zygotes
 *             └─ for each sandbox: init, in namespaces below the template's, and the program, in init's
 *
 * All are children of the engine and die with it. The holder and the zygote are in the anchor's pid namespace and die
 * with the anchor, as do all sandboxes. A sandbox has a pid namespace below that, in which none of these processes has
 * a number; a user namespace below the template's, which has no rights in it; its own network, ipc and mount
 * namespaces; and inherits none of their descriptors (own.h). The anchor runs under the whole seccomp filter, the
 * holder and every init under the base filter, and the zygote under one that lets it clone and enter namespaces, in a
 * Landlock domain from which it can trace no other process.
 *
 * Capabilities are held only in the template's user namespace, which owns nothing of the host, and not even the
 * anchor's mounts if the engine is root. A zygote has executed nothing but the interpreter and the modules that the
 * client asked for. A template is shared only by clients of the same uid that send the same key.
 *
 *     ANCHOR ──▶ HOLDER ──▶ ZYGOTE ──▶ SERVING ──▶ ENDING ──▶ (gone)
 *        └──────────┴──────────┴──────────┴──▶ BROKEN: ended; kept for a while with the reason
 *
 * A sandbox without a zygote, such as a session's, needs only the anchor once it is made. So it outlives a holder that
 * is killed (BROKEN), and its template may end before it (ENDING): then the anchor stays until the last sandbox is
 * gone.
 *
 * Only a serving template has parked sandboxes (pool.c). A request whose template is still being made waits for it if
 * plan->start demands that. Otherwise it is served by the nearest template that has some of its modules, or starts
 * fresh.
 *
 * Zygotes form trees (branch.c): if a plan differs from that of a serving template only in having more modules, its
 * template's zygote is branched from there, and is all that the new template has of its own. Anchor, holder, ids and
 * control group belong to the *trunk*, the first template of the tree. The trunk stays until its last branch is gone,
 * and when it is replaced its branches are too. A plan with modules named by a path (the judge's drivers) is never
 * branched, so judge and candidate share nothing.
 */
#pragma once
#include "engine/core/children.h"
#include "engine/core/engine.h"
#include "engine/core/sandbox.h"
#include "engine/host/netns.h"
#include "engine/warm/own.h"
#include "init/zygote.h"

enum fh_template_state {
	FH_TEMPLATE_ANCHOR,
	FH_TEMPLATE_HOLDER,
	FH_TEMPLATE_ZYGOTE,
	FH_TEMPLATE_SERVING,
	FH_TEMPLATE_ENDING,
	FH_TEMPLATE_BROKEN
};

enum {
	FH_TEMPLATES_MAX = 16,
	FH_TEMPLATE_MAKING_MS = 30000, /* for each step of its making; an import may be slow */
	FH_TEMPLATE_BROKEN_MS = 60000, /* time until a broken template is made again */
	FH_TEMPLATE_IDLE_MS = 300000,
	FH_TEMPLATE_FORKS_MAX =
	    10000, /* maximum age of a zygote; then a successor is made, which has new randomness and addresses */
	FH_TEMPLATE_AGE_MS = 600000,
	FH_TEMPLATE_TASKS_MAX = 256,
	FH_TEMPLATE_LOOK_MS = 1000, /* period of the check for idleness, age and the pool's size */
};
#define FH_TEMPLATE_MEMORY_MAX ((uint64_t)4 << 30) /* maximum memory of anchor, holder and zygote together */

/* A process of the template itself, not of its sandboxes. */
struct fh_member_process {
	struct fh_template *template;
	int pidfd; /* -1: not started, or reaped */
	struct fh_watch watch;
};

struct fh_deferred; /* pool.h */

struct fh_template {
	struct fh_template *next;
	struct fh_engine *engine;
	/* The template whose anchor, holder, ids, group and zygote_output this one uses; itself, unless it is a branch. */
	struct fh_template *trunk;
	size_t branches; /* templates that have this one as their trunk, itself not counted */
	bool branching;  /* a branch is being made; one at a time, so that output on zygote_output can be attributed */
	uint32_t branch_token; /* token of the BRANCH message that asked for this template's zygote, to match the answer */
	uid_t owner;
	struct fh_buf key;
	/* the plan of the first request for this template: its park and start part, and the limits for sandboxes that are
	 * made ahead */
	struct fh_plan *plan;
	enum fh_template_state state;
	char why[FH_ZYGOTE_WHY_MAX + 80]; /* the reason, when BROKEN */
	struct fh_ids ids;
	struct fh_cgroup cgroup;
	struct fh_launched child; /* init of the anchor */
	struct fh_setup_report report;
	bool anchor_ready;
	struct fh_watch report_watch;
	struct fh_member_process anchor, holder, zygote, stem;
	struct fh_held held; /* what the zygote held when it reported that it was ready */
	/* socket on which the helper that starts a process inside reports (enter.h); -1: none is being started */
	int entered;
	struct fh_watch entered_watch;
	int holder_socket, zygote_socket, stem_socket, zygote_output[2]; /* descriptors; -1: not open */
	struct fh_watch holder_watch, zygote_watch, stem_watch;
	struct fh_timer orphans_look; /* timer that runs while the template is ending */
	struct fh_unknown orphan;     /* state of fh_reap_unknown */
	struct fh_timer deadline, look, sweep, refill;
	int64_t born_ns, used_ns, broken_ns, sweep_since_ns;
	uint64_t forks; /* in a trunk: forks by all zygotes of its tree */
	uint64_t resident_bytes;
	size_t users;                /* number of sandboxes that refer to this template */
	struct fh_sandbox *parked;   /* ready sandboxes; list by ->next_parked */
	size_t parked_count, making; /* making: sandboxes being made for the pool */
	size_t target, lowest;       /* target: wanted size of the pool; lowest: its smallest size since the last look */
	/* limits of the last request that took a parked sandbox; all zero: none did yet */
	struct fh_cgroup_limits adopted_limits;
	struct fh_deferred *deferred;
	/* network namespaces that can be reused, to be reported to the holder with the next request */
	uint8_t over[FH_NETNS_MAX];
	uint32_t over_count;
	bool has_zygote, proven; /* proven: a sandbox made from it was ready once */
	bool succeeded;          /* a successor is being made */
	bool let_go;             /* the template's processes were told to end */
};

/* The reason why a plan cannot have a template; NULL: it can. */
const char *fh_template_refuses(const struct fh_plan *plan);
/* The plan by which the anchor is made. */
FH_OWN struct fh_plan *fh_template_root(const struct fh_plan *plan);

/* The key: everything that two plans must have in common to be served by one template, i.e. park part, start part and
 * owner. */
void fh_template_key(struct fh_buf *key, const struct fh_plan *plan, uid_t owner);

/* A new template that is not listed yet. Takes ownership of the key. */
struct fh_template *fh_template_new(struct fh_engine *e, const struct fh_plan *plan, uid_t owner, struct fh_buf *key);
void fh_template_list(struct fh_template *t);    /* adds it to the engine's templates and sets its deadline */
void fh_template_discard(struct fh_template *t); /* frees a template that is not listed */
/* Starts to make a template; takes ownership of the key. NULL with err. */
struct fh_template *fh_template_start(struct fh_engine *e, const struct fh_plan *plan, uid_t owner, struct fh_buf *key,
                                      struct fh_error *err);
/* The zygote (or stem) runs: watches its end and its messages. */
void fh_template_add_zygote(struct fh_template *t, int pidfd);
void fh_template_add_stem(struct fh_template *t, int socket, int pidfd);
/* Called when the zygote or another part of the template failed: no more sandboxes are made from it. */
void fh_template_break(struct fh_template *t, const char *why);
void fh_template_serve(struct fh_template *t, uint64_t resident_bytes); /* The zygote has reported that it is ready. */
/* makes no more sandboxes and destroys the parked ones; the template is freed after its last sandbox */
void fh_template_end(struct fh_template *t);
void fh_template_end_all(struct fh_engine *e);
void fh_template_unuse(struct fh_template *t); /* A sandbox that was made from the template is gone. */
/* Whether requests use it whose sandboxes end soon, or are being made: not for sessions, which may live for hours. */
bool fh_template_is_busy(const struct fh_template *t);
void fh_template_on_entered(struct fh_watch *w, uint32_t events);

/* template_enter.c: starts the holder or the zygote; fh_template_on_entered receives the outcome. */
void fh_template_enter_holder(struct fh_template *t);
void fh_template_enter_zygote(struct fh_template *t);
int fh_template_pair(int *ret_ours, int *ret_theirs); /* a socket pair for a zygote or a holder; 0 or -errno */

/* template_holder.c: the engine's side of holder.h */
bool fh_holder_begin(struct fh_template *t); /* the holder runs: sends it the plan; false: that failed */
/* Asks the holder to make b's init, now or as soon as the template serves. Negative: not possible. */
int fh_template_make(struct fh_template *t, struct fh_sandbox *b, struct fh_error *err);
/* all processes of b are reaped, so its network namespace may be reused */
void fh_template_reaped(struct fh_sandbox *b);
