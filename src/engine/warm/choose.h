/* SPDX-License-Identifier: MIT */
/* Which template serves a run, and how. */
#pragma once
#include "engine/warm/decide.h"
#include "engine/warm/template.h"

/* Finds, or starts to make, the template of the plan. *ret_template: for TEMPLATE, PARKED, DEFER; `why` (160 bytes):
 * for FRESH, why not faster ("": nothing to say). An error where the plan asks for what cannot be. */
int fh_template_choose(struct fh_engine *e, const struct fh_plan *plan, uid_t owner, bool may_defer,
                       enum fh_choice *ret_choice, struct fh_template **ret_template, char why[160],
                       struct fh_error *err);
void fh_template_on_look(struct fh_timer *timer); /* is it idle, old or used up? */
