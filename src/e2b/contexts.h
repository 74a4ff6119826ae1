/* SPDX-License-Identifier: MIT */
/*
 * The code contexts of a hosted sandbox, as its interpreter port shows them.
 *
 * A sandbox has one default context for each language; those of python and javascript are listed from the beginning. An
 * interpreter starts when its context is used first. A context is counted: the list and each run hold a reference.
 */
#pragma once
#include "e2b/sandboxes.h"
#include "fumehood/context.h"

struct fh_hosted_context {
	struct fh_hosted *hosted; /* of its list: outlives it */
	char id[37];
	const char *language; /* in libfumehood's words */
	char *cwd;            /* as asked for */
	bool is_default;

	pthread_mutex_t starting; /* held while the interpreter starts */
	struct fh_context *context;

	atomic_int references;
	struct fh_hosted_context *next; /* the sandbox's lock */
};

/* "js" and so on; NULL: no such language. */
FH_NULLABLE const char *fh_hosted_language(const char *name);
/* A new one, in the list, its interpreter started. -FH_E_LIMIT: too many. */
int fh_hosted_context_create(struct fh_hosted *h, const char *language, FH_NULLABLE const char *cwd,
                             struct fh_hosted_context **ret, struct fh_error *err);
FH_NULLABLE struct fh_hosted_context *fh_hosted_context_find(struct fh_hosted *h, const char *id);
/* The default one of a language; made when there is none yet. */
struct fh_hosted_context *fh_hosted_context_default(struct fh_hosted *h, const char *language);
/* Starts its interpreter if that has not been started. */
int fh_hosted_context_start(struct fh_hosted_context *c, struct fh_error *err);
/* False: it was not in the list any more. */
bool fh_hosted_context_remove(struct fh_hosted_context *c);
void fh_hosted_context_drop(struct fh_hosted_context *c);
/* [{"id", "language", "cwd"}], oldest first. */
FH_OWN json_t *fh_hosted_context_list(struct fh_hosted *h);
FH_OWN json_t *fh_hosted_context_object(const struct fh_hosted_context *c);
void fh_hosted_forget_contexts(struct fh_hosted *h);
