/* SPDX-License-Identifier: MIT */
#include "e2b/control/builds.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "e2b/common/threads.h"
#include "e2b/control/build_run.h"

enum { LOG_PAGE = 100 };

struct archive {
	const struct fh_key *owner;
	char *hash, *token;
	int fd;
	bool whole;
	struct archive *next;
};

struct fh_template_builds {
	struct fh_e2b *server;
	pthread_mutex_t lock;
	struct fh_template_build *builds; /* list of builds, the newest first */
	struct archive *archives;         /* list of archives, the newest first */
};

FH_OWN struct fh_template_builds *fh_template_builds_new(struct fh_e2b *server)
{
	struct fh_template_builds *b = FH_NEW(struct fh_template_builds);
	b->server = server;
	pthread_mutex_init(&b->lock, NULL);
	return b;
}

static void archive_free(struct archive *a)
{
	close(a->fd);
	free(a->hash);
	free(a->token);
	free(a);
}

void fh_template_build_drop(struct fh_template_build *b)
{
	if (atomic_fetch_sub(&b->references, 1) != 1)
		return;
	json_decref(b->tags);
	json_decref(b->size);
	json_decref(b->request);
	json_decref(b->log);
	pthread_mutex_destroy(&b->lock);
	free(b->name);
	free(b->reason);
	free(b);
}

void fh_template_builds_free(FH_OWN struct fh_template_builds *b)
{
	while (b->builds) {
		struct fh_template_build *next = b->builds->next;
		fh_template_build_drop(b->builds);
		b->builds = next;
	}
	while (b->archives) {
		struct archive *next = b->archives->next;
		archive_free(b->archives);
		b->archives = next;
	}
	pthread_mutex_destroy(&b->lock);
	free(b);
}

/* --------------------------------------------------------------------------------------------------------- builds */

/* Frees this owner's oldest builds beyond the bound. Called with the lock. */
static void forget_old(struct fh_template_builds *b, const struct fh_key *owner)
{
	size_t n = 0;
	for (struct fh_template_build **at = &b->builds; *at;) {
		struct fh_template_build *x = *at;
		if (x->owner == owner && ++n > FH_BUILDS_MAX) {
			*at = x->next;
			fh_template_build_drop(x);
		} else {
			at = &x->next;
		}
	}
}

void fh_template_build_announce(struct fh_template_builds *b, const struct fh_key *owner, const char *name,
                                json_t *tags, json_t *size, char ret_id[FH_UUID_SIZE])
{
	struct fh_template_build *x = FH_NEW(struct fh_template_build);
	x->server = b->server;
	x->owner = owner;
	x->name = fh_xstrdup(name);
	x->tags = json_incref(tags);
	x->size = json_incref(size);
	x->log = json_array();
	x->references = 1;
	pthread_mutex_init(&x->lock, NULL);
	fh_uuid(x->id);
	memcpy(ret_id, x->id, FH_UUID_SIZE);
	pthread_mutex_lock(&b->lock);
	x->next = b->builds;
	b->builds = x;
	forget_old(b, owner);
	pthread_mutex_unlock(&b->lock);
}

/* A build with a reference, or NULL. */
static struct fh_template_build *find(struct fh_template_builds *b, const struct fh_key *owner, const char *name,
                                      const char *id)
{
	pthread_mutex_lock(&b->lock);
	struct fh_template_build *x = b->builds;
	while (x && !(x->owner == owner && strcmp(x->id, id) == 0 && strcmp(x->name, name) == 0))
		x = x->next;
	if (x)
		atomic_fetch_add(&x->references, 1);
	pthread_mutex_unlock(&b->lock);
	return x;
}

int fh_template_build_start(struct fh_template_builds *b, const struct fh_key *owner, const char *name, const char *id,
                            json_t *request, struct fh_error *err)
{
	struct fh_template_build *x = find(b, owner, name, id);
	if (!x)
		return fh_error_set(err, FH_E_NOT_FOUND, "there is no build %.64s of template '%.64s'", id, name);
	pthread_mutex_lock(&x->lock);
	bool begins = x->state == FH_BUILD_WAITING;
	if (begins) {
		x->state = FH_BUILD_BUILDING;
		x->request = json_incref(request);
	}
	pthread_mutex_unlock(&x->lock);
	if (begins) {
		fh_thread_start(fh_template_build_run, x); /* takes over the reference */
		return 0;
	}
	fh_template_build_drop(x);
	return fh_error_set(err, FH_E_ARGUMENT, "build %.64s has begun already", id);
}

FH_OWN FH_NULLABLE json_t *fh_template_build_status(struct fh_template_builds *b, const struct fh_key *owner,
                                                    const char *name, const char *id, size_t offset)
{
	static const char *const states[] = { "waiting", "building", "ready", "error" };
	struct fh_template_build *x = find(b, owner, name, id);
	if (!x)
		return NULL;
	json_t *o = json_object(), *logs = json_array(), *entries = json_array();
	pthread_mutex_lock(&x->lock);
	for (size_t i = offset; i < json_array_size(x->log) && i - offset < LOG_PAGE; i++) {
		json_t *entry = json_array_get(x->log, i);
		json_array_append(entries, entry);
		json_array_append(logs, json_object_get(entry, "message"));
	}
	json_object_set_new(o, "templateID", json_string(x->name));
	json_object_set_new(o, "buildID", json_string(x->id));
	json_object_set_new(o, "status", json_string(states[x->state]));
	json_object_set_new(o, "logs", logs);
	json_object_set_new(o, "logEntries", entries);
	if (x->state == FH_BUILD_FAILED) {
		json_t *reason = json_object();
		json_object_set_new(reason, "message", fh_json_bytes(fh_str(x->reason)));
		if (*x->step)
			json_object_set_new(reason, "step", json_string(x->step));
		json_object_set_new(reason, "logEntries", json_array());
		json_object_set_new(o, "reason", reason);
	}
	pthread_mutex_unlock(&x->lock);
	fh_template_build_drop(x);
	return o;
}

/* ------------------------------------------------------------------------------------------------------- archives */

/* Opens an unnamed file, so that it disappears with the server even if that is killed. */
static int open_nameless(void)
{
	const char *folder = getenv("TMPDIR");
	return open(folder && *folder ? folder : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

/* Frees the owner's oldest archives beyond the bound. Called with the lock. */
static void forget_old_archives(struct fh_template_builds *b, const struct fh_key *owner)
{
	size_t n = 0;
	for (struct archive **at = &b->archives; *at;) {
		struct archive *a = *at;
		if (a->owner == owner && ++n > FH_BUILD_ARCHIVES_MAX) {
			*at = a->next;
			archive_free(a);
		} else {
			at = &a->next;
		}
	}
}

bool fh_template_build_has_archive(struct fh_template_builds *b, const struct fh_key *owner, const char *hash,
                                   char **ret_token)
{
	pthread_mutex_lock(&b->lock);
	struct archive *a = b->archives;
	while (a && !(a->owner == owner && strcmp(a->hash, hash) == 0))
		a = a->next;
	bool whole = a && a->whole;
	int fd = a ? -1 : open_nameless();
	if (fd >= 0) {
		char first[FH_UUID_SIZE], second[FH_UUID_SIZE];
		fh_uuid(first);
		fh_uuid(second);
		a = FH_NEW(struct archive);
		*a = (struct archive){ owner, fh_xstrdup(hash), fh_xasprintf("%s%s", first, second), fd, false, b->archives };
		b->archives = a;
		forget_old_archives(b, owner);
	}
	*ret_token = a && !whole ? fh_xstrdup(a->token) : NULL;
	pthread_mutex_unlock(&b->lock);
	return whole;
}

/* Called with the lock. */
static struct archive *find_token(struct fh_template_builds *b, const char *token)
{
	struct archive *a = b->archives;
	while (a && !fh_secret_equal(a->token, token))
		a = a->next;
	return a;
}

int fh_template_build_archive_open(struct fh_template_builds *b, const char *token)
{
	int fd = -1;
	pthread_mutex_lock(&b->lock);
	struct archive *a = find_token(b, token);
	if (a && !a->whole) /* a complete archive is never changed, as a build may be reading it */
		fd = fcntl(a->fd, F_DUPFD_CLOEXEC, 0);
	pthread_mutex_unlock(&b->lock);
	if (fd >= 0 && (ftruncate(fd, 0) < 0 || lseek(fd, 0, SEEK_SET) < 0)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

void fh_template_build_archive_done(struct fh_template_builds *b, const char *token)
{
	pthread_mutex_lock(&b->lock);
	struct archive *a = find_token(b, token);
	if (a)
		a->whole = true;
	pthread_mutex_unlock(&b->lock);
}

int fh_template_build_archive_read(struct fh_e2b *s, const struct fh_key *owner, const char *hash)
{
	struct fh_template_builds *b = s->builds;
	int fd = -1;
	pthread_mutex_lock(&b->lock);
	struct archive *a = b->archives;
	while (a && !(a->owner == owner && a->whole && strcmp(a->hash, hash) == 0))
		a = a->next;
	if (a)
		fd = fcntl(a->fd, F_DUPFD_CLOEXEC, 0);
	pthread_mutex_unlock(&b->lock);
	return fd;
}
