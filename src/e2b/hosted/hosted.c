/* SPDX-License-Identifier: MIT */
#include "e2b/hosted/hosted.h"

#include "e2b/common/engine.h"
#include "e2b/hosted/volume.h"
#include "fumehood/context.h"
#include "fumehood/session.h"

struct fh_hosted *fh_hosted_hold(struct fh_hosted *h)
{
	atomic_fetch_add(&h->references, 1);
	return h;
}

static void hosted_free(struct fh_hosted *h)
{
	fh_context_free(h->first_python);
	fh_sandbox_free(h->sandbox);
	fh_e2b_engine_drop(h->engine);
	json_decref(h->metadata);
	json_decref(h->envs);
	json_decref(h->network);
	json_decref(h->egress);
	json_decref(h->settings);
	json_decref(h->log);
	fh_volume_mounts_release(h);
	fh_volume_dropp(&h->through);
	pthread_cond_destroy(&h->changed);
	pthread_mutex_destroy(&h->lock);
	pthread_mutex_destroy(&h->turn);
	free(h->template_id);
	free(h->idempotency);
	free(h);
}

void fh_hosted_drop(struct fh_hosted *h)
{
	if (atomic_fetch_sub(&h->references, 1) == 1)
		hosted_free(h);
}

void fh_hosted_set_state(struct fh_hosted *h, enum fh_hosted_state state)
{
	h->state = state;
	atomic_store(&h->seen, state);
	pthread_cond_broadcast(&h->changed);
}

/* -------------------------------------------------------------------------------------------------------- network */

static const char *const egress_keys[] = { "allowOut", "denyOut", "dnsServers", "egressProxy", "rules" };

/* What the client changed last (h->egress) replaces these members of the network in its first request. */
FH_OWN FH_NULLABLE json_t *fh_hosted_network(struct fh_hosted *h)
{
	pthread_mutex_lock(&h->lock);
	fh_auto_json json_t *egress = json_incref(h->egress);
	pthread_mutex_unlock(&h->lock);
	if (!egress)
		return json_incref(h->network);
	json_t *o = h->network ? json_copy(h->network) : json_object();
	for (size_t i = 0; i < FH_ARRAY_SIZE(egress_keys); i++) {
		json_t *value = json_object_get(egress, egress_keys[i]);
		if (value)
			json_object_set(o, egress_keys[i], value);
		else
			json_object_del(o, egress_keys[i]);
	}
	return o;
}

void fh_hosted_set_egress(struct fh_hosted *h, json_t *egress)
{
	pthread_mutex_lock(&h->lock);
	json_t *before = h->egress;
	h->egress = json_incref(egress);
	pthread_mutex_unlock(&h->lock);
	json_decref(before);
}
