/* SPDX-License-Identifier: MIT */
/* Sandboxes that are made of a template: by its holder, or ahead of the request and then adopted by one. */
#pragma once
#include "engine/warm/template.h"

/* Starts to make one; plan NULL: to be parked. The plan is taken, on failure too. */
int fh_made_start(struct fh_template *t, const struct fh_owner *owner, FH_NULLABLE FH_OWN struct fh_plan *plan,
                  struct fh_connection *c, uint64_t request, struct fh_sandbox **ret, struct fh_error *err);
/* The holder's child has a pidfd; its set-up is through: on it goes when both are. */
void fh_made_on_launched(struct fh_sandbox *b);
/* Making it of its template failed: its owner decides what becomes of that. */
void fh_made_failed(struct fh_sandbox *b, const struct fh_error *err);
void fh_made_on_program(struct fh_sandbox *b); /* its program is forked and isolated */
void fh_made_on_program_end(struct fh_sandbox *b, const struct fh_init_exited *m);
/* A parked one becomes a request's, whose owner this is. */
void fh_made_adopt(struct fh_sandbox *b, const struct fh_owner *owner, FH_OWN struct fh_plan *plan,
                   struct fh_connection *c, uint64_t request);
/* Whether a parked one can serve the plan beside what is in the key: control groups that its limits need are there. */
bool fh_made_fits(const struct fh_sandbox *b, const struct fh_plan *plan);
/* Its template cannot make it after all: fresh, where the plan leaves the choice. */
void fh_made_fall_back(struct fh_sandbox *b, const char *why);
