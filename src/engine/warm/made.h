/* SPDX-License-Identifier: MIT */
/* Sandboxes made from a template by its holder: for one request, or ahead of it, parked in the pool until a request
 * adopts one. */
#pragma once
#include "engine/warm/template.h"

/* Starts to make a sandbox from a template; plan NULL: for the pool. Takes ownership of the plan, on failure too. */
int fh_made_start(struct fh_template *t, const struct fh_owner *owner, FH_NULLABLE FH_OWN struct fh_plan *plan,
                  struct fh_connection *c, uint64_t request, struct fh_sandbox **ret, struct fh_error *err);
/* Called when the child has a pidfd, and when its set-up succeeded; continues once both are true. */
void fh_made_on_launched(struct fh_sandbox *b);
/* Making the sandbox from its template failed; its owner decides what to do. */
void fh_made_failed(struct fh_sandbox *b, const struct fh_error *err);
void fh_made_on_program(struct fh_sandbox *b); /* The program was forked, and its isolation was checked. */
void fh_made_on_program_end(struct fh_sandbox *b, const struct fh_init_exited *m);
/* Gives a parked sandbox to a request, whose owner becomes the sandbox's. */
void fh_made_adopt(struct fh_sandbox *b, const struct fh_owner *owner, FH_OWN struct fh_plan *plan,
                   struct fh_connection *c, uint64_t request);
/* Whether a parked sandbox has the control groups that the plan's limits need. (The rest that must agree is in the
 * key.) */
bool fh_made_fits(const struct fh_sandbox *b, const struct fh_plan *plan);
/* Makes the sandbox fresh, because its template cannot make it; fails it if the plan demands the faster start. */
void fh_made_fall_back(struct fh_sandbox *b, const char *why);
