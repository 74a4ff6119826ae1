/* SPDX-License-Identifier: MIT */
/* Watches a folder of a session, and connects to a session's ports. */
#include "sandbox/session/helper.h"

#include <errno.h>
#include <stdio.h>
#include <sys/inotify.h>

#include "base/clock.h"
#include "proto/wire.h"

static const char *const event_names[FH_WATCH_EVENT_KIND_COUNT_] = { "create", "write",    "remove", "rename",
	                                                                 "chmod",  "overflow", "gone",   "synced" };

const char *fh_watch_event_name(enum fh_watch_event_kind k)
{
	return (unsigned)k < FH_WATCH_EVENT_KIND_COUNT_ ? event_names[k] : "unknown";
}

struct fh_watcher {
	struct fh_helper helper;
	char *path, *name;
};

int fh_watch_open(struct fh_sandbox *sandbox, const char *user, const char *path, bool recursive,
                  struct fh_watcher **ret, struct fh_error *err)
{
	const char *const argv[] = { "watch", recursive ? "1" : "0", path, NULL };
	struct fh_watcher *w = FH_NEW(struct fh_watcher);
	struct fh_helper_record record;
	w->helper = (struct fh_helper)FH_HELPER_INIT;
	w->path = fh_xstrdup(path);
	w->helper.what = "watch";
	w->helper.path = w->path;
	int r = fh_helper_begin(&w->helper, sandbox, user, argv, true, err);
	while (r == 0 && (r = fh_helper_next(&w->helper, &record, -1, err)) > 0 && record.kind != FH_HELPER_ENTRY)
		r = 0; /* skips early records, such as "not everything is watched": that one is sent again when an event is lost
		        */
	if (r <= 0) {
		r = r ? r : fh_error_set(err, FH_E_PROTOCOL, "a watch ended before it began");
		fh_watch_close(w);
		return r;
	}
	*ret = w;
	return 0;
}

static const struct {
	uint32_t mask;
	enum fh_watch_event_kind kind;
	bool arrived;
} kinds[] = {
	{ IN_Q_OVERFLOW, FH_WATCH_OVERFLOW, false }, { IN_IGNORED, FH_WATCH_GONE, false },
	{ IN_CREATE, FH_WATCH_CREATE, false },       { IN_MODIFY, FH_WATCH_WRITE, false },
	{ IN_DELETE, FH_WATCH_REMOVE, false },       { IN_MOVED_FROM, FH_WATCH_RENAME, false },
	{ IN_MOVED_TO, FH_WATCH_RENAME, true },      { IN_ATTRIB, FH_WATCH_CHMOD, false },
};

static bool read_event(struct fh_watcher *w, struct fh_str record, struct fh_watch_event *ret)
{
	uint64_t mask = fh_helper_number(record, FH_HELPER_MASK, 0);
	struct fh_wire_reader r = fh_wire_reader(record);
	struct fh_wire_field f;
	free(FH_TAKE_PTR(w->name));
	while (fh_wire_next(&r, &f))
		if (f.tag == FH_HELPER_NAME && !w->name)
			w->name = fh_wire_get_text(&r, &f);
	for (size_t i = 0; i < FH_ARRAY_SIZE(kinds); i++)
		if (mask & kinds[i].mask) {
			*ret = (struct fh_watch_event){ .kind = kinds[i].kind,
				                            .folder = (mask & IN_ISDIR) != 0,
				                            .arrived = kinds[i].arrived,
				                            .cookie = (uint32_t)fh_helper_number(record, FH_HELPER_COOKIE, 0),
				                            .name = w->name ? w->name : "" };
			return true;
		}
	return false;
}

int fh_watch_read(struct fh_watcher *w, struct fh_watch_event *ret, int64_t timeout_ms, struct fh_error *err)
{
	struct fh_helper_record record;
	int64_t until = timeout_ms < 0 ? 0 : fh_now_ns() + FH_MIN(timeout_ms, INT64_MAX / FH_NS_PER_S) * FH_NS_PER_MS;
	for (;;) {
		int64_t left = timeout_ms < 0 ? -1 : FH_MAX(until - fh_now_ns(), 0) / FH_NS_PER_MS;
		int r = fh_helper_next(&w->helper, &record, left, err);
		if (r <= 0)
			return r;
		if (record.kind == FH_HELPER_EVENT && read_event(w, record.bytes, ret))
			return 1;
		if (record.kind == FH_HELPER_SYNCED) {
			*ret = (struct fh_watch_event){ .kind = FH_WATCH_SYNCED, .name = "" };
			return 1;
		}
	}
}

int fh_watch_sync(struct fh_watcher *w, struct fh_error *err)
{
	return fh_process_write(w->helper.process, "\n", 1, err);
}

void fh_watch_close(struct fh_watcher *w)
{
	if (!w)
		return;
	fh_helper_end(&w->helper);
	free(w->path);
	free(w->name);
	free(w);
}

/* ----------------------------------------------------------------------------------------------------------- ports */

int fh_sandbox_connect(struct fh_sandbox *sandbox, uint16_t port, struct fh_process **ret, struct fh_error *err)
{
	enum { DONE_SIZE = 8 + 2 * 16 }; /* size of one record, after which the server's bytes begin */
	char text[8], first[DONE_SIZE];
	snprintf(text, sizeof(text), "%u", port);
	const char *const argv[] = { "connect", text, NULL };
	struct fh_process *p;
	int r = fh_process_spawn_helper(sandbox, NULL, argv, true, NULL, &p, err);
	if (r < 0)
		return r;
	for (size_t have = 0; r >= 0 && have < sizeof(first);) {
		ssize_t n = fh_process_read(p, FH_STDOUT, first + have, sizeof(first) - have, -1, err);
		if (n == 0)
			n = fh_error_set(err, FH_E_SYSTEM, "the helper that connects to port %u was ended", port);
		r = n < 0 ? (int)n : 0;
		have += n > 0 ? (size_t)n : 0;
	}
	if (r == 0) {
		int sys = (int)fh_helper_number((struct fh_str){ first + 8, DONE_SIZE - 8 }, FH_HELPER_SYS, EPROTO);
		if (sys) {
			r = sys == ECONNREFUSED
			        ? fh_error_set(err, FH_E_NOT_FOUND, "nothing listens on port %u in the sandbox", port)
			        : fh_error_sys(err, sys, "cannot connect to port %u in the sandbox", port);
			if (err)
				err->sys = sys;
		}
	}
	if (r < 0) {
		fh_process_free(p);
		return r;
	}
	*ret = p;
	return 0;
}
