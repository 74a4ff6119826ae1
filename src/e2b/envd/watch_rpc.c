/* SPDX-License-Identifier: MIT */
/* envd's watchers: as a stream (WatchDir), and as a list that a client fetches from time to time. */
#include <stdio.h>

#include "base/clock.h"
#include "base/path.h"
#include "e2b/envd/entry.h"
#include "e2b/envd/routes.h"
#include "e2b/envd/watch.h"

enum {
	LOOK_MS = 250,      /* how often a stream without data checks whether its client is still connected */
	SYNC_MS = 10000,    /* how long the sandbox may take to tell what happened before a call of GetWatcherEvents */
	WATCHERS_MAX = 256, /* maximum of watchers for each sandbox */
	EVENTS_MAX = 100000,
};

/* The event's type in fsnotify's terms: a file that gets a name by a rename counts as created. NULL: not reported. */
static const char *event_type(const struct fh_watch_event *event)
{
	static const char *const names[FH_WATCH_EVENT_KIND_COUNT_] = {
		[FH_WATCH_CREATE] = "EVENT_TYPE_CREATE", [FH_WATCH_WRITE] = "EVENT_TYPE_WRITE",
		[FH_WATCH_REMOVE] = "EVENT_TYPE_REMOVE", [FH_WATCH_RENAME] = "EVENT_TYPE_RENAME",
		[FH_WATCH_CHMOD] = "EVENT_TYPE_CHMOD",
	};
	return event->kind == FH_WATCH_RENAME && event->arrived ? names[FH_WATCH_CREATE] : names[event->kind];
}

static bool has_entry(const struct fh_watch_event *event)
{
	return event->kind == FH_WATCH_CREATE || event->kind == FH_WATCH_WRITE || event->kind == FH_WATCH_CHMOD ||
	       (event->kind == FH_WATCH_RENAME && event->arrived);
}

struct watch {
	struct fh_hosted *hosted;
	const char *user;
	char *path;
	bool with_entry;
	struct fh_watcher *watcher;
};

static int watch_open(struct fh_http_request *r, const json_t *message, struct watch *w, struct fh_connect_error *e)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_file_info info;
	fh_auto_free char *buffer = NULL;
	bool recursive = fh_json_bool(message, "recursive", false);
	w->hosted = fh_e2b_hosted(r);
	w->user = fh_account_of_request(r, e);
	if (!w->user)
		return -1;
	w->path = fh_account_path(w->user, fh_json_str(message, "path", ""));
	w->with_entry = fh_json_bool(message, "includeEntry", false);
	const char *as = fh_account_for(w->hosted, w->user);
	int done = fh_files_stat(w->hosted->sandbox, as, w->path, 0, &info, &buffer, &err);
	if (done < 0 && fh_entry_denied(w->hosted, w->user, &err)) {
		as = "root";
		done = fh_files_stat(w->hosted->sandbox, as, w->path, 0, &info, &buffer, &err);
	}
	if (done < 0)
		return fh_entry_fail(e, &err, w->path);
	if (info.type != FH_FILE_FOLDER)
		return fh_connect_fail(e, FH_CONNECT_INVALID_ARGUMENT, "path %s is not a directory", w->path);
	done = fh_watch_open(w->hosted->sandbox, as, w->path, recursive, &w->watcher, &err);
	if (done < 0 && fh_entry_denied(w->hosted, w->user, &err))
		done = fh_watch_open(w->hosted->sandbox, "root", w->path, recursive, &w->watcher, &err);
	return done < 0 ? fh_entry_fail(e, &err, w->path) : 0;
}

static void watch_release(struct watch *w)
{
	if (w->watcher)
		fh_watch_close(w->watcher);
	free(w->path);
}

/* An event as {"name", "type", "entry"?}. */
static json_t *event_object(const struct watch *w, const struct fh_watch_event *event, const char *type)
{
	json_t *o = json_object();
	json_object_set_new(o, "name", fh_json_bytes(fh_str(event->name)));
	json_object_set_new(o, "type", json_string(type));
	if (w->with_entry && has_entry(event)) {
		struct fh_connect_error gone = FH_CONNECT_ERROR_INIT;
		fh_auto_free char *path = fh_path_join(w->path, event->name);
		json_t *entry = fh_entry_look(w->hosted, w->user, path, &gone);
		if (entry)
			json_object_set_new(o, "entry", entry);
	}
	return o;
}

/* --------------------------------------------------------------------------------------------------------- stream */

struct stream {
	struct watch watch;
	struct fh_http_request *request;
	struct fh_buf frames;
	unsigned keepalive_s;
	int64_t spoke_ns, until_ns;
	bool finished, folder_gone;
};

static void add_frame(struct stream *s, const char *name, FH_OWN json_t *value)
{
	fh_auto_json json_t *o = json_object();
	json_object_set_new(o, name, value);
	fh_connect_frame(&s->frames, o);
}

static void finish(struct stream *s, enum fh_connect_code code, const char *message)
{
	struct fh_connect_error e = FH_CONNECT_ERROR_INIT;
	fh_connect_fail(&e, code, "%s", message);
	fh_connect_end(&s->frames, &e);
	s->finished = true;
}

/* Waits a moment for the next event; returns nothing once the folder is gone. */
static void look(struct stream *s)
{
	struct fh_watch_event event;
	struct fh_error err = FH_ERROR_INIT;
	if (s->folder_gone) {
		fh_sleep_ns(LOOK_MS * FH_NS_PER_MS);
		return;
	}
	int r = fh_watch_read(s->watch.watcher, &event, LOOK_MS, &err);
	const char *type = r == 1 ? event_type(&event) : NULL;
	if (type)
		add_frame(s, "filesystem", event_object(&s->watch, &event, type));
	else if (r == 1 && event.kind == FH_WATCH_OVERFLOW)
		finish(s, FH_CONNECT_RESOURCE_EXHAUSTED, "more happened than could be reported: events were lost");
	else if (r == 1)
		s->folder_gone = true;
	else if (r != -FH_E_TIMEOUT && fh_hosted_is_running(s->watch.hosted))
		finish(s, FH_CONNECT_INTERNAL, r == 0 ? "the watcher has ended" : err.message);
}

static ssize_t read_stream(void *context, char *buffer, size_t n)
{
	struct stream *s = context;
	while (!s->frames.n && !s->finished) {
		look(s);
		if (s->frames.n)
			break;
		if (fh_http_peer_gone(s->request) || fh_http_stopping(s->request))
			return -1;
		if (atomic_load(&s->watch.hosted->seen) == FH_HOSTED_GONE)
			finish(s, FH_CONNECT_UNAVAILABLE, "the sandbox was killed or reached its end of life");
		else if (fh_now_ns() > s->until_ns)
			finish(s, FH_CONNECT_DEADLINE_EXCEEDED, "the watch's timeout is over");
		else if (fh_now_ns() - s->spoke_ns > s->keepalive_s * FH_NS_PER_S)
			add_frame(s, "keepalive", json_object());
	}
	n = FH_MIN(n, s->frames.n);
	if (n)
		memcpy(buffer, s->frames.p, n);
	fh_buf_drop(&s->frames, n);
	s->spoke_ns = fh_now_ns();
	return (ssize_t)n;
}

static void stream_free(void *context)
{
	struct stream *s = context;
	watch_release(&s->watch);
	fh_buf_release(&s->frames);
	free(s);
}

static void watch_dir(struct fh_http_request *r, struct fh_str body)
{
	struct fh_connect_error e = FH_CONNECT_ERROR_INIT;
	struct stream *s = FH_NEW(struct stream);
	struct fh_http_source source = { read_stream, stream_free, s, FH_HTTP_SIZE_UNKNOWN };
	fh_auto_json json_t *message = fh_connect_stream_request(body, &e);
	s->request = r;
	s->keepalive_s = fh_connect_keepalive_s(r);
	s->spoke_ns = fh_now_ns();
	s->until_ns = fh_connect_until_ns(fh_connect_timeout_ms(r));
	if (message && watch_open(r, message, &s->watch, &e) == 0)
		add_frame(s, "start", json_object());
	else {
		fh_connect_end(&s->frames, &e);
		s->finished = true;
	}
	fh_http_reply_source(r, 200, FH_CONNECT_STREAM_TYPE, &source);
}

/* ---------------------------------------------------------------------------------------------------------- lists */

struct fh_hosted_watcher {
	char id[24];
	struct watch watch;
	unsigned owed; /* answers to fh_watch_sync that were not read yet */
	struct fh_hosted_watcher *next;
};

static void watcher_free(struct fh_hosted_watcher *w)
{
	watch_release(&w->watch);
	free(w);
}

void fh_hosted_forget_watchers(struct fh_hosted *h)
{
	pthread_mutex_lock(&h->lock);
	struct fh_hosted_watcher *list = h->watchers;
	h->watchers = NULL;
	pthread_mutex_unlock(&h->lock);
	while (list) {
		struct fh_hosted_watcher *next = list->next;
		watcher_free(list);
		list = next;
	}
}

/* Removes the watcher from the list, so that no other request uses it; put_back returns it. */
static struct fh_hosted_watcher *take(struct fh_hosted *h, const json_t *message, struct fh_connect_error *e)
{
	const char *id = fh_json_str(message, "watcherId", "");
	struct fh_hosted_watcher *found = NULL;
	pthread_mutex_lock(&h->lock);
	for (struct fh_hosted_watcher **at = &h->watchers; *at; at = &(*at)->next)
		if (strcmp((*at)->id, id) == 0) {
			found = *at;
			*at = found->next;
			break;
		}
	pthread_mutex_unlock(&h->lock);
	if (!found)
		fh_connect_fail(e, FH_CONNECT_NOT_FOUND, "watcher with id %.64s not found", id);
	return found;
}

/* False: the sandbox is gone, or has the maximum of watchers. */
static bool put_back(struct fh_hosted *h, struct fh_hosted_watcher *w)
{
	size_t n = 0;
	pthread_mutex_lock(&h->lock);
	for (const struct fh_hosted_watcher *x = h->watchers; x; x = x->next)
		n++;
	bool room = n < WATCHERS_MAX && h->state != FH_HOSTED_GONE;
	if (room) {
		w->next = h->watchers;
		h->watchers = w;
	}
	pthread_mutex_unlock(&h->lock);
	return room;
}

static json_t *create_watcher(struct fh_http_request *r, const json_t *message, struct fh_connect_error *e)
{
	static atomic_ullong last;
	struct fh_hosted_watcher *w = FH_NEW(struct fh_hosted_watcher);
	snprintf(w->id, sizeof(w->id), "w%llu", (unsigned long long)atomic_fetch_add(&last, 1) + 1);
	json_t *o = json_object();
	json_object_set_new(o, "watcherId", json_string(w->id));
	if (watch_open(r, message, &w->watch, e) == 0 && put_back(fh_e2b_hosted(r), w))
		return o;
	if (!e->code)
		fh_connect_fail(e, FH_CONNECT_RESOURCE_EXHAUSTED, "a sandbox has at most %d watchers", WATCHERS_MAX);
	watcher_free(w);
	json_decref(o);
	return NULL;
}

static json_t *drain(struct fh_hosted_watcher *w, struct fh_connect_error *e)
{
	json_t *events = json_array();
	struct fh_watch_event event;
	struct fh_error err = FH_ERROR_INIT;
	bool asked = fh_watch_sync(w->watch.watcher, &err) == 0; /* a watch that has ended is read to its end */
	w->owed += asked;
	while ((w->owed || !asked) && json_array_size(events) < EVENTS_MAX &&
	       fh_watch_read(w->watch.watcher, &event, SYNC_MS, &err) == 1) {
		if (event.kind == FH_WATCH_SYNCED)
			w->owed--;
		const char *type = event_type(&event);
		if (type)
			json_array_append_new(events, event_object(&w->watch, &event, type));
		if (event.kind == FH_WATCH_OVERFLOW)
			fh_connect_fail(e, FH_CONNECT_RESOURCE_EXHAUSTED, "more happened than could be reported: events were lost");
	}
	return events;
}

static json_t *get_events(struct fh_http_request *r, const json_t *message, struct fh_connect_error *e)
{
	struct fh_hosted *h = fh_e2b_hosted(r);
	struct fh_hosted_watcher *w = take(h, message, e);
	if (!w)
		return NULL;
	json_t *o = json_object();
	json_object_set_new(o, "events", drain(w, e));
	if (!put_back(h, w))
		watcher_free(w);
	if (!e->code)
		return o;
	json_decref(o);
	return NULL;
}

static json_t *remove_watcher(struct fh_http_request *r, const json_t *message, struct fh_connect_error *e)
{
	struct fh_hosted_watcher *w = take(fh_e2b_hosted(r), message, e);
	if (w)
		watcher_free(w);
	return w ? json_object() : NULL;
}

static void on_message(struct fh_http_request *r, struct fh_str body,
                       json_t *(*work)(struct fh_http_request *r, const json_t *message, struct fh_connect_error *e))
{
	struct fh_connect_error e = FH_CONNECT_ERROR_INIT;
	fh_auto_json json_t *message = fh_connect_request(r, body);
	if (!message)
		return;
	fh_connect_answer(r, work(r, message, &e), &e);
}

static void handle_create(struct fh_http_request *r, struct fh_str body)
{
	on_message(r, body, create_watcher);
}

static void handle_events(struct fh_http_request *r, struct fh_str body)
{
	on_message(r, body, get_events);
}

static void handle_remove(struct fh_http_request *r, struct fh_str body)
{
	on_message(r, body, remove_watcher);
}

const struct fh_http_route fh_e2b_watch_routes[] = {
	{ "POST", "/filesystem.Filesystem/WatchDir", watch_dir, .flags = FH_E2B_STREAM },
	{ "POST", "/filesystem.Filesystem/CreateWatcher", handle_create, .flags = FH_E2B_CALL },
	{ "POST", "/filesystem.Filesystem/GetWatcherEvents", handle_events, .flags = FH_E2B_CALL },
	{ "POST", "/filesystem.Filesystem/RemoveWatcher", handle_remove, .flags = FH_E2B_CALL },
	{ 0 },
};
