/* SPDX-License-Identifier: MIT */
#include "e2b/registry/registry.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/error.h"
#include "e2b/common/random_text.h"
#include "e2b/common/state.h"
#include "e2b/hosted/e2b.h"
#include "e2b/hosted/logs.h"
#include "e2b/hosted/start_command.h"
#include "e2b/hosted/volume.h"
#include "e2b/registry/ahead.h"
#include "e2b/registry/boot.h"
#include "e2b/registry/templates.h"
#include "fumehood/context.h"
#include "fumehood/session.h"

enum {
	BUCKETS = 1024,
	ENDING_MAX =
	    16,      /* how many sandboxes are gone and still there; beyond that a client waits until its own has ended */
	REAPERS = 4, /* ending a sandbox waits for the kernel: many that end at once do not wait for each other */
};
#define LOOK_NS (FH_NS_PER_S / 2)

struct fh_hosted_registry {
	struct fh_e2b *server;
	uint64_t total_max, total; /* total: sandboxes in the buckets, those being made, those that wait (ahead.h) */
	uint64_t order;
	pthread_mutex_t lock;
	pthread_cond_t sooner; /* signalled when a sandbox's end was set that may come before all others */
	pthread_t reapers[REAPERS];
	bool stopping;
	size_t asked_for;    /* number of sandboxes that the engine was asked for in this round (next_asked) */
	int64_t ask_next_ns; /* when it is asked for the next one */
	struct fh_ahead *ahead;
	struct fh_hosted *ending; /* by ->next, for a reaper to destroy; the list holds a reference to each */
	size_t ending_count;
	struct fh_hosted *buckets[BUCKETS];
};

/* ---------------------------------------------------------------------------------------------------------- names */

static size_t bucket_of(const char *id)
{
	uint32_t h = 2166136261u; /* FNV-1a; ids are random, so a client cannot choose their buckets */
	for (; *id; id++)
		h = (h ^ (uint8_t)*id) * 16777619u;
	return h % BUCKETS;
}

/* --------------------------------------------------------------------------------------------------------- finding */

struct fh_hosted *fh_hosted_find(struct fh_hosted_registry *g, const char *id)
{
	pthread_mutex_lock(&g->lock);
	struct fh_hosted *h = g->buckets[bucket_of(id)];
	while (h && strcmp(h->id, id) != 0)
		h = h->next;
	if (h)
		fh_hosted_hold(h);
	pthread_mutex_unlock(&g->lock);
	return h;
}

struct fh_hosted *fh_hosted_search(struct fh_hosted_registry *g, bool (*fits)(void *context, const struct fh_hosted *h),
                                   void *context)
{
	struct fh_hosted *found = NULL;
	pthread_mutex_lock(&g->lock);
	for (size_t i = 0; i < BUCKETS && !found; i++)
		for (struct fh_hosted *h = g->buckets[i]; h && !found; h = h->next)
			if (fits(context, h))
				found = fh_hosted_hold(h);
	pthread_mutex_unlock(&g->lock);
	return found;
}

static bool has_token(void *context, const struct fh_hosted *h)
{
	return fh_secret_equal(context, h->token);
}

struct fh_hosted *fh_hosted_find_token(struct fh_hosted_registry *g, const char *token)
{
	return fh_hosted_search(g, has_token, (void *)(uintptr_t)token);
}

static int newest_first(const void *a, const void *b)
{
	const struct fh_hosted *x = *(struct fh_hosted *const *)a, *y = *(struct fh_hosted *const *)b;
	return x->order < y->order ? 1 : x->order > y->order ? -1 : 0;
}

size_t fh_hosted_list(struct fh_hosted_registry *g, FH_NULLABLE const struct fh_key *owner, struct fh_hosted ***ret)
{
	struct fh_hosted **list = NULL;
	size_t n = 0, capacity = 0;
	pthread_mutex_lock(&g->lock);
	for (size_t i = 0; i < BUCKETS; i++)
		for (struct fh_hosted *h = g->buckets[i]; h; h = h->next)
			if (!owner || (h->owner == owner && !h->builds))
				FH_PUSH(list, n, capacity) = fh_hosted_hold(h);
	pthread_mutex_unlock(&g->lock);
	if (n)
		qsort(list, n, sizeof(*list), newest_first);
	*ret = list;
	return n;
}

/* ---------------------------------------------------------------------------------------------------------- begin */

/* uncounted: the server's own sandbox for a volume, of which there is one at most. */
static int try_reserve(struct fh_hosted_registry *g, const struct fh_key *owner, bool uncounted, struct fh_error *err)
{
	uint64_t own = 0, max = owner->ceilings.value[FH_CEILING_SANDBOXES];
	pthread_mutex_lock(&g->lock);
	for (size_t i = 0; i < BUCKETS; i++)
		for (const struct fh_hosted *h = g->buckets[i]; h; h = h->next)
			own += h->owner == owner && !h->through;
	bool full = g->stopping || (!uncounted && g->total >= g->total_max);
	if (uncounted)
		own = 0;
	if (!full && own < max)
		g->total++;
	pthread_mutex_unlock(&g->lock);
	if (own >= max)
		return fh_error_set(err, FH_E_LIMIT, "you have reached the maximum number of concurrent sandboxes (%llu)",
		                    (unsigned long long)max);
	return full ? fh_error_set(err, FH_E_UNAVAILABLE, "the server has reached its maximum number of sandboxes") : 0;
}

/* Takes a place for the requested sandbox, or else releases what the request has taken. What waits for a request to
 * come gives way to one that is there. */
static int reserve(struct fh_hosted_registry *g, const struct fh_hosted_request *q, struct fh_error *err)
{
	int r;
	do
		r = try_reserve(g, q->owner, q->through, err);
	while (r == -FH_E_UNAVAILABLE && fh_ahead_give_up_one(g->ahead));
	if (r < 0)
		fh_volume_mounts_free(q->volumes, q->volume_count);
	return r;
}

void fh_hosted_give_place(struct fh_hosted_registry *g)
{
	pthread_mutex_lock(&g->lock);
	g->total--;
	pthread_mutex_unlock(&g->lock);
}

static void insert(struct fh_hosted_registry *g, struct fh_hosted *h)
{
	pthread_mutex_lock(&g->lock);
	h->order = ++g->order;
	h->next = g->buckets[bucket_of(h->id)];
	g->buckets[bucket_of(h->id)] = fh_hosted_hold(h);
	pthread_cond_signal(&g->sooner);
	pthread_mutex_unlock(&g->lock);
}

static struct fh_hosted *hosted_new(struct fh_hosted_registry *g, const struct fh_hosted_request *q)
{
	struct fh_hosted *h = FH_NEW(struct fh_hosted);
	h->server = g->server;
	h->owner = q->owner;
	h->id[0] = 'i';
	fh_random_text(h->id + 1, FH_HOSTED_ID - 2);
	fh_random_text(h->token, FH_HOSTED_TOKEN - 1);
	if (q->private_ports)
		fh_random_text(h->traffic, FH_HOSTED_TOKEN - 1);
	h->template_id = fh_xstrdup(q->template_id);
	h->idempotency = q->idempotency ? fh_xstrdup(q->idempotency) : NULL;
	h->metadata = q->metadata ? json_incref(q->metadata) : json_object();
	h->envs = q->envs ? json_incref(q->envs) : json_object();
	h->network = q->network ? json_incref(q->network) : NULL;
	h->settings = q->settings    ? json_incref(q->settings)
	              : q->branch_of ? NULL
	                             : fh_templates_settings(g->server->templates, q->owner, q->template_id);
	h->volumes = q->volumes;
	h->volume_count = q->volume_count;
	h->builds = q->builds;
	h->through = q->through ? fh_volume_hold(q->through) : NULL;
	h->pauses_at_end = q->pauses_at_end;
	h->pauses_without_memory = q->pauses_without_memory;
	h->resumes_on_traffic = q->resumes_on_traffic;
	h->internet = q->internet;
	h->references = 1;
	fh_ceilings_limits(&q->owner->ceilings, &h->limits);
	fh_template_lower(h->settings, &h->limits);
	pthread_mutex_init(&h->turn, NULL);
	pthread_mutex_init(&h->lock, NULL);
	pthread_cond_init(&h->changed, NULL);
	return h;
}

FH_OWN FH_NULLABLE struct fh_hosted *fh_hosted_new_ahead(struct fh_hosted_registry *g, const struct fh_key *owner,
                                                         const char *template_id)
{
	const struct fh_hosted_request q = { .owner = owner, .template_id = template_id };
	pthread_mutex_lock(&g->lock);
	bool has_place = !g->stopping && g->total < g->total_max;
	g->total += has_place;
	pthread_mutex_unlock(&g->lock);
	return has_place ? hosted_new(g, &q) : NULL;
}

static void set_end(struct fh_hosted *h, uint64_t lifetime_ms)
{
	h->lifetime_ms = (int64_t)lifetime_ms;
	h->ends_ms = fh_wall_ms() + (int64_t)lifetime_ms;
	h->ends_at_ns = fh_now_ns() + (int64_t)lifetime_ms * FH_NS_PER_MS;
}

int fh_hosted_create(struct fh_hosted_registry *g, const struct fh_hosted_request *q, struct fh_hosted **ret,
                     struct fh_error *err)
{
	struct fh_error why = FH_ERROR_INIT;
	int r = reserve(g, q, err);
	if (r < 0)
		return r;
	struct fh_hosted *h = hosted_new(g, q);
	if (q->branch_of || !fh_ahead_take(g->ahead, h))
		r = fh_hosted_boot(h, q->branch_of, -1, err);
	if (r < 0) {
		fh_hosted_give_place(g);
		fh_hosted_drop(h);
		return r;
	}
	h->started_us = fh_wall_us();
	set_end(h, q->lifetime_ms);
	insert(g, h);
	fh_hosted_note(h, "info", "Sandbox created from template %s", h->template_id);
	if (h->settings && !h->builds && fh_start_command(h, h->settings, FH_START_CREATE_MS, &why) < 0)
		fh_hosted_note(h, "error", "%s", why.message);
	*ret = h;
	return 0;
}

/* ------------------------------------------------------------------------------------------------------ kept on disk */

static json_t *object_or_null(const json_t *record, const char *name)
{
	json_t *value = json_object_get(record, name);
	return json_is_object(value) ? value : NULL;
}

int fh_hosted_again(struct fh_hosted_registry *g, const struct fh_key *owner, const json_t *record, int files,
                    struct fh_volume_mount *volumes, size_t volume_count, struct fh_error *err)
{
	struct fh_hosted_request q = {
		.owner = owner,
		.volumes = volumes,
		.volume_count = volume_count,
		.template_id = fh_json_str(record, "template", "base"),
		.metadata = object_or_null(record, "metadata"),
		.envs = object_or_null(record, "envs"),
		.network = object_or_null(record, "network"),
		.settings = object_or_null(record, "settings"),
		.pauses_at_end = fh_json_bool(record, "pauses_at_end", false),
		.pauses_without_memory = fh_json_bool(record, "pauses_without_memory", false),
		.resumes_on_traffic = fh_json_bool(record, "resumes_on_traffic", false),
		.internet = fh_json_bool(record, "internet", false),
	};
	const char *id = fh_json_str(record, "id", ""), *token = fh_json_str(record, "token", "");
	if (strlen(id) != FH_HOSTED_ID - 1 || strlen(token) != FH_HOSTED_TOKEN - 1) {
		fh_volume_mounts_free(volumes, volume_count);
		return fh_error_set(err, FH_E_CONFIG, "a record of --state has no id or no token");
	}
	int r = reserve(g, &q, err);
	if (r < 0)
		return r;
	struct fh_hosted *h = hosted_new(g, &q);
	snprintf(h->id, sizeof(h->id), "%s", id);
	snprintf(h->token, sizeof(h->token), "%s", token);
	snprintf(h->traffic, sizeof(h->traffic), "%s", fh_json_str(record, "traffic", ""));
	h->egress = json_incref(object_or_null(record, "egress"));
	r = fh_hosted_boot(h, NULL, files, err);
	if (r == 0 && fh_sandbox_pause(h->sandbox, NULL, err) < 0)
		r = -1;
	if (r < 0) {
		fh_hosted_give_place(g);
		fh_hosted_drop(h);
		return r;
	}
	h->started_us = fh_json_int(record, "made", fh_wall_us());
	set_end(h, (uint64_t)fh_json_int(record, "lifetime_ms", FH_LIFETIME_DEFAULT_MS));
	h->state = FH_HOSTED_PAUSED;
	atomic_store(&h->seen, FH_HOSTED_PAUSED);
	insert(g, h);
	fh_hosted_note(h, "info", "Sandbox restored, with its files alone, after a restart of the server");
	fh_hosted_drop(h);
	return 0;
}

/* ------------------------------------------------------------------------------------------------------------ end */

/* Removes it from its bucket and drops the registry's reference. */
static void forget(struct fh_hosted_registry *g, struct fh_hosted *h)
{
	bool found = false;
	pthread_mutex_lock(&g->lock);
	for (struct fh_hosted **at = &g->buckets[bucket_of(h->id)]; *at; at = &(*at)->next) {
		if (*at != h)
			continue;
		*at = h->next;
		h->next = NULL; /* g->ending links sandboxes by the same member */
		g->total--;
		found = true;
		break;
	}
	pthread_mutex_unlock(&g->lock);
	if (found)
		fh_hosted_drop(h);
}

/* Marks the sandbox as gone, so that nobody finds it. False: it was gone already. Else the caller has a reference, and
 * has to destroy it. */
static bool begin_end(struct fh_hosted *h)
{
	pthread_mutex_lock(&h->lock);
	bool was = h->state != FH_HOSTED_GONE;
	fh_hosted_set_state(h, FH_HOSTED_GONE);
	pthread_mutex_unlock(&h->lock);
	if (!was)
		return false;
	fh_hosted_hold(h);
	if (!h->server->registry->stopping && !fh_e2b_engine_is_dead(h->engine))
		fh_hosted_keep_no_more(h); /* otherwise a server that is started later would restore the sandbox */
	forget(h->server->registry, h);
	return true;
}

/* Drops the reference. */
static void destroy(FH_OWN struct fh_hosted *h)
{
	(void)fh_sandbox_destroy(h->sandbox, NULL); /* fails if the engine has died, which ended the sandbox too */
	fh_volume_mounts_release(h);
	fh_hosted_release_parts(h);
	fh_hosted_drop(h);
}

bool fh_hosted_end(struct fh_hosted *h)
{
	if (!begin_end(h))
		return false;
	destroy(h);
	return true;
}

bool fh_hosted_is_there(struct fh_hosted *h)
{
	atomic_store(&h->doubted, false);
	if (fh_hosted_is_running(h) && !fh_e2b_engine_is_dead(h->engine) &&
	    fh_sandbox_renew(h->sandbox, 0, NULL) != -FH_E_NOT_FOUND)
		return true;
	if (fh_hosted_is_running(h) || fh_e2b_engine_is_dead(h->engine))
		(void)fh_hosted_end(h);
	return false;
}

bool fh_hosted_end_soon(struct fh_hosted *h)
{
	struct fh_hosted_registry *g = h->server->registry;
	if (!begin_end(h))
		return false;
	pthread_mutex_lock(&g->lock);
	bool later = !h->volume_count && g->ending_count < ENDING_MAX && !g->stopping;
	if (later) {
		struct fh_hosted **last = &g->ending;
		while (*last)
			last = &(*last)->next;
		*last = h;
		g->ending_count++;
		pthread_cond_signal(&g->sooner);
	}
	pthread_mutex_unlock(&g->lock);
	if (!later)
		destroy(h);
	return true;
}

void fh_hosted_set_lifetime(struct fh_hosted *h, uint64_t lifetime_ms, bool only_later)
{
	struct fh_hosted_registry *g = h->server->registry;
	pthread_mutex_lock(&h->lock);
	if (!only_later || fh_now_ns() + (int64_t)lifetime_ms * FH_NS_PER_MS > h->ends_at_ns)
		set_end(h, lifetime_ms);
	pthread_mutex_unlock(&h->lock);
	pthread_mutex_lock(&g->lock);
	pthread_cond_signal(&g->sooner);
	pthread_mutex_unlock(&g->lock);
}

/* --------------------------------------------------------------------------------------------------------- reaper */

/* Whether the engine is to be asked now whether the sandbox, the n-th, is still there: no message tells that one died
 * in which no program of a client ran. */
static bool is_asked_for(struct fh_hosted_registry *g, const struct fh_hosted *h, size_t n, int64_t now)
{
	if (atomic_load(&h->doubted))
		return true;
	if (n != g->asked_for || now < g->ask_next_ns)
		return false;
	g->asked_for++;
	g->ask_next_ns = now + LOOK_NS;
	return true;
}

/* The next sandbox that has to end now, or that may have, with a reference; else NULL and the time of the next check.
 * Called with the registry's lock. The check is at most LOOK_NS away, so that sandboxes of an engine that died do not
 * count as running. One that another reaper is ending is passed over. */
static struct fh_hosted *next_end(struct fh_hosted_registry *g, int64_t *ret_wake_ns)
{
	int64_t now = fh_now_ns(), wake = INT64_MAX;
	const struct fh_e2b_engine *asked = NULL; /* checked once, as nearly all have the same engine */
	bool dead = false;
	size_t n = 0;
	for (size_t i = 0; i < BUCKETS; i++)
		for (struct fh_hosted *h = g->buckets[i]; h; h = h->next) {
			pthread_mutex_lock(&h->lock);
			bool running = h->state == FH_HOSTED_RUNNING;
			int64_t at = h->ends_at_ns;
			pthread_mutex_unlock(&h->lock);
			if (h->engine != asked) {
				asked = h->engine;
				dead = fh_e2b_engine_is_dead(asked);
			}
			if (h->reaped)
				continue;
			if ((running && at <= now) || dead || g->stopping || (running && is_asked_for(g, h, n++, now))) {
				h->reaped = true;
				return fh_hosted_hold(h);
			}
			wake = FH_MIN(wake, FH_MIN(running ? at : INT64_MAX, now + LOOK_NS));
		}
	if (n <= g->asked_for)
		g->asked_for = 0;
	*ret_wake_ns = wake;
	return NULL;
}

/* A reaper: destroys what is gone, ends what is due, and everything once the registry stops. */
static void *reap(void *context)
{
	struct fh_hosted_registry *g = context;
	int64_t wake_ns = INT64_MAX;
	pthread_mutex_lock(&g->lock);
	for (;;) {
		struct fh_hosted *gone = g->ending, *h = gone ? NULL : next_end(g, &wake_ns);
		bool stopping = g->stopping;
		if (gone) {
			g->ending = gone->next;
			g->ending_count--;
			gone->next = NULL;
			pthread_mutex_unlock(&g->lock);
			destroy(gone);
			pthread_mutex_lock(&g->lock);
		} else if (h) {
			pthread_mutex_unlock(&g->lock);
			fh_hosted_end_or_pause(h, stopping);
			pthread_mutex_lock(&g->lock);
			h->reaped = false; /* if it was paused and not ended, it gets a new deadline when it is resumed */
			pthread_mutex_unlock(&g->lock);
			fh_hosted_drop(h);
			pthread_mutex_lock(&g->lock);
		} else if (stopping) {
			break;
		} else if (wake_ns == INT64_MAX) {
			pthread_cond_wait(&g->sooner, &g->lock);
		} else {
			struct timespec at = { wake_ns / FH_NS_PER_S, wake_ns % FH_NS_PER_S };
			pthread_cond_timedwait(&g->sooner, &g->lock, &at);
		}
	}
	pthread_mutex_unlock(&g->lock);
	return NULL;
}

FH_OWN struct fh_hosted_registry *fh_hosted_registry_new(struct fh_e2b *server, uint64_t total_max)
{
	struct fh_hosted_registry *g = FH_NEW(struct fh_hosted_registry);
	pthread_condattr_t monotonic;
	g->server = server;
	g->total_max = total_max;
	pthread_mutex_init(&g->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&g->sooner, &monotonic);
	pthread_condattr_destroy(&monotonic);
	g->ahead = fh_ahead_new(g);
	for (size_t i = 0; i < REAPERS; i++)
		if (pthread_create(&g->reapers[i], NULL, reap, g) != 0)
			abort();
	return g;
}

void fh_hosted_registry_stop(struct fh_hosted_registry *g)
{
	pthread_mutex_lock(&g->lock);
	bool was = g->stopping;
	g->stopping = true;
	pthread_cond_broadcast(&g->sooner);
	pthread_mutex_unlock(&g->lock);
	fh_ahead_stop(g->ahead);
	for (size_t i = 0; i < REAPERS && !was; i++)
		pthread_join(g->reapers[i], NULL);
}

void fh_hosted_registry_free(FH_OWN struct fh_hosted_registry *g)
{
	fh_hosted_registry_stop(g);
	fh_ahead_free(g->ahead);
	pthread_cond_destroy(&g->sooner);
	pthread_mutex_destroy(&g->lock);
	free(g);
}

struct fh_ahead *fh_hosted_ahead(const struct fh_hosted *h)
{
	return h->server->registry->ahead;
}

void fh_hosted_note_request(struct fh_hosted_registry *g)
{
	fh_ahead_note_request(g->ahead);
}

size_t fh_hosted_waiting(struct fh_hosted_registry *g)
{
	return fh_ahead_count(g->ahead);
}
