/* SPDX-License-Identifier: MIT */
#include "e2b/templates.h"

#include <pthread.h>

#include "base/error.h"

enum { NAME_MAX_BYTES = 128 };

static const char *const built_in[] = { "base", "code-interpreter-v1", "code-interpreter", "e2bdev/base" };

struct snapshot {
	const struct fh_key *owner;
	char *id;         /* with its tag */
	char *sandbox_id; /* that it was taken of */
	struct fh_sandbox *sandbox;
	struct snapshot *next;
};

struct fh_templates {
	pthread_rwlock_t lock;      /* for reading while a snapshot is taken: branches of it are made side by side */
	struct snapshot *snapshots; /* newest first */
};

FH_OWN struct fh_templates *fh_templates_new(void)
{
	struct fh_templates *t = FH_NEW(struct fh_templates);
	pthread_rwlock_init(&t->lock, NULL);
	return t;
}

static void snapshot_free(struct snapshot *s)
{
	(void)fh_sandbox_destroy(s->sandbox, NULL);
	fh_sandbox_free(s->sandbox);
	free(s->sandbox_id);
	free(s->id);
	free(s);
}

void fh_templates_free(FH_OWN struct fh_templates *t)
{
	while (t->snapshots) {
		struct snapshot *next = t->snapshots->next;
		snapshot_free(t->snapshots);
		t->snapshots = next;
	}
	pthread_rwlock_destroy(&t->lock);
	free(t);
}

static bool is_built_in(const char *name)
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

/* Where it hangs; points to NULL when there is none. Locked. */
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
	if (is_built_in(name))
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
	if (!s)
		pthread_rwlock_unlock(&t->lock);
	return s ? s->sandbox : NULL;
}

void fh_templates_give_back(struct fh_templates *t)
{
	pthread_rwlock_unlock(&t->lock);
}

static bool is_name(const char *name)
{
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./");
	const char *tag = name[n] == ':' ? name + n + 1 : NULL;
	return n > 0 && strlen(name) <= NAME_MAX_BYTES &&
	       (!name[n] ||
	        (tag && *tag && !tag[strspn(tag, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")]));
}

int fh_templates_add(struct fh_templates *t, const struct fh_key *owner, const char *name, const char *sandbox_id,
                     struct fh_sandbox *sandbox, char **ret_id, struct fh_error *err)
{
	size_t count = 0;
	if (!is_name(name) || is_built_in(name))
		return fh_error_set(err, FH_E_ARGUMENT, "'%.64s' cannot be the name of a snapshot", name);
	struct snapshot *s = FH_NEW(struct snapshot), *old;
	*s = (struct snapshot){ owner, with_tag(name), fh_xstrdup(sandbox_id), sandbox, NULL };
	pthread_rwlock_wrlock(&t->lock);
	struct snapshot **at = find(t, owner, name);
	old = *at;
	if (old)
		*at = old->next;
	for (const struct snapshot *x = t->snapshots; x; x = x->next)
		count += x->owner == owner;
	bool room = count < FH_SNAPSHOTS_MAX;
	if (room) {
		s->next = t->snapshots;
		t->snapshots = s;
		*ret_id = fh_xstrdup(s->id);
	}
	pthread_rwlock_unlock(&t->lock);
	if (old)
		snapshot_free(old);
	if (room)
		return 0;
	free(s->id);
	free(s->sandbox_id);
	free(s);
	return fh_error_set(err, FH_E_LIMIT, "you have as many snapshots as may be (%d)", FH_SNAPSHOTS_MAX);
}

bool fh_templates_remove(struct fh_templates *t, const struct fh_key *owner, const char *name)
{
	pthread_rwlock_wrlock(&t->lock);
	struct snapshot **at = find(t, owner, name), *s = *at;
	if (s)
		*at = s->next;
	pthread_rwlock_unlock(&t->lock);
	if (s)
		snapshot_free(s);
	return s != NULL;
}

FH_OWN json_t *fh_templates_list(struct fh_templates *t, const struct fh_key *owner, FH_NULLABLE const char *sandbox_id,
                                 FH_NULLABLE const char *name)
{
	json_t *list = json_array();
	fh_auto_free char *id = name ? with_tag(name) : NULL;
	pthread_rwlock_rdlock(&t->lock);
	for (const struct snapshot *s = t->snapshots; s; s = s->next) {
		if (s->owner != owner || (sandbox_id && strcmp(sandbox_id, s->sandbox_id) != 0) ||
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
