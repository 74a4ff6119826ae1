/* SPDX-License-Identifier: MIT */
/* Information about the server and its sandboxes: logs, and metrics for Prometheus. */
#include <stdio.h>

#include "base/clock.h"
#include "e2b/control/control.h"
#include "e2b/control/routes.h"
#include "e2b/hosted/logs.h"
#include "e2b/registry/registry.h"

static bool read_log_query(struct fh_http_request *r, struct fh_log_query *q)
{
	const char *cursor = fh_http_query(r, "cursor") ? "cursor" : "start";
	uint64_t cursor_ms, limit;
	if (!fh_e2b_query_number(r, cursor, 0, INT64_MAX, 0, &cursor_ms) ||
	    !fh_e2b_query_number(r, "limit", 1, FH_LOG_PAGE_MAX, FH_LOG_PAGE_MAX, &limit))
		return false;
	q->cursor_ms = (int64_t)cursor_ms;
	q->limit = limit;
	q->backwards = fh_streq(fh_http_query(r, "direction"), "backward");
	q->level = fh_http_query(r, "level");
	q->search = fh_http_query(r, "search");
	return true;
}

static void logs(struct fh_http_request *r, struct fh_str body)
{
	fh_auto_hosted struct fh_hosted *h = fh_control_find(r);
	struct fh_log_query q;
	if (!h || !read_log_query(r, &q))
		return;
	json_t *o = json_object();
	json_object_set_new(o, "logs", fh_hosted_logs(h, &q));
	fh_http_reply_json(r, 200, o);
}

/* An entry as a line of the older form, which the CLI of E2B reads: JSON, its fields beside level and message. */
static json_t *old_line(const json_t *entry)
{
	fh_auto_json json_t *said = json_copy(json_object_get(entry, "fields"));
	json_object_set(said, "level", json_object_get(entry, "level"));
	json_object_set(said, "message", json_object_get(entry, "message"));
	fh_auto_free char *text = fh_json_text(said, 0);
	json_t *line = json_object();
	json_object_set(line, "timestamp", json_object_get(entry, "timestamp"));
	json_object_set_new(line, "line", json_string(text));
	return line;
}

/* Logs in the API's older form: lines, and entries beside them. */
static void old_logs(struct fh_http_request *r, struct fh_str body)
{
	fh_auto_hosted struct fh_hosted *h = fh_control_find(r);
	struct fh_log_query q;
	size_t i;
	json_t *entry;
	if (!h || !read_log_query(r, &q))
		return;
	json_t *o = json_object(), *lines = json_array(), *entries = fh_hosted_logs(h, &q);
	json_array_foreach(entries, i, entry) json_array_append_new(lines, old_line(entry));
	json_object_set_new(o, "logs", lines);
	json_object_set_new(o, "logEntries", entries);
	fh_http_reply_json(r, 200, o);
}

/* Metrics as OpenMetrics text (prometheus.io/docs/specs/om). They are sums over all keys, without names; requests from
 * this machine need no key, others need any key. */
static void metrics(struct fh_http_request *r, struct fh_str body)
{
	struct fh_e2b *s = fh_http_context(r);
	struct fh_hosted **all = NULL;
	size_t running = 0;
	if (!fh_http_from_loopback(r) && !fh_keys_find(&s->keys, fh_http_header(r, "X-API-Key"))) {
		fh_e2b_fail(r, 401, "the API key in the header X-API-Key is missing or not known here");
		return;
	}
	size_t n = fh_hosted_list(s->registry, NULL, &all);
	for (size_t i = 0; i < n; i++) {
		running += fh_hosted_is_running(all[i]);
		fh_hosted_drop(all[i]);
	}
	free(all);
	fh_auto_free char *text =
	    fh_xasprintf("# TYPE fumehood_sandboxes gauge\n"
	                 "# HELP fumehood_sandboxes Sandboxes that are there now.\n"
	                 "fumehood_sandboxes{state=\"running\"} %zu\n"
	                 "fumehood_sandboxes{state=\"paused\"} %zu\n"
	                 "# TYPE fumehood_sandboxes_ahead gauge\n"
	                 "# HELP fumehood_sandboxes_ahead Sandboxes that were made ahead and wait for a request.\n"
	                 "fumehood_sandboxes_ahead %zu\n"
	                 "# TYPE fumehood_sandboxes_created counter\n"
	                 "# HELP fumehood_sandboxes_created Sandboxes that clients created.\n"
	                 "fumehood_sandboxes_created_total %llu\n"
	                 "# TYPE fumehood_requests counter\n"
	                 "# HELP fumehood_requests Requests that were answered.\n"
	                 "fumehood_requests_total %llu\n"
	                 "# TYPE fumehood_request_failures counter\n"
	                 "# HELP fumehood_request_failures Requests that were answered with a status of 500 or more.\n"
	                 "fumehood_request_failures_total %llu\n"
	                 "# TYPE fumehood_uptime_seconds gauge\n"
	                 "# UNIT fumehood_uptime_seconds seconds\n"
	                 "# HELP fumehood_uptime_seconds Since the server was started.\n"
	                 "fumehood_uptime_seconds %.3f\n"
	                 "# EOF\n",
	                 running, n - running, fh_hosted_waiting(s->registry), (unsigned long long)atomic_load(&s->created),
	                 (unsigned long long)atomic_load(&s->requests), (unsigned long long)atomic_load(&s->failures),
	                 (double)(fh_now_ns() - s->started_ns) / FH_NS_PER_S);
	fh_http_reply(r, 200, "application/openmetrics-text; version=1.0.0; charset=utf-8", fh_str(text));
}

const struct fh_http_route fh_e2b_look_routes[] = {
	{ "GET", "/metrics", metrics, .flags = FH_E2B_OPEN },
	{ "GET", "/sandboxes/{id}/logs", old_logs },
	{ "GET", "/v2/sandboxes/{id}/logs", logs },
	{ 0 },
};
