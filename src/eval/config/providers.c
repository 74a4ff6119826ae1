/* SPDX-License-Identifier: MIT */
#include "eval/config/providers.h"
#include "base/path.h"
#include "eval/config/keys.h"
#include "eval/common/text.h"
#include "script/script.h"

#define PROVIDERS_MAX 1000

const char *fh_eval_provider_name(const struct fh_eval_provider *p)
{
	return *p->label ? p->label : p->id;
}

static void provider_free(struct fh_eval_provider *p)
{
	if (!p)
		return;
	fh_provider_free(p->handle);
	json_decref(p->entry);
	json_decref(p->json);
	free(p->id);
	free(p->label);
	free(p);
}

/* promptfoo's name of a provider that is a script: "python:FILE:FUNCTION" for a Python file whose entry is only its
 * name, and what id() returns for a JavaScript class. NULL: the name is the one in the config. free() it. */
static char *script_id(const struct fh_eval_config *c, const char *id, bool plain, const json_t *options,
                       struct fh_script_pool *scripts)
{
	enum fh_script_language language;
	fh_auto_free char *path = NULL;
	fh_auto_free char *function = NULL;
	const char *rest = fh_starts_with(id, "python:") ? id + strlen("python:") : id;
	rest += fh_text_is_file(rest) ? strlen("file://") : 0;
	if (rest == id && strchr(id, ':')) /* without a prefix only the bare path of a JavaScript file names a script */
		return NULL;
	fh_text_split_file(rest, c->dir, &path, &function);
	if (!fh_script_language_of(path, &language))
		return NULL;
	if (language == FH_SCRIPT_PYTHON)
		return plain ? fh_xasprintf("python:%.*s:%s", (int)strcspn(rest, ":"), rest, function ? function : "default")
		             : NULL;
	if (language != FH_SCRIPT_JAVASCRIPT || function || !scripts)
		return NULL;
	fh_auto_json json_t *none = json_array();
	fh_auto_script_result struct fh_script_result result = { 0 };
	struct fh_script_call call = {
		.language = language, .file = path, .method = "id", .construct = options, .args = none
	};
	if (fh_script_call(scripts, &call, &result, NULL) < 0 || result.outcome != FH_SCRIPT_RETURNED ||
	    !json_is_string(result.value))
		return NULL;
	return fh_xstrdup(json_string_value(result.value));
}

/* What the function in a config in JavaScript returns that is the provider's `id`; NULL: `id` is none. free() it. */
static char *id_of_function(const struct fh_eval_config *c, const char *id, struct fh_script_pool *scripts)
{
	fh_auto_free char *path = NULL, *function = NULL;
	fh_auto_json json_t *none = json_array();
	fh_auto_script_result struct fh_script_result result = { 0 };
	if (!fh_text_is_file(id) || !scripts)
		return NULL;
	fh_text_split_file(id + strlen("file://"), c->dir, &path, &function);
	struct fh_script_call call = { .language = FH_SCRIPT_JAVASCRIPT, .file = path, .function = function, .args = none };
	if (!function || fh_script_call(scripts, &call, &result, NULL) < 0 || result.outcome != FH_SCRIPT_RETURNED ||
	    !json_is_string(result.value))
		return NULL;
	return fh_xstrdup(json_string_value(result.value));
}

/* An entry of a config in JavaScript that is a provider itself, {id, callApi}: in place of its `id`, which may be a
 * function, the function to call is the id. *ret_shown: the id to show, or NULL. */
static json_t *provider_of_functions(const struct fh_eval_config *c, FH_OWN json_t *entry,
                                     struct fh_script_pool *scripts, char **ret_shown)
{
	const char *call = fh_json_str(entry, "callApi", NULL), *id = fh_json_str(entry, "id", "");
	if (!call || !fh_text_is_file(call))
		return entry;
	char *named = id_of_function(c, id, scripts);
	*ret_shown = named ? named : fh_xstrdup(id);
	json_t *own = json_copy(entry);
	json_object_set(own, "id", json_object_get(entry, "callApi"));
	json_object_del(own, "callApi");
	json_decref(entry);
	return own;
}

/* promptfoo's name of a provider whose own id is no name: "http" with a URL, and the kinds of OpenAI's models where the
 * entry is only the id. NULL: the name is the one in the config. free() it. */
static char *shown_id(const char *id, bool plain, const json_t *config)
{
	static const char *const kinds[] = { "openai:chat:", "openai:completion:", "openai:responses:" };
	const char *url = fh_json_str(config, "url", NULL);
	if (url && (fh_streq(id, "http") || fh_streq(id, "https")))
		return fh_xstrdup(url);
	for (size_t i = 0; plain && i < FH_ARRAY_SIZE(kinds); i++)
		if (fh_starts_with(id, kinds[i]))
			return fh_xasprintf("openai:%s", id + strlen(kinds[i]));
	return NULL;
}

static int open_entry(struct fh_eval_config *c, const struct fh_document *d, const json_t *written, const char *place,
                      const struct fh_eval_provider_needs *needs, struct fh_eval_provider **ret, struct fh_error *err)
{
	const json_t *env = json_object_get(written, "env");
	fh_auto_json json_t *all_env = json_object();
	json_object_update(all_env, json_object_get(c->root, "env"));
	json_object_update(all_env, (json_t *)(uintptr_t)env);
	/* Tags that name the config's variables were rendered when it was loaded; what is left may name the provider's. */
	fh_auto_free char *named = NULL;
	fh_auto_json json_t *entry =
	    provider_of_functions(c, fh_eval_config_render_env(written, env ? env : json_null()), needs->scripts, &named);
	const char *id = fh_json_str(entry, "id", NULL);
	if (!id || !*id)
		return fh_document_error(d, place, err, "a provider needs an \"id\", such as openai:chat:gpt-4o or echo");
	if (json_object_get(entry, "callApi"))
		return fh_document_error(d, place, err,
		                         "\"callApi\" is a function, which only a config in JavaScript can have");
	const json_t *config = json_object_get(entry, "config");
	struct fh_eval_provider *p = FH_NEW(struct fh_eval_provider);
	p->id = fh_xstrdup(id);
	p->label = fh_xstrdup(fh_json_str(entry, "label", ""));
	p->entry = json_incref(entry);
	p->written = fh_json_str(p->entry, "id", "");
	p->delay_ms = (uint64_t)FH_MAX(fh_json_num(entry, "delay", 0), 0);
	p->json = json_pack("{s:s, s:s}", "id", id, "label", p->label);
	struct fh_provider_options options = { .id = id,
		                                   .label = *p->label ? p->label : NULL,
		                                   .config = config,
		                                   .base_dir = c->dir,
		                                   .env = all_env,
		                                   .own_env = env,
		                                   .scripts = needs->scripts,
		                                   .replay = needs->replay,
		                                   .record = needs->record,
		                                   .cache = needs->cache,
		                                   .cancel = needs->cancel,
		                                   .timeout_ms = needs->timeout_ms,
		                                   .look_only = needs->look_only };
	if (fh_provider_open(&options, &p->handle, err) < 0) {
		provider_free(p);
		return fh_document_place(d, place, err);
	}
	if (config) /* with the tools that it names by file */
		json_object_set(p->json, "config", (json_t *)(uintptr_t)fh_provider_config(p->handle));
	fh_auto_json json_t *about = json_pack("{s:s, s:O?}", "id", id, "config", config);
	bool plain = json_object_size(entry) == 1;
	char *shown = named ? FH_TAKE_PTR(named) : needs->replay ? NULL : script_id(c, id, plain, about, needs->scripts);
	shown = shown || needs->replay ? shown : shown_id(id, plain, config);
	if (shown) {
		free(p->id);
		p->id = shown;
		json_object_set_new(p->json, "id", json_string(shown));
	}
	*ret = p;
	return 0;
}

json_t *fh_eval_provider_entry(const json_t *entry)
{
	if (json_is_string(entry))
		return json_pack("{s:O}", "id", entry);
	/* Only an entry that is text is named anew ("python:FILE:FUNCTION"): the id of a mapping is its name. */
	if (json_object_get(entry, "id"))
		return json_object_size(entry) > 1 ? json_incref((json_t *)(uintptr_t)entry)
		                                   : json_pack("{s:O, s:s}", "id", json_object_get(entry, "id"), "label", "");
	if (json_object_size(entry) != 1)
		return NULL;
	void *only = json_object_iter((json_t *)(uintptr_t)entry);
	json_t *options = json_object_iter_value(only);
	if (!json_is_object(options))
		return NULL;
	json_t *whole = json_pack("{s:s}", "id", json_object_iter_key(only));
	json_object_update(whole, options);
	return whole;
}

int fh_eval_providers_add(struct fh_eval_config *c, const struct fh_document *d, const json_t *entry, const char *place,
                          const struct fh_eval_provider_needs *needs, struct fh_eval_providers *providers,
                          struct fh_eval_provider **ret, struct fh_error *err)
{
	fh_auto_json json_t *normal = fh_eval_provider_entry(entry);
	if (!normal)
		return fh_document_error(d, place, err,
		                         "a provider is an id, an object with an \"id\", or {ID: {options}} with one key");
	for (size_t i = 0; ret && i < providers->count; i++) {
		if (!json_equal(providers->items[i]->entry, normal))
			continue;
		*ret = providers->items[i];
		return 0;
	}
	int checked = fh_eval_keys_check(c, d, normal, place, &fh_eval_keys_provider, err);
	if (checked < 0)
		return checked;
	if (providers->count >= PROVIDERS_MAX)
		return fh_document_error(d, place, err, "more than %d providers", PROVIDERS_MAX);
	struct fh_eval_provider *p = NULL;
	int r = open_entry(c, d, normal, place, needs, &p, err);
	if (r < 0)
		return r;
	if (!ret && fh_provider_asks_another(p->handle)) {
		r = fh_document_error(d, place, err, "provider %s asks another provider, and cannot be one of the list", p->id);
		fh_error_hint(err, "it is the `provider` of a test, or of defaultTest, and asks those of the list");
		provider_free(p);
		return r;
	}
	FH_PUSH(providers->items, providers->count, providers->capacity) = p;
	if (ret)
		*ret = p;
	return 0;
}

json_t *fh_eval_providers_own_entry(const struct fh_eval_providers *p, const json_t *entry, const json_t *merged)
{
	if (!entry || json_is_null(entry))
		return NULL;
	fh_auto_json json_t *normal = fh_eval_provider_entry(entry);
	json_t *config = json_object_get(normal, "config"), *grader = json_object_get(merged, "options");
	grader = json_object_get(grader, "provider");
	if (json_is_object(grader) && json_object_get(grader, "text"))
		grader = json_object_get(grader, "text");
	if (!fh_provider_needs_model(fh_json_str(normal, "id", "")) || !grader || json_is_null(grader) ||
	    json_object_get(config, "provider"))
		return json_incref((json_t *)(uintptr_t)entry);
	for (size_t i = 0; i < p->count && json_is_string(grader); i++)
		if (fh_streq(p->items[i]->label, json_string_value(grader)))
			grader = p->items[i]->entry;
	json_t *made = json_copy(normal), *with = json_object();
	json_object_update(with, config);
	json_object_set(with, "provider", grader);
	json_object_set_new(made, "config", with);
	return made;
}

static bool is_list_file(const char *text)
{
	return fh_text_is_file(text) && (fh_streq(fh_path_ext(text), ".yaml") || fh_streq(fh_path_ext(text), ".yml") ||
	                                 fh_streq(fh_path_ext(text), ".json"));
}

static int load_list(struct fh_eval_config *c, const struct fh_document *d, const json_t *spec, const char *place,
                     const struct fh_eval_provider_needs *needs, struct fh_eval_providers *ret, unsigned depth,
                     struct fh_error *err);

static int load_file(struct fh_eval_config *c, const struct fh_document *d, const char *text, const char *place,
                     const struct fh_eval_provider_needs *needs, struct fh_eval_providers *ret, unsigned depth,
                     struct fh_error *err)
{
	fh_auto_free char *path = fh_path_join(c->dir, text + strlen("file://"));
	struct fh_document *list = NULL;
	if (depth > 4)
		return fh_document_error(d, place, err, "files of providers name each other more than 4 levels deep");
	if (!fh_path_exists(path))
		return fh_document_error(d, place, err, "no such file: %s", path);
	int r = fh_eval_config_document(c, path, &list, err);
	return r < 0 ? r : load_list(c, list, list->root, "", needs, ret, depth + 1, err);
}

static int load_list(struct fh_eval_config *c, const struct fh_document *d, const json_t *spec, const char *place,
                     const struct fh_eval_provider_needs *needs, struct fh_eval_providers *ret, unsigned depth,
                     struct fh_error *err)
{
	bool list = json_is_array(spec);
	for (size_t i = 0; i < (list ? json_array_size(spec) : 1); i++) {
		const json_t *entry = list ? json_array_get(spec, i) : spec;
		const char *text = json_string_value(entry);
		fh_auto_free char *at = list ? fh_xasprintf("%s%s%zu", place, *place ? "/" : "", i) : fh_xstrdup(place);
		int r = text && is_list_file(text) ? load_file(c, d, text, at, needs, ret, depth, err)
		                                   : fh_eval_providers_add(c, d, entry, at, needs, ret, NULL, err);
		if (r < 0)
			return r;
	}
	return 0;
}

int fh_eval_providers_load(struct fh_eval_config *c, const json_t *spec, const char *place,
                           const struct fh_eval_provider_needs *needs, struct fh_eval_providers *ret,
                           struct fh_error *err)
{
	struct fh_eval_providers providers = { 0 };
	int r = 0;
	if (spec && !json_is_null(spec))
		r = load_list(c, c->document, spec, place, needs, &providers, 0, err);
	if (r == 0 && providers.count == 0) {
		r = fh_document_error(c->document, place, err, "no provider is given");
		fh_error_hint(err, "add a list \"providers:\", for example [openai:chat:gpt-4o] or [echo]");
	}
	if (r < 0) {
		fh_eval_providers_release(&providers);
		return r;
	}
	*ret = providers;
	return 0;
}

void fh_eval_providers_release(struct fh_eval_providers *p)
{
	for (size_t i = 0; i < p->count; i++)
		provider_free(p->items[i]);
	free(p->items);
	*p = (struct fh_eval_providers){ 0 };
}
