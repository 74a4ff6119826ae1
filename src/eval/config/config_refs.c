/* SPDX-License-Identifier: MIT */
/* $ref in configs, as JSON Schema's tools and promptfoo read it. Source: RFC 6901 for what follows the '#'. */
#include "eval/config/config_internal.h"

#include <stdlib.h>
#include "base/path.h"

enum {
	DEPTH_MAX = 64,
	FILES_MAX = 256,
};

/* The files that one document refers to, each loaded once. */
struct refs {
	struct fh_document *files;
	unsigned count;
};

static void refs_release(struct refs *refs)
{
	fh_document_free_list(refs->files);
}

/* Whether the value has a $ref anywhere: most configs have none and need no second tree. */
static bool has_ref(const json_t *value, unsigned depth)
{
	const char *key;
	json_t *v;
	if (depth > DEPTH_MAX * 4)
		return false;
	if (json_is_array(value)) {
		for (size_t i = 0; i < json_array_size(value); i++)
			if (has_ref(json_array_get(value, i), depth + 1))
				return true;
		return false;
	}
	if (json_is_string(json_object_get(value, "$ref")))
		return true;
	json_object_foreach((json_t *)(uintptr_t)value, key, v) if (has_ref(v, depth + 1)) return true;
	return false;
}

/* Replaces ~1 by '/' and ~0 by '~'. */
static void unescape(char *key)
{
	char *to = key;
	for (const char *p = key; *p; p++) {
		bool escaped = *p == '~' && (p[1] == '0' || p[1] == '1');
		*to++ = escaped ? "~/"[*++p - '0'] : *p;
	}
	*to = 0;
}

/* What a pointer ("/PATH", or "" for the whole) names; NULL: nothing. */
static const json_t *pointed_to(const json_t *root, const char *pointer)
{
	const json_t *at = root;
	fh_auto_free char *path = fh_xstrdup(pointer);
	char *save = NULL;
	for (char *key = strtok_r(path, "/", &save); key && at; key = strtok_r(NULL, "/", &save)) {
		unescape(key);
		at = json_is_array(at) ? json_array_get(at, strtoul(key, NULL, 10)) : json_object_get(at, key);
	}
	return at;
}

/* The document that `name`, as written in `from`, means. */
static int load(struct refs *refs, const struct fh_document *from, const char *name, const struct fh_document **ret,
                struct fh_error *err)
{
	fh_auto_free char *dir = fh_path_dir(from->path), *path = fh_path_join(dir, name);
	for (struct fh_document *d = refs->files; d; d = d->next) {
		if (fh_streq(d->path, path)) {
			*ret = d;
			return 0;
		}
	}
	if (++refs->count > FILES_MAX)
		return fh_document_error(from, "", err, "$ref: more than %d files are referred to", FILES_MAX);
	struct fh_error why = FH_ERROR_INIT;
	struct fh_document *d = NULL;
	if (fh_document_load(path, &d, &why) < 0)
		return fh_document_error(from, "", err, "$ref \"%s\": %s", name, why.message);
	d->next = refs->files;
	refs->files = d;
	*ret = d;
	return 0;
}

static int resolve(struct refs *refs, const struct fh_document *d, const json_t *value, unsigned depth, json_t **ret,
                   struct fh_error *err);

/* Adds the keys beside a $ref to what it points to. */
static int add_beside(struct refs *refs, const struct fh_document *d, const json_t *ref, unsigned depth,
                      json_t **target, struct fh_error *err)
{
	const char *key;
	json_t *member, *v;
	if (json_object_size(ref) < 2 || !json_is_object(*target))
		return 0;
	fh_auto_json json_t *merged = json_copy(*target);
	json_object_foreach((json_t *)(uintptr_t)ref, key, member)
	{
		if (fh_streq(key, "$ref"))
			continue;
		int r = resolve(refs, d, member, depth, &v, err);
		if (r < 0)
			return r;
		json_object_set_new(merged, key, v);
	}
	json_decref(*target);
	*target = json_incref(merged);
	return 0;
}

static int follow(struct refs *refs, const struct fh_document *d, const json_t *value, const char *ref, unsigned depth,
                  json_t **ret, struct fh_error *err)
{
	fh_auto_free char *name = fh_xstrdup(ref);
	const struct fh_document *in = d;
	char *pointer = strchr(name, '#');
	if (pointer)
		*pointer++ = 0;
	int r = *name ? load(refs, d, name, &in, err) : 0;
	if (r < 0)
		return r;
	const json_t *target = pointed_to(in->root, pointer ? pointer : "");
	if (!target)
		return fh_document_error(d, "", err, "$ref \"%s\" points to nothing in %s", ref,
		                         *name ? in->path : "this file");
	json_t *found = NULL;
	r = resolve(refs, in, target, depth, &found, err);
	if (r == 0 && (r = add_beside(refs, d, value, depth, &found, err)) < 0)
		json_decref(found);
	if (r == 0)
		*ret = found;
	return r;
}

static int resolve(struct refs *refs, const struct fh_document *d, const json_t *value, unsigned depth, json_t **ret,
                   struct fh_error *err)
{
	const char *ref = fh_json_str(value, "$ref", NULL), *key;
	if (depth > DEPTH_MAX)
		return fh_document_error(d, "", err, "$ref: references lead in a circle, or more than %d levels deep",
		                         DEPTH_MAX);
	if (ref && *ref && !strstr(ref, "://"))
		return follow(refs, d, value, ref, depth + 1, ret, err);
	json_t *copy = json_is_object(value) ? json_object() : json_is_array(value) ? json_array() : NULL, *v;
	int r = 0;
	if (!copy) {
		*ret = json_incref((json_t *)(uintptr_t)value);
		return 0;
	}
	for (size_t i = 0; i < json_array_size(value) && r == 0; i++)
		if ((r = resolve(refs, d, json_array_get(value, i), depth + 1, &v, err)) == 0)
			json_array_append_new(copy, v);
	json_t *member;
	json_object_foreach((json_t *)(uintptr_t)value, key, member)
	{
		if (r == 0 && (r = resolve(refs, d, member, depth + 1, &v, err)) == 0)
			json_object_set_new(copy, key, v);
	}
	if (r < 0)
		json_decref(copy);
	else
		*ret = copy;
	return r;
}

int fh_eval_config_resolve(struct fh_document *d, struct fh_error *err)
{
	FH_CLEANUP(refs_release) struct refs refs = { 0 };
	json_t *resolved = NULL;
	if (!has_ref(d->root, 0))
		return 0;
	int r = resolve(&refs, d, d->root, 0, &resolved, err);
	if (r < 0)
		return r;
	json_decref(d->root);
	d->root = resolved;
	return 0;
}
