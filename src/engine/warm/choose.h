/* SPDX-License-Identifier: MIT */
/* How the sandbox of a request is made, whether a run or a session asks: chooses which template serves it and by which
 * start, and carries that out. */
#pragma once
#include "engine/warm/decide.h"
#include "engine/warm/template.h"

struct fh_chosen {
	enum fh_choice choice;
	FH_NULLABLE struct fh_template *template; /* the template to use, for TEMPLATE, PARKED and DEFER */
	char why[160]; /* for FRESH: why no faster start was possible; "": there is no reason to report */
};

/* Finds the template of the plan, or starts to make it. Fails if the plan demands a start that is not possible. */
int fh_template_choose(struct fh_engine *e, const struct fh_plan *plan, uid_t owner, bool may_defer,
                       struct fh_chosen *ret, struct fh_error *err);
/* Starts to make the sandbox of a request in the way that was chosen, or takes a parked one, which is ready when this
 * returns. Not for DEFER. Takes ownership of the plan, on failure too. */
int fh_chosen_make(struct fh_engine *e, const struct fh_chosen *chosen, const struct fh_owner *owner,
                   FH_OWN struct fh_plan *plan, struct fh_connection *c, uint64_t request, struct fh_sandbox **ret,
                   struct fh_error *err);
void fh_template_on_look(struct fh_timer *timer); /* ends a template that is idle, old or forked too often */
