/* SPDX-License-Identifier: MIT */
#include "eval/config/config.h"
#include <stdio.h>
#include <unistd.h>
#include "base/path.h"
#include "eval/config/config_internal.h"
#include "eval/common/env.h"
#include "eval/config/keys.h"
#include "eval/common/text.h"
#include "eval/rendering/template_host.h"

#define WARNINGS_MAX 50

char *fh_eval_config_find(const char *dir)
{
	static const char *const names[] = { "promptfooconfig.yaml", "promptfooconfig.yml", "promptfooconfig.json",
		                                 "promptfooconfig.cjs",  "promptfooconfig.cts", "promptfooconfig.js",
		                                 "promptfooconfig.mjs",  "promptfooconfig.mts", "promptfooconfig.ts" };
	for (size_t i = 0; i < FH_ARRAY_SIZE(names); i++) {
		char *path = fh_path_join(dir, names[i]);
		if (fh_path_exists(path))
			return path;
		free(path);
	}
	return NULL;
}

static void add_warning(struct fh_eval_config *c, bool with_results, const struct fh_document *d, const char *place,
                        const char *format, va_list args)
{
	if (c->warning_count >= WARNINGS_MAX)
		return;
	char message[sizeof(c->warnings->error.message)];
	vsnprintf(message, sizeof(message), format, args);
	struct fh_eval_warning *w = &FH_PUSH(c->warnings, c->warning_count, c->warning_capacity);
	w->with_results = with_results;
	fh_document_error(d, place, &w->error, "%s", message);
}

void fh_eval_config_warn(struct fh_eval_config *c, const struct fh_document *d, const char *place, const char *format,
                         ...)
{
	va_list args;
	va_start(args, format);
	add_warning(c, false, d, place, format, args);
	va_end(args);
}

void fh_eval_config_note(struct fh_eval_config *c, const struct fh_document *d, const char *place, const char *format,
                         ...)
{
	va_list args;
	va_start(args, format);
	add_warning(c, true, d, place, format, args);
	va_end(args);
}

/* ----------------------------------------------------------------------------------------------- {{env.X}} at load */

#define WORD_BYTES "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"

/* Finds `env.` or `env[` in a tag, and stores the variable that comes behind. */
static bool tag_names_env(const char *tag, char **ret_name)
{
	for (const char *p = tag; (p = strstr(p, "env")); p += 3) {
		bool is_member = p[3] == '.' && (p == tag || !strchr(WORD_BYTES, p[-1])), is_index = p[3] == '[';
		if (!is_member && !is_index)
			continue;
		const char *name = p + 4;
		if (is_index)
			name += *name == '"' || *name == '\'';
		*ret_name = fh_xstrndup(name, is_index ? strcspn(name, "'\"]") : strspn(name, WORD_BYTES));
		return true;
	}
	return false;
}

/* Renders the tags of text that name environment variables. All other tags stay for the rendering of prompts; so does
 * one whose variable is not set, unless it has a filter (which may give it a value), and one that cannot be rendered.
 */
static void render_env_text(const char *text, const json_t *vars, struct fh_buf *out)
{
	for (const char *open; (open = strstr(text, "{{"));) {
		const char *close = strstr(open, "}}");
		if (!close)
			break;
		close += 2;
		fh_buf_add(out, text, (size_t)(open - text));
		text = close;
		fh_auto_free char *tag = fh_xstrndup(open, (size_t)(close - open)), *name = NULL, *rendered = NULL;
		bool ours =
		    tag_names_env(tag, &name) && (strchr(tag, '|') || json_object_get(json_object_get(vars, "env"), name));
		ours = ours && fh_render_text(fh_str(tag), vars, &rendered, NULL) == 0;
		fh_buf_adds(out, ours ? rendered : tag);
	}
	fh_buf_adds(out, text);
}

static json_t *render_env(json_t *value, const json_t *vars);

static json_t *render_env_list(json_t *list, const json_t *vars)
{
	json_t *changed = NULL;
	for (size_t i = 0; i < json_array_size(list); i++) {
		fh_auto_json json_t *item = render_env(json_array_get(list, i), vars);
		if (item != json_array_get(list, i) && !changed)
			changed = json_copy(list);
		if (changed)
			json_array_set(changed, i, item);
	}
	return changed ? changed : json_incref(list);
}

static json_t *render_env_map(json_t *map, const json_t *vars)
{
	json_t *changed = NULL, *value;
	const char *key;
	json_object_foreach(map, key, value)
	{
		/* What was said before is no template. */
		if (strcmp(key, "_conversation") == 0)
			continue;
		fh_auto_json json_t *item = render_env(value, vars);
		if (item != value && !changed)
			changed = json_copy(map);
		if (changed)
			json_object_set(changed, key, item);
	}
	return changed ? changed : json_incref(map);
}

/* New reference. A value without such tags is returned itself, not as a copy, because the document knows positions by
 * the value's address. */
static json_t *render_env(json_t *value, const json_t *vars)
{
	if (json_is_array(value))
		return render_env_list(value, vars);
	if (json_is_object(value))
		return render_env_map(value, vars);
	const char *text = json_string_value(value);
	if (!text || !strstr(text, "{{") || !strstr(text, "env"))
		return json_incref(value);
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(0);
	render_env_text(text, vars, &out);
	return fh_json_bytes(fh_buf_str(&out));
}

json_t *fh_eval_config_render_env(const json_t *value, const json_t *env)
{
	fh_auto_json json_t *vars = json_pack("{s:O}", "env", env);
	return render_env((json_t *)(uintptr_t)value, vars);
}

/* ---------------------------------------------------------------------------------------------------------- loading */

/* Whether a text in the value is package:NAME:EXPORT, which promptfoo loads from an npm package wherever a file:// may
 * stand. */
static bool has_package(const json_t *value)
{
	const char *text = json_string_value(value), *key;
	json_t *item;
	size_t i;
	bool found = text && strncmp(text, "package:", 8) == 0 && text[8 + strcspn(text + 8, " \t\r\n:")] == ':';
	json_array_foreach(value, i, item) found = found || has_package(item);
	json_object_foreach((json_t *)(uintptr_t)value, key, item) found = found || has_package(item);
	return found;
}

/* Refuses a text package:NAME:EXPORT anywhere in the value: nothing is loaded from npm packages here, and the text
 * itself would be taken for a prompt, a variable or code. */
static int refuse_packages(const struct fh_document *d, const json_t *value, const char *place, struct fh_error *err)
{
	const char *key;
	json_t *item;
	size_t i;
	json_array_foreach(value, i, item)
	{
		fh_auto_free char *at = has_package(item) ? fh_document_item(place, i) : NULL;
		if (at)
			return refuse_packages(d, item, at, err);
	}
	json_object_foreach((json_t *)(uintptr_t)value, key, item)
	{
		fh_auto_free char *at = has_package(item) ? fh_document_member(place, key) : NULL;
		if (at)
			return refuse_packages(d, item, at, err);
	}
	if (!json_is_string(value))
		return 0;
	fh_document_error(d, place, err, "%s: exports of npm packages are not loaded", json_string_value(value));
	fh_error_hint(err, "file://NAME.js may require() the package");
	return -FH_E_CONFIG;
}

/* First what `$ref` points to, so that it may name environment variables wherever it is written. */
static int process(const struct fh_eval_config *c, struct fh_document *d, struct fh_error *err)
{
	fh_auto_json json_t *vars = json_pack("{s:O}", "env", c->env);
	int r = fh_eval_config_resolve(d, err);
	if (r < 0)
		return r;
	json_t *rendered = render_env(d->root, vars);
	json_decref(d->root);
	d->root = rendered;
	return has_package(d->root) ? refuse_packages(d, d->root, "", err) : 0;
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

void fh_eval_config_empty(bool lenient, struct fh_eval_config *ret)
{
	char cwd[4096];
	*ret = (struct fh_eval_config){ .document = fh_document_new("command line", json_object()), .lenient = lenient };
	FH_PUSH(ret->parts, ret->part_count, ret->part_capacity) = ret->document;
	ret->root = ret->document->root;
	ret->dir = fh_xstrdup(getcwd(cwd, sizeof(cwd)) ? cwd : ".");
	ret->path = fh_path_join(ret->dir, "(command line)");
	ret->env = fh_env_object(NULL);
}

/* Renders the config's own `env` first, as the {{env.X}} of the rest may use those variables. */
static int process_part(struct fh_eval_config *c, struct fh_document *d, struct fh_error *err)
{
	fh_auto_json json_t *vars = json_pack("{s:O}", "env", c->env);
	json_t *env = json_object_get(d->root, "env");
	if (!json_is_object(d->root)) {
		int r = fh_document_error(d, "", err, "a config is a map with prompts, providers and tests");
		fh_error_hint(err, "see https://www.promptfoo.dev/docs/configuration/guide");
		return r;
	}
	fh_auto_json json_t *own = render_env(env ? env : json_null(), vars);
	fh_eval_env_add(c->env, own);
	int r = process(c, d, err);
	return r < 0 ? r : fh_eval_keys_check(c, d, d->root, "", &fh_eval_keys_config, err);
}

static int load_part(struct fh_eval_config *c, const char *path, struct fh_script_pool *scripts, struct fh_error *err)
{
	struct fh_document *d = NULL;
	int r =
	    fh_eval_config_is_script(path) ? fh_eval_config_run(path, scripts, &d, err) : fh_document_load(path, &d, err);
	if (r < 0)
		return r;
	struct fh_document **last = &c->document;
	while (*last)
		last = &(*last)->next;
	*last = d;
	FH_PUSH(c->parts, c->part_count, c->part_capacity) = d;
	return process_part(c, d, err);
}

static int load_all(struct fh_eval_config *c, const char *const *paths, size_t count, struct fh_script_pool *scripts,
                    struct fh_error *err)
{
	for (size_t i = 0; i < count; i++) {
		FH_CLEANUP(fh_eval_paths_release) struct fh_eval_paths found = { 0 };
		int r = fh_eval_glob("", paths[i], &found, err);
		for (size_t j = 0; j < found.count && r == 0; j++)
			r = load_part(c, found.items[j], scripts, err);
		if (r < 0)
			return r;
	}
	return 0;
}

int fh_eval_config_load(const char *const *paths, size_t count, const struct fh_eval_config_options *options,
                        struct fh_eval_config *ret, struct fh_error *err)
{
	struct fh_eval_config c = { .lenient = options->lenient };
	char cwd[4096];
	if (!getcwd(cwd, sizeof(cwd)))
		snprintf(cwd, sizeof(cwd), ".");
	c.env = fh_env_object(NULL);
	int r = load_all(&c, paths, count, options->scripts, err);
	if (r < 0) {
		fh_eval_config_release(&c);
		return r;
	}
	fh_auto_free char *whole = fh_path_join(cwd, c.parts[0]->path);
	c.path = fh_path_clean(whole);
	c.dir = fh_path_dir(c.path);
	c.root = c.document->root;
	if (c.part_count > 1) {
		struct fh_document *joined = fh_document_new(c.parts[0]->path, fh_eval_config_join(&c));
		joined->next = c.document;
		c.document = joined;
		c.root = joined->root;
	}
	*ret = c;
	return 0;
}

void fh_eval_config_release(struct fh_eval_config *c)
{
	fh_document_free_list(c->document);
	json_decref(c->env);
	free(c->parts);
	free(c->path);
	free(c->dir);
	free(c->warnings);
	*c = (struct fh_eval_config){ 0 };
}
