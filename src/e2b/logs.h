/* SPDX-License-Identifier: MIT */
/* What happened in a hosted sandbox: the last FH_LOG_ENTRIES_MAX events, as its logs route shows them. */
#pragma once
#include "e2b/sandboxes.h"

enum { FH_LOG_ENTRIES_MAX = 1000, FH_LOG_PAGE_MAX = 1000 };

/* level: "debug", "info", "warn" or "error". The sandbox's lock is not held. */
void fh_hosted_note(struct fh_hosted *h, const char *level, const char *format, ...) FH_PRINTF(3, 4);

struct fh_log_query {
	int64_t cursor_ms; /* of the first entry that is wanted; 0: from the beginning (backwards: from the end) */
	size_t limit;
	bool backwards;
	const char *level, *search; /* NULL: all. The least level; a part of the message */
};
/* [{"timestamp", "level", "message", "fields"}] */
FH_OWN json_t *fh_hosted_logs(struct fh_hosted *h, const struct fh_log_query *q);
