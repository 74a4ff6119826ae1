/* SPDX-License-Identifier: MIT */
#include "provider/settings.h"

#include "base/fd.h"
#include "base/path.h"
#include "json/yaml.h"
#include "provider/type.h"
#include "script/script.h"

#define FH_SETTINGS_FILE_MAX ((size_t)16 << 20)
#define FH_SETTINGS_DEPTH_MAX 64

/* The settings of models whose values are tools or schemas. */
static const char *const fh_settings_keys[] = {
	"tools", "functions", "response_format", "output_format", "responseSchema", "response_schema", "text", "format",
};

struct fh_settings {
	const struct fh_provider *p;
	const char *key; /* the setting, for messages */
	bool any;        /* a function in a script's file may return any value, and its name may be left out */
};

static bool fh_settings_is_file(const json_t *value)
{
	return json_is_string(value) && fh_starts_with(json_string_value(value), "file://");
}

/* Calls FILE:FUNCTION, which returns the setting. */
static int fh_settings_call(const struct fh_settings *s, const char *name, const char *path, const char *function,
                            enum fh_script_language language, json_t **ret, struct fh_error *err)
{
	fh_auto_json json_t *none = json_array();
	fh_auto_script_result struct fh_script_result result = { 0 };
	bool python = language == FH_SCRIPT_PYTHON;
	if (!s->p->scripts)
		return fh_error_set(err, FH_E_ARGUMENT, "provider %s was opened without script workers", s->p->id);
	if (!function && !s->any) {
		fh_error_set(err, FH_E_CONFIG, "config.%s: %s names no function", s->key, name);
		fh_error_hint(err, "write %s:FUNCTION, a function that returns the value", name);
		return -FH_E_CONFIG;
	}
	struct fh_script_call call = { .language = language,
		                           .file = path,
		                           .function = function ? function
		                                       : python ? "get_config"
		                                                : NULL,
		                           .env = (const char *const *)s->p->granted,
		                           .args = none };
	int code = fh_script_call(s->p->scripts, &call, &result, err);
	if (code)
		return code;
	if (result.outcome != FH_SCRIPT_RETURNED)
		return fh_error_set(err, FH_E_CONFIG, "config.%s: %s: %s", s->key, name, result.error_message);
	if (!s->any && !json_is_object(result.value) && !json_is_array(result.value))
		return fh_error_set(err, FH_E_CONFIG, "config.%s: %s returned neither a list nor an object", s->key, name);
	*ret = json_incref(result.value);
	return 0;
}

static int fh_settings_read(const struct fh_settings *s, const char *path, json_t **ret, struct fh_error *err)
{
	static const char *const trees[] = { ".json", ".yaml", ".yml" };
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(FH_SETTINGS_FILE_MAX);
	int code = fh_file_read(path, &text, err);
	if (code)
		return fh_error_wrap(err, "config.%s", s->key);
	for (size_t i = 0; i < FH_ARRAY_SIZE(trees); i++) {
		if (!fh_streq(fh_path_ext(path), trees[i]))
			continue;
		*ret = fh_yaml_load(fh_buf_str(&text), path, NULL, err);
		return *ret ? 0 : -FH_E_CONFIG;
	}
	*ret = fh_json_bytes(fh_buf_str(&text));
	return 0;
}

/* Loads "file://PATH" or "file://PATH:FUNCTION". */
static int fh_settings_file(const struct fh_settings *s, const char *name, json_t **ret, struct fh_error *err)
{
	const char *rest = name + strlen("file://"), *colon = strrchr(rest, ':');
	fh_auto_free char *file = fh_xstrndup(rest, colon ? (size_t)(colon - rest) : strlen(rest));
	enum fh_script_language language;
	bool script = fh_script_language_of(file, &language);
	fh_auto_free char *path = fh_path_join(s->p->base_dir, script ? file : rest);
	return script ? fh_settings_call(s, name, path, colon ? colon + 1 : NULL, language, ret, err)
	              : fh_settings_read(s, path, ret, err);
}

static int fh_settings_value(const struct fh_settings *s, json_t *value, unsigned depth, json_t **ret,
                             struct fh_error *err);

/* Loads an item or a member. *ret: a new reference. */
static int fh_settings_part(const struct fh_settings *s, json_t *value, unsigned depth, json_t **ret,
                            struct fh_error *err)
{
	fh_auto_json json_t *from = json_incref(value);
	json_t *loaded = NULL;
	if (fh_settings_is_file(value)) {
		int code = fh_settings_file(s, json_string_value(value), &loaded, err);
		if (code)
			return code;
		json_decref(from);
		from = loaded;
		loaded = NULL;
	}
	/* A form of answers in a file may name its schema by file in turn. */
	int code = from == value || !s->any ? fh_settings_value(s, from, depth + 1, &loaded, err) : 0;
	if (!code)
		*ret = loaded ? loaded : json_incref(from);
	return code;
}

/* A copy of a list or an object with its files loaded; lists of tools that files gave are joined with the list around
 * them. */
static int fh_settings_value(const struct fh_settings *s, json_t *value, unsigned depth, json_t **ret,
                             struct fh_error *err)
{
	const char *key;
	json_t *v, *part = NULL;
	size_t i;
	if (depth > FH_SETTINGS_DEPTH_MAX)
		return fh_error_set(err, FH_E_LIMIT, "config.%s is nested more than %d levels deep", s->key,
		                    FH_SETTINGS_DEPTH_MAX);
	if (!json_is_object(value) && !json_is_array(value))
		return 0;
	fh_auto_json json_t *made = json_is_array(value) ? json_array() : json_object();
	json_array_foreach(value, i, v)
	{
		int code = fh_settings_part(s, v, depth, &part, err);
		if (code)
			return code;
		if (!s->any && fh_settings_is_file(v) && json_is_array(part))
			json_array_extend(made, part);
		else
			json_array_append(made, part);
		json_decref(part);
	}
	json_object_foreach(value, key, v)
	{
		int code = fh_settings_part(s, v, depth, &part, err);
		if (code)
			return code;
		json_object_set_new(made, key, part);
	}
	*ret = FH_TAKE_PTR(made);
	return 0;
}

/* Whether a string in the value, at any depth, names a file. */
static bool fh_settings_names_file(const json_t *value, unsigned depth)
{
	const char *key;
	json_t *v;
	size_t i;
	if (depth > FH_SETTINGS_DEPTH_MAX || fh_settings_is_file(value))
		return true;
	json_array_foreach((json_t *)(uintptr_t)value, i, v)
	{
		if (fh_settings_names_file(v, depth + 1))
			return true;
	}
	json_object_foreach((json_t *)(uintptr_t)value, key, v)
	{
		if (fh_settings_names_file(v, depth + 1))
			return true;
	}
	return false;
}

static int fh_settings_replace(const struct fh_settings *s, json_t *config, struct fh_error *err)
{
	json_t *value = json_object_get(config, s->key), *loaded = NULL;
	if (!value || !fh_settings_names_file(value, 0))
		return 0;
	int code = fh_settings_part(s, value, 0, &loaded, err);
	if (code)
		return fh_error_wrap(err, "provider %s", s->p->id);
	return json_object_set_new(config, s->key, loaded);
}

const char *fh_settings_key(size_t i)
{
	return i < FH_ARRAY_SIZE(fh_settings_keys) ? fh_settings_keys[i] : NULL;
}

int fh_settings_load_one(const struct fh_provider *p, json_t *config, const char *key, struct fh_error *err)
{
	return fh_settings_replace(&(struct fh_settings){ p, key, false }, config, err);
}

int fh_settings_load(const struct fh_provider *p, json_t *config, struct fh_error *err)
{
	int code = 0;
	for (size_t i = 0; i < FH_ARRAY_SIZE(fh_settings_keys) && !code; i++)
		code = fh_settings_load_one(p, config, fh_settings_keys[i], err);
	return code;
}

int fh_settings_load_all(const struct fh_provider *p, json_t *config, struct fh_error *err)
{
	fh_auto_json json_t *before = json_copy(config);
	const char *key;
	json_t *value;
	int code = 0;
	json_object_foreach(before, key, value)
	{
		if (!code)
			code = fh_settings_replace(&(struct fh_settings){ p, key, true }, config, err);
	}
	return code;
}
