/* SPDX-License-Identifier: MIT */
#include "provider/provider.h"

#include <limits.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/text/nearest.h"
#include "provider/record.h"
#include "provider/replay.h"
#include "provider/secrets.h"
#include "provider/type.h"
#include "script/script.h"

/* The first type that knows an id is used. */
static const struct fh_provider_type *const fh_provider_types[] = {
	&fh_provider_echo,   &fh_provider_model,  &fh_provider_request,  &fh_provider_websocket,      &fh_provider_exec,
	&fh_provider_script, &fh_provider_golang, &fh_provider_sequence, &fh_provider_simulated_user,
};

/* Whether an id is the bare path of a JavaScript or TypeScript file, as in `id: ./provider.js`. */
static bool fh_provider_is_plain_script(const char *id)
{
	static const char *const extensions[] = { ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts" };
	const char *dot = strrchr(id, '.');
	bool script = false;
	for (size_t i = 0; dot && i < FH_ARRAY_SIZE(extensions); i++)
		script = script || fh_streq(dot, extensions[i]);
	return script && !strchr(id, ':');
}

/* Whether the path in an id, without ":function", ends with one of the suffixes. */
static bool fh_provider_suffix_fits(const char *target, const char *const *suffixes)
{
	for (size_t i = 0; suffixes[i]; i++) {
		const char *at = strstr(target, suffixes[i]);
		for (; at; at = strstr(at + 1, suffixes[i])) {
			char next = at[strlen(suffixes[i])];
			if (!next || next == ':')
				return true;
		}
	}
	return false;
}

static const struct fh_provider_type *fh_provider_find(const char *id, const char **ret_target)
{
	for (size_t t = 0; t < FH_ARRAY_SIZE(fh_provider_types); t++) {
		const struct fh_provider_type *type = fh_provider_types[t];
		if (type->knows && type->knows(id)) {
			*ret_target = id;
			return type;
		}
		for (size_t i = 0; type->prefixes && type->prefixes[i]; i++) {
			if (type->whole ? !fh_streq(id, type->prefixes[i]) : !fh_starts_with(id, type->prefixes[i]))
				continue;
			const char *target = id + strlen(type->prefixes[i]);
			if (type->suffixes && !fh_provider_suffix_fits(target, type->suffixes))
				continue;
			*ret_target = target;
			return type;
		}
	}
	*ret_target = id;
	return fh_provider_is_plain_script(id) ? &fh_provider_script : NULL;
}

#define FH_PROVIDER_KNOWN                                                                                              \
	"echo, openai:MODEL, openai:chat:MODEL, ollama:chat:MODEL, anthropic:messages:MODEL, google:MODEL and other "      \
	"services (docs/providers.md), exec:COMMAND, file://NAME.py, file://NAME.js, python:NAME.py, golang:NAME.go"

/* Ids of promptfoo's that fumehood does not support, and why. */
static const struct {
	const char *prefix, *why;
} fh_provider_refused[] = {
	{ "promptfoo:", "services of promptfoo's" },
	{ "bedrock:", "requests signed for AWS" },
	{ "vertex:", "tokens of Google Cloud" },
	{ "browser", "a browser" },
	{ "mcp", "a server of the Model Context Protocol" },
};

static int fh_provider_unknown(const char *id, struct fh_error *err)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(fh_provider_refused); i++) {
		if (!fh_starts_with(id, fh_provider_refused[i].prefix))
			continue;
		fh_error_set(err, FH_E_CONFIG, "provider %s is not supported (%s)", id, fh_provider_refused[i].why);
		fh_error_hint(err, "a program (exec:COMMAND) or a script (file://provider.py) of your own can stand in for it");
		return -FH_E_CONFIG;
	}
	if (fh_starts_with(id, "file://")) {
		fh_error_set(err, FH_E_CONFIG, "provider %s: not a python, javascript, ruby or go file", id);
		fh_error_hint(err,
		              "a provider in a file is file://NAME.py[:function] or file://NAME.js[:function] (.mjs, .cjs)");
		return -FH_E_CONFIG;
	}
	size_t n = strcspn(id, ":");
	fh_auto_free char *word = fh_xstrndup(id, FH_MIN(n, (size_t)64));
	struct fh_nearest near = FH_NEAREST_INIT(word);
	for (size_t t = 0; t < FH_ARRAY_SIZE(fh_provider_types); t++)
		for (size_t i = 0; i == 0 || (fh_provider_types[t]->name_at && fh_provider_types[t]->name_at(i)); i++)
			fh_nearest_offer(&near, fh_provider_types[t]->name_at ? fh_provider_types[t]->name_at(i)
			                                                      : fh_provider_types[t]->name);
	fh_error_set(err, FH_E_CONFIG, "unknown provider %s", id);
	if (near.best && !fh_streq(near.best, id))
		fh_error_hint(err, "did you mean %s%s? Known: " FH_PROVIDER_KNOWN, near.best, id + n);
	else
		fh_error_hint(err, "known: " FH_PROVIDER_KNOWN);
	return -FH_E_CONFIG;
}

/* A copy of env in which every value is a string. */
static json_t *fh_provider_env_strings(const json_t *env)
{
	json_t *strings = json_object();
	const char *name;
	json_t *value;
	json_object_foreach((json_t *)(uintptr_t)env, name, value)
	{
		if (json_is_string(value)) {
			json_object_set(strings, name, value);
		} else if (json_is_number(value) || json_is_boolean(value)) {
			fh_auto_free char *text = fh_json_text(value, 0);
			json_object_set_new(strings, name, json_string(text));
		}
	}
	return strings;
}

static void fh_provider_grant(struct fh_provider *p, const char *name, const char *value, size_t *n, size_t *capacity)
{
	if (value)
		FH_PUSH(p->granted, *n, *capacity) = fh_xasprintf("%s=%s", name, value);
}

/* Grants the provider's scripts its own `env`, and the variables that its config names: the API key's (apiKeyEnvar) and
 * those of scriptEnv. */
static void fh_provider_grant_all(struct fh_provider *p, const json_t *own_env)
{
	size_t n = 0, capacity = 0;
	fh_auto_json json_t *own = fh_provider_env_strings(own_env);
	const char *name, *key = fh_json_str(p->config, "apiKeyEnvar", NULL);
	const json_t *names = json_object_get(p->config, "scriptEnv");
	json_t *value;
	json_object_foreach(own, name, value) fh_provider_grant(p, name, json_string_value(value), &n, &capacity);
	if (key)
		fh_provider_grant(p, key, fh_provider_env(p, key), &n, &capacity);
	for (size_t i = 0; i < json_array_size(names); i++) {
		name = json_string_value(json_array_get(names, i));
		if (name)
			fh_provider_grant(p, name, fh_provider_env(p, name), &n, &capacity);
	}
	FH_PUSH(p->granted, n, capacity) = NULL;
}

static const struct fh_script_environment *fh_provider_environment(const struct fh_provider *p)
{
	return p->scripts ? fh_script_pool_environment(p->scripts) : &p->environment;
}

const char **fh_provider_script_env(const struct fh_provider *p)
{
	return fh_script_environment_with(fh_provider_environment(p), (const char *const *)p->granted);
}

const char *fh_provider_withheld(const struct fh_provider *p, const char *text)
{
	return fh_script_environment_missed(fh_provider_environment(p), text);
}

int fh_provider_open(const struct fh_provider_options *options, struct fh_provider **ret, struct fh_error *err)
{
	const char *target = NULL;
	const struct fh_provider_type *type = fh_provider_find(options->id, &target);
	/* Recordings can replace any model, even one of a type that fumehood does not support. */
	if (!type && !options->replay)
		return fh_provider_unknown(options->id, err);
	if (options->config && !json_is_object(options->config) && !json_is_null(options->config))
		return fh_error_set(err, FH_E_CONFIG, "provider %s: config has to be a mapping", options->id);
	struct fh_provider *p = FH_NEW(struct fh_provider);
	p->type = type;
	p->id = fh_xstrdup(options->id);
	p->target = type ? p->id + (target - options->id) : p->id;
	p->label = fh_xstrdup(options->label ? options->label : options->id);
	p->base_dir = fh_xstrdup(options->base_dir ? options->base_dir : ".");
	p->config = json_is_object(options->config) ? json_deep_copy(options->config) : json_object();
	p->env = fh_provider_env_strings(options->env);
	p->scripts = options->scripts;
	p->replay = options->replay;
	p->record = options->record;
	p->cache = options->cache;
	fh_secrets_add_all(&p->secrets, p->config);
	fh_secrets_add_all(&p->secrets, p->env);
	fh_provider_grant_all(p, options->own_env);
	if (!p->scripts)
		fh_script_environment_make(&p->environment, p->env, NULL);
	p->cancel = options->cancel;
	p->timeout_ms = options->timeout_ms;
	p->look_only = options->look_only;
	if (type && (!p->replay || type->asks_another) && type->open) {
		int code = type->open(p, err);
		if (code) {
			fh_provider_free(p);
			return code;
		}
	}
	*ret = p;
	return 0;
}

void fh_provider_free(struct fh_provider *p)
{
	if (!p)
		return;
	if (p->type && p->type->free)
		p->type->free(p);
	json_decref(p->config);
	json_decref(p->env);
	for (size_t i = 0; p->granted && p->granted[i]; i++)
		free(p->granted[i]);
	free(p->granted);
	fh_script_environment_release(&p->environment);
	fh_secrets_free(p->secrets);
	free(p->id);
	free(p->label);
	free(p->base_dir);
	free(p);
}

void fh_provider_keep_secret(struct fh_provider *p, const char *value)
{
	fh_secrets_add(&p->secrets, value);
}

const char *fh_provider_id(const struct fh_provider *provider)
{
	return provider->id;
}

bool fh_provider_asks_another(const struct fh_provider *provider)
{
	return provider->type && provider->type->asks_another;
}

bool fh_provider_needs_model(const char *id)
{
	const char *target;
	const struct fh_provider_type *type = fh_provider_find(id, &target);
	return type && type->needs_model;
}

const json_t *fh_provider_config(const struct fh_provider *provider)
{
	return provider->config;
}

const char *fh_provider_env(const struct fh_provider *p, const char *name)
{
	const char *value = fh_json_str(p->env, name, NULL);
	if (!value)
		value = getenv(name);
	return value && *value ? value : NULL;
}

json_t *fh_provider_call_config(const struct fh_provider *p, const struct fh_provider_request *request)
{
	json_t *config = json_copy(p->config);
	if (json_is_object(request->config))
		json_object_update(config, (json_t *)(uintptr_t)request->config);
	return config;
}

json_t *fh_provider_base_path(const struct fh_provider *p)
{
	char cwd[PATH_MAX];
	return json_string(getcwd(cwd, sizeof(cwd)) && strcmp(cwd, p->base_dir) == 0 ? "." : p->base_dir);
}

int fh_provider_call(struct fh_provider *p, const struct fh_provider_request *request, struct fh_provider_response *ret,
                     struct fh_error *err)
{
	if (p->cancel && *p->cancel)
		return fh_error_set(err, FH_E_CANCELLED, "cancelled");
	struct fh_provider_response r = FH_PROVIDER_RESPONSE_INIT;
	int64_t start = fh_now_ns();
	static const char *const operations[] = { "answers", "embeddings", "classifications", "moderations" };
	bool another = fh_provider_asks_another(p);
	if (request->operation != FH_PROVIDER_ANSWER && (another || (!p->replay && !p->type->operations)))
		return fh_error_set(err, FH_E_ARGUMENT, "provider %s gives no %s", p->id, operations[request->operation]);
	if (another && !request->original)
		return fh_error_set(err, FH_E_ARGUMENT, "provider %s has no other provider to ask here", p->id);
	if (p->replay && !another) {
		fh_replay_answer(p->replay, p->id, p->label, request->prompt, &r);
	} else {
		int code = p->type->call(p, request, &r, err);
		if (code) {
			fh_provider_response_release(&r);
			return code;
		}
	}
	fh_secrets_remove(p->secrets, &r);
	if (r.latency_ms == 0)
		r.latency_ms = (double)(fh_now_ns() - start) / FH_NS_PER_MS;
	if (p->record && !p->replay && !another)
		fh_record_add(p->record, p->id, p->label, request->prompt, &r);
	*ret = r;
	return 0;
}
