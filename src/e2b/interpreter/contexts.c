/* SPDX-License-Identifier: MIT */
#include "e2b/interpreter/contexts.h"

#include <stdio.h>
#include <sys/random.h>

#include "base/text/uuid.h"
#include "e2b/envd/entry.h"
#include "e2b/hosted/accounts.h"
#include "e2b/hosted/logs.h"
#include "e2b/registry/ahead.h"
#include "e2b/registry/registry.h"

enum { CONTEXTS_MAX = 64 };

static const char *const listed_from_the_beginning[] = { "python", "javascript" };

static struct fh_hosted_context *hold(struct fh_hosted_context *c)
{
	atomic_fetch_add(&c->references, 1);
	return c;
}

void fh_hosted_context_drop(struct fh_hosted_context *c)
{
	if (atomic_fetch_sub(&c->references, 1) != 1)
		return;
	fh_context_free(c->context);
	pthread_mutex_destroy(&c->starting);
	free(c->cwd);
	free(c);
}

static struct fh_hosted_context *context_new(struct fh_hosted *h, const char *language, const char *cwd)
{
	struct fh_hosted_context *c = FH_NEW(struct fh_hosted_context);
	c->hosted = h;
	c->language = language;
	c->cwd = fh_xstrdup(cwd ? cwd : fh_account_home("user"));
	c->references = 1;
	fh_uuid(c->id);
	pthread_mutex_init(&c->starting, NULL);
	return c;
}

/* Appends c to the list, which gets its own reference. Called with the sandbox's lock. */
static bool append(struct fh_hosted *h, struct fh_hosted_context *c)
{
	struct fh_hosted_context **at = &h->contexts;
	size_t n = 0;
	for (; *at; at = &(*at)->next)
		n++;
	if (n >= CONTEXTS_MAX || h->state == FH_HOSTED_GONE)
		return false;
	*at = hold(c);
	return true;
}

/* The default context of a language; NULL: there is none yet. Called with the sandbox's lock. */
static struct fh_hosted_context *find_default(const struct fh_hosted *h, const char *language)
{
	struct fh_hosted_context *c = h->contexts;
	while (c && !(c->is_default && strcmp(c->language, language) == 0))
		c = c->next;
	return c;
}

/* Appends the default contexts that are always listed. Called with the sandbox's lock. */
static void append_first(struct fh_hosted *h)
{
	if (h->contexts_begun)
		return;
	h->contexts_begun = true;
	for (size_t i = 0; i < FH_ARRAY_SIZE(listed_from_the_beginning); i++) {
		if (find_default(h, listed_from_the_beginning[i])) /* a fork has its original's */
			continue;
		struct fh_hosted_context *c = context_new(h, listed_from_the_beginning[i], NULL);
		c->is_default = true;
		(void)append(h, c);
		fh_hosted_context_drop(c);
	}
}

/* Takes the interpreter that was started ahead, if this context is what it was started for. False: there is none, or it
 * cannot be given the sandbox's variables any more. */
static bool start_from_ahead(struct fh_hosted_context *c, char **env)
{
	struct fh_hosted *h = c->hosted;
	if (!c->is_default || strcmp(c->language, "python") != 0)
		return false;
	fh_ahead_runs_code(fh_hosted_ahead(h), h);
	pthread_mutex_lock(&h->lock);
	struct fh_context *first = FH_TAKE_PTR(h->first_python);
	pthread_mutex_unlock(&h->lock);
	if (first && fh_context_adopt(first, (const char *const *)env, NULL) == 0) {
		c->context = first;
		return true;
	}
	if (first) {
		(void)fh_context_remove(first, NULL);
		fh_context_free(first);
	}
	return false;
}

int fh_hosted_context_start(struct fh_hosted_context *c, struct fh_error *err)
{
	struct fh_context_options o = FH_CONTEXT_OPTIONS_INIT;
	int r = 0;
	pthread_mutex_lock(&c->starting);
	if (!c->context) {
		char **env = fh_account_env(c->hosted, "user", false, NULL);
		fh_auto_free char *cwd = fh_account_path("user", c->cwd);
		o.language = c->language;
		o.cwd = cwd;
		o.env = (const char *const *)env;
		if (!start_from_ahead(c, env))
			r = fh_context_create(c->hosted->sandbox, &o, &c->context, err);
		fh_strings_free(env);
	}
	pthread_mutex_unlock(&c->starting);
	return r;
}

int fh_hosted_context_create(struct fh_hosted *h, const char *language, FH_NULLABLE const char *cwd,
                             struct fh_hosted_context **ret, struct fh_error *err)
{
	struct fh_hosted_context *c = context_new(h, language, cwd);
	fh_auto_free char *folder = cwd ? fh_account_path("user", cwd) : NULL;
	int r = folder && !fh_account_has_folder(h, fh_account_for(h, "user"), folder)
	            ? fh_entry_make_folders(h, "user", folder, err)
	            : 0;
	if (r == 0)
		r = fh_hosted_context_start(c, err);
	if (r == 0) {
		pthread_mutex_lock(&h->lock);
		append_first(h);
		if (!append(h, c))
			r = fh_error_set(err, FH_E_LIMIT, "a sandbox has at most %d contexts", CONTEXTS_MAX);
		pthread_mutex_unlock(&h->lock);
	}
	if (r < 0 && c->context)
		(void)fh_context_remove(c->context, NULL);
	if (r < 0)
		fh_hosted_context_drop(c);
	else
		*ret = c;
	return r;
}

FH_NULLABLE struct fh_hosted_context *fh_hosted_context_find(struct fh_hosted *h, const char *id)
{
	pthread_mutex_lock(&h->lock);
	append_first(h);
	struct fh_hosted_context *c = h->contexts;
	while (c && strcmp(c->id, id) != 0)
		c = c->next;
	if (c)
		hold(c);
	pthread_mutex_unlock(&h->lock);
	return c;
}

struct fh_hosted_context *fh_hosted_context_default(struct fh_hosted *h, const char *language)
{
	pthread_mutex_lock(&h->lock);
	append_first(h);
	struct fh_hosted_context *c = find_default(h, language);
	if (c) {
		hold(c);
	} else {
		c = context_new(h, language, NULL);
		c->is_default = true;
		(void)append(h, c); /* if the sandbox has ended, only the caller has the context, and its run fails */
	}
	pthread_mutex_unlock(&h->lock);
	return c;
}

/* A running context of Python, of those after the first `skip` of the list; NULL: there is none. */
static struct fh_hosted_context *next_to_fork(struct fh_hosted *h, size_t *skip)
{
	struct fh_hosted_context *c;
	size_t n = 0;
	pthread_mutex_lock(&h->lock);
	for (c = h->contexts; c && (n++ < *skip || strcmp(c->language, "python") != 0); c = c->next)
		;
	if (c)
		hold(c);
	pthread_mutex_unlock(&h->lock);
	*skip = n;
	return c;
}

/* The fork's own context of that id. */
static void fork_one(struct fh_hosted_context *from, struct fh_hosted *to)
{
	struct fh_hosted_context *c = context_new(to, from->language, from->cwd);
	bool kept = false;
	memcpy(c->id, from->id, sizeof(c->id));
	c->is_default = from->is_default;
	struct fh_error err = FH_ERROR_INIT;
	if (fh_context_branch_into(from->context, to->sandbox, &c->context, &err) < 0) {
		fh_hosted_note(to, "warn", "context %s begins without its original's variables: %s", c->id, err.message);
		c->context = NULL;
	}
	pthread_mutex_lock(&to->lock);
	kept = append(to, c);
	pthread_mutex_unlock(&to->lock);
	if (!kept && c->context)
		(void)fh_context_remove(c->context, NULL);
	fh_hosted_context_drop(c);
}

void fh_hosted_contexts_fork(struct fh_hosted *from, struct fh_hosted *to)
{
	size_t skip = 0;
	for (struct fh_hosted_context *c; (c = next_to_fork(from, &skip)); fh_hosted_context_drop(c)) {
		pthread_mutex_lock(&c->starting);
		bool idle = c->context && !fh_context_is_running(c->context);
		pthread_mutex_unlock(&c->starting);
		if (idle)
			fork_one(c, to);
	}
}

bool fh_hosted_context_remove(struct fh_hosted_context *c)
{
	struct fh_hosted *h = c->hosted;
	bool found = false;
	pthread_mutex_lock(&h->lock);
	for (struct fh_hosted_context **at = &h->contexts; *at; at = &(*at)->next)
		if (*at == c) {
			*at = c->next;
			found = true;
			break;
		}
	pthread_mutex_unlock(&h->lock);
	if (!found)
		return false;
	pthread_mutex_lock(&c->starting);
	if (c->context)
		(void)fh_context_remove(c->context, NULL);
	pthread_mutex_unlock(&c->starting);
	fh_hosted_context_drop(c);
	return true;
}

FH_OWN json_t *fh_hosted_context_object(const struct fh_hosted_context *c)
{
	json_t *o = json_object();
	json_object_set_new(o, "id", json_string(c->id));
	json_object_set_new(o, "language", json_string(c->language));
	json_object_set_new(o, "cwd", fh_json_bytes(fh_str(c->cwd)));
	return o;
}

FH_OWN json_t *fh_hosted_context_list(struct fh_hosted *h)
{
	json_t *list = json_array();
	pthread_mutex_lock(&h->lock);
	append_first(h);
	for (const struct fh_hosted_context *c = h->contexts; c; c = c->next)
		json_array_append_new(list, fh_hosted_context_object(c));
	pthread_mutex_unlock(&h->lock);
	return list;
}

void fh_hosted_forget_contexts(struct fh_hosted *h)
{
	pthread_mutex_lock(&h->lock);
	struct fh_hosted_context *list = h->contexts;
	struct fh_context *first = FH_TAKE_PTR(h->first_python);
	h->contexts = NULL;
	h->contexts_begun = false;
	pthread_mutex_unlock(&h->lock);
	fh_context_free(first); /* its process ends with the sandbox, or with all other programs */
	while (list) {
		struct fh_hosted_context *next = list->next;
		fh_hosted_context_drop(list);
		list = next;
	}
}
