/* SPDX-License-Identifier: MIT */
/*
 * A hosted sandbox: one that a client of the server owns, as everything that works with it knows it.
 *
 *     create ──▶ running ◀──resume── paused
 *                   │  ──pause──▶      │
 *                   └──────▶ gone ◀────┘        killed, at the end of its lifetime, or by the death of its
 *                                              engine or its init
 *
 * It is reference-counted. One that is gone is in no list of the registry; streams that hold a reference see the state
 * and end. It is marked gone before its processes are killed, so a client whose stream breaks finds it gone already.
 *
 * Times are ms since 1970 for clients, and monotonic internally: setting the host's clock ends no sandbox.
 */
#pragma once
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include "e2b/common/keys.h"
#include "fumehood/sandbox.h"
#include "json/json.h"

#define FH_HOSTED_ID 21 /* the letter 'i', 19 characters of a-z0-9 (98 random bits), and a NUL */
#define FH_HOSTED_TOKEN 41

enum fh_hosted_state { FH_HOSTED_RUNNING, FH_HOSTED_PAUSED, FH_HOSTED_GONE };

struct fh_context;
struct fh_e2b;
struct fh_e2b_engine;
struct fh_hosted_process;
struct fh_hosted_watcher;
struct fh_hosted_context;
struct fh_hosted_metrics;
struct fh_volume;
struct fh_volume_mount;

struct fh_hosted {
	struct fh_e2b *server;
	char id[FH_HOSTED_ID];
	char token[FH_HOSTED_TOKEN];   /* X-Access-Token of envd; signs file URLs */
	char traffic[FH_HOSTED_TOKEN]; /* token for the sandbox's ports; "": the ports are open to all */
	const struct fh_key *owner;
	struct fh_e2b_engine *engine; /* the engine that made the sandbox, with a reference */
	struct fh_sandbox *sandbox;   /* closed when the last reference to the hosted sandbox is dropped */
	struct fh_limits limits;
	char *template_id;
	char *idempotency;       /* key of the request that created it, by which a repetition is known; NULL: it had none */
	json_t *metadata, *envs; /* objects of strings, immutable */
	json_t *network;         /* network settings of the client's request; immutable; may be NULL */
	json_t *settings;        /* settings of its template (templates.h), immutable; or NULL */
	bool builds;             /* builds a template, or is a volume's; its owner does not see it */
	/* set in a hidden sandbox of the server: the volume that it gives access to, with a reference; NULL: none */
	struct fh_volume *through;
	bool pauses_at_end, pauses_without_memory, resumes_on_traffic;
	atomic_bool internet;     /* what the client asked for, and was told that there is none */
	bool reaped;              /* a reaper is ending it; guarded by the registry's lock */
	bool one_id;              /* the host gives it only one user id */
	atomic_bool has_metadata; /* some upload has set extended attributes */
	/* a call failed as calls do once the sandbox is no more: the registry is to ask the engine for it soon */
	atomic_bool doubted;
	atomic_bool files_alone; /* the last pause kept no memory: only a request that names the sandbox resumes it */
	uint64_t order;          /* number in order of creation */
	int64_t started_us;      /* time of creation, by the wall clock */
	int64_t lifetime_ms;     /* lifetime that a client requested last */

	pthread_mutex_t turn; /* held, without `lock`, by whoever pauses or resumes it (pauses.c) */
	pthread_mutex_t lock; /* guards all members that follow */
	pthread_cond_t changed;
	enum fh_hosted_state state;
	int64_t ends_ms;    /* when the lifetime ends, by the wall clock, which clients are told */
	int64_t ends_at_ns; /* the same by the monotonic clock */
	struct fh_hosted_process *processes;
	struct fh_hosted_watcher *watchers;
	struct fh_hosted_context *contexts;
	struct fh_hosted_metrics *metrics;
	json_t *log;    /* logs.h; NULL: no events yet */
	json_t *egress; /* the network's rules for outgoing traffic, as changed since; immutable; NULL: never changed */
	struct fh_volume_mount *volumes; /* set before it is made, released when it has ended */
	size_t volume_count;
	/* Python's interpreter, if it was started ahead and nobody has used it yet (ahead.h); else NULL */
	struct fh_context *first_python;
	int64_t made_ns;     /* of one that was made ahead: when that was done, by the monotonic clock */
	bool contexts_begun; /* the default contexts were added to the list of contexts */

	_Atomic(enum fh_hosted_state) seen; /* copy of `state`, which may be read without holding the lock */
	atomic_int references;
	/* The next one in the list that it is in, NULL when it is in none; a sandbox is in one at most, and has to leave it
	 * before it gets into another: a bucket of the registry, those that end (both under the registry's lock), or those
	 * that wait for a request (under the lock of ahead.c). */
	struct fh_hosted *next;
};

struct fh_hosted *fh_hosted_hold(struct fh_hosted *h); /* one more reference */
/* Drops a reference. The last one closes the sandbox and frees what it holds. */
void fh_hosted_drop(struct fh_hosted *h);
static inline void fh_hosted_dropp(struct fh_hosted **h)
{
	if (*h)
		fh_hosted_drop(*h);
}
#define fh_auto_hosted FH_CLEANUP(fh_hosted_dropp)

/* Called with the lock of h. */
void fh_hosted_set_state(struct fh_hosted *h, enum fh_hosted_state state);
static inline bool fh_hosted_is_running(const struct fh_hosted *h)
{
	return atomic_load(&h->seen) == FH_HOSTED_RUNNING;
}

/* Its network, with the rules that hold at this moment: a new reference, or NULL. */
FH_OWN FH_NULLABLE json_t *fh_hosted_network(struct fh_hosted *h);
/* Replaces the rules for what goes out; those that the object lacks are gone. */
void fh_hosted_set_egress(struct fh_hosted *h, json_t *egress);
