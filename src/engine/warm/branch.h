/* SPDX-License-Identifier: MIT */
/* Trees of zygotes (template.h): a zygote whose plan differs from another's only in having more modules is branched
 * from it. */
#pragma once
#include "engine/warm/template.h"

/* Of the serving templates that have no module beyond those the plan wants, the one with the most; NULL: none. */
FH_NULLABLE struct fh_template *fh_template_nearest(struct fh_engine *e, const struct fh_plan *plan, uid_t owner);
/* Starts to make a template by branching `from`. Takes ownership of the key, unless it returns NULL: not possible at
 * the moment. */
FH_NULLABLE struct fh_template *fh_template_branch(struct fh_template *from, const struct fh_plan *plan,
                                                   struct fh_buf *key);
void fh_template_on_stem(struct fh_watch *w, uint32_t events); /* Reads the answers of a template's stem. */
/* Whether the template's zygote printed anything while it started; discards that. */
bool fh_template_has_printed(struct fh_template *t);
