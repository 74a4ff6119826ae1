/* SPDX-License-Identifier: MIT */
/* The control API: creates, finds, prolongs and ends sandboxes. */
#include "e2b/control/control.h"

#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "e2b/common/processors.h"
#include "e2b/control/absent.h"
#include "e2b/control/checks.h"
#include "e2b/control/once.h"
#include "e2b/control/routes.h"
#include "e2b/hosted/metrics.h"
#include "e2b/registry/boot.h"
#include "e2b/registry/registry.h"
#include "e2b/registry/templates.h"
#include "e2b/volumes/volumes.h"
#include "server/http_target.h"

enum { LIST_PAGE_MAX = 100, ENTRIES_MAX = 256, VALUE_MAX = 32 << 10, IDEMPOTENCY_MAX = 255 };

/* A time as "2026-11-23T04:05:06.123456Z". */
static json_t *iso_us(int64_t wall_us)
{
	char date[32], text[48];
	time_t s = (time_t)(wall_us / 1000000);
	struct tm tm;
	strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", gmtime_r(&s, &tm));
	snprintf(text, sizeof(text), "%s.%06dZ", date, (int)(wall_us % 1000000));
	return json_string(text);
}

/* ---------------------------------------------------------------------------------------------- reading a request */

/* Reads a member that is an object of strings within bounds; it may be missing. */
static bool read_strings(struct fh_http_request *r, json_t *body, const char *key, json_t **ret)
{
	json_t *o = json_object_get(body, key), *value;
	const char *name;
	*ret = NULL;
	if (!o || json_is_null(o))
		return true;
	if (!json_is_object(o) || json_object_size(o) > ENTRIES_MAX) {
		fh_e2b_fail(r, 400, "%s must be an object of at most %d strings", key, ENTRIES_MAX);
		return false;
	}
	json_object_foreach(o, name, value) if (!json_is_string(value) || json_string_length(value) > VALUE_MAX ||
	                                        strlen(json_string_value(value)) != json_string_length(value))
	{
		fh_e2b_fail(r, 400, "%s.%.64s must be a text of at most %d bytes", key, name, VALUE_MAX);
		return false;
	}
	*ret = o;
	return true;
}

/* Reads seconds, bounded by the key's ceiling. */
bool fh_control_lifetime(struct fh_http_request *r, const struct fh_key *key, const json_t *body, int64_t least_s,
                         uint64_t *ret_ms)
{
	const json_t *value = json_object_get(body, "timeout");
	uint64_t max = key->ceilings.value[FH_CEILING_LIFETIME];
	if (!value || json_is_null(value)) {
		*ret_ms = FH_MIN(max, (uint64_t)FH_LIFETIME_DEFAULT_MS);
		return true;
	}
	double s = json_number_value(value);
	if (!json_is_number(value) || s < (double)least_s) {
		fh_e2b_fail(r, 400, least_s ? "Timeout must be greater than 0" : "Timeout must not be negative");
		return false;
	}
	if (max != FH_UNLIMITED && s * 1000 > (double)max) {
		fh_e2b_fail(r, 400, "Timeout cannot be greater than %g hours", (double)max / 3600e3);
		return false;
	}
	*ret_ms = s > 1e9 ? (uint64_t)1e12 : (uint64_t)(s * 1000);
	return true;
}

/* The sandbox that the path names, if it belongs to the caller; NULL after replying with 404. */
struct fh_hosted *fh_control_find(struct fh_http_request *r)
{
	struct fh_e2b *s = fh_http_context(r);
	const struct fh_key *key = fh_e2b_key(r);
	struct fh_hosted *h = fh_hosted_find(s->registry, fh_http_segment(r, 0));
	if (h && h->owner == key)
		return h;
	if (h)
		fh_hosted_drop(h);
	fh_e2b_fail(r, 404, "Sandbox \"%.64s\" doesn't exist or you don't have access to it", fh_http_segment(r, 0));
	return NULL;
}

/* ----------------------------------------------------------------------------------------------- what is answered */

json_t *fh_control_sandbox(const struct fh_hosted *h)
{
	json_t *o = json_object();
	json_object_set_new(o, "templateID", json_string(h->template_id));
	json_object_set_new(o, "sandboxID", json_string(h->id));
	json_object_set_new(o, "clientID", json_string(""));
	json_object_set_new(o, "envdVersion", json_string(FH_ENVD_VERSION));
	json_object_set_new(o, "envdAccessToken", json_string(h->token));
	json_object_set_new(o, "trafficAccessToken", *h->traffic ? json_string(h->traffic) : json_null());
	json_object_set_new(o, "domain", json_string(h->server->domain));
	return o;
}

static const char *const state_names[] = {
	[FH_HOSTED_RUNNING] = "running", [FH_HOSTED_PAUSED] = "paused", [FH_HOSTED_GONE] = "gone"
};

static uint64_t shown_cpus(const struct fh_hosted *h)
{
	uint64_t milli = h->limits.value[FH_LIMIT_CPU_RATE];
	return milli ? (milli + 999) / 1000 : fh_e2b_processors();
}

static json_t *detail_object(struct fh_hosted *h)
{
	json_t *o = json_object();
	pthread_mutex_lock(&h->lock);
	int64_t ends_ms = h->ends_ms;
	enum fh_hosted_state state = h->state;
	pthread_mutex_unlock(&h->lock);
	json_object_set_new(o, "templateID", json_string(h->template_id));
	json_object_set_new(o, "alias", json_string(h->template_id));
	json_object_set_new(o, "sandboxID", json_string(h->id));
	json_object_set_new(o, "clientID", json_string(""));
	json_object_set_new(o, "startedAt", iso_us(h->started_us));
	json_object_set_new(o, "endAt", iso_us(ends_ms * 1000));
	json_object_set_new(o, "state", json_string(state_names[state]));
	json_object_set_new(o, "cpuCount", json_integer((json_int_t)shown_cpus(h)));
	json_object_set_new(o, "memoryMB", json_integer((json_int_t)(h->limits.value[FH_LIMIT_MEMORY] >> 20)));
	json_object_set_new(o, "diskSizeMB", json_integer((json_int_t)(h->limits.value[FH_LIMIT_DISK] >> 20)));
	json_object_set_new(o, "envdVersion", json_string(FH_ENVD_VERSION));
	json_object_set(o, "metadata", h->metadata);
	json_object_set_new(o, "volumeMounts", fh_volume_mounts_json(h, false));
	return o;
}

static void reply_sandbox(struct fh_http_request *r, unsigned status, const struct fh_hosted *h)
{
	fh_http_reply_json(r, status, fh_control_sandbox(h));
}

/* ---------------------------------------------------------------------------------------------------------- routes */

/* Reads the header by which the SDKs mark a request that they may repeat. False after replying with 400. */
static bool read_idempotency(struct fh_http_request *r, const char **ret)
{
	const char *key = fh_http_header(r, "Idempotency-Key");
	size_t n = key ? strspn(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") : 1;
	if (n < 1 || n > IDEMPOTENCY_MAX || (key && key[n])) {
		fh_e2b_fail(r, 400, "Idempotency-Key must have 1 to %d letters, digits, '-' and '_'", IDEMPOTENCY_MAX);
		return false;
	}
	*ret = key;
	return true;
}

static bool was_created_by(void *context, const struct fh_hosted *h)
{
	const struct fh_hosted_request *q = context;
	return h->owner == q->owner && h->idempotency && strcmp(h->idempotency, q->idempotency) == 0;
}

static bool read_create(struct fh_http_request *r, json_t *body, struct fh_hosted_request *q)
{
	struct fh_e2b *s = fh_http_context(r);
	json_t *network = json_object_get(body, "network");
	q->owner = fh_e2b_key(r);
	q->template_id = fh_json_str(body, "templateID", NULL);
	if (!q->template_id || strlen(q->template_id) > 256) {
		fh_e2b_fail(r, 400, "templateID must be the name of a template");
		return false;
	}
	if (!fh_templates_have(s->templates, q->owner, q->template_id)) {
		fh_e2b_fail(r, 404, "template '%.64s' not found", q->template_id);
		return false;
	}
	if (fh_control_wants_absent(r, body) || !read_idempotency(r, &q->idempotency))
		return false;
	if (!fh_control_check_members(r, body) || !fh_control_check_network(r, network) ||
	    !fh_control_check_lifecycle(r, body))
		return false;
	if (!read_strings(r, body, "metadata", &q->metadata) || !read_strings(r, body, "envVars", &q->envs) ||
	    !fh_control_lifetime(r, q->owner, body, 1, &q->lifetime_ms))
		return false;
	q->pauses_at_end = fh_json_bool(body, "autoPause", false);
	q->pauses_without_memory = !fh_json_bool(body, "autoPauseMemory", true);
	q->resumes_on_traffic = fh_json_bool(json_object_get(body, "autoResume"), "enabled", false);
	q->internet = fh_json_bool(body, "allow_internet_access", true);
	fh_control_forget_secrets(network);
	q->network = json_is_object(network) ? network : NULL;
	q->private_ports = !fh_json_bool(network, "allowPublicTraffic", true);
	return true;
}

static void create(struct fh_http_request *r, struct fh_str text)
{
	struct fh_e2b *s = fh_http_context(r);
	struct fh_error err = FH_ERROR_INIT;
	struct fh_hosted_request q = { 0 };
	fh_auto_json json_t *body = fh_e2b_body(r, text);
	fh_auto_hosted struct fh_hosted *h = NULL;
	if (!body || !read_create(r, body, &q))
		return;
	if (q.idempotency)
		fh_once_enter(s->creates, q.owner, q.idempotency);
	int made = q.idempotency && (h = fh_hosted_search(s->registry, was_created_by, &q)) ? 0 : 1;
	if (made && fh_volume_mounts_take(s->volumes, q.owner, json_object_get(body, "volumeMounts"), &q.volumes,
	                                  &q.volume_count, &err) < 0)
		made = -1;
	if (made > 0)
		made = fh_hosted_create(s->registry, &q, &h, &err) < 0 ? -1 : 1;
	if (q.idempotency)
		fh_once_leave(s->creates, q.owner, q.idempotency);
	if (made < 0) {
		fh_e2b_fail_from(r, &err);
		return;
	}
	if (made > 0) {
		atomic_fetch_add(&s->created, 1);
		fh_control_note_closed(h, h->network);
	}
	reply_sandbox(r, 201, h);
}

static void show(struct fh_http_request *r, struct fh_str body)
{
	fh_auto_hosted struct fh_hosted *h = fh_control_find(r);
	if (!h)
		return;
	json_t *o = detail_object(h), *lifecycle = json_object();
	json_object_set_new(o, "envdAccessToken", json_string(h->token));
	json_object_set_new(o, "domain", json_string(h->server->domain));
	json_object_set_new(o, "allowInternetAccess", json_boolean(h->internet));
	json_t *network = fh_hosted_network(h);
	if (network)
		json_object_set_new(o, "network", network);
	json_object_set_new(lifecycle, "onTimeout", json_string(h->pauses_at_end ? "pause" : "kill"));
	json_object_set_new(lifecycle, "autoResume", json_boolean(h->resumes_on_traffic));
	json_object_set_new(o, "lifecycle", lifecycle);
	fh_http_reply_json(r, 200, o);
}

static void end(struct fh_http_request *r, struct fh_str body)
{
	fh_auto_hosted struct fh_hosted *h = fh_control_find(r);
	if (h && fh_hosted_end_soon(h))
		fh_http_reply_empty(r, 204);
	else if (h)
		fh_e2b_fail(r, 404, "Sandbox \"%s\" has ended", h->id);
}

static void set_timeout(struct fh_http_request *r, struct fh_str text)
{
	fh_auto_hosted struct fh_hosted *h = fh_control_find(r);
	fh_auto_json json_t *body = h ? fh_e2b_body(r, text) : NULL;
	uint64_t ms;
	if (!body)
		return;
	if (!json_is_number(json_object_get(body, "timeout"))) {
		fh_e2b_fail(r, 400, "timeout must be a number of seconds");
		return;
	}
	if (!fh_control_lifetime(r, h->owner, body, 0, &ms))
		return;
	fh_hosted_set_lifetime(h, ms, false);
	if (ms == 0)
		fh_hosted_end_or_pause(h, false);
	fh_http_reply_empty(r, 204);
}

/* For older SDKs: {"duration": s}. */
static void refresh(struct fh_http_request *r, struct fh_str text)
{
	fh_auto_hosted struct fh_hosted *h = fh_control_find(r);
	fh_auto_json json_t *body = h ? fh_e2b_body(r, text) : NULL;
	if (!body)
		return;
	int64_t s = fh_json_int(body, "duration", FH_LIFETIME_DEFAULT_MS / 1000);
	uint64_t max = h->owner->ceilings.value[FH_CEILING_LIFETIME];
	fh_hosted_set_lifetime(h, FH_MIN(max, (uint64_t)FH_MAX(s, 0) * 1000), true);
	fh_http_reply_empty(r, 204);
}

/* Replies 200 if the sandbox was awake, 201 if it was resumed. A lifetime in the request can only lengthen the
 * sandbox's. With {"memory": false} one that was paused has its files alone, as after a restart of the machine. */
static void connect_to(struct fh_http_request *r, struct fh_str text)
{
	fh_auto_hosted struct fh_hosted *h = fh_control_find(r);
	fh_auto_json json_t *body = h ? fh_e2b_body(r, text) : NULL;
	struct fh_error err = FH_ERROR_INIT;
	uint64_t ms;
	if (!body || !fh_control_check_members(r, body) || !fh_control_lifetime(r, h->owner, body, 0, &ms))
		return;
	fh_hosted_set_lifetime(h, ms, fh_hosted_is_running(h));
	int resumed = fh_hosted_resume(h, !fh_json_bool(body, "memory", true), &err);
	if (resumed < 0)
		fh_e2b_fail_from(r, &err);
	else
		reply_sandbox(r, resumed ? 201 : 200, h);
}

/* With {"memory": false} only the sandbox's files are kept. */
static void pause_one(struct fh_http_request *r, struct fh_str text)
{
	fh_auto_hosted struct fh_hosted *h = fh_control_find(r);
	fh_auto_json json_t *body = h ? fh_e2b_body(r, text) : NULL;
	struct fh_error err = FH_ERROR_INIT;
	if (!body || !fh_control_check_members(r, body))
		return;
	int paused = fh_hosted_pause(h, !fh_json_bool(body, "memory", true), &err);
	if (paused < 0)
		fh_e2b_fail_from(r, &err);
	else if (!paused)
		fh_e2b_fail(r, 409, "Sandbox \"%s\" is paused already", h->id);
	else
		fh_http_reply_empty(r, 204);
}

/* Rules for what goes out, kept and told; there is no way out that they could open. */
static void set_network(struct fh_http_request *r, struct fh_str text)
{
	fh_auto_hosted struct fh_hosted *h = fh_control_find(r);
	fh_auto_json json_t *body = h ? fh_e2b_body(r, text) : NULL;
	if (!body || !fh_control_check_network(r, body))
		return;
	fh_control_forget_secrets(body);
	h->internet = fh_json_bool(body, "allow_internet_access", h->internet);
	fh_hosted_set_egress(h, body);
	fh_control_note_closed(h, body);
	fh_http_reply_empty(r, 204);
}

static void metrics(struct fh_http_request *r, struct fh_str body)
{
	const char *start = fh_http_query(r, "start"), *end_at = fh_http_query(r, "end");
	fh_auto_hosted struct fh_hosted *h = fh_control_find(r);
	if (h)
		fh_http_reply_json(
		    r, 200, fh_hosted_metrics(h, start ? strtoll(start, NULL, 10) : 0, end_at ? strtoll(end_at, NULL, 10) : 0));
}

/* The newest metrics of each of the caller's sandboxes that sandbox_ids names, with commas between. */
static void metrics_of_several(struct fh_http_request *r, struct fh_str body)
{
	struct fh_e2b *s = fh_http_context(r);
	const char *ids = fh_http_query(r, "sandbox_ids");
	fh_auto_json json_t *found = json_object();
	bool given = ids && *ids;
	size_t left = LIST_PAGE_MAX;
	while (given && *ids && left) {
		size_t n = strcspn(ids, ",");
		fh_auto_free char *id = fh_xstrndup(ids, n);
		fh_auto_hosted struct fh_hosted *h = fh_hosted_find(s->registry, id);
		if (h && h->owner == fh_e2b_key(r)) {
			fh_auto_json json_t *all = fh_hosted_metrics(h, 0, 0);
			size_t count = json_array_size(all);
			if (count)
				json_object_set(found, id, json_array_get(all, count - 1));
		}
		ids += ids[n] ? n + 1 : n;
		left--;
	}
	if (!given || *ids) {
		fh_e2b_fail(r, 400, "sandbox_ids must name 1 to %d sandboxes, with a comma between them", LIST_PAGE_MAX);
		return;
	}
	json_t *o = json_object();
	json_object_set(o, "sandboxes", found);
	fh_http_reply_json(r, 200, o);
}

static void health(struct fh_http_request *r, struct fh_str body)
{
	fh_http_reply_header(r, "Server", "fumehood"); /* `fumehood with` recognizes the server by this header */
	fh_http_reply(r, 200, "text/plain", fh_str("OK"));
}

/* ----------------------------------------------------------------------------------------------------------- list */

struct query {
	struct fh_target metadata;   /* the query string within the query, parsed */
	bool states[FH_HOSTED_GONE]; /* those that are asked for */
	int64_t started_after_us;
	const char *template_id;
	bool oldest_first;
	uint64_t limit;
	uint64_t after; /* order of the previous page's last sandbox; 0: this is the first page */
};

static void query_release(struct query *q)
{
	fh_target_release(&q->metadata);
}

/* Parses a query string that is a value of the query; its names and values are encoded twice. */
static bool read_metadata(const char *text, struct fh_target *ret)
{
	fh_auto_free char *target = fh_xasprintf("/?%s", text);
	if (fh_target_parse(target, ret) < 0)
		return false;
	for (size_t i = 0; i < ret->query_count; i++)
		if (!fh_target_decode(ret->name[i]) || !fh_target_decode(ret->value[i]))
			return false;
	return true;
}

static bool read_states(struct fh_http_request *r, struct query *q)
{
	const char *text = fh_http_query(r, "state");
	for (text = text && *text ? text : "running,paused"; text; text = *text ? text + 1 : NULL) {
		size_t n = strcspn(text, ","), k = 0;
		while (k < FH_HOSTED_GONE && !fh_str_eq((struct fh_str){ text, n }, state_names[k]))
			k++;
		if (k == FH_HOSTED_GONE) {
			fh_e2b_fail(r, 400, "state must be running, paused, or both with a comma between them");
			return false;
		}
		q->states[k] = true;
		text += n;
	}
	return true;
}

/* Reads a time as iso_us writes it; its fraction may be left out, and an offset as +02:00 may be in the place of Z. */
static bool parse_us(const char *text, int64_t *ret)
{
	struct tm tm = { 0 };
	int hours = 0, minutes = 0, end = 0;
	const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
	if (!rest)
		return false;
	int64_t us = (int64_t)timegm(&tm) * 1000000;
	if (*rest == '.')
		for (int64_t unit = 100000; *++rest >= '0' && *rest <= '9'; unit /= 10)
			us += (*rest - '0') * unit;
	bool east = *rest == '+' || *rest == ' '; /* a plus that was not encoded */
	if ((east || *rest == '-') && sscanf(rest + 1, "%2d:%2d%n", &hours, &minutes, &end) == 2 && !rest[1 + end])
		us += (east ? -1 : 1) * (hours * 3600 + minutes * 60) * (int64_t)1000000;
	else if (*rest && !fh_streq(rest, "Z"))
		return false;
	*ret = us;
	return true;
}

static bool read_query(struct fh_http_request *r, struct query *q)
{
	const char *metadata = fh_http_query(r, "metadata"), *started_after = fh_http_query(r, "startedAfter");
	if (!fh_e2b_query_number(r, "limit", 1, LIST_PAGE_MAX, LIST_PAGE_MAX, &q->limit) ||
	    !fh_e2b_query_number(r, "nextToken", 1, UINT64_MAX, 0, &q->after) || !read_states(r, q))
		return false;
	if (started_after && !parse_us(started_after, &q->started_after_us)) {
		fh_e2b_fail(r, 400, "startedAfter must be a time like 2026-01-31T12:00:00Z");
		return false;
	}
	q->template_id = fh_http_query(r, "template");
	q->oldest_first = fh_streq(fh_http_query(r, "order"), "asc");
	if (metadata && !read_metadata(metadata, &q->metadata)) {
		fh_e2b_fail(r, 400, "the query is malformed: metadata=k%%3Dv&state=running,paused&limit=1..%d", LIST_PAGE_MAX);
		return false;
	}
	return true;
}

static bool query_fits(const struct query *q, const struct fh_hosted *h)
{
	int state = atomic_load(&h->seen);
	if (state >= FH_HOSTED_GONE || !q->states[state])
		return false;
	for (size_t i = 0; i < q->metadata.query_count; i++)
		if (!fh_streq(fh_json_str(h->metadata, q->metadata.name[i], NULL), q->metadata.value[i]))
			return false;
	if (q->template_id && !fh_streq(q->template_id, h->template_id))
		return false;
	return h->started_us >= q->started_after_us;
}

/* One page of `all`; *ret_next is the order of its last sandbox when there are more, else 0. */
static json_t *list_page(const struct query *q, struct fh_hosted **all, size_t n, uint64_t *ret_next)
{
	json_t *page = json_array();
	uint64_t last = q->after;
	*ret_next = 0;
	for (size_t k = 0; k < n; k++) {
		struct fh_hosted *h = all[q->oldest_first ? n - 1 - k : k];
		if ((last && (q->oldest_first ? h->order <= last : h->order >= last)) || !query_fits(q, h))
			continue;
		if (json_array_size(page) == q->limit) {
			*ret_next = last;
			break;
		}
		json_array_append_new(page, detail_object(h));
		last = h->order;
	}
	return page;
}

static void list(struct fh_http_request *r, struct fh_str body)
{
	struct fh_e2b *s = fh_http_context(r);
	FH_CLEANUP(query_release) struct query q = { 0 };
	struct fh_hosted **all = NULL;
	uint64_t next;
	char text[24];
	if (!read_query(r, &q))
		return;
	size_t n = fh_hosted_list(s->registry, fh_e2b_key(r), &all);
	json_t *page = list_page(&q, all, n, &next);
	for (size_t k = 0; k < n; k++)
		fh_hosted_drop(all[k]);
	free(all);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)next);
	if (next)
		fh_http_reply_header(r, "X-Next-Token", text);
	fh_http_reply_json(r, 200, page);
}

const struct fh_http_route fh_e2b_control_routes[] = {
	{ "GET", "/health", health, .flags = FH_E2B_OPEN },
	{ "POST", "/sandboxes", create },
	{ "POST", "/v2/sandboxes", create },
	{ "GET", "/sandboxes", list },
	{ "GET", "/v2/sandboxes", list },
	{ "GET", "/sandboxes/metrics", metrics_of_several },
	{ "GET", "/sandboxes/{id}", show },
	{ "DELETE", "/sandboxes/{id}", end },
	{ "POST", "/sandboxes/{id}/timeout", set_timeout },
	{ "POST", "/sandboxes/{id}/refreshes", refresh },
	{ "POST", "/sandboxes/{id}/connect", connect_to },
	{ "POST", "/v2/sandboxes/{id}/connect", connect_to },
	{ "POST", "/sandboxes/{id}/resume", connect_to },
	{ "POST", "/sandboxes/{id}/pause", pause_one },
	{ "PUT", "/sandboxes/{id}/network", set_network },
	{ "GET", "/sandboxes/{id}/metrics", metrics },
	{ 0 },
};
