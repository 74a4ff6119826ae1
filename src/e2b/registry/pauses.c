/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "base/clock.h"
#include "base/error.h"
#include "e2b/common/engine.h"
#include "e2b/common/state.h"
#include "e2b/hosted/e2b.h"
#include "e2b/hosted/hosted.h"
#include "e2b/hosted/logs.h"
#include "e2b/hosted/volume.h"
#include "e2b/registry/boot.h"
#include "e2b/registry/registry.h"
#include "fumehood/session.h"

/* ------------------------------------------------------------------------------------------------------ kept on disk */

static void record_name(const struct fh_hosted *h, char ret[FH_HOSTED_ID + 16])
{
	snprintf(ret, FH_HOSTED_ID + 16, "sandbox-%s", h->id);
}

static FH_OWN json_t *record_of(struct fh_hosted *h)
{
	const struct {
		const char *name;
		json_t *value;
	} members[] = {
		{ "kind", json_string("sandbox") },
		{ "made", json_integer(h->started_us) },
		{ "id", json_string(h->id) },
		{ "token", json_string(h->token) },
		{ "traffic", json_string(h->traffic) },
		{ "template", json_string(h->template_id) },
		{ "metadata", json_incref(h->metadata) },
		{ "envs", json_incref(h->envs) },
		{ "network", h->network ? json_incref(h->network) : json_null() },
		{ "settings", h->settings ? json_incref(h->settings) : json_null() },
		{ "volumes", fh_volume_mounts_json(h, true) },
		{ "lifetime_ms", json_integer(h->lifetime_ms) },
		{ "pauses_at_end", json_boolean(h->pauses_at_end) },
		{ "pauses_without_memory", json_boolean(h->pauses_without_memory) },
		{ "resumes_on_traffic", json_boolean(h->resumes_on_traffic) },
		{ "internet", json_boolean(h->internet) },
	};
	json_t *o = json_object();
	for (size_t i = 0; i < FH_ARRAY_SIZE(members); i++)
		json_object_set_new(o, members[i].name, members[i].value);
	pthread_mutex_lock(&h->lock);
	json_object_set(o, "egress", h->egress ? h->egress : json_null());
	pthread_mutex_unlock(&h->lock);
	return o;
}

/* Before it is paused, since files of a paused one cannot be read. */
static void keep(struct fh_hosted *h)
{
	char name[FH_HOSTED_ID + 16];
	struct fh_error err = FH_ERROR_INIT;
	if (!h->server->state || h->builds)
		return;
	fh_auto_json json_t *record = record_of(h);
	record_name(h, name);
	if (fh_state_save(h->server->state, name, h->owner, h->sandbox, record, &err) < 0)
		fh_hosted_note(h, "error", "A restart of the server would lose this sandbox: %s", err.message);
}

void fh_hosted_keep_no_more(struct fh_hosted *h)
{
	char name[FH_HOSTED_ID + 16];
	record_name(h, name);
	fh_state_remove(h->server->state, name);
}

/* ------------------------------------------------------------------------------------------------ pause and resume */

/* Both a client and the end of its lifetime may pause a sandbox at the same moment, and another client resume it: what
 * takes several steps is done by one at a time, which holds the sandbox's turn. */

static bool is_due(struct fh_hosted *h)
{
	pthread_mutex_lock(&h->lock);
	bool due = h->state == FH_HOSTED_RUNNING && h->ends_at_ns <= fh_now_ns();
	pthread_mutex_unlock(&h->lock);
	return due;
}

/* Called by whoever holds the sandbox's turn. */
static int pause_now(struct fh_hosted *h, bool without_memory, struct fh_error *err)
{
	int r = 1;
	if (without_memory && fh_hosted_is_running(h))
		fh_hosted_end_programs(h);
	if (fh_hosted_is_running(h))
		keep(h);
	pthread_mutex_lock(&h->lock);
	if (h->state != FH_HOSTED_RUNNING)
		r = h->state == FH_HOSTED_PAUSED ? 0 : fh_error_set(err, FH_E_NOT_FOUND, "the sandbox has ended");
	else if (fh_sandbox_pause(h->sandbox, NULL, err) < 0)
		r = -1;
	else {
		h->files_alone = without_memory;
		fh_hosted_set_state(h, FH_HOSTED_PAUSED);
	}
	pthread_mutex_unlock(&h->lock);
	if (r == 1)
		fh_hosted_note(h, "info", "Sandbox paused%s", without_memory ? " without memory" : "");
	return r;
}

int fh_hosted_pause(struct fh_hosted *h, bool without_memory, struct fh_error *err)
{
	pthread_mutex_lock(&h->turn);
	int r = pause_now(h, without_memory, err);
	pthread_mutex_unlock(&h->turn);
	return r;
}

bool fh_hosted_freeze(struct fh_hosted *h)
{
	pthread_mutex_lock(&h->turn);
	pthread_mutex_lock(&h->lock);
	bool frozen = h->state == FH_HOSTED_RUNNING && fh_sandbox_pause(h->sandbox, NULL, NULL) == 0;
	if (frozen)
		fh_hosted_set_state(h, FH_HOSTED_PAUSED);
	pthread_mutex_unlock(&h->lock);
	pthread_mutex_unlock(&h->turn);
	return frozen;
}

/* Called by whoever holds the sandbox's turn. */
static int resume_now(struct fh_hosted *h, struct fh_error *err)
{
	int r = 1;
	pthread_mutex_lock(&h->lock);
	if (h->state != FH_HOSTED_PAUSED)
		r = h->state == FH_HOSTED_RUNNING ? 0 : fh_error_set(err, FH_E_NOT_FOUND, "the sandbox has ended");
	else if (fh_sandbox_resume(h->sandbox, err) < 0)
		r = -1;
	else {
		fh_hosted_keep_no_more(h); /* so that the next pause can write the sandbox's record again */
		fh_hosted_set_state(h, FH_HOSTED_RUNNING);
	}
	pthread_mutex_unlock(&h->lock);
	return r;
}

int fh_hosted_resume(struct fh_hosted *h, bool without_memory, struct fh_error *err)
{
	if (!fh_hosted_is_running(h) && fh_volume_mounts_full(h, err))
		return -FH_E_LIMIT;
	pthread_mutex_lock(&h->turn);
	int r = resume_now(h, err);
	if (r == 1 && without_memory)
		fh_hosted_end_programs(h);
	pthread_mutex_unlock(&h->turn);
	if (r == 1)
		fh_hosted_note(h, "info", "Sandbox resumed");
	return r;
}

void fh_hosted_end_or_pause(struct fh_hosted *h, bool must_end)
{
	bool ends = must_end || fh_e2b_engine_is_dead(h->engine);
	if (!ends && fh_hosted_is_there(h)) {
		pthread_mutex_lock(&h->turn);
		if (is_due(h)) /* no more if it was paused, or given more time, since the caller looked */
			ends = !h->pauses_at_end || pause_now(h, h->pauses_without_memory, NULL) < 0;
		pthread_mutex_unlock(&h->turn);
	}
	if (ends)
		(void)fh_hosted_end(h);
}
