/* SPDX-License-Identifier: MIT */
/*
 * A template: what sandboxes of one park part (and programs of one start part) are made of ahead of the request.
 *
 *     engine ─┬─ anchor   pid 1 of the template's pid namespace; a sandbox as setup.c makes it, whose
 *             │           init idles. Its user namespace holds the ids of all sandboxes, its mounts the
 *             │           part of the root that they share
 *             ├─ holder   makes inits (holder.h); all capabilities in the template's user namespace
 *             ├─ zygote   the interpreter, warm (init/zygote.h); CAP_SYS_ADMIN and CAP_SYS_CHROOT there, to
 *             │           enter sandboxes with, whose namespaces it is given for each program and has no
 *             │           other way to; absent without a start part
 *             ├─ stem     a copy of a zygote that can import modules, to branch others from; no other use
 *             └─ for each sandbox: init, in namespaces below the template's, and the program, in init's
 *
 * All are children of the engine and die with it. The holder and the zygote are in the anchor's pid namespace: its end
 * is theirs and that of every sandbox. A sandbox is in a pid namespace below, in which none of them has a number; its
 * user namespace is below the template's and has no rights there; its network, ipc and mounts are its own; no
 * descriptor of theirs is inherited (own.h). The anchor has the whole filter, the holder and every init the base
 * filter; the zygote one that lets it clone and enter namespaces, and a Landlock domain out of which it can trace
 * nobody.
 *
 * Capabilities exist in the template's user namespace alone: nothing of the host belongs to that, not even the mounts
 * of the anchor where the engine is root. What a zygote may have executed are the interpreter and the modules that the
 * client asked for. Templates are shared by nobody but clients of one uid that send an equal key.
 *
 *     ANCHOR ──▶ HOLDER ──▶ ZYGOTE ──▶ SERVING ──▶ ENDING ──▶ (gone)
 *        └──────────┴──────────┴──────────┴──▶ BROKEN: ended, and remembered for a while, with the reason
 *
 * Only a template that serves has parked sandboxes (pool.c). A request that finds its template under way waits for it
 * if it must (plan->start). Otherwise it is served by the nearest one that has but a part of its modules, or fresh.
 *
 * Zygotes form trees (branch.c): a template whose plan differs from that of a serving one only in that it has more
 * modules branches its zygote from there, and has nothing else of its own. Anchor, holder, ids and control group are
 * those of its *trunk*, the one that the tree began with; the trunk stays until its last branch is gone, and its
 * branches are replaced when it is. Modules that are named by a path (the judge's drivers) come from no tree: judge and
 * candidate share nothing.
 */
#pragma once
#include "engine/core/engine.h"
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
	FH_TEMPLATE_MAKING_MS = 30000, /* for each step of making one; an import may be slow */
	FH_TEMPLATE_BROKEN_MS = 60000, /* before another attempt */
	FH_TEMPLATE_IDLE_MS = 300000,
	FH_TEMPLATE_FORKS_MAX = 10000, /* of one zygote: then a successor is made, with fresh randomness and addresses */
	FH_TEMPLATE_AGE_MS = 600000,
	FH_TEMPLATE_TASKS_MAX = 256,
	FH_TEMPLATE_LOOK_MS = 1000, /* at idleness, age and the pool's size */
};
#define FH_TEMPLATE_MEMORY_MAX ((uint64_t)4 << 30) /* of anchor, holder and zygote together */

/* A process of the template, besides its sandboxes. */
struct fh_member_process {
	struct fh_template *template;
	int pidfd; /* -1: none, or reaped */
	struct fh_watch watch;
};

struct fh_deferred; /* pool.h */

struct fh_template {
	struct fh_template *next;
	struct fh_engine *engine;
	struct fh_template
	    *trunk;            /* whose anchor, holder, ids, group and zygote_output serve it: itself, but for a branch */
	size_t branches;       /* templates whose trunk it is, but for itself */
	bool branching;        /* one of them is being made: one at a time, so that it is known whose output is whose */
	uint32_t branch_token; /* of the BRANCH that it was asked for with */
	uid_t owner;
	struct fh_buf key;
	struct fh_plan *plan; /* of its first request: park and start part, and the limits to set ahead */
	enum fh_template_state state;
	char why[FH_ZYGOTE_WHY_MAX + 80]; /* BROKEN */
	struct fh_ids ids;
	struct fh_cgroup cgroup;
	struct fh_child child; /* the anchor */
	struct fh_setup_report report;
	bool anchor_ready;
	struct fh_watch report_watch;
	struct fh_member_process anchor, holder, zygote, stem;
	struct fh_held held; /* what the zygote held when it was ready */
	int entered;         /* report of who is being started inside; -1: nobody */
	struct fh_watch entered_watch;
	int holder_socket, zygote_socket, stem_socket, zygote_output[2]; /* -1: none */
	struct fh_watch holder_watch, zygote_watch, stem_watch;
	struct fh_timer orphans_look; /* while it goes */
	pid_t orphan;                 /* fh_reap_unknown */
	struct fh_timer deadline, look, sweep, refill;
	int64_t born_ns, used_ns, broken_ns, sweep_since_ns;
	uint64_t forks; /* of the whole tree, in its trunk */
	uint64_t resident_bytes;
	size_t users;                           /* sandboxes that refer to it */
	struct fh_sandbox *parked;              /* ready, by ->next_parked */
	size_t parked_count, making;            /* making: to be parked */
	size_t target, lowest;                  /* how many to have; fewest since the last look */
	struct fh_cgroup_limits adopted_limits; /* of the last request that got a parked one; zeros: none did */
	struct fh_deferred *deferred;
	uint8_t over[FH_NETNS_MAX]; /* network namespaces whose sandboxes are gone: to be told to the holder */
	uint32_t over_count;
	bool has_zygote, proven; /* proven: a sandbox of it was ready once */
	bool succeeded;          /* another is to serve in its place */
};

/* Why a plan can have no template; NULL: it can. */
const char *fh_template_refuses(const struct fh_plan *plan);
/* The plan of the anchor. */
FH_OWN struct fh_plan *fh_template_root(const struct fh_plan *plan);

/* What two plans have in common that one template serves both: all of the park and the start part, and whose they are.
 */
void fh_template_key(struct fh_buf *key, const struct fh_plan *plan, uid_t owner);

/* A new one, not listed yet; takes the key over. */
struct fh_template *fh_template_new(struct fh_engine *e, const struct fh_plan *plan, uid_t owner, struct fh_buf *key);
void fh_template_list(struct fh_template *t);    /* from now on it has a deadline */
void fh_template_discard(struct fh_template *t); /* one that was not listed */
/* Starts to make one; takes the key over. NULL with err. */
struct fh_template *fh_template_start(struct fh_engine *e, const struct fh_plan *plan, uid_t owner, struct fh_buf *key,
                                      struct fh_error *err);
/* It runs: watches it, and what it says. */
void fh_template_add_zygote(struct fh_template *t, int pidfd);
void fh_template_add_stem(struct fh_template *t, int socket, int pidfd);
void fh_template_break(struct fh_template *t, const char *why);         /* its zygote is not to be had */
void fh_template_serve(struct fh_template *t, uint64_t resident_bytes); /* its zygote is ready */
void fh_template_end(struct fh_template *t); /* no new ones of it; its parked ones go, then it goes */
void fh_template_end_all(struct fh_engine *e);
void fh_template_unuse(struct fh_template *t); /* a sandbox of it is gone */
void fh_template_on_entered(struct fh_watch *w, uint32_t events);

/* template_enter.c; what comes of it is seen by fh_template_on_entered. */
void fh_template_enter_holder(struct fh_template *t);
void fh_template_enter_zygote(struct fh_template *t);
int fh_template_pair(int *ret_ours, int *ret_theirs); /* sockets, for a zygote or a holder; 0 or -errno */

/* template_holder.c: the engine's side of holder.h */
bool fh_holder_begin(struct fh_template *t); /* its holder runs: gives it the plan. False: it does not take it */
/* Asks the holder for b's init, or notes that it has to. Negative: not to be had. */
int fh_template_make(struct fh_template *t, struct fh_sandbox *b, struct fh_error *err);
void fh_template_reaped(struct fh_sandbox *b); /* nobody is left in it: what it had may serve another */
