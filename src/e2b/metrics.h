/* SPDX-License-Identifier: MIT */
/* What a hosted sandbox used, sample by sample: one for each time that somebody asked, and none older than an hour. */
#pragma once
#include "e2b/sandboxes.h"

/* Takes a sample and gives those from start_s to end_s (seconds since 1970; 0: no bound), oldest first. */
FH_OWN json_t *fh_hosted_metrics(struct fh_hosted *h, int64_t start_s, int64_t end_s);
void fh_hosted_forget_metrics(struct fh_hosted *h);
