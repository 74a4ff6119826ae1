/* SPDX-License-Identifier: MIT */
/* Chooses which template serves a run, and by which start. */
#pragma once
#include "engine/warm/decide.h"
#include "engine/warm/template.h"

/* Finds the template of the plan, or starts to make it. *ret_template is set for TEMPLATE, PARKED and DEFER. For FRESH,
 * `why` (160 bytes) receives the reason why no faster start was possible ("": none to report). Fails if the plan
 * demands a start that is not possible. */
int fh_template_choose(struct fh_engine *e, const struct fh_plan *plan, uid_t owner, bool may_defer,
                       enum fh_choice *ret_choice, struct fh_template **ret_template, char why[160],
                       struct fh_error *err);
void fh_template_on_look(struct fh_timer *timer); /* ends a template that is idle, old or forked too often */
