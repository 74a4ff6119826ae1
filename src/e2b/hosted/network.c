/* SPDX-License-Identifier: MIT */
/* The network settings of a hosted sandbox, which are kept and told. */
#include "e2b/hosted/sandboxes.h"

static const char *const egress_keys[] = { "allowOut", "denyOut", "dnsServers", "egressProxy", "rules" };

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
