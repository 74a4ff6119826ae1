/* SPDX-License-Identifier: MIT */
/* The control API: makes, shows, lists and removes volumes. */
#include "e2b/volumes/routes.h"
#include "e2b/volumes/volumes.h"

static const char name_letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

static void fail(struct fh_http_request *r, const struct fh_error *err)
{
	if (err->code == FH_E_CONFIG) /* the volume's state forbids it */
		fh_e2b_fail(r, 409, "%s", err->message);
	else
		fh_e2b_fail_from(r, err);
}

/* The volume that the path names, if it belongs to the caller; NULL after replying with 404. */
static struct fh_volume *find(struct fh_http_request *r)
{
	struct fh_e2b *s = fh_http_context(r);
	struct fh_volume *v = fh_volume_find(s->volumes, fh_http_segment(r, 0));
	if (v && v->owner == fh_e2b_key(r))
		return v;
	if (v)
		fh_volume_drop(v);
	fh_e2b_fail(r, 404, "Volume \"%.64s\" doesn't exist or you don't have access to it", fh_http_segment(r, 0));
	return NULL;
}

static json_t *volume_object(const struct fh_volume *v)
{
	json_t *o = json_object();
	json_object_set_new(o, "volumeID", json_string(v->id));
	json_object_set_new(o, "name", json_string(v->name));
	json_object_set_new(o, "token", json_string(v->token));
	return o;
}

static void create(struct fh_http_request *r, struct fh_str text)
{
	struct fh_e2b *s = fh_http_context(r);
	struct fh_error err = FH_ERROR_INIT;
	fh_auto_json json_t *body = fh_e2b_body(r, text);
	fh_auto_volume struct fh_volume *v = NULL;
	if (!body)
		return;
	const char *name = fh_json_str(body, "name", "");
	size_t n = strspn(name, name_letters);
	if (n < 1 || n > FH_VOLUME_NAME_MAX || name[n])
		fh_e2b_fail(r, 400, "a volume's name must have 1 to %d letters, digits, '.', '_' and '-'", FH_VOLUME_NAME_MAX);
	else if (fh_volume_create(s->volumes, fh_e2b_key(r), name, &v, &err) == 0)
		fh_http_reply_json(r, 201, volume_object(v));
	else if (err.code == FH_E_UNAVAILABLE) /* the SDKs try again after some other statuses above 500 */
		fh_e2b_fail(r, 501, "%s", err.message);
	else
		fail(r, &err);
}

static void list(struct fh_http_request *r, struct fh_str body)
{
	struct fh_e2b *s = fh_http_context(r);
	fh_http_reply_json(r, 200, fh_volume_list(s->volumes, fh_e2b_key(r)));
}

static void show(struct fh_http_request *r, struct fh_str body)
{
	fh_auto_volume struct fh_volume *v = find(r);
	if (v)
		fh_http_reply_json(r, 200, volume_object(v));
}

static void remove_one(struct fh_http_request *r, struct fh_str body)
{
	struct fh_e2b *s = fh_http_context(r);
	struct fh_error err = FH_ERROR_INIT;
	fh_auto_volume struct fh_volume *v = find(r);
	if (!v)
		return;
	if (fh_volume_remove(s->volumes, v, &err) < 0)
		fail(r, &err);
	else
		fh_http_reply_empty(r, 204);
}

const struct fh_http_route fh_e2b_volume_routes[] = {
	{ "GET", "/volumes", list },
	{ "POST", "/volumes", create },
	{ "GET", "/volumes/{id}", show },
	{ "DELETE", "/volumes/{id}", remove_one },
	{ 0 },
};
