/* SPDX-License-Identifier: MIT */
#include "e2b/registry/templates.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/error.h"
#include "e2b/common/processors.h"
#include "e2b/common/state.h"
#include "e2b/hosted/e2b.h"
#include "proto/plan.h"

enum { NAME_MAX_BYTES = 128 };

/* "mcp-gateway" is what the SDKs ask for with `mcp`: they start a program of that name inside and say that it is
 * missing, where it is. */
static const char *const built_in[] = { "base", "code-interpreter-v1", "code-interpreter", "e2bdev/base",
	                                    "mcp-gateway" };

/* The files of a snapshot, which may have several names. Each name holds a reference; guarded by the table's lock. */
struct image {
	struct fh_sandbox *sandbox;
	json_t *settings; /* settings of the template; NULL: it has none */
	char build_id[FH_UUID_SIZE];
	unsigned names;
	atomic_uint_fast64_t taken;  /* number of sandboxes that were created from it */
	atomic_int_fast64_t last_ms; /* when the last sandbox was created from it, by the wall clock; 0: never */
};

struct snapshot {
	const struct fh_key *owner;
	char *id;         /* name with its tag */
	char *sandbox_id; /* the sandbox from which it was taken; "": made by a build */
	struct image *image;
	int64_t made_ms;
	struct snapshot *next;
};

struct fh_templates {
	struct fh_state *state;     /* NULL: nothing is kept on disk; borrowed */
	pthread_rwlock_t lock;      /* held for reading while branches of a snapshot are made */
	struct snapshot *snapshots; /* list of snapshots, the newest first */
};

FH_OWN struct fh_templates *fh_templates_new(FH_NULLABLE struct fh_state *state)
{
	struct fh_templates *t = FH_NEW(struct fh_templates);
	t->state = state;
	pthread_rwlock_init(&t->lock, NULL);
	return t;
}

/* Frees a name; returns the image if this was its last name. Called with the lock. */
static struct image *snapshot_free(struct snapshot *s)
{
	struct image *last = --s->image->names ? NULL : s->image;
	free(s->sandbox_id);
	free(s->id);
	free(s);
	return last;
}

/* Called without the lock, because it takes long. */
static void image_free(FH_NULLABLE struct image *image)
{
	if (!image)
		return;
	(void)fh_sandbox_destroy(image->sandbox, NULL);
	fh_sandbox_free(image->sandbox);
	json_decref(image->settings);
	free(image);
}

void fh_templates_free(FH_OWN struct fh_templates *t)
{
	while (t->snapshots) {
		struct snapshot *next = t->snapshots->next;
		image_free(snapshot_free(t->snapshots));
		t->snapshots = next;
	}
	pthread_rwlock_destroy(&t->lock);
	free(t);
}

/* ------------------------------------------------------------------------------------------------------ kept on disk */

static void record_name(const struct image *image, char ret[FH_UUID_SIZE + 16])
{
	snprintf(ret, FH_UUID_SIZE + 16, "template-%s", image->build_id);
}

static void add_name(json_t *names, const struct snapshot *s)
{
	json_t *o = json_object();
	json_object_set_new(o, "id", json_string(s->id));
	json_object_set_new(o, "sandbox_id", json_string(s->sandbox_id));
	json_object_set_new(o, "made_ms", json_integer(s->made_ms));
	json_array_append_new(names, o);
}

static FH_OWN json_t *record_of(const struct image *image, json_t *names)
{
	json_t *o = json_object();
	json_object_set_new(o, "kind", json_string("template"));
	json_object_set_new(o, "made", json_integer(fh_wall_us()));
	json_object_set_new(o, "build_id", json_string(image->build_id));
	json_object_set(o, "settings", image->settings ? image->settings : json_null());
	json_object_set_new(o, "names", names);
	return o;
}

/* Writes the names of an image again, the oldest first. Called with the lock. */
static void keep_names(struct fh_templates *t, const struct fh_key *owner, const struct image *image)
{
	char name[FH_UUID_SIZE + 16];
	json_t *names = json_array();
	if (!t->state) {
		json_decref(names);
		return;
	}
	for (const struct snapshot *s = t->snapshots; s; s = s->next)
		if (s->image == image)
			add_name(names, s);
	fh_auto_json json_t *record = record_of(image, names);
	record_name(image, name);
	(void)fh_state_update(t->state, name, owner, record, NULL);
}

/* Frees an image whose last name is gone, on disk as well. Called without the lock. */
static void image_remove(struct fh_templates *t, FH_NULLABLE struct image *image)
{
	char name[FH_UUID_SIZE + 16];
	if (!image)
		return;
	record_name(image, name);
	fh_state_remove(t->state, name);
	image_free(image);
}

/* ----------------------------------------------------------------------------------------------------------- names */

bool fh_template_is_built_in(const char *name)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(built_in); i++)
		if (strcmp(name, built_in[i]) == 0)
			return true;
	return false;
}

static FH_OWN char *with_tag(const char *name)
{
	return strchr(name, ':') ? fh_xstrdup(name) : fh_xasprintf("%s:default", name);
}

/* The pointer in the list that points to the snapshot; it points to NULL when there is none. Called with the lock. */
static struct snapshot **find(struct fh_templates *t, const struct fh_key *owner, const char *name)
{
	fh_auto_free char *id = with_tag(name);
	struct snapshot **at = &t->snapshots;
	while (*at && !((*at)->owner == owner && strcmp((*at)->id, id) == 0))
		at = &(*at)->next;
	return at;
}

bool fh_templates_have(struct fh_templates *t, const struct fh_key *owner, const char *name)
{
	if (fh_template_is_built_in(name))
		return true;
	pthread_rwlock_rdlock(&t->lock);
	bool found = *find(t, owner, name) != NULL;
	pthread_rwlock_unlock(&t->lock);
	return found;
}

FH_NULLABLE struct fh_sandbox *fh_templates_take(struct fh_templates *t, const struct fh_key *owner, const char *name)
{
	pthread_rwlock_rdlock(&t->lock);
	struct snapshot *s = *find(t, owner, name);
	if (!s) {
		pthread_rwlock_unlock(&t->lock);
		return NULL;
	}
	atomic_fetch_add(&s->image->taken, 1);
	atomic_store(&s->image->last_ms, fh_wall_ms());
	return s->image->sandbox;
}

void fh_templates_give_back(struct fh_templates *t)
{
	pthread_rwlock_unlock(&t->lock);
}

bool fh_template_is_tag(const char *tag)
{
	return *tag && strlen(tag) <= NAME_MAX_BYTES &&
	       !tag[strspn(tag, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")];
}

bool fh_template_is_name(const char *name)
{
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./");
	return n > 0 && strlen(name) <= NAME_MAX_BYTES &&
	       (!name[n] || (name[n] == ':' && fh_template_is_tag(name + n + 1)));
}

/* Adds s to the front of the list, in place of the snapshot that had its name. False, with nothing changed: `owner` has
 * the maximum. Called with the lock. */
static bool put(struct fh_templates *t, struct snapshot *s, struct image **ret_old)
{
	size_t count = 0;
	struct snapshot **at = find(t, s->owner, s->id), *old = *at;
	for (const struct snapshot *x = t->snapshots; x; x = x->next)
		count += x->owner == s->owner;
	if (!old && count >= FH_SNAPSHOTS_MAX)
		return false;
	s->image->names++;
	struct image *other = old && old->image != s->image ? old->image : NULL;
	if (old) {
		*at = old->next;
		*ret_old = snapshot_free(old);
	}
	s->next = t->snapshots;
	t->snapshots = s;
	if (other && !*ret_old)
		keep_names(t, s->owner, other);
	keep_names(t, s->owner, s->image);
	return true;
}

static int too_many(struct fh_error *err)
{
	return fh_error_set(err, FH_E_LIMIT, "you have reached the maximum number of snapshots and templates (%d)",
	                    FH_SNAPSHOTS_MAX);
}

int fh_templates_add(struct fh_templates *t, const struct fh_key *owner, const struct fh_template_made *made,
                     char **ret_id, struct fh_error *err)
{
	struct image *old = NULL;
	if (!fh_template_is_name(made->name) || fh_template_is_built_in(made->name))
		return fh_error_set(err, FH_E_ARGUMENT, "'%.64s' cannot be the name of a snapshot or template", made->name);
	struct snapshot *s = FH_NEW(struct snapshot);
	struct image *image = FH_NEW(struct image);
	*image =
	    (struct image){ .sandbox = made->sandbox, .settings = made->settings ? json_incref(made->settings) : NULL };
	if (made->build_id)
		snprintf(image->build_id, sizeof(image->build_id), "%s", made->build_id);
	else
		fh_uuid(image->build_id);
	*s = (struct snapshot){ owner, with_tag(made->name), fh_xstrdup(made->sandbox_id), image, fh_wall_ms(), NULL };
	fh_auto_free char *id = fh_xstrdup(s->id);
	char file[FH_UUID_SIZE + 16];
	record_name(image, file);
	fh_auto_json json_t *record = record_of(image, json_array());
	bool kept = fh_state_save(t->state, file, owner, made->sandbox, record, err) == 0;
	pthread_rwlock_wrlock(&t->lock);
	bool room = kept && put(t, s, &old);
	pthread_rwlock_unlock(&t->lock);
	image_remove(t, old);
	if (room) {
		*ret_id = FH_TAKE_PTR(id);
		return 0;
	}
	fh_state_remove(t->state, file);
	json_decref(image->settings);
	free(image);
	free(s->id);
	free(s->sandbox_id);
	free(s);
	return kept ? too_many(err) : -FH_E_SYSTEM;
}

int fh_templates_put_back(struct fh_templates *t, const struct fh_key *owner, const json_t *record,
                          struct fh_sandbox *sandbox, struct fh_error *err)
{
	const json_t *names = json_object_get(record, "names"), *name;
	const char *build_id = fh_json_str(record, "build_id", "");
	json_t *settings = json_object_get(record, "settings");
	size_t i;
	bool good = json_array_size(names) > 0 && json_array_size(names) <= FH_SNAPSHOTS_MAX &&
	            strlen(build_id) == FH_UUID_SIZE - 1;
	json_array_foreach(names, i, name) good =
	    good && fh_template_is_name(fh_json_str(name, "id", "")) && strchr(fh_json_str(name, "id", ""), ':');
	if (!good)
		return fh_error_set(err, FH_E_CONFIG, "a record of --state has no names of a template");
	struct image *image = FH_NEW(struct image);
	*image = (struct image){ .sandbox = sandbox, .settings = json_is_object(settings) ? json_incref(settings) : NULL };
	snprintf(image->build_id, sizeof(image->build_id), "%s", build_id);
	pthread_rwlock_wrlock(&t->lock);
	for (i = json_array_size(names); i-- > 0;) { /* the newest first, as the list is */
		struct snapshot *s = FH_NEW(struct snapshot);
		name = json_array_get(names, i);
		*s = (struct snapshot){
			owner, fh_xstrdup(fh_json_str(name, "id", "")), fh_xstrdup(fh_json_str(name, "sandbox_id", "")),
			image, fh_json_int(name, "made_ms", 0),         t->snapshots
		};
		t->snapshots = s;
		image->names++;
	}
	pthread_rwlock_unlock(&t->lock);
	return 0;
}

int fh_templates_tag(struct fh_templates *t, const struct fh_key *owner, const char *name, const char *tag,
                     char ret_build_id[FH_UUID_SIZE], struct fh_error *err)
{
	struct image *old = NULL;
	int r = 0;
	if (!fh_template_is_tag(tag))
		return fh_error_set(err, FH_E_ARGUMENT, "'%.64s' is not a tag: letters, digits, '-', '_' and '.'", tag);
	struct snapshot *s = FH_NEW(struct snapshot);
	pthread_rwlock_wrlock(&t->lock);
	struct snapshot *from = *find(t, owner, name);
	if (from) {
		*s = (struct snapshot){ owner,
			                    fh_xasprintf("%.*s:%s", (int)strcspn(name, ":"), name, tag),
			                    fh_xstrdup(from->sandbox_id),
			                    from->image,
			                    fh_wall_ms(),
			                    NULL };
		memcpy(ret_build_id, from->image->build_id, FH_UUID_SIZE);
	}
	if (!from || !put(t, s, &old)) {
		r = from ? too_many(err) : fh_error_set(err, FH_E_NOT_FOUND, "template '%.64s' not found", name);
		free(s->id);
		free(s->sandbox_id);
		free(s);
	}
	pthread_rwlock_unlock(&t->lock);
	image_remove(t, old);
	return r;
}

/* Takes a snapshot out of the list. Called with the lock for writing. Returns its image if no other has it, to be given
 * to image_remove() without the lock; else NULL. */
static struct image *take_out(struct fh_templates *t, const struct fh_key *owner, struct snapshot **at)
{
	struct snapshot *s = *at;
	struct image *image = s->image;
	*at = s->next;
	struct image *last = snapshot_free(s);
	if (!last)
		keep_names(t, owner, image);
	return last;
}

/* Whether a snapshot has this name, with any tag. */
static bool is_of(const struct snapshot *s, const struct fh_key *owner, const char *name)
{
	size_t n = strcspn(name, ":");
	return s->owner == owner && strncmp(s->id, name, n) == 0 && s->id[n] == ':';
}

bool fh_templates_remove_all(struct fh_templates *t, const struct fh_key *owner, const char *name)
{
	for (bool found = false;; found = true) {
		struct image *last = NULL;
		pthread_rwlock_wrlock(&t->lock);
		struct snapshot **at = &t->snapshots, *s;
		while (*at && ((*(*at)->sandbox_id) || !is_of(*at, owner, name)))
			at = &(*at)->next;
		s = *at;
		if (s)
			last = take_out(t, owner, at);
		pthread_rwlock_unlock(&t->lock);
		image_remove(t, last);
		if (!s)
			return found;
	}
}

bool fh_templates_remove(struct fh_templates *t, const struct fh_key *owner, const char *name)
{
	struct image *last = NULL;
	pthread_rwlock_wrlock(&t->lock);
	struct snapshot **at = find(t, owner, name), *s = *at;
	if (s)
		last = take_out(t, owner, at);
	pthread_rwlock_unlock(&t->lock);
	image_remove(t, last);
	return s != NULL;
}

bool fh_templates_have_any(struct fh_templates *t, const struct fh_key *owner, const char *name)
{
	pthread_rwlock_rdlock(&t->lock);
	struct snapshot *s = t->snapshots;
	while (s && !is_of(s, owner, name))
		s = s->next;
	pthread_rwlock_unlock(&t->lock);
	return s || fh_template_is_built_in(name);
}

FH_OWN json_t *fh_templates_tags(struct fh_templates *t, const struct fh_key *owner, const char *name)
{
	json_t *list = json_array();
	char time[32];
	pthread_rwlock_rdlock(&t->lock);
	for (const struct snapshot *s = t->snapshots; s; s = s->next) {
		if (!is_of(s, owner, name))
			continue;
		json_t *o = json_object();
		json_object_set_new(o, "tag", json_string(strchr(s->id, ':') + 1));
		json_object_set_new(o, "buildID", json_string(s->image->build_id));
		json_object_set_new(o, "createdAt", json_string(fh_iso_time(s->made_ms, time)));
		json_array_append_new(list, o);
	}
	pthread_rwlock_unlock(&t->lock);
	return list;
}

static json_t *time_or_null(int64_t ms)
{
	char time[32];
	return ms ? json_string(fh_iso_time(ms, time)) : json_null();
}

void fh_template_lower(const json_t *settings, struct fh_limits *limits)
{
	uint64_t cpus = (uint64_t)fh_json_int(settings, "cpuCount", 0), *rate = &limits->value[FH_LIMIT_CPU_RATE];
	uint64_t memory = (uint64_t)fh_json_int(settings, "memoryMB", 0) << 20, *most = &limits->value[FH_LIMIT_MEMORY];
	if (cpus && cpus < fh_e2b_processors() && (!*rate || cpus * 1000 < *rate))
		*rate = cpus * 1000;
	if (memory && memory < *most)
		*most = memory;
	fh_limits_bound_disk(limits);
}

/* A template as its newest tag shows it. */
static json_t *template_object(const struct snapshot *s, const char *name)
{
	struct fh_limits limits;
	json_t *o = json_object(), *names = json_array();
	fh_ceilings_limits(&s->owner->ceilings, &limits);
	fh_template_lower(s->image->settings, &limits);
	uint64_t milli = limits.value[FH_LIMIT_CPU_RATE], cpus = milli ? (milli + 999) / 1000 : fh_e2b_processors();
	json_array_append_new(names, json_string(name));
	json_object_set_new(o, "templateID", json_string(name));
	json_object_set_new(o, "buildID", json_string(s->image->build_id));
	json_object_set_new(o, "buildStatus", json_string("ready"));
	json_object_set_new(o, "public", json_false());
	json_object_set(o, "aliases", names);
	json_object_set_new(o, "names", names);
	json_object_set_new(o, "cpuCount", json_integer((json_int_t)cpus));
	json_object_set_new(o, "memoryMB", json_integer((json_int_t)(limits.value[FH_LIMIT_MEMORY] >> 20)));
	json_object_set_new(o, "diskSizeMB", json_integer((json_int_t)(limits.value[FH_LIMIT_DISK] >> 20)));
	json_object_set_new(o, "createdAt", time_or_null(s->made_ms));
	json_object_set_new(o, "updatedAt", time_or_null(s->made_ms));
	json_object_set_new(o, "createdBy", json_null());
	json_object_set_new(o, "lastSpawnedAt", time_or_null(atomic_load(&s->image->last_ms)));
	json_object_set_new(o, "spawnCount", json_integer((json_int_t)atomic_load(&s->image->taken)));
	json_object_set_new(o, "buildCount", json_integer(1));
	json_object_set_new(o, "envdVersion", json_string(FH_ENVD_VERSION));
	return o;
}

/* Counts an older tag of a template that is in the list. */
static void add_older(json_t *o, const struct snapshot *s, bool is_counted)
{
	json_object_set_new(o, "createdAt", time_or_null(s->made_ms));
	if (is_counted)
		return; /* another tag of the same build */
	json_object_set_new(o, "buildCount", json_integer(fh_json_int(o, "buildCount", 0) + 1));
	json_object_set_new(o, "spawnCount",
	                    json_integer(fh_json_int(o, "spawnCount", 0) + (json_int_t)atomic_load(&s->image->taken)));
}

FH_OWN json_t *fh_templates_built(struct fh_templates *t, const struct fh_key *owner)
{
	json_t *by_name = json_object(), *builds = json_object(), *list = json_array(), *o;
	const char *key;
	pthread_rwlock_rdlock(&t->lock);
	for (const struct snapshot *s = t->snapshots; s; s = s->next) {
		if (s->owner != owner || *s->sandbox_id)
			continue;
		fh_auto_free char *name = fh_xstrndup(s->id, strcspn(s->id, ":"));
		if ((o = json_object_get(by_name, name)))
			add_older(o, s, json_object_get(builds, s->image->build_id));
		else
			json_object_set_new(by_name, name, template_object(s, name));
		json_object_set_new(builds, s->image->build_id, json_true());
	}
	pthread_rwlock_unlock(&t->lock);
	json_object_foreach(by_name, key, o) json_array_append(list, o);
	json_decref(by_name);
	json_decref(builds);
	return list;
}

FH_OWN FH_NULLABLE json_t *fh_templates_settings(struct fh_templates *t, const struct fh_key *owner, const char *name)
{
	pthread_rwlock_rdlock(&t->lock);
	struct snapshot *s = *find(t, owner, name);
	json_t *settings = s && s->image->settings ? json_incref(s->image->settings) : NULL;
	pthread_rwlock_unlock(&t->lock);
	return settings;
}

FH_OWN json_t *fh_templates_list(struct fh_templates *t, const struct fh_key *owner, FH_NULLABLE const char *sandbox_id,
                                 FH_NULLABLE const char *name)
{
	json_t *list = json_array();
	fh_auto_free char *id = name ? with_tag(name) : NULL;
	pthread_rwlock_rdlock(&t->lock);
	for (const struct snapshot *s = t->snapshots; s; s = s->next) {
		if (s->owner != owner || !*s->sandbox_id || (sandbox_id && strcmp(sandbox_id, s->sandbox_id) != 0) ||
		    (id && strcmp(id, s->id) != 0))
			continue;
		json_t *o = json_object(), *names = json_array();
		json_array_append_new(names, json_string(s->id));
		json_object_set_new(o, "snapshotID", json_string(s->id));
		json_object_set_new(o, "names", names);
		json_array_append_new(list, o);
	}
	pthread_rwlock_unlock(&t->lock);
	return list;
}
