/* SPDX-License-Identifier: MIT */
#include "e2b/hosted/logs.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/clock.h"

static const char *const levels[] = { "debug", "info", "warn", "error" };

static size_t level_number(FH_NULLABLE const char *name)
{
	for (size_t i = 0; name && i < FH_ARRAY_SIZE(levels); i++)
		if (strcmp(name, levels[i]) == 0)
			return i;
	return 0;
}

void fh_hosted_note(struct fh_hosted *h, const char *level, const char *format, ...)
{
	char message[512], time[32];
	va_list args;
	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	json_t *o = json_object(), *fields = json_object();
	int64_t now_ms = fh_wall_ms();
	json_object_set_new(fields, "sandboxID", json_string(h->id));
	json_object_set_new(o, "timestamp", json_string(fh_iso_time(now_ms, time)));
	json_object_set_new(o, "ms", json_integer(now_ms));
	json_object_set_new(o, "level", json_string(level));
	json_object_set_new(o, "message", fh_json_bytes(fh_str(message)));
	json_object_set_new(o, "fields", fields);
	pthread_mutex_lock(&h->lock);
	if (!h->log)
		h->log = json_array();
	if (json_array_size(h->log) >= FH_LOG_ENTRIES_MAX)
		json_array_remove(h->log, 0);
	json_array_append_new(h->log, o);
	pthread_mutex_unlock(&h->lock);
}

static bool fits(const struct fh_log_query *q, const json_t *entry)
{
	int64_t at = fh_json_int(entry, "ms", 0);
	if (q->cursor_ms && (q->backwards ? at > q->cursor_ms : at < q->cursor_ms))
		return false;
	return level_number(fh_json_str(entry, "level", NULL)) >= level_number(q->level) &&
	       (!q->search || strstr(fh_json_str(entry, "message", ""), q->search));
}

FH_OWN json_t *fh_hosted_logs(struct fh_hosted *h, const struct fh_log_query *q)
{
	json_t *list = json_array();
	pthread_mutex_lock(&h->lock);
	size_t n = json_array_size(h->log);
	for (size_t i = 0; i < n && json_array_size(list) < q->limit; i++) {
		json_t *entry = json_array_get(h->log, q->backwards ? n - 1 - i : i);
		if (!fits(q, entry))
			continue;
		json_t *shown = json_copy(entry);
		json_object_del(shown, "ms");
		json_array_append_new(list, shown);
	}
	pthread_mutex_unlock(&h->lock);
	return list;
}
