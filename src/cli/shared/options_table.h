/* SPDX-License-Identifier: MIT */
/* What parsing (options.c) and help (options_help.c) share of an option table; for these two files. */
#pragma once
#include "base/buf.h"
#include "cli/shared/options.h"

/* Whether the row is an option and no heading. */
static inline bool fh_opt_is_option(const struct fh_opt *o)
{
	return o->name && o->name[0];
}

/* NULL: no option has this letter. */
const struct fh_opt *fh_opt_find_letter(const struct fh_opt *table, char letter);

/* A number in the unit of the kind's target, as a user would type it: 1073741824 of FH_OPT_SIZE is "1G". */
void fh_opt_put_number(struct fh_buf *out, enum fh_opt_kind kind, uint64_t number);
