/* SPDX-License-Identifier: MIT */
/*
 * The sandboxes of a server: who owns them, how long they live, how they are found.
 *
 *     create ──▶ running ◀──resume── paused
 *                   │  ──pause──▶      │
 *                   └──────▶ gone ◀────┘        by kill, by the end of its time, by the engine's death
 *
 * A hosted sandbox is counted: fh_hosted_find and fh_hosted_create give a reference that its caller drops. A gone one
 * is in no list any more; streams that hold a reference see `gone` and end. What is found out first counts: a sandbox
 * is marked gone before anything in it is killed, so that whoever sees a stream break finds the sandbox gone already.
 *
 * Times are ms since 1970 for clients, and monotonic inside: setting the host's clock ends no sandbox.
 */
#pragma once
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include "e2b/ceilings.h"
#include "e2b/keys.h"
#include "fumehood/sandbox.h"
#include "json/json.h"

#define FH_HOSTED_ID 21 /* 'i', 19 of a-z0-9, NUL: 98 bits that nobody can guess */
#define FH_HOSTED_TOKEN 41

enum fh_hosted_state { FH_HOSTED_RUNNING, FH_HOSTED_PAUSED, FH_HOSTED_GONE };

struct fh_e2b;
struct fh_e2b_engine;
struct fh_hosted_process;
struct fh_hosted_watcher;
struct fh_hosted_context;
struct fh_hosted_metrics;

struct fh_hosted {
	struct fh_e2b *server;
	char id[FH_HOSTED_ID];
	char token[FH_HOSTED_TOKEN];   /* X-Access-Token of envd; signs file URLs */
	char traffic[FH_HOSTED_TOKEN]; /* "" when its ports are open to everyone */
	const struct fh_key *owner;
	struct fh_e2b_engine *engine; /* that made it, with a reference */
	struct fh_sandbox *sandbox;   /* closed when the last reference is dropped */
	struct fh_limits limits;
	char *template_id;
	json_t *metadata, *envs; /* objects of strings, immutable */
	json_t *network;         /* as asked for, immutable; NULL */
	json_t *settings;        /* of its template (templates.h), immutable; NULL */
	bool builds;             /* a template: not its owner's to see */
	bool pauses_at_end, pauses_without_memory, resumes_on_traffic, internet;
	bool one_id;              /* the host gives it no second user id */
	atomic_bool has_metadata; /* attributes of uploads may be there */
	uint64_t order;           /* later ones are larger */
	int64_t started_us;       /* wall clock */
	int64_t lifetime_ms;      /* what was asked for last */

	pthread_mutex_t lock; /* of everything below */
	pthread_cond_t changed;
	enum fh_hosted_state state;
	int64_t ends_ms;    /* wall clock, for clients */
	int64_t ends_at_ns; /* monotonic */
	struct fh_hosted_process *processes;
	struct fh_hosted_watcher *watchers;
	struct fh_hosted_context *contexts;
	struct fh_hosted_metrics *metrics;
	json_t *log;         /* logs.h; NULL: nothing has happened */
	bool contexts_begun; /* the default ones are in the list */

	_Atomic(enum fh_hosted_state) seen; /* as state, to look at without the lock */
	atomic_int references;
	struct fh_hosted *next; /* of its bucket; the registry's lock */
};

/* What a create asks for, checked already. Borrowed. */
struct fh_hosted_request {
	const struct fh_key *owner;
	const char *template_id;
	uint64_t lifetime_ms;
	json_t *metadata, *envs, *network, *settings; /* references are taken */
	bool builds;
	bool pauses_at_end, pauses_without_memory, resumes_on_traffic, internet, private_ports;
	struct fh_sandbox *branch_of; /* begins with a copy of this one's files; NULL: with its template's */
};

struct fh_hosted_registry;
FH_OWN struct fh_hosted_registry *fh_hosted_registry_new(struct fh_e2b *server, uint64_t total_max);
/* Takes no more, ends every sandbox, and waits for the thread that ends those whose time is up. Twice is fine. */
void fh_hosted_registry_stop(struct fh_hosted_registry *g);
void fh_hosted_registry_free(FH_OWN struct fh_hosted_registry *g); /* stopped; no request is under way */

/* -FH_E_LIMIT: the owner or the server has as many as may be; retryable then says whether waiting helps. */
int fh_hosted_create(struct fh_hosted_registry *g, const struct fh_hosted_request *q, struct fh_hosted **ret,
                     struct fh_error *err);
FH_NULLABLE struct fh_hosted *fh_hosted_find(struct fh_hosted_registry *g, const char *id);
/* The one whose token this is. */
FH_NULLABLE struct fh_hosted *fh_hosted_find_token(struct fh_hosted_registry *g, const char *token);
/* The first for which fits() is true, with its reference. */
FH_NULLABLE struct fh_hosted *fh_hosted_search(struct fh_hosted_registry *g,
                                               bool (*fits)(void *context, const struct fh_hosted *h), void *context);
/* All of one owner, newest first; a reference to each. free() the array after dropping them. */
size_t fh_hosted_list(struct fh_hosted_registry *g, FH_NULLABLE const struct fh_key *owner, struct fh_hosted ***ret);
void fh_hosted_drop(struct fh_hosted *h);
static inline void fh_hosted_dropp(struct fh_hosted **h)
{
	if (*h)
		fh_hosted_drop(*h);
}
#define fh_auto_hosted FH_CLEANUP(fh_hosted_dropp)

/* False: it was gone already. Returns when nothing of it is left. */
bool fh_hosted_end(struct fh_hosted *h);
/* Its end is then that many ms from now; only_later: unless it is later already. 0 ends (or pauses) it at once. */
void fh_hosted_set_lifetime(struct fh_hosted *h, uint64_t lifetime_ms, bool only_later);
/* 1 when done, 0 when it was so already, -1 when it is gone, or with *err. without_memory: its files alone are kept,
 * its processes and contexts end. */
int fh_hosted_pause(struct fh_hosted *h, bool without_memory, struct fh_error *err);
int fh_hosted_resume(struct fh_hosted *h, struct fh_error *err);

static inline bool fh_hosted_is_running(const struct fh_hosted *h)
{
	return atomic_load(&h->seen) == FH_HOSTED_RUNNING;
}
