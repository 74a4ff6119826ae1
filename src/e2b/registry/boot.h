/* SPDX-License-Identifier: MIT */
/* Makes the libfumehood sandbox behind a hosted sandbox, and ends what runs in it. */
#pragma once
#include "e2b/hosted/e2b.h"

/* Makes the sandbox behind a hosted one: as a copy of another, from the file of a state, or from its template. `files`
 * -1: there is none. */
int fh_hosted_boot(struct fh_hosted *h, FH_NULLABLE struct fh_sandbox *branch_of, int files, struct fh_error *err);
/* Copies a sandbox's files into a new one that has none of its volumes, for a snapshot. */
int fh_hosted_copy(struct fh_hosted *h, struct fh_sandbox **ret, struct fh_error *err);
/* Kills every program and context of a sandbox that stays alive; its files stay. */
void fh_hosted_end_programs(struct fh_hosted *h);
/* Frees the processes, watchers and contexts of a sandbox that has ended. */
void fh_hosted_release_parts(struct fh_hosted *h);
