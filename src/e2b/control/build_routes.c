/* SPDX-License-Identifier: MIT */
/* The control API: templates that clients build, with their names and tags. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/fd.h"
#include "e2b/control/builds.h"
#include "e2b/control/control.h"
#include "e2b/control/routes.h"
#include "e2b/registry/templates.h"

enum { TAGS_MAX = 32 };

static bool are_tags(struct fh_http_request *r, const json_t *tags, bool needed)
{
	size_t n = json_array_size(tags);
	bool good = n <= TAGS_MAX && (n || !needed) && (!tags || json_is_null(tags) || json_is_array(tags));
	for (size_t i = 0; good && i < n; i++)
		good =
		    json_is_string(json_array_get(tags, i)) && fh_template_is_tag(json_string_value(json_array_get(tags, i)));
	if (!good)
		fh_e2b_fail(r, 400, "tags must be 1 to %d texts of letters, digits, '-', '_' and '.'", TAGS_MAX);
	return good;
}

/* Copies the size that is asked for, of which either part may be missing, from the body to `size`. */
static bool copy_size(struct fh_http_request *r, json_t *body, json_t *size)
{
	static const struct {
		const char *name;
		json_int_t least, most;
	} parts[] = { { "cpuCount", 1, 1024 }, { "memoryMB", 128, 1 << 20 } };
	for (size_t i = 0; i < FH_ARRAY_SIZE(parts); i++) {
		json_t *value = json_object_get(body, parts[i].name);
		if (!value || json_is_null(value))
			continue;
		if (!json_is_integer(value) || json_integer_value(value) < parts[i].least ||
		    json_integer_value(value) > parts[i].most) {
			fh_e2b_fail(r, 400, "%s must be a number of %d to %d", parts[i].name, (int)parts[i].least,
			            (int)parts[i].most);
			return false;
		}
		json_object_set(size, parts[i].name, value);
	}
	return true;
}

/* The request's body is {"name": "NAME[:TAG]", "tags": [TAG…], "cpuCount", "memoryMB"}; older clients send "alias". */
static void announce(struct fh_http_request *r, struct fh_str text)
{
	struct fh_e2b *s = fh_http_context(r);
	fh_auto_json json_t *body = fh_e2b_body(r, text);
	char id[FH_UUID_SIZE];
	if (!body)
		return;
	const char *asked = fh_json_str(body, "name", fh_json_str(body, "alias", ""));
	const json_t *more = json_object_get(body, "tags"), *tag;
	size_t n = strcspn(asked, ":"), i;
	fh_auto_free char *name = fh_xasprintf("%.*s", (int)n, asked);
	fh_auto_json json_t *tags = json_array(), *size = json_object();
	if (asked[n])
		json_array_append_new(tags, json_string(asked + n + 1));
	json_array_foreach(more, i, tag) json_array_append(tags, (json_t *)(uintptr_t)tag);
	if (!are_tags(r, more, false) || !are_tags(r, tags, false) || !copy_size(r, body, size))
		return;
	if (!n || fh_template_is_built_in(name) || !fh_template_is_name(name)) {
		fh_e2b_fail(r, 400, "'%.64s' cannot be the name of a template", asked);
		return;
	}
	if (!json_array_size(tags))
		json_array_append_new(tags, json_string("default"));
	fh_template_build_announce(s->builds, fh_e2b_key(r), name, tags, size, id);
	json_t *o = json_object(), *names = json_array();
	json_array_append_new(names, json_string(name));
	json_object_set_new(o, "templateID", json_string(name));
	json_object_set_new(o, "buildID", json_string(id));
	json_object_set_new(o, "public", json_false());
	json_object_set(o, "aliases", names);
	json_object_set_new(o, "names", names);
	json_object_set(o, "tags", tags);
	fh_http_reply_json(r, 202, o);
}

static void start(struct fh_http_request *r, struct fh_str text)
{
	struct fh_e2b *s = fh_http_context(r);
	fh_auto_json json_t *body = fh_e2b_body(r, text);
	struct fh_error err = FH_ERROR_INIT;
	if (!body)
		return;
	if (fh_template_build_start(s->builds, fh_e2b_key(r), fh_http_segment(r, 0), fh_http_segment(r, 1), body, &err) < 0)
		fh_e2b_fail_from(r, &err);
	else
		fh_http_reply_empty(r, 202);
}

static void status(struct fh_http_request *r, struct fh_str body)
{
	struct fh_e2b *s = fh_http_context(r);
	uint64_t offset;
	if (!fh_e2b_query_number(r, "logsOffset", 0, SIZE_MAX, 0, &offset))
		return;
	json_t *o =
	    fh_template_build_status(s->builds, fh_e2b_key(r), fh_http_segment(r, 0), fh_http_segment(r, 1), offset);
	if (o)
		fh_http_reply_json(r, 200, o);
	else
		fh_e2b_fail(r, 404, "there is no build %.64s of template '%.64s'", fh_http_segment(r, 1),
		            fh_http_segment(r, 0));
}

/* -------------------------------------------------------------------------------------------------------- uploads */

/* Replies with the URL to which the archive of a COPY is to be uploaded. The URL holds a secret and needs no key, as
 * the presigned URLs of object stores. */
static void upload_place(struct fh_http_request *r, struct fh_str body)
{
	struct fh_e2b *s = fh_http_context(r);
	const char *host = fh_http_header(r, "Host"), *hash = fh_http_segment(r, 1);
	fh_auto_free char *token = NULL;
	if (!host || strlen(hash) > 128) {
		fh_e2b_fail(r, 400, "the request has no Host, or the hash is too long");
		return;
	}
	bool present = fh_template_build_has_archive(s->builds, fh_e2b_key(r), hash, &token);
	if (!present && !token) {
		fh_e2b_fail(r, 507, "the server has no room for an upload");
		return;
	}
	json_t *o = json_object();
	json_object_set_new(o, "present", json_boolean(present));
	if (token) {
		fh_auto_free char *url =
		    fh_xasprintf("%s://%s/builds/archives/%s", s->options.tls ? "https" : "http", host, token);
		json_object_set_new(o, "url", json_string(url));
	}
	fh_http_reply_json(r, 201, o);
}

struct upload {
	int fd;
	bool failed;
};

static void upload_free(void *upload)
{
	struct upload *u = upload;
	if (u->fd >= 0)
		close(u->fd);
	free(u);
}

static struct upload *upload_begin(struct fh_http_request *r)
{
	struct fh_e2b *s = fh_http_context(r);
	struct upload *u = FH_NEW(struct upload);
	fh_http_request_keep(r, u, upload_free);
	u->fd = fh_template_build_archive_open(s->builds, fh_http_segment(r, 0));
	u->failed = u->fd < 0;
	if (u->failed)
		fh_e2b_fail(r, 403, "nothing can be uploaded here, or it was uploaded already");
	return u;
}

static int upload_piece(struct fh_http_request *r, struct fh_str piece)
{
	struct upload *u = fh_http_request_kept(r);
	if (!u)
		u = upload_begin(r);
	if (!u->failed && fh_write_all(u->fd, piece.p, piece.n) < 0) {
		u->failed = true;
		fh_e2b_fail(r, 507, "the server has no room for the upload");
	}
	return u->failed ? -1 : 0;
}

static void upload_end(struct fh_http_request *r, struct fh_str body)
{
	struct fh_e2b *s = fh_http_context(r);
	struct upload *u = fh_http_request_kept(r);
	if (!u)
		u = upload_begin(r);
	if (u->failed)
		return;
	fh_template_build_archive_done(s->builds, fh_http_segment(r, 0));
	fh_http_reply_empty(r, 200);
}

/* ------------------------------------------------------------------------------------------------- names and tags */

static void alias(struct fh_http_request *r, struct fh_str body)
{
	struct fh_e2b *s = fh_http_context(r);
	const char *name = fh_http_segment(r, 0);
	if (!(strchr(name, ':') ? fh_templates_have(s->templates, fh_e2b_key(r), name)
	                        : fh_templates_have_any(s->templates, fh_e2b_key(r), name))) {
		fh_e2b_fail(r, 404, "template '%.64s' not found", name);
		return;
	}
	json_t *o = json_object();
	json_object_set_new(o, "templateID", json_string(name));
	json_object_set_new(o, "public", json_boolean(fh_template_is_built_in(name)));
	fh_http_reply_json(r, 200, o);
}

/* The request's body is {"target": "NAME:TAG", "tags": [TAG…]}. */
static void add_tags(struct fh_http_request *r, struct fh_str text)
{
	struct fh_e2b *s = fh_http_context(r);
	fh_auto_json json_t *body = fh_e2b_body(r, text);
	struct fh_error err = FH_ERROR_INIT;
	char build_id[FH_UUID_SIZE];
	json_t *tags = json_object_get(body, "tags");
	if (!body || !are_tags(r, tags, true))
		return;
	for (size_t i = 0; i < json_array_size(tags); i++)
		if (fh_templates_tag(s->templates, fh_e2b_key(r), fh_json_str(body, "target", ""),
		                     json_string_value(json_array_get(tags, i)), build_id, &err) < 0) {
			fh_e2b_fail_from(r, &err);
			return;
		}
	json_t *o = json_object();
	json_object_set_new(o, "buildID", json_string(build_id));
	json_object_set(o, "tags", tags);
	fh_http_reply_json(r, 201, o);
}

/* The request's body is {"name": "NAME", "tags": [TAG…]}. */
static void remove_tags(struct fh_http_request *r, struct fh_str text)
{
	struct fh_e2b *s = fh_http_context(r);
	fh_auto_json json_t *body = fh_e2b_body(r, text);
	const json_t *tags = json_object_get(body, "tags");
	const char *name = fh_json_str(body, "name", "");
	bool found = false;
	if (!body || !are_tags(r, tags, true))
		return;
	for (size_t i = 0; i < json_array_size(tags); i++) {
		fh_auto_free char *id =
		    fh_xasprintf("%.*s:%s", (int)strcspn(name, ":"), name, json_string_value(json_array_get(tags, i)));
		found |= fh_templates_remove(s->templates, fh_e2b_key(r), id);
	}
	if (found)
		fh_http_reply_empty(r, 204);
	else
		fh_e2b_fail(r, 404, "template '%.64s' has none of these tags", name);
}

static void list_tags(struct fh_http_request *r, struct fh_str body)
{
	struct fh_e2b *s = fh_http_context(r);
	json_t *list = fh_templates_tags(s->templates, fh_e2b_key(r), fh_http_segment(r, 0));
	if (json_array_size(list)) {
		fh_http_reply_json(r, 200, list);
		return;
	}
	json_decref(list);
	fh_e2b_fail(r, 404, "template '%.64s' not found", fh_http_segment(r, 0));
}

static void list(struct fh_http_request *r, struct fh_str body)
{
	struct fh_e2b *s = fh_http_context(r);
	fh_http_reply_json(r, 200, fh_templates_built(s->templates, fh_e2b_key(r)));
}

const struct fh_http_route fh_e2b_build_routes[] = {
	{ "POST", "/v3/templates", announce },
	{ "POST", "/v2/templates", announce },
	{ "GET", "/templates", list },
	{ "GET", "/v2/templates", list },
	{ "POST", "/templates/tags", add_tags },
	{ "DELETE", "/templates/tags", remove_tags },
	{ "GET", "/templates/aliases/{alias}", alias },
	{ "GET", "/templates/{id}/tags", list_tags },
	{ "GET", "/templates/{id}/files/{hash}", upload_place },
	{ "POST", "/v2/templates/{id}/builds/{build}", start },
	{ "GET", "/templates/{id}/builds/{build}/status", status },
	{ "PUT", "/builds/archives/{token}", upload_end, upload_piece, FH_BUILD_ARCHIVE_BYTES_MAX, FH_E2B_OPEN },
	{ 0 },
};
