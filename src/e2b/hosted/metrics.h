/* SPDX-License-Identifier: MIT */
/* Resource usage of a hosted sandbox, in samples: one is taken at each request for them, and kept for an hour. */
#pragma once
#include "e2b/hosted/hosted.h"

/* Takes a sample and returns those from start_s to end_s (seconds since 1970; 0: no bound), the oldest first. */
FH_OWN json_t *fh_hosted_metrics(struct fh_hosted *h, int64_t start_s, int64_t end_s);
void fh_hosted_forget_metrics(struct fh_hosted *h);
