/* SPDX-License-Identifier: MIT */
#include "e2b/volumes/volumes.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/path.h"
#include "e2b/common/random_text.h"
#include "e2b/common/state.h"
#include "e2b/hosted/e2b.h"
#include "e2b/registry/registry.h"
#include "e2b/volumes/volume_size.h"

enum { THROUGH_MS = 60 * 1000, EMPTY_MS = 10 * 60 * 1000 };
#define NO_STATE                                                                                                       \
	"this server keeps no volumes, as it has no folder for them: start it with --state FOLDER, or write the files "    \
	"into the sandbox, or keep them in a snapshot or template"

struct fh_volumes {
	struct fh_e2b *server;
	pthread_mutex_t lock;
	struct fh_volume *list; /* the oldest first */
	struct fh_volume_watch *watch;
	/* set once a volume could be mounted in a sandbox, which shows that the file system of --state allows it */
	atomic_bool mountable;
};

FH_OWN struct fh_volumes *fh_volumes_new(struct fh_e2b *server)
{
	struct fh_volumes *s = FH_NEW(struct fh_volumes);
	s->server = server;
	pthread_mutex_init(&s->lock, NULL);
	return s;
}

static size_t mounted(void *volumes, struct fh_volume ***ret)
{
	struct fh_volumes *s = volumes;
	struct fh_volume **list = NULL;
	size_t n = 0, capacity = 0;
	pthread_mutex_lock(&s->lock);
	for (struct fh_volume *v = s->list; v; v = v->next)
		if (atomic_load(&v->mounts) > 0 || atomic_load(&v->is_full) || atomic_load(&v->is_changed))
			FH_PUSH(list, n, capacity) = fh_volume_hold(v);
	pthread_mutex_unlock(&s->lock);
	*ret = list;
	return n;
}

void fh_volumes_watch(struct fh_volumes *s)
{
	if (s->server->state)
		s->watch = fh_volume_watch_start(s->server, mounted, s);
}

void fh_volumes_stop(struct fh_volumes *s)
{
	fh_volume_watch_stop(FH_TAKE_PTR(s->watch));
}

void fh_volumes_free(FH_OWN struct fh_volumes *s)
{
	fh_volumes_stop(s);
	for (struct fh_volume *v = s->list, *next; v; v = next) {
		next = v->next;
		fh_volume_drop(v);
	}
	pthread_mutex_destroy(&s->lock);
	free(s);
}

/* -------------------------------------------------------------------------------------------------------- finding */

struct fh_volume *fh_volume_find(struct fh_volumes *s, const char *id)
{
	pthread_mutex_lock(&s->lock);
	struct fh_volume *v = s->list;
	while (v && strcmp(v->id, id) != 0)
		v = v->next;
	if (v)
		fh_volume_hold(v);
	pthread_mutex_unlock(&s->lock);
	return v;
}

/* Called with the list's lock. */
static struct fh_volume *named(struct fh_volumes *s, const struct fh_key *owner, const char *name)
{
	struct fh_volume *v = s->list;
	while (v && (v->owner != owner || strcmp(v->name, name) != 0))
		v = v->next;
	return v;
}

struct fh_volume *fh_volume_find_name(struct fh_volumes *s, const struct fh_key *owner, const char *name)
{
	pthread_mutex_lock(&s->lock);
	struct fh_volume *v = named(s, owner, name);
	if (v)
		fh_volume_hold(v);
	pthread_mutex_unlock(&s->lock);
	return v;
}

FH_OWN json_t *fh_volume_list(struct fh_volumes *s, const struct fh_key *owner)
{
	json_t *list = json_array();
	pthread_mutex_lock(&s->lock);
	for (const struct fh_volume *v = s->list; v; v = v->next) {
		if (v->owner != owner)
			continue;
		json_t *o = json_object();
		json_object_set_new(o, "volumeID", json_string(v->id));
		json_object_set_new(o, "name", json_string(v->name));
		json_array_append_new(list, o);
	}
	pthread_mutex_unlock(&s->lock);
	return list;
}

/* ------------------------------------------------------------------------------------------------- begin and end */

/* The name of its folder and record in the state. */
static void record_name(const struct fh_volume *v, char ret[FH_VOLUME_ID + 16])
{
	snprintf(ret, FH_VOLUME_ID + 16, "volume-%s", v->id);
}

static struct fh_volume *volume_new(struct fh_volumes *s, const struct fh_key *owner, const char *id, const char *name)
{
	char file[FH_VOLUME_ID + 16];
	struct fh_volume *v = FH_NEW(struct fh_volume);
	v->owner = owner;
	v->references = 1;
	v->name = fh_xstrdup(name);
	snprintf(v->id, sizeof(v->id), "%s", id);
	record_name(v, file);
	v->folder = fh_path_join(fh_state_path(s->server->state), file);
	pthread_mutex_init(&v->lock, NULL);
	return v;
}

/* Appends it. -FH_E_CONFIG, -FH_E_LIMIT: see fh_volume_create. */
static int insert(struct fh_volumes *s, struct fh_volume *v, struct fh_error *err)
{
	uint64_t own = 0, max = v->owner->ceilings.value[FH_CEILING_VOLUMES];
	struct fh_volume **at = &s->list;
	int r = 0;
	pthread_mutex_lock(&s->lock);
	for (; *at; at = &(*at)->next)
		own += (*at)->owner == v->owner;
	if (named(s, v->owner, v->name))
		r = fh_error_set(err, FH_E_CONFIG, "there is a volume called %s", v->name);
	else if (own >= max)
		r = fh_error_set(err, FH_E_LIMIT, "you have reached the maximum number of volumes (%llu)",
		                 (unsigned long long)max);
	else
		*at = fh_volume_hold(v);
	pthread_mutex_unlock(&s->lock);
	return r;
}

/* Takes it out of the list and drops the list's reference; false: it was not in it. */
static bool take_out(struct fh_volumes *s, struct fh_volume *v)
{
	pthread_mutex_lock(&s->lock);
	struct fh_volume **at = &s->list;
	while (*at && *at != v)
		at = &(*at)->next;
	bool found = *at;
	if (found)
		*at = v->next;
	pthread_mutex_unlock(&s->lock);
	if (found)
		fh_volume_drop(v);
	return found;
}

static int make(struct fh_volumes *s, struct fh_volume *v, struct fh_error *err)
{
	char file[FH_VOLUME_ID + 16];
	fh_auto_json json_t *record = json_object();
	json_object_set_new(record, "kind", json_string("volume"));
	json_object_set_new(record, "made", json_integer(v->made_us));
	json_object_set_new(record, "id", json_string(v->id));
	json_object_set_new(record, "token", json_string(v->token));
	json_object_set_new(record, "name", json_string(v->name));
	record_name(v, file);
	if (mkdir(v->folder, 0755) < 0)
		return fh_error_sys(err, errno, "cannot make the folder %s", v->folder);
	int r = fh_state_update(s->server->state, file, v->owner, record, err);
	if (r < 0)
		(void)rmdir(v->folder);
	return r;
}

/* Mounts a server's first volume, so that whoever makes it is told at once when no sandbox could have it. */
static int try_first(struct fh_volumes *s, struct fh_volume *v, struct fh_error *err)
{
	struct fh_error why = FH_ERROR_INIT;
	fh_auto_hosted struct fh_hosted *h = NULL;
	if (atomic_load(&s->mountable))
		return 0;
	int r = fh_volume_enter(v, s->server, &h, &why);
	if (r == 0) {
		atomic_store(&s->mountable, true);
		return 0;
	}
	if (why.sys == EINVAL || why.sys == EPERM)
		return fh_error_set(err, FH_E_UNAVAILABLE, "this server can keep no volumes: %s%s%s", why.message,
		                    *why.hint ? "; " : "", why.hint);
	*err = why;
	return r;
}

/* Takes back what insert and make did. */
static void unmake(struct fh_volumes *s, struct fh_volume *v)
{
	char file[FH_VOLUME_ID + 16];
	record_name(v, file);
	(void)rmdir(v->folder);
	fh_state_remove(s->server->state, file);
	(void)take_out(s, v);
}

int fh_volume_create(struct fh_volumes *s, const struct fh_key *owner, const char *name, struct fh_volume **ret,
                     struct fh_error *err)
{
	char id[FH_VOLUME_ID] = "v";
	if (!s->server->state)
		return fh_error_set(err, FH_E_UNAVAILABLE, NO_STATE);
	fh_random_text(id + 1, FH_VOLUME_ID - 2);
	fh_auto_volume struct fh_volume *v = volume_new(s, owner, id, name);
	fh_random_text(v->token, FH_VOLUME_TOKEN - 1);
	v->made_us = fh_wall_us();
	int r = insert(s, v, err);
	if (r == 0 && (r = make(s, v, err)) < 0)
		(void)take_out(s, v);
	if (r == 0 && (r = try_first(s, v, err)) < 0)
		unmake(s, v);
	if (r == 0)
		*ret = FH_TAKE_PTR(v);
	return r;
}

int fh_volume_again(struct fh_volumes *s, const struct fh_key *owner, const json_t *record, struct fh_error *err)
{
	const char *id = fh_json_str(record, "id", ""), *token = fh_json_str(record, "token", ""),
	           *name = fh_json_str(record, "name", "");
	if (strlen(id) != FH_VOLUME_ID - 1 || strlen(token) != FH_VOLUME_TOKEN - 1 || !*name || strchr(id, '/'))
		return fh_error_set(err, FH_E_CONFIG, "a record of --state has no id, token or name of a volume");
	fh_auto_volume struct fh_volume *v = volume_new(s, owner, id, name);
	snprintf(v->token, sizeof(v->token), "%s", token);
	v->made_us = fh_json_int(record, "made", 0);
	if (!fh_path_is_dir(v->folder))
		return fh_error_set(err, FH_E_CONFIG, "the folder of volume %s is missing: %s", name, v->folder);
	return insert(s, v, err);
}

/* Removes what is in the volume, from the inside. */
static int empty(struct fh_volumes *s, struct fh_volume *v, struct fh_error *err)
{
	fh_auto_hosted struct fh_hosted *h = NULL;
	int r = fh_volume_enter(v, s->server, &h, err);
	if (r == 0)
		r = fh_volume_empty(h, EMPTY_MS, err);
	if (h)
		(void)fh_hosted_end(h);
	return r;
}

int fh_volume_remove(struct fh_volumes *s, struct fh_volume *v, struct fh_error *err)
{
	char file[FH_VOLUME_ID + 16];
	int none = 0;
	record_name(v, file);
	if (!atomic_compare_exchange_strong(&v->mounts, &none, -1)) /* from now on it cannot be mounted */
		return fh_error_set(
		    err, FH_E_CONFIG,
		    none < 0 ? "the volume is being removed" : "%d sandboxes have the volume mounted: end them first", none);
	int r = empty(s, v, err);
	if (r == 0 && rmdir(v->folder) < 0 && errno != ENOENT)
		r = fh_error_sys(err, errno, "cannot remove the folder %s", v->folder);
	if (r < 0) {
		atomic_store(&v->mounts, 0);
		return r;
	}
	fh_state_remove(s->server->state, file);
	(void)take_out(s, v);
	return 0;
}

/* --------------------------------------------------------------------------------------------------------- inside */

int fh_volume_enter(struct fh_volume *v, struct fh_e2b *server, struct fh_hosted **ret, struct fh_error *err)
{
	pthread_mutex_lock(&v->lock);
	struct fh_hosted *h = *v->through ? fh_hosted_find(server->registry, v->through) : NULL;
	int r = 0;
	if (h && (!fh_hosted_is_running(h) || fh_e2b_engine_is_dead(h->engine))) {
		fh_hosted_drop(h);
		h = NULL;
	}
	if (h) {
		fh_hosted_set_lifetime(h, THROUGH_MS, true);
	} else {
		struct fh_hosted_request q = {
			.owner = v->owner, .template_id = "base", .lifetime_ms = THROUGH_MS, .builds = true, .through = v
		};
		r = fh_hosted_create(server->registry, &q, &h, err);
		if (r == 0)
			snprintf(v->through, sizeof(v->through), "%s", h->id);
	}
	pthread_mutex_unlock(&v->lock);
	if (r == 0)
		*ret = h;
	return r;
}
