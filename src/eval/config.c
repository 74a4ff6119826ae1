/* SPDX-License-Identifier: MIT */
#include "eval/config.h"
#include <glob.h>
#include <stdio.h>
#include <unistd.h>
#include "base/nearest.h"
#include "base/path.h"
#include "eval/env.h"
#include "eval/render.h"
#include "eval/text.h"

#define REF_DEPTH_MAX 64
#define PATHS_MAX 100000
#define WARNINGS_MAX 50

char *fh_eval_config_find(const char *dir)
{
	static const char *const names[] = { "promptfooconfig.yaml", "promptfooconfig.yml", "promptfooconfig.json" };
	for (size_t i = 0; i < FH_ARRAY_SIZE(names); i++) {
		char *path = fh_path_join(dir, names[i]);
		if (fh_path_exists(path))
			return path;
		free(path);
	}
	return NULL;
}

void fh_eval_config_warn(struct fh_eval_config *c, const struct fh_document *d, const char *place, const char *format,
                         ...)
{
	if (c->warning_count >= WARNINGS_MAX)
		return;
	char message[sizeof(c->warnings->message)];
	va_list args;
	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	struct fh_error *w = &FH_PUSH(c->warnings, c->warning_count, c->warning_capacity);
	fh_document_error(d, place, w, "%s", message);
}

/* ----------------------------------------------------------------------------------------------- {{env.X}} at load */

/* Renders the {{env.…}} tags of text; all others are for later. One that names no variable stays, too. */
static int render_env_text(const char *text, const json_t *vars, struct fh_buf *out, struct fh_error *err)
{
	for (const char *open; (open = strstr(text, "{{"));) {
		const char *close = strstr(open, "}}"), *inside = open + 2;
		if (!close)
			break;
		close += 2;
		inside += *inside == '-';
		inside += strspn(inside, " \t\n");
		bool ours = fh_starts_with(inside, "env.") || fh_starts_with(inside, "env[");
		fh_buf_add(out, text, (size_t)((ours ? open : close) - text));
		text = close;
		if (!ours)
			continue;
		fh_auto_free char *name = fh_xstrndup(inside + 4, strspn(inside + 4, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijkl"
		                                                                     "mnopqrstuvwxyz0123456789_"));
		bool plain = strspn(inside + 4 + strlen(name), " \t\n") == (size_t)(close - 2 - (inside + 4 + strlen(name)));
		fh_auto_free char *rendered = NULL;
		if (!plain || json_object_get(json_object_get(vars, "env"), name)) {
			int r = fh_render_text((struct fh_str){ open, (size_t)(close - open) }, vars, &rendered, err);
			if (r < 0)
				return r;
			fh_buf_adds(out, rendered);
		} else {
			fh_buf_add(out, open, (size_t)(close - open));
		}
	}
	fh_buf_adds(out, text);
	return 0;
}

static int render_env(const json_t *value, const json_t *vars, json_t **ret, struct fh_error *err);

static int render_env_list(const json_t *list, const json_t *vars, json_t **ret, struct fh_error *err)
{
	json_t *changed = NULL;
	for (size_t i = 0; i < json_array_size(list); i++) {
		json_t *item = NULL;
		int r = render_env(json_array_get(list, i), vars, &item, err);
		if (r < 0) {
			json_decref(changed);
			return r;
		}
		if (item != json_array_get(list, i) && !changed)
			changed = json_copy((json_t *)(uintptr_t)list);
		if (changed)
			json_array_set(changed, i, item);
		json_decref(item);
	}
	*ret = changed ? changed : json_incref((json_t *)(uintptr_t)list);
	return 0;
}

static int render_env_map(const json_t *map, const json_t *vars, json_t **ret, struct fh_error *err)
{
	json_t *changed = NULL, *value;
	const char *key;
	json_object_foreach((json_t *)(uintptr_t)map, key, value)
	{
		json_t *item = NULL;
		int r = render_env(value, vars, &item, err);
		if (r < 0) {
			json_decref(changed);
			return r;
		}
		if (item != value && !changed)
			changed = json_copy((json_t *)(uintptr_t)map);
		if (changed)
			json_object_set(changed, key, item);
		json_decref(item);
	}
	*ret = changed ? changed : json_incref((json_t *)(uintptr_t)map);
	return 0;
}

/* What has nothing to render is the same value, not a copy: its place stays known. */
static int render_env(const json_t *value, const json_t *vars, json_t **ret, struct fh_error *err)
{
	const char *text = json_string_value(value);
	if (json_is_array(value))
		return render_env_list(value, vars, ret, err);
	if (json_is_object(value))
		return render_env_map(value, vars, ret, err);
	if (!text || !strstr(text, "{{") || !strstr(text, "env")) {
		*ret = json_incref((json_t *)(uintptr_t)value);
		return 0;
	}
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(0);
	int r = render_env_text(text, vars, &out, err);
	if (r == 0)
		*ret = fh_json_bytes(fh_buf_str(&out));
	return r;
}

/* ------------------------------------------------------------------------------------------------------------ $ref */

static const json_t *ref_target(const json_t *root, const char *ref)
{
	const json_t *at = root;
	fh_auto_free char *path = fh_xstrdup(ref + 1);
	char *save = NULL;
	for (char *key = strtok_r(path, "/", &save); key && at; key = strtok_r(NULL, "/", &save))
		at = json_is_array(at) ? json_array_get(at, strtoul(key, NULL, 10)) : json_object_get(at, key);
	return at;
}

/* Whether a $ref stands anywhere, so that most configs need no second tree. Schemas keep theirs: a value of is-json
 * may refer to its own parts. */
static bool has_ref(const json_t *value, unsigned depth)
{
	const char *key;
	json_t *v;
	if (depth > REF_DEPTH_MAX * 4)
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

static int resolve_refs(const struct fh_document *d, const json_t *value, unsigned depth, json_t **ret,
                        struct fh_error *err)
{
	const char *ref = fh_json_str(value, "$ref", NULL), *key;
	if (depth > REF_DEPTH_MAX)
		return fh_document_error(d, "", err, "$ref: references lead in a circle, or more than %d levels deep",
		                         REF_DEPTH_MAX);
	if (ref && *ref == '#') {
		const json_t *target = ref_target(d->root, ref);
		if (!target)
			return fh_document_error(d, "", err, "$ref \"%s\" points to nothing in this file", ref);
		return resolve_refs(d, target, depth + 1, ret, err);
	}
	json_t *copy = json_is_object(value) ? json_object() : json_is_array(value) ? json_array() : NULL, *v;
	int r = 0;
	if (!copy) {
		*ret = json_incref((json_t *)(uintptr_t)value);
		return 0;
	}
	for (size_t i = 0; i < json_array_size(value) && r == 0; i++)
		if ((r = resolve_refs(d, json_array_get(value, i), depth + 1, &v, err)) == 0)
			json_array_append_new(copy, v);
	json_t *member;
	json_object_foreach((json_t *)(uintptr_t)value, key, member)
	{
		if (r == 0 && (r = resolve_refs(d, member, depth + 1, &v, err)) == 0)
			json_object_set_new(copy, key, v);
	}
	if (r < 0)
		json_decref(copy);
	else
		*ret = copy;
	return r;
}

/* ---------------------------------------------------------------------------------------------------------- loading */

static int process(const struct fh_eval_config *c, struct fh_document *d, struct fh_error *err)
{
	fh_auto_json json_t *vars = json_pack("{s:O}", "env", c->env);
	json_t *rendered = NULL;
	int r = render_env(d->root, vars, &rendered, err);
	if (r < 0)
		return fh_document_place(d, "", err);
	json_decref(d->root);
	d->root = rendered;
	if (!has_ref(d->root, 0))
		return 0;
	json_t *resolved = NULL;
	r = resolve_refs(d, d->root, 0, &resolved, err);
	if (r < 0)
		return r;
	json_decref(d->root);
	d->root = resolved;
	return 0;
}

int fh_eval_config_document(struct fh_eval_config *c, const char *path, struct fh_document **ret, struct fh_error *err)
{
	struct fh_document *d = NULL;
	int r = fh_document_load(path, &d, err);
	if (r == 0 && (r = process(c, d, err)) < 0)
		fh_document_free_list(d);
	if (r < 0)
		return r;
	d->next = c->document->next;
	c->document->next = d;
	*ret = d;
	return 0;
}

/* Keys that change what an eval does, and that this version does not carry out: refused, not ignored. */
static int check_keys(struct fh_eval_config *c, struct fh_error *err)
{
	static const char *const refused[] = { "scenarios", "nunjucksFilters" };
	static const char *const known[] = { "description",
		                                 "tags",
		                                 "prompts",
		                                 "providers",
		                                 "targets",
		                                 "tests",
		                                 "defaultTest",
		                                 "evaluateOptions",
		                                 "commandLineOptions",
		                                 "outputPath",
		                                 "env",
		                                 "derivedMetrics",
		                                 "sharing",
		                                 "metadata",
		                                 "tracing",
		                                 "redteam",
		                                 "writeLatestResults",
		                                 "assertionTemplates",
		                                 "scenarios",
		                                 "extensions",
		                                 "nunjucksFilters" };
	const char *key;
	json_t *v;
	for (size_t i = 0; i < FH_ARRAY_SIZE(refused); i++) {
		v = json_object_get(c->root, refused[i]);
		if (v && !json_is_null(v) && !(json_is_array(v) && json_array_size(v) == 0))
			return fh_document_error(c->document, refused[i], err, "\"%s\" is not supported", refused[i]);
	}
	json_object_foreach((json_t *)(uintptr_t)c->root, key, v)
	{
		struct fh_nearest nearest = FH_NEAREST_INIT(key);
		bool is_known = false;
		for (size_t i = 0; i < FH_ARRAY_SIZE(known) && !is_known; i++) {
			is_known = strcmp(known[i], key) == 0;
			fh_nearest_offer(&nearest, known[i]);
		}
		if (!is_known && nearest.best)
			fh_eval_config_warn(c, c->document, key, "\"%s\" is not known; did you mean \"%s\"?", key, nearest.best);
	}
	v = json_object_get(c->root, "env");
	return !v || json_is_object(v) || json_is_null(v)
	           ? 0
	           : fh_document_error(c->document, "env", err, "\"env\" must be a map of names to values");
}

void fh_eval_config_empty(struct fh_eval_config *ret)
{
	char cwd[4096];
	*ret = (struct fh_eval_config){ .document = fh_document_new("command line", json_object()) };
	ret->root = ret->document->root;
	ret->dir = fh_xstrdup(getcwd(cwd, sizeof(cwd)) ? cwd : ".");
	ret->path = fh_path_join(ret->dir, "(command line)");
	ret->env = fh_env_object(NULL);
}

int fh_eval_config_load(const char *path, struct fh_eval_config *ret, struct fh_error *err)
{
	struct fh_eval_config c = { 0 };
	char cwd[4096];
	if (!getcwd(cwd, sizeof(cwd)))
		snprintf(cwd, sizeof(cwd), ".");
	int r = fh_document_load(path, &c.document, err);
	if (r < 0)
		return r;
	fh_auto_free char *whole = fh_path_join(cwd, path);
	c.path = fh_path_clean(whole);
	c.dir = fh_path_dir(c.path);
	c.env = fh_env_object(NULL);
	if (!json_is_object(c.document->root)) {
		r = fh_document_error(c.document, "", err, "a config is a map with prompts, providers and tests");
		fh_error_hint(err, "see https://www.promptfoo.dev/docs/configuration/guide");
	}
	json_t *own = NULL;
	fh_auto_json json_t *vars = json_pack("{s:O}", "env", c.env);
	if (r == 0)
		r = render_env(json_object_get(c.document->root, "env") ? json_object_get(c.document->root, "env")
		                                                        : json_null(),
		               vars, &own, err);
	if (r == 0) {
		json_decref(c.env);
		c.env = fh_env_object(json_is_object(own) ? own : NULL);
		r = process(&c, c.document, err);
	}
	json_decref(own);
	c.root = c.document->root;
	if (r == 0)
		r = check_keys(&c, err);
	if (r < 0) {
		fh_eval_config_release(&c);
		return r;
	}
	*ret = c;
	return 0;
}

void fh_eval_config_release(struct fh_eval_config *c)
{
	fh_document_free_list(c->document);
	json_decref(c->env);
	free(c->path);
	free(c->dir);
	free(c->warnings);
	*c = (struct fh_eval_config){ 0 };
}

/* ------------------------------------------------------------------------------------------------------------ paths */

int fh_eval_config_paths(const struct fh_eval_config *c, const char *pattern, struct fh_eval_paths *ret,
                         struct fh_error *err)
{
	pattern += fh_text_is_file(pattern) ? strlen("file://") : 0;
	fh_auto_free char *whole = fh_path_join(c->dir, pattern);
	if (!strpbrk(pattern, "*?[{") || fh_path_exists(whole)) {
		if (!fh_path_exists(whole))
			return fh_error_set(err, FH_E_CONFIG, "no such file: %s", whole);
		ret->items = fh_xcalloc(1, sizeof(*ret->items));
		ret->items[0] = FH_TAKE_PTR(whole);
		ret->count = 1;
		return 0;
	}
	glob_t found = { 0 };
	int r = glob(whole, GLOB_BRACE, NULL, &found);
	if (r != 0 || found.gl_pathc > PATHS_MAX) {
		globfree(&found);
		return fh_error_set(err, FH_E_CONFIG, r == 0 ? "more than 100000 files match %s" : "no file matches %s", whole);
	}
	ret->items = fh_xcalloc(found.gl_pathc, sizeof(*ret->items));
	for (size_t i = 0; i < found.gl_pathc; i++)
		ret->items[ret->count++] = fh_xstrdup(found.gl_pathv[i]);
	globfree(&found);
	return 0;
}

void fh_eval_paths_release(struct fh_eval_paths *p)
{
	for (size_t i = 0; i < p->count; i++)
		free(p->items[i]);
	free(p->items);
	*p = (struct fh_eval_paths){ 0 };
}

const char *fh_eval_config_shorten(const struct fh_eval_config *c, const char *path)
{
	size_t n = strlen(c->dir);
	return strncmp(path, c->dir, n) == 0 && path[n] == '/' ? path + n + 1 : path;
}
