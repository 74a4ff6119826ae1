/* SPDX-License-Identifier: MIT */
/* The log of a hosted sandbox: its last FH_LOG_ENTRIES_MAX events, for the API's logs route. */
#pragma once
#include "e2b/hosted/hosted.h"

enum { FH_LOG_ENTRIES_MAX = 1000, FH_LOG_PAGE_MAX = 1000 };

/* Adds an event. level: "debug", "info", "warn" or "error". To be called without the sandbox's lock. */
void fh_hosted_note(struct fh_hosted *h, const char *level, const char *format, ...) FH_PRINTF(3, 4);

struct fh_log_query {
	int64_t cursor_ms; /* time of the first entry to return; 0: from the beginning (backwards: from the end) */
	size_t limit;
	bool backwards;
	const char *level, *search; /* lowest level; text that messages have to contain; NULL: no filter */
};
/* The entries as [{"timestamp", "level", "message", "fields"}]. */
FH_OWN json_t *fh_hosted_logs(struct fh_hosted *h, const struct fh_log_query *q);
