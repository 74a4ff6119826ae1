/* SPDX-License-Identifier: MIT */
/*
 * The code contexts of a hosted sandbox, for the API at its interpreter port. A sandbox has one default context for
 * each language; those of Python and JavaScript are listed from the beginning. An interpreter starts at the first
 * use of its context.
 *
 * Contexts are reference-counted: the list and each run hold a reference.
 */
#pragma once
#include "e2b/hosted/hosted.h"
#include "fumehood/context.h"

struct fh_hosted_context {
	struct fh_hosted *hosted; /* the sandbox, which outlives the context */
	char id[37];
	const char *language; /* libfumehood's name for it */
	char *cwd;            /* working directory from the client's request */
	bool is_default;

	pthread_mutex_t starting; /* held while the interpreter starts */
	struct fh_context *context;

	atomic_int references;
	struct fh_hosted_context *next; /* next context in the list; guarded by the sandbox's lock */
};

/* Makes a context, adds it to the list and starts its interpreter. -FH_E_LIMIT: there are too many. */
int fh_hosted_context_create(struct fh_hosted *h, const char *language, FH_NULLABLE const char *cwd,
                             struct fh_hosted_context **ret, struct fh_error *err);
FH_NULLABLE struct fh_hosted_context *fh_hosted_context_find(struct fh_hosted *h, const char *id);
/* The default context of a language, which is made if necessary. */
struct fh_hosted_context *fh_hosted_context_default(struct fh_hosted *h, const char *language);
/* Starts the context's interpreter, unless it has been started. */
int fh_hosted_context_start(struct fh_hosted_context *c, struct fh_error *err);
/* Gives a fork the contexts of its original in which Python runs, under their ids and with their variables (by value:
 * fh_context_branch_into). One that runs code at this moment, or cannot be carried, begins anew in the fork. */
void fh_hosted_contexts_fork(struct fh_hosted *from, struct fh_hosted *to);
/* Removes it from the list. False: it was not there. */
bool fh_hosted_context_remove(struct fh_hosted_context *c);
void fh_hosted_context_drop(struct fh_hosted_context *c);
/* [{"id", "language", "cwd"}], the oldest first. */
FH_OWN json_t *fh_hosted_context_list(struct fh_hosted *h);
FH_OWN json_t *fh_hosted_context_object(const struct fh_hosted_context *c);
void fh_hosted_forget_contexts(struct fh_hosted *h);
