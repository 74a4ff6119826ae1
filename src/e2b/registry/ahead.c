/* SPDX-License-Identifier: MIT */
#include "e2b/registry/ahead.h"

#include "base/clock.h"
#include "e2b/common/threads.h"
#include "e2b/hosted/accounts.h"
#include "e2b/hosted/e2b.h"
#include "e2b/registry/boot.h"
#include "e2b/registry/registry.h"
#include "e2b/registry/templates.h"
#include "fumehood/context.h"

enum { KINDS_MAX = 16, WEIGHT_MAX = 8, RETRY_S = 10, LOOK_MS = 1000 };

/* One that takes the place of one that was taken is made when clients ask for nothing, so that the processors are
 * theirs: LATER_MS after the taking and QUIET_MS after the last request, but at most LATEST_MS after one was missing.
 */
enum { LATER_MS = 10, QUIET_MS = 5, LATEST_MS = 50 };

/* What requests of one kind did. `taken` and `ran` are counts that are halved together, so that the last few count
 * most. */
struct kind {
	const struct fh_key *owner; /* a key with its limits; NULL: unused */
	char *template_id;
	struct fh_limits limits;
	size_t target; /* how many should wait */
	unsigned taken, ran;
	int64_t used_ns, failed_ns;
	int64_t from_ns;  /* none is made before; 0: at once, since a request found none */
	int64_t lacks_ns; /* since when fewer wait than should; 0: they do not */
};

struct fh_ahead {
	struct fh_hosted_registry *registry;
	pthread_t maker;
	atomic_llong asked_ns; /* when the last request came */
	pthread_mutex_t lock;  /* guards all members that follow */
	pthread_cond_t changed;
	bool stopping;
	struct kind kinds[KINDS_MAX];
	struct fh_hosted *waiting; /* by ->next, the oldest first; in no bucket of the registry */
	size_t count;              /* of those that wait, without the one that is being made */
};

static bool is_of_kind(const struct kind *k, const struct fh_hosted *h)
{
	return k->owner && strcmp(k->template_id, h->template_id) == 0 &&
	       memcmp(&k->limits, &h->limits, sizeof(h->limits)) == 0;
}

/* Whether h can be one that waits: nothing that is its own has to be there when it is made. */
static bool is_plain(const struct fh_hosted *h)
{
	return fh_template_is_built_in(h->template_id) && !h->settings && !h->builds && !h->through && !h->volume_count;
}

static struct kind *find(struct fh_ahead *a, const struct fh_hosted *h)
{
	for (size_t i = 0; i < KINDS_MAX; i++)
		if (is_of_kind(&a->kinds[i], h))
			return &a->kinds[i];
	return NULL;
}

/* The kind of h; a new one takes the place of that which was not asked for for longest. */
static struct kind *find_or_add(struct fh_ahead *a, const struct fh_hosted *h)
{
	struct kind *k = find(a, h), *oldest = &a->kinds[0];
	if (k)
		return k;
	for (size_t i = 1; i < KINDS_MAX; i++)
		if (a->kinds[i].used_ns < oldest->used_ns)
			oldest = &a->kinds[i];
	free(oldest->template_id);
	*oldest = (struct kind){ .owner = h->owner, .template_id = fh_xstrdup(h->template_id), .limits = h->limits };
	return oldest;
}

static size_t count_of(const struct fh_ahead *a, const struct kind *k)
{
	size_t n = 0;
	for (const struct fh_hosted *h = a->waiting; h; h = h->next)
		n += is_of_kind(k, h);
	return n;
}

/* Takes one out of the list: of a kind, or the oldest. */
static struct fh_hosted *take_out(struct fh_ahead *a, FH_NULLABLE const struct kind *k)
{
	for (struct fh_hosted **at = &a->waiting; *at; at = &(*at)->next) {
		struct fh_hosted *h = *at;
		if (k && !is_of_kind(k, h))
			continue;
		*at = h->next;
		h->next = NULL;
		a->count--;
		return h;
	}
	return NULL;
}

static void discard(struct fh_ahead *a, FH_OWN struct fh_hosted *h)
{
	(void)fh_sandbox_destroy(h->sandbox, NULL); /* fails if its engine has died, which ended it too */
	fh_hosted_drop(h);
	fh_hosted_give_place(a->registry);
}

/* ---------------------------------------------------------------------------------------------------------- taking */

static void note_request(struct kind *k, bool found)
{
	if (k->taken >= WEIGHT_MAX) {
		k->taken /= 2;
		k->ran /= 2;
	}
	k->taken++;
	if (k->used_ns && !found) /* from the second on; more when requests come faster than sandboxes are made */
		k->target = FH_MIN(FH_MAX(k->target * 2, (size_t)1), (size_t)FH_AHEAD_MOST);
	k->used_ns = fh_now_ns();
	k->from_ns = found ? k->used_ns + LATER_MS * FH_NS_PER_MS : 0;
	if (!k->lacks_ns)
		k->lacks_ns = k->used_ns;
}

void fh_ahead_note_request(struct fh_ahead *a)
{
	atomic_store_explicit(&a->asked_ns, fh_now_ns(), memory_order_relaxed);
}

/* Whether it is still there: its init, or its engine, may have been killed while it waited. */
static bool is_alive(const struct fh_hosted *h)
{
	return !fh_e2b_engine_is_dead(h->engine) && fh_sandbox_renew(h->sandbox, 0, NULL) == 0;
}

bool fh_ahead_take(struct fh_ahead *a, struct fh_hosted *h)
{
	struct fh_hosted *found = NULL;
	if (!is_plain(h))
		return false;
	do {
		if (found)
			discard(a, found);
		pthread_mutex_lock(&a->lock);
		struct kind *k = find_or_add(a, h);
		found = take_out(a, k);
		pthread_mutex_unlock(&a->lock);
	} while (found && !is_alive(found));
	pthread_mutex_lock(&a->lock);
	note_request(find_or_add(a, h), found);
	pthread_cond_signal(&a->changed);
	pthread_mutex_unlock(&a->lock);
	if (!found)
		return false;
	memcpy(h->id, found->id, sizeof(h->id));
	h->engine = FH_TAKE_PTR(found->engine);
	h->sandbox = FH_TAKE_PTR(found->sandbox);
	h->first_python = FH_TAKE_PTR(found->first_python);
	h->one_id = found->one_id;
	fh_hosted_drop(found);
	fh_hosted_give_place(a->registry); /* h has one of its own */
	return true;
}

void fh_ahead_runs_code(struct fh_ahead *a, const struct fh_hosted *h)
{
	pthread_mutex_lock(&a->lock);
	struct kind *k = find(a, h);
	if (k && k->ran < k->taken)
		k->ran++;
	pthread_mutex_unlock(&a->lock);
}

bool fh_ahead_give_up_one(struct fh_ahead *a)
{
	pthread_mutex_lock(&a->lock);
	struct fh_hosted *h = take_out(a, NULL);
	pthread_mutex_unlock(&a->lock);
	if (h)
		discard(a, h);
	return h;
}

size_t fh_ahead_count(struct fh_ahead *a)
{
	pthread_mutex_lock(&a->lock);
	size_t n = a->count;
	pthread_mutex_unlock(&a->lock);
	return n;
}

/* ---------------------------------------------------------------------------------------------------------- making */

/* When one of a kind that lacks one is made. */
static int64_t due_ns(struct fh_ahead *a, const struct kind *k)
{
	int64_t quiet = atomic_load_explicit(&a->asked_ns, memory_order_relaxed) + QUIET_MS * FH_NS_PER_MS;
	return k->from_ns ? FH_MIN(FH_MAX(k->from_ns, quiet), k->lacks_ns + LATEST_MS * FH_NS_PER_MS) : 0;
}

/* A kind that lacks one; NULL: none does before *ret_wait_ms have passed. */
static struct kind *lacking(struct fh_ahead *a, int64_t *ret_wait_ms)
{
	int64_t now = fh_now_ns();
	struct kind *best = NULL;
	for (size_t i = 0; i < KINDS_MAX; i++) {
		struct kind *k = &a->kinds[i];
		if (k->owner && count_of(a, k) < k->target && (!best || k->used_ns > best->used_ns) &&
		    now - k->used_ns < FH_AHEAD_IDLE_S * FH_NS_PER_S &&
		    (!k->failed_ns || now - k->failed_ns > RETRY_S * FH_NS_PER_S))
			best = k;
	}
	*ret_wait_ms = LOOK_MS;
	if (!best || a->count >= FH_AHEAD_MOST)
		return NULL;
	int64_t due = due_ns(a, best);
	if (due <= now)
		return best;
	*ret_wait_ms = (due - now) / FH_NS_PER_MS + 1;
	return NULL;
}

/* Starts the interpreter of what will be the sandbox's default context. Where it does not start, whoever runs the first
 * code is told why. */
static void start_python(struct fh_hosted *h)
{
	struct fh_context_options o = FH_CONTEXT_OPTIONS_INIT;
	char **env = fh_account_env(h, "user", false, NULL);
	o.language = "python";
	o.cwd = fh_account_home("user");
	o.env = (const char *const *)env;
	o.preload = h->server->options.preload;
	o.preload_quietly = true; /* the client did not ask for them, and hears of it when its code imports one */
	(void)fh_context_create(h->sandbox, &o, &h->first_python, NULL);
	fh_strings_free(env);
}

/* NULL: it cannot be made now. */
static struct fh_hosted *make(struct fh_ahead *a, const struct fh_key *owner, const char *template_id, bool runs_code)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_hosted *h = fh_hosted_new_ahead(a->registry, owner, template_id);
	if (!h)
		return NULL;
	if (fh_hosted_boot(h, NULL, -1, &err) < 0) {
		fh_hosted_drop(h);
		fh_hosted_give_place(a->registry);
		return NULL;
	}
	if (runs_code)
		start_python(h);
	h->made_ns = fh_now_ns();
	return h;
}

/* Makes one for a kind. Called with the lock, which is not held meanwhile. */
static void make_for(struct fh_ahead *a, struct kind *k)
{
	const struct fh_key *owner = k->owner;
	bool runs_code = k->ran * 2 > k->taken;
	fh_auto_free char *template_id = fh_xstrdup(k->template_id);
	pthread_mutex_unlock(&a->lock);
	struct fh_hosted *h = make(a, owner, template_id, runs_code);
	pthread_mutex_lock(&a->lock);
	if (!h) {
		k->failed_ns = fh_now_ns(); /* which may be another kind's by now, and then waits as long */
		return;
	}
	struct fh_hosted **last = &a->waiting;
	while (*last)
		last = &(*last)->next;
	*last = h;
	a->count++;
	for (k = a->kinds; k < a->kinds + KINDS_MAX; k++)
		if (k->lacks_ns && count_of(a, k) >= k->target)
			k->lacks_ns = 0;
}

/* Takes out one that has waited for too long, and wants fewer of its kind. */
static struct fh_hosted *expired(struct fh_ahead *a)
{
	struct fh_hosted *h = a->waiting;
	if (!h || fh_now_ns() - h->made_ns < FH_AHEAD_IDLE_S * FH_NS_PER_S)
		return NULL;
	struct kind *k = find(a, h);
	if (k && k->target)
		k->target--;
	return take_out(a, NULL);
}

static void *work(void *context)
{
	struct fh_ahead *a = context;
	pthread_mutex_lock(&a->lock);
	while (!a->stopping) {
		struct fh_hosted *old = expired(a);
		int64_t wait_ms = LOOK_MS;
		struct kind *k = old ? NULL : lacking(a, &wait_ms);
		if (old) {
			pthread_mutex_unlock(&a->lock);
			discard(a, old);
			pthread_mutex_lock(&a->lock);
		} else if (k) {
			make_for(a, k);
		} else if (a->waiting || wait_ms < LOOK_MS) {
			fh_wait_ms(&a->changed, &a->lock, wait_ms);
		} else {
			pthread_cond_wait(&a->changed, &a->lock);
		}
	}
	pthread_mutex_unlock(&a->lock);
	return NULL;
}

FH_OWN struct fh_ahead *fh_ahead_new(struct fh_hosted_registry *g)
{
	struct fh_ahead *a = FH_NEW(struct fh_ahead);
	a->registry = g;
	pthread_mutex_init(&a->lock, NULL);
	fh_condition_init(&a->changed);
	if (pthread_create(&a->maker, NULL, work, a) != 0)
		abort();
	return a;
}

void fh_ahead_stop(struct fh_ahead *a)
{
	pthread_mutex_lock(&a->lock);
	bool was = a->stopping;
	a->stopping = true;
	pthread_cond_signal(&a->changed);
	pthread_mutex_unlock(&a->lock);
	if (!was)
		pthread_join(a->maker, NULL);
	while (fh_ahead_give_up_one(a))
		;
}

void fh_ahead_free(FH_OWN FH_NULLABLE struct fh_ahead *a)
{
	if (!a)
		return;
	fh_ahead_stop(a);
	for (size_t i = 0; i < KINDS_MAX; i++)
		free(a->kinds[i].template_id);
	pthread_cond_destroy(&a->changed);
	pthread_mutex_destroy(&a->lock);
	free(a);
}
