/* SPDX-License-Identifier: MIT */
/*
 * The sandboxes of a server: who owns them, how long they live, how they are found (registry.c).
 *
 *     create ──▶ running ◀──resume── paused
 *                   │  ──pause──▶      │
 *                   └──────▶ gone ◀────┘        killed, at the end of its lifetime, or by the engine's death
 *
 * A hosted sandbox is reference-counted: fh_hosted_find and fh_hosted_create return a reference that the caller drops.
 * A sandbox that is gone is in no list; streams that hold a reference see the state and end. It is marked gone before
 * its processes are killed, so a client whose stream breaks finds the sandbox gone already.
 *
 * Times are ms since 1970 for clients, and monotonic internally: setting the host's clock ends no sandbox.
 */
#pragma once
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include "e2b/common/ceilings.h"
#include "e2b/common/keys.h"
#include "fumehood/sandbox.h"
#include "json/json.h"

#define FH_HOSTED_ID 21 /* the letter 'i', 19 characters of a-z0-9 (98 random bits), and a NUL */
#define FH_HOSTED_TOKEN 41

enum fh_hosted_state { FH_HOSTED_RUNNING, FH_HOSTED_PAUSED, FH_HOSTED_GONE };

struct fh_ahead;
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
	atomic_bool files_alone;  /* the last pause kept no memory: only a request that names the sandbox resumes it */
	uint64_t order;           /* number in order of creation */
	int64_t started_us;       /* time of creation, by the wall clock */
	int64_t lifetime_ms;      /* lifetime that a client requested last */

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
	struct fh_hosted *next; /* next sandbox in the same bucket; guarded by the registry's lock */
};

/* A request to create a sandbox, already checked. Borrowed. */
struct fh_hosted_request {
	const struct fh_key *owner;
	const char *template_id, *idempotency;
	uint64_t lifetime_ms;
	json_t *metadata, *envs, *network, *settings; /* the new sandbox takes references of its own */
	json_t *volumes;                              /* volumes to mount (volumes.h); NULL: none */
	bool builds;
	/* set if the sandbox is the server's hidden one for this volume, which no ceiling counts; NULL: it is not */
	struct fh_volume *through;
	bool pauses_at_end, pauses_without_memory, resumes_on_traffic, internet, private_ports;
	struct fh_sandbox *branch_of; /* start with a copy of this sandbox's files; NULL: with its template's */
};

struct fh_hosted_registry;
FH_OWN struct fh_hosted_registry *fh_hosted_registry_new(struct fh_e2b *server, uint64_t total_max);
/* Refuses new sandboxes, ends all existing ones, and waits until that is done. May be called twice. */
void fh_hosted_registry_stop(struct fh_hosted_registry *g);
/* To be called after the registry was stopped, when no request is running. */
void fh_hosted_registry_free(FH_OWN struct fh_hosted_registry *g);

/* For ahead.c: a sandbox that belongs to nobody and is in no list, with one of the server's places, which
 * fh_hosted_give_place frees. NULL: there is no place. */
FH_OWN FH_NULLABLE struct fh_hosted *fh_hosted_new_ahead(struct fh_hosted_registry *g, const struct fh_key *owner,
                                                         const char *template_id);
void fh_hosted_give_place(struct fh_hosted_registry *g);
struct fh_ahead *fh_hosted_ahead(const struct fh_hosted *h);
size_t fh_hosted_waiting(struct fh_hosted_registry *g); /* number of those that were made ahead and wait */

/* -FH_E_LIMIT: the owner or the server has the maximum of sandboxes; `retryable` says whether waiting can help. */
int fh_hosted_create(struct fh_hosted_registry *g, const struct fh_hosted_request *q, struct fh_hosted **ret,
                     struct fh_error *err);
/* Makes a sandbox again that was paused when an earlier server stopped, from its record and files (state.h). It is
 * paused, with its files alone. */
int fh_hosted_again(struct fh_hosted_registry *g, const struct fh_key *owner, const json_t *record, int files,
                    struct fh_error *err);
FH_NULLABLE struct fh_hosted *fh_hosted_find(struct fh_hosted_registry *g, const char *id);
/* The sandbox with this token, with a reference. */
FH_NULLABLE struct fh_hosted *fh_hosted_find_token(struct fh_hosted_registry *g, const char *token);
/* The first sandbox for which fits() returns true, with a reference. */
FH_NULLABLE struct fh_hosted *fh_hosted_search(struct fh_hosted_registry *g,
                                               bool (*fits)(void *context, const struct fh_hosted *h), void *context);
/* All sandboxes of one owner, the newest first, with a reference to each. The caller drops them and frees the array. */
size_t fh_hosted_list(struct fh_hosted_registry *g, FH_NULLABLE const struct fh_key *owner, struct fh_hosted ***ret);
void fh_hosted_drop(struct fh_hosted *h);
static inline void fh_hosted_dropp(struct fh_hosted **h)
{
	if (*h)
		fh_hosted_drop(*h);
}
#define fh_auto_hosted FH_CLEANUP(fh_hosted_dropp)

/* Ends the sandbox, and returns when it has ended. False: it was gone already. */
bool fh_hosted_end(struct fh_hosted *h);
/* The same, but may return before its programs have ended: the sandbox is gone for all requests. */
bool fh_hosted_end_soon(struct fh_hosted *h);
/* Sets the sandbox's end to lifetime_ms from now; with only_later an end that is later stays. 0 ends (or pauses) it at
 * once. */
void fh_hosted_set_lifetime(struct fh_hosted *h, uint64_t lifetime_ms, bool only_later);
/* Returns 1 when done, 0 when it was in that state already, -1 when the sandbox is gone or with *err set.
 * without_memory: only its files are kept, its processes and contexts end. */
int fh_hosted_pause(struct fh_hosted *h, bool without_memory, struct fh_error *err);
/* Pauses it at once: it is not kept on disk before. False: it did not run. */
bool fh_hosted_freeze(struct fh_hosted *h);
/* Returns as the former. -FH_E_LIMIT: a volume of it is full. without_memory: one that was paused has its files alone.
 */
int fh_hosted_resume(struct fh_hosted *h, bool without_memory, struct fh_error *err);
/* Where its lifetime is over, ends it, or pauses it if that is what it was made for. must_end: ends it in any case. */
void fh_hosted_end_or_pause(struct fh_hosted *h, bool must_end);
/* With its lock. */
void fh_hosted_set_state(struct fh_hosted *h, enum fh_hosted_state state);
/* A server that is started later does not restore it. */
void fh_hosted_keep_no_more(struct fh_hosted *h);

/* Its network, with the rules that hold at this moment: a new reference, or NULL. */
FH_OWN FH_NULLABLE json_t *fh_hosted_network(struct fh_hosted *h);
/* Replaces the rules for what goes out; those that the object lacks are gone. */
void fh_hosted_set_egress(struct fh_hosted *h, json_t *egress);

static inline bool fh_hosted_is_running(const struct fh_hosted *h)
{
	return atomic_load(&h->seen) == FH_HOSTED_RUNNING;
}
