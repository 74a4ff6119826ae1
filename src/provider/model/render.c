/* SPDX-License-Identifier: MIT */
#include "provider/model/render.h"

#include "provider/settings.h"
#include "provider/type.h"
#include "template/template.h"

#define FH_RENDER_DEPTH_MAX 64

int fh_render_setting(const char *text, const json_t *vars, char **ret, struct fh_error *err)
{
	struct fh_buf out = FH_BUF_INIT(FH_RENDER_TEXT_MAX);
	int code = fh_text_template_render_text(fh_str(text), "request", vars, NULL, &out, err);
	if (code) {
		fh_buf_release(&out);
		return code;
	}
	*ret = fh_buf_take(&out, NULL);
	return 0;
}

static int fh_render_json(const json_t *value, const json_t *vars, unsigned depth, json_t **ret, struct fh_error *err)
{
	if (depth > FH_RENDER_DEPTH_MAX)
		return fh_error_set(err, FH_E_LIMIT, "the body is nested more than %d levels deep", FH_RENDER_DEPTH_MAX);
	if (json_is_string(value)) {
		fh_auto_free char *text = NULL;
		int code = fh_render_setting(json_string_value(value), vars, &text, err);
		*ret = code ? NULL : fh_json_bytes(fh_str(text));
		return code;
	}
	if (!json_is_object(value) && !json_is_array(value)) {
		*ret = json_incref((json_t *)(uintptr_t)value);
		return 0;
	}
	fh_auto_json json_t *made = json_is_array(value) ? json_array() : json_object();
	const char *key;
	json_t *v, *one = NULL;
	size_t i;
	int code = 0;
	json_array_foreach((json_t *)(uintptr_t)value, i, v)
	{
		if ((code = fh_render_json(v, vars, depth + 1, &one, err)))
			return code;
		json_array_append_new(made, one);
	}
	json_object_foreach((json_t *)(uintptr_t)value, key, v)
	{
		fh_auto_free char *name = NULL;
		if ((code = fh_render_setting(key, vars, &name, err)) || (code = fh_render_json(v, vars, depth + 1, &one, err)))
			return code;
		json_object_set_new(made, name, one);
	}
	*ret = FH_TAKE_PTR(made);
	return 0;
}

int fh_render_setting_json(const json_t *value, const json_t *vars, json_t **ret, struct fh_error *err)
{
	return fh_render_json(value, vars, 0, ret, err);
}

static bool fh_render_needed(const json_t *value, unsigned depth)
{
	const char *text = json_string_value(value), *key;
	json_t *v;
	size_t i;
	if (text)
		return strstr(text, "{{") || strstr(text, "{%") || strstr(text, "{#");
	if (depth > FH_RENDER_DEPTH_MAX)
		return false;
	json_array_foreach((json_t *)(uintptr_t)value, i, v)
	{
		if (fh_render_needed(v, depth + 1))
			return true;
	}
	json_object_foreach((json_t *)(uintptr_t)value, key, v)
	{
		if (fh_render_needed(v, depth + 1))
			return true;
	}
	return false;
}

/* Whether a string in the value, at any depth, looks like a template. */
static bool has_template(const json_t *value)
{
	return fh_render_needed(value, 0);
}

json_t *fh_render_setting_vars(const struct fh_provider *p, const struct fh_provider_request *request)
{
	json_t *vars = json_object_get(request->context, "vars");
	json_t *made = json_is_object(vars) ? json_copy(vars) : json_object();
	json_object_set(made, "env", p->env);
	return made;
}

int fh_render_call_config(const struct fh_provider *p, const struct fh_provider_request *request, const json_t *given,
                          json_t **ret, struct fh_error *err)
{
	fh_auto_json json_t *config = fh_provider_call_config(p, request), *vars = NULL;
	const char *key;
	int code = 0;
	for (size_t i = 0; !code && (key = fh_settings_key(i)); i++) {
		json_t *own = json_object_get(request->config, key), *value = own ? own : json_object_get(given, key);
		json_t *rendered = NULL;
		bool needed = value && has_template(value);
		if (needed) {
			vars = vars ? vars : fh_render_setting_vars(p, request);
			code = fh_render_setting_json(value, vars, &rendered, err);
		}
		if (rendered)
			json_object_set_new(config, key, rendered);
		if (!code && (needed || own))
			code = fh_settings_load_one(p, config, key, err);
	}
	if (!code)
		*ret = FH_TAKE_PTR(config);
	return code;
}
