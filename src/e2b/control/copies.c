/* SPDX-License-Identifier: MIT */
/* The control API: snapshots of sandboxes, and forks. */
#include "base/clock.h"
#include "e2b/control/control.h"
#include "e2b/control/routes.h"
#include "e2b/interpreter/contexts.h"
#include "e2b/registry/boot.h"
#include "e2b/registry/registry.h"
#include "e2b/registry/templates.h"
#include "e2b/volumes/volumes.h"
#include "fumehood/session.h"

enum { FORKS_MAX = 100, PAGE_MAX = 100 };

static json_t *error_item(const struct fh_error *err)
{
	json_t *o = json_object(), *e = json_object();
	json_object_set_new(e, "code", json_integer(err->code == FH_E_LIMIT ? 429 : 500));
	json_object_set_new(e, "message", fh_json_bytes(fh_str(err->message)));
	json_object_set_new(o, "error", e);
	return o;
}

/* Makes a sandbox with the files that `from` has now, and the variables of its Python contexts. */
static json_t *fork_one(struct fh_hosted *from, uint64_t lifetime_ms)
{
	fh_auto_json json_t *network = fh_hosted_network(from), *volumes = fh_volume_mounts_json(from, true);
	struct fh_hosted_request q = {
		.owner = from->owner,
		.template_id = from->template_id,
		.lifetime_ms = lifetime_ms,
		.metadata = from->metadata,
		.envs = from->envs,
		.network = network,
		.settings = from->settings,
		.pauses_at_end = from->pauses_at_end,
		.pauses_without_memory = from->pauses_without_memory,
		.resumes_on_traffic = from->resumes_on_traffic,
		.internet = from->internet,
		.private_ports = *from->traffic,
		.branch_of = from->sandbox,
	};
	fh_auto_hosted struct fh_hosted *h = NULL;
	struct fh_error err = FH_ERROR_INIT;
	if (fh_volume_mounts_take(from->server->volumes, q.owner, volumes, &q.volumes, &q.volume_count, &err) < 0 ||
	    fh_hosted_create(from->server->registry, &q, &h, &err) < 0)
		return error_item(&err);
	fh_hosted_contexts_fork(from, h);
	json_t *o = json_object();
	json_object_set_new(o, "sandbox", fh_control_sandbox(h));
	return o;
}

static void fork_sandbox(struct fh_http_request *r, struct fh_str text)
{
	fh_auto_hosted struct fh_hosted *h = fh_control_find(r);
	fh_auto_json json_t *body = h ? fh_e2b_body(r, text) : NULL;
	uint64_t lifetime_ms;
	if (!body || !fh_control_lifetime(r, h->owner, body, 1, &lifetime_ms))
		return;
	int64_t count = fh_json_int(body, "count", 1);
	if (count < 1 || count > FORKS_MAX) {
		fh_e2b_fail(r, 400, "count must be from 1 to %d", FORKS_MAX);
		return;
	}
	if (!fh_hosted_is_running(h)) {
		fh_e2b_fail(r, 409, "Sandbox \"%s\" is paused", h->id);
		return;
	}
	json_t *list = json_array();
	while (count-- > 0)
		json_array_append_new(list, fork_one(h, lifetime_ms));
	fh_http_reply_json(r, 201, list);
}

static void snapshot(struct fh_http_request *r, struct fh_str text)
{
	struct fh_e2b *s = fh_http_context(r);
	fh_auto_hosted struct fh_hosted *h = fh_control_find(r);
	fh_auto_json json_t *body = h ? fh_e2b_body(r, text) : NULL;
	struct fh_error err = FH_ERROR_INIT;
	struct fh_sandbox *copy = NULL;
	fh_auto_free char *id = NULL,
	                  *own = h ? fh_xasprintf("snap-%s-%llu", h->id, (unsigned long long)fh_now_ns()) : NULL;
	if (!body)
		return;
	const char *name = fh_json_str(body, "name", own);
	int result = fh_hosted_copy(h, &copy, &err);
	if (result == 0)
		result = fh_templates_add(
		    s->templates, h->owner,
		    &(struct fh_template_made){ .name = name, .sandbox_id = h->id, .sandbox = copy, .settings = h->settings },
		    &id, &err);
	if (result < 0) {
		if (copy) {
			(void)fh_sandbox_destroy(copy, NULL);
			fh_sandbox_free(copy);
		}
		fh_e2b_fail_from(r, &err);
		return;
	}
	json_t *o = json_object(), *names = json_array();
	json_array_append_new(names, json_string(id));
	json_object_set_new(o, "snapshotID", json_string(id));
	json_object_set_new(o, "names", names);
	fh_http_reply_json(r, 201, o);
}

static void list_snapshots(struct fh_http_request *r, struct fh_str body)
{
	struct fh_e2b *s = fh_http_context(r);
	uint64_t size, first;
	if (!fh_e2b_query_number(r, "limit", 1, PAGE_MAX, PAGE_MAX, &size) ||
	    !fh_e2b_query_number(r, "nextToken", 0, INT32_MAX, 0, &first))
		return;
	fh_auto_json json_t *all =
	    fh_templates_list(s->templates, fh_e2b_key(r), fh_http_query(r, "sandboxID"), fh_http_query(r, "name"));
	json_t *page = json_array();
	for (size_t i = first; i < json_array_size(all) && i < first + size; i++)
		json_array_append(page, json_array_get(all, i));
	if (first + size < json_array_size(all)) {
		fh_auto_free char *token = fh_xasprintf("%llu", (unsigned long long)(first + size));
		fh_http_reply_header(r, "X-Next-Token", token);
	}
	fh_http_reply_json(r, 200, page);
}

static void remove_template(struct fh_http_request *r, struct fh_str body)
{
	struct fh_e2b *s = fh_http_context(r);
	const char *name = fh_http_segment(r, 0);
	bool found = fh_templates_remove(s->templates, fh_e2b_key(r), name);
	if (!strchr(name, ':')) /* a template with all its tags */
		found |= fh_templates_remove_all(s->templates, fh_e2b_key(r), name);
	if (found)
		fh_http_reply_empty(r, 204);
	else
		fh_e2b_fail(r, 404, "template '%.64s' not found", fh_http_segment(r, 0));
}

const struct fh_http_route fh_e2b_copy_routes[] = {
	{ "POST", "/sandboxes/{id}/fork", fork_sandbox },
	{ "POST", "/sandboxes/{id}/snapshots", snapshot },
	{ "GET", "/snapshots", list_snapshots },
	{ "DELETE", "/templates/{id}", remove_template },
	{ 0 },
};
