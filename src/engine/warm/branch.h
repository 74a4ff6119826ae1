/* SPDX-License-Identifier: MIT */
/* The trees of zygotes (template.h): one that differs from another in its modules alone is branched from that. */
#pragma once
#include "engine/warm/template.h"

/* Of those that serve, the one with the most modules that has nothing beside what the plan wants; NULL: none. */
FH_NULLABLE struct fh_template *fh_template_nearest(struct fh_engine *e, const struct fh_plan *plan, uid_t owner);
/* Starts to make one from `from`; takes the key over, but not when it returns NULL: cannot be now. */
FH_NULLABLE struct fh_template *fh_template_branch(struct fh_template *from, const struct fh_plan *plan,
                                                   struct fh_buf *key);
void fh_template_on_stem(struct fh_watch *w, uint32_t events); /* its answers */
bool fh_template_has_printed(struct fh_template *t);           /* its zygote, when it started; forgets it */
