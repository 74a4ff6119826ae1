/* SPDX-License-Identifier: MIT */
/*
 * The sandboxes of a server: how they are made, found, paused and ended, and how long they live. (registry.c, pauses.c)
 *
 * fh_hosted_create and what finds a sandbox return a reference that the caller drops.
 */
#pragma once
#include "e2b/hosted/hosted.h"

struct fh_ahead;

/* A request to create a sandbox, already checked. Borrowed. */
struct fh_hosted_request {
	const struct fh_key *owner;
	const char *template_id, *idempotency;
	uint64_t lifetime_ms;
	json_t *metadata, *envs, *network, *settings; /* the new sandbox takes references of its own */
	struct fh_volume_mount *volumes;              /* its volumes, which are taken over, also by a failure; NULL: none */
	size_t volume_count;
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
void fh_hosted_note_request(struct fh_hosted_registry *g); /* of any client: what can wait is made later */
size_t fh_hosted_waiting(struct fh_hosted_registry *g);    /* number of those that were made ahead and wait */

/* -FH_E_LIMIT: the owner has the maximum of sandboxes; -FH_E_UNAVAILABLE: the server has. */
int fh_hosted_create(struct fh_hosted_registry *g, const struct fh_hosted_request *q, struct fh_hosted **ret,
                     struct fh_error *err);
/* Makes a sandbox again that was paused when an earlier server stopped, from its record and files (state.h). It is
 * paused, with its files alone. `volumes`: those that its record names, taken over as by fh_hosted_create. */
int fh_hosted_again(struct fh_hosted_registry *g, const struct fh_key *owner, const json_t *record, int files,
                    struct fh_volume_mount *volumes, size_t volume_count, struct fh_error *err);
FH_NULLABLE struct fh_hosted *fh_hosted_find(struct fh_hosted_registry *g, const char *id);
/* The sandbox with this token, with a reference. */
FH_NULLABLE struct fh_hosted *fh_hosted_find_token(struct fh_hosted_registry *g, const char *token);
/* The first sandbox for which fits() returns true, with a reference. */
FH_NULLABLE struct fh_hosted *fh_hosted_search(struct fh_hosted_registry *g,
                                               bool (*fits)(void *context, const struct fh_hosted *h), void *context);
/* All sandboxes of one owner, the newest first, with a reference to each. The caller drops them and frees the array. */
size_t fh_hosted_list(struct fh_hosted_registry *g, FH_NULLABLE const struct fh_key *owner, struct fh_hosted ***ret);

/* Whether the sandbox is still there; asks the engine. One whose init, or whose engine, has died is ended. */
bool fh_hosted_is_there(struct fh_hosted *h);
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
/* Where its lifetime is over or it is no more there, ends it, or pauses it if that is what it was made for. must_end:
 * ends it in any case. */
void fh_hosted_end_or_pause(struct fh_hosted *h, bool must_end);
/* A server that is started later does not restore it. */
void fh_hosted_keep_no_more(struct fh_hosted *h);
