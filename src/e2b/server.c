/* SPDX-License-Identifier: MIT */
#include "e2b/server.h"

#include <stdio.h>

#include "base/clock.h"
#include "e2b/common/processors.h"
#include "e2b/common/state.h"
#include "e2b/common/threads.h"
#include "e2b/control/builds.h"
#include "e2b/control/once.h"
#include "e2b/envd/watch.h"
#include "e2b/interpreter/contexts.h"
#include "e2b/registry/registry.h"
#include "e2b/registry/templates.h"
#include "e2b/service/judged.h"
#include "e2b/service/turns.h"
#include "e2b/volumes/volumes.h"
#include "fumehood/session.h"

enum { TURNS_EACH = 2 /* number of single runs that may run at once, for each processor */ };

static const struct fh_hosted_part parts[] = {
	{ .forget = fh_hosted_forget_contexts, .is_of_programs = true },
	{ .forget = fh_hosted_forget_watchers },
	{ 0 },
};

static int take_template(struct fh_e2b *s, const struct fh_key *owner, const json_t *record, int files,
                         struct fh_error *err)
{
	struct fh_e2b_engine *engine = NULL;
	struct fh_sandbox *sandbox = NULL;
	int r = fh_e2b_engine_get(&s->engines, &engine, err);
	if (r == 0)
		r = fh_sandbox_restore(engine->client, files, NULL, &sandbox, err);
	if (r == 0 && fh_templates_put_back(s->templates, owner, record, sandbox, err) < 0) {
		(void)fh_sandbox_destroy(sandbox, NULL);
		fh_sandbox_free(sandbox);
		r = -1;
	}
	fh_e2b_engine_drop(engine);
	return r;
}

static int take_sandbox(struct fh_e2b *s, const struct fh_key *owner, const json_t *record, int files,
                        struct fh_error *err)
{
	struct fh_volume_mount *volumes = NULL;
	size_t n = 0;
	int r = fh_volume_mounts_take(s->volumes, owner, json_object_get(record, "volumes"), &volumes, &n, err);
	return r < 0 ? r : fh_hosted_again(s->registry, owner, record, files, volumes, n, err);
}

/* Makes again what the server before kept. */
static int take_record(void *server, const struct fh_key *owner, const json_t *record, int files, struct fh_error *err)
{
	struct fh_e2b *s = server;
	const char *kind = fh_json_str(record, "kind", "");
	if (strcmp(kind, "volume") == 0)
		return fh_volume_again(s->volumes, owner, record, err);
	if (files < 0)
		return fh_error_set(err, FH_E_CONFIG, "a record of --state has lost its files");
	if (strcmp(kind, "template") == 0)
		return take_template(s, owner, record, files, err);
	if (strcmp(kind, "sandbox") == 0)
		return take_sandbox(s, owner, record, files, err);
	return fh_error_set(err, FH_E_CONFIG, "a record of --state is of an unknown kind");
}

int fh_e2b_open(const struct fh_e2b_options *o, struct fh_e2b **ret, struct fh_error *err)
{
	struct fh_e2b *s = FH_NEW(struct fh_e2b);
	s->options = *o;
	s->parts = parts;
	s->started_ns = fh_now_ns();
	snprintf(s->domain, sizeof(s->domain), "%s", o->domain ? o->domain : "localhost");
	int r = fh_keys_load(o->key_file, &o->ceilings, &s->keys, err);
	if (r < 0) {
		free(s);
		return r;
	}
	s->judged = fh_judged_new();
	if (o->state)
		r = fh_state_open(o->state, &s->state, err);
	for (size_t i = 0; r == 0 && i < o->data_set_count; i++)
		r = fh_judged_add(s->judged, o->data_sets[i], &o->ceilings, err);
	if (r < 0) {
		fh_judged_free(s->judged);
		fh_state_close(s->state);
		fh_keys_release(&s->keys);
		free(s);
		return r;
	}
	pthread_mutex_init(&s->engines.lock, NULL);
	s->templates = fh_templates_new(s->state);
	s->builds = fh_template_builds_new(s);
	s->creates = fh_once_new();
	s->turns = fh_turns_new((unsigned)fh_e2b_processors() * TURNS_EACH, o->queue_max);
	s->registry = fh_hosted_registry_new(s, o->ceilings.value[FH_CEILING_TOTAL]);
	s->volumes = fh_volumes_new(s);
	s->lost_why = (struct fh_error)FH_ERROR_INIT;
	s->lost = fh_state_load(s->state, &s->keys, take_record, s, &s->lost_why);
	fh_volumes_watch(s->volumes);
	*ret = s;
	return 0;
}

void fh_e2b_listening(struct fh_e2b *s, uint16_t port)
{
	if (!s->options.domain)
		snprintf(s->domain, sizeof(s->domain), "localhost:%u", port);
	else if (s->options.domain_with_port && !strchr(s->options.domain, ':'))
		snprintf(s->domain, sizeof(s->domain), "%.240s:%u", s->options.domain, port);
}

void fh_e2b_stop(struct fh_e2b *s)
{
	fh_volumes_stop(s->volumes);
	fh_hosted_registry_stop(s->registry);
}

void fh_e2b_close(struct fh_e2b *s)
{
	if (!s)
		return;
	fh_e2b_stop(s);
	fh_thread_wait_all();
	fh_hosted_registry_free(s->registry);
	fh_volumes_free(s->volumes);
	fh_template_builds_free(s->builds);
	fh_judged_free(s->judged);
	fh_turns_free(s->turns);
	fh_once_free(s->creates);
	fh_templates_free(s->templates);
	fh_e2b_engine_drop(s->engines.current);
	pthread_mutex_destroy(&s->engines.lock);
	fh_keys_release(&s->keys);
	fh_state_close(s->state);
	free(s);
}

void fh_e2b_done(void *context, const struct fh_http_request *r, unsigned status, int64_t took_ns)
{
	struct fh_e2b *s = context;
	char time[32];
	atomic_fetch_add(&s->requests, 1);
	if (status >= 500)
		atomic_fetch_add(&s->failures, 1);
	if (!s->options.log)
		return;
	fh_auto_json json_t *o = json_object();
	json_object_set_new(o, "time", json_string(fh_iso_time(fh_wall_ms(), time)));
	json_object_set_new(o, "method", json_string(fh_http_method(r)));
	json_object_set_new(o, "path", fh_json_bytes(fh_str(fh_http_path(r)))); /* the query may hold signatures */
	json_object_set_new(o, "status", json_integer(status));
	json_object_set_new(o, "ms", json_real((double)took_ns / FH_NS_PER_MS));
	fh_auto_free char *text = fh_json_text(o, 0);
	fh_auto_free char *line = fh_xasprintf("%s\n", text);
	s->options.log(line);
}
