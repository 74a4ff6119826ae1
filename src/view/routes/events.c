/* SPDX-License-Identifier: MIT */
/*
 * Server-sent events (the HTML standard, section 9.2) about evals that began, grew, ended, were rated or deleted, by
 * whichever process. Each stream reads the list of the newest evals at intervals and sends what has changed.
 */
#include <stdio.h>

#include "base/clock.h"
#include "view/routes.h"
#include "view/state.h"

enum {
	LOOK_MS = 400,
	BEAT_LOOKS = 25, /* a comment line every 10 s, which finds out whether the client is still connected */
	EVALS_MAX = 50,
};

/* The state of an eval that was last sent. */
struct told {
	int64_t number;
	uint64_t done;
	enum fh_store_state state;
};

struct stream {
	struct fh_http_request *request;
	struct fh_view *view;
	struct told told[EVALS_MAX];
	size_t count;
	uint64_t total;
	unsigned looks;
	bool begun;
	struct fh_buf out;
};

static void event(struct stream *s, const struct fh_store_eval *e)
{
	fh_auto_json json_t *o =
	    json_pack("{s:s, s:s, s:I, s:I}", "evalId", e->id, "state", fh_store_state_name(e->state), "done",
	              (json_int_t)(e->passed + e->failed + e->errors), "total", (json_int_t)e->total);
	fh_auto_free char *text = fh_json_text(o, 0);
	fh_buf_addf(&s->out, "data: %s\n\n", text);
}

static bool differs(const struct stream *s, const struct told *now)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->told[i].number == now->number)
			return s->told[i].done != now->done || s->told[i].state != now->state;
	return true;
}

static void look(struct stream *s)
{
	struct fh_store_eval_filter all = { 0 };
	struct fh_store_eval_list found = { 0 };
	struct fh_store *store = NULL;
	struct told now[EVALS_MAX];
	if (fh_view_stores_take(&s->view->stores, &store, NULL) < 0)
		return;
	if (fh_store_evals(store, &all, 0, EVALS_MAX, &found, NULL) == 0) {
		size_t n = FH_MIN(found.count, (size_t)EVALS_MAX);
		for (size_t i = 0; i < n; i++) {
			const struct fh_store_eval *e = &found.items[i];
			now[i] = (struct told){ e->number, e->passed + e->failed + e->errors, e->state };
			if (s->begun && differs(s, &now[i]))
				event(s, e);
		}
		if (s->begun && s->total > found.total)
			fh_buf_adds(&s->out, "data: {\"deleted\":true}\n\n");
		memcpy(s->told, now, n * sizeof(*now));
		s->count = n;
		s->total = found.total;
		s->begun = true;
	}
	fh_store_eval_list_release(&found);
	fh_view_stores_give(&s->view->stores, store);
}

static ssize_t read_events(void *context, char *buffer, size_t n)
{
	struct stream *s = context;
	bool first = s->looks == 0;
	while (s->out.n == 0) {
		if (fh_http_stopping(s->request) || fh_http_peer_gone(s->request))
			return 0;
		if (!first)
			fh_sleep_ns(LOOK_MS * FH_NS_PER_MS);
		look(s);
		if (first || s->looks % BEAT_LOOKS == 0)
			fh_buf_adds(&s->out, ":\n\n");
		s->looks++;
		first = false;
	}
	n = FH_MIN(n, s->out.n);
	memcpy(buffer, s->out.p, n);
	fh_buf_drop(&s->out, n);
	return (ssize_t)n;
}

static void release(void *context)
{
	struct stream *s = context;
	fh_buf_release(&s->out);
	free(s);
}

static void get_events(struct fh_http_request *r, struct fh_str body)
{
	struct stream *s = FH_NEW(struct stream);
	s->request = r;
	s->view = fh_http_context(r);
	s->out = (struct fh_buf)FH_BUF_INIT(1 << 20);
	struct fh_http_source source = { read_events, release, s, FH_HTTP_SIZE_UNKNOWN };
	fh_http_reply_source(r, 200, "text/event-stream", &source);
}

const struct fh_http_route fh_view_event_routes[] = {
	{ "GET", "/api/view/events", get_events },
	{ 0 },
};
