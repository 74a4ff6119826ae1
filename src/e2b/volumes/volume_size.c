/* SPDX-License-Identifier: MIT */
#include "e2b/volumes/volume_size.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/error.h"
#include "e2b/common/threads.h"
#include "e2b/hosted/accounts.h"
#include "e2b/hosted/logs.h"
#include "e2b/registry/registry.h"

enum { LOOK_MS = 2000, LOOK_SHARE = 20, LOOK_MAX_MS = 60 * 1000, ANSWER_MAX = 4096 };

struct fh_volume_watch {
	struct fh_e2b *server;
	size_t (*list)(void *context, struct fh_volume ***ret);
	void *context;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t stops;
	bool stopping;
};

/* Runs a command of the shell as root in the hidden sandbox. Its output, stdout and stderr together, is cut at n - 1
 * bytes; the rest is read and dropped. */
static int run_inside(struct fh_hosted *h, const char *command, int64_t patience_ms, char *answer, size_t n,
                      struct fh_error *err)
{
	const char *const argv[] = { "/bin/sh", "-c", command, NULL };
	static const char *const env[] = { "PATH=/usr/bin:/bin", "LC_ALL=C", NULL };
	struct fh_spawn_options o = FH_SPAWN_OPTIONS_INIT;
	struct fh_process *p;
	struct fh_exit x = { .exit_code = -1 };
	size_t have = 0;
	char piece[1024];
	ssize_t got;
	o.argv = argv;
	o.env = env;
	o.cwd = "/";
	o.user = fh_account_for(h, "root");
	o.no_stdin = true;
	o.wall_time_ms = (uint64_t)patience_ms;
	int r = fh_process_spawn(h->sandbox, &o, &p, err);
	if (r < 0)
		return r;
	while ((got = fh_process_read(p, FH_STDOUT, piece, sizeof(piece), -1, NULL)) > 0) {
		size_t take = FH_MIN((size_t)got, n - 1 - have);
		memcpy(answer + have, piece, take);
		have += take;
	}
	answer[have] = '\0';
	r = fh_process_wait(p, -1, &x, err);
	fh_process_free(p);
	if (r == 0 && (x.signal || x.exit_code))
		r = fh_error_set(err, FH_E_UNAVAILABLE, "%s", have ? answer : "the command inside failed");
	return r;
}

int fh_volume_empty(struct fh_hosted *h, int64_t patience_ms, struct fh_error *err)
{
	char answer[ANSWER_MAX];
	/* Where a sandbox has one id, a folder without rights keeps even its owner out. */
	static const char command[] = "exec 2>&1; chmod -R u+rwx " FH_VOLUME_INSIDE
	                              " >/dev/null 2>&1; exec find " FH_VOLUME_INSIDE " -mindepth 1 -delete";
	return run_inside(h, command, patience_ms, answer, sizeof(answer), err);
}

/* Its size: the blocks of its files, and as for a sandbox's own disk a page for each file. Fails closed: where a folder
 * cannot be looked into, the size is infinite. */
static int measure(struct fh_hosted *h, uint64_t *ret, struct fh_error *err)
{
	/* du fails when files vanish while it walks, which is no error here */
	static const char command[] =
	    "exec 2>&1; du -sx --block-size=1 " FH_VOLUME_INSIDE "; du -sx --inodes " FH_VOLUME_INSIDE "; exit 0";
	unsigned long long bytes = 0, files = 0, number;
	char answer[ANSWER_MAX], *rest = answer, *line, path[32];
	bool has_bytes = false, has_files = false;
	int r = run_inside(h, command, LOOK_MAX_MS, answer, sizeof(answer), err);
	if (r < 0)
		return r;
	if (strstr(answer, "Permission denied")) {
		*ret = UINT64_MAX;
		return 0;
	}
	while ((line = strsep(&rest, "\n"))) {
		if (sscanf(line, "%llu %31s", &number, path) != 2 || strcmp(path, FH_VOLUME_INSIDE) != 0)
			continue;
		if (!has_bytes)
			bytes = number;
		else
			files = number;
		has_files = has_bytes;
		has_bytes = true;
	}
	if (!has_files)
		return fh_error_set(err, FH_E_UNAVAILABLE, "cannot find out how large the volume is: %.200s", answer);
	*ret = FH_MAX((uint64_t)bytes, (uint64_t)files * 4096);
	return 0;
}

/* Pauses the sandboxes that run with it, so that nothing writes to it any more and nothing is lost. */
static void stop_writers(struct fh_e2b *server, const struct fh_volume *v, uint64_t max)
{
	struct fh_hosted **all = NULL;
	size_t n = fh_hosted_list(server->registry, NULL, &all);
	for (size_t i = 0; i < n; i++) {
		struct fh_hosted *h = all[i];
		if (!h->through && fh_hosted_is_running(h) && fh_volume_mounts_full(h, NULL) && fh_hosted_freeze(h))
			fh_hosted_note(h, "error", "Sandbox paused: volume %s has more than its %llu bytes", v->name,
			               (unsigned long long)max);
		fh_hosted_drop(h);
	}
	free(all);
}

void fh_volume_look(struct fh_e2b *server, struct fh_volume *v)
{
	fh_auto_hosted struct fh_hosted *h = NULL;
	uint64_t bytes = 0, max = v->owner->ceilings.value[FH_CEILING_VOLUME_SIZE];
	if (fh_volume_enter(v, server, &h, NULL) < 0)
		return; /* the engine is gone, and with it all that could write */
	atomic_store(&v->is_changed, false);
	if (measure(h, &bytes, NULL) < 0)
		bytes = UINT64_MAX;
	atomic_store(&v->bytes, bytes);
	atomic_store(&v->is_full, max != FH_UNLIMITED && bytes > max);
	if (atomic_load(&v->is_full))
		stop_writers(server, v, max);
}

static void *watch(void *context)
{
	struct fh_volume_watch *w = context;
	int64_t pause_ms = LOOK_MS;
	pthread_mutex_lock(&w->lock);
	while (!w->stopping) {
		fh_wait_ms(&w->stops, &w->lock, pause_ms);
		if (w->stopping)
			break;
		pthread_mutex_unlock(&w->lock);
		struct fh_volume **list = NULL;
		int64_t began_ns = fh_now_ns();
		size_t n = w->list(w->context, &list);
		for (size_t i = 0; i < n; i++) {
			fh_volume_look(w->server, list[i]);
			fh_volume_drop(list[i]);
		}
		free(list);
		int64_t took_ms = (fh_now_ns() - began_ns) / FH_NS_PER_MS; /* looking is to take a small share of the time */
		pause_ms = FH_MIN(FH_MAX(took_ms * LOOK_SHARE, (int64_t)LOOK_MS), (int64_t)LOOK_MAX_MS);
		pthread_mutex_lock(&w->lock);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

FH_OWN struct fh_volume_watch *fh_volume_watch_start(struct fh_e2b *server,
                                                     size_t (*list)(void *context, struct fh_volume ***ret),
                                                     void *context)
{
	struct fh_volume_watch *w = FH_NEW(struct fh_volume_watch);
	w->server = server;
	w->list = list;
	w->context = context;
	pthread_mutex_init(&w->lock, NULL);
	fh_condition_init(&w->stops);
	if (pthread_create(&w->thread, NULL, watch, w) != 0)
		abort();
	return w;
}

void fh_volume_watch_stop(FH_OWN FH_NULLABLE struct fh_volume_watch *w)
{
	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	w->stopping = true;
	pthread_cond_broadcast(&w->stops);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	pthread_cond_destroy(&w->stops);
	pthread_mutex_destroy(&w->lock);
	free(w);
}
