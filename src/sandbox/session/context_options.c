/* SPDX-License-Identifier: MIT */
/* The options of a code context, as its driver gets them. */
#include "base/error.h"
#include "sandbox/connection/client.h"
#include "sandbox/session/context.h"

int fh_context_add_variables(json_t *object, const char *key, const char *const *env, struct fh_error *err)
{
	if (!env)
		return 0;
	json_t *variables = json_object();
	json_object_set_new(object, key, variables);
	for (; *env; env++) {
		const char *sign = strchr(*env, '=');
		if (!sign || sign == *env)
			return fh_error_set(err, FH_E_ARGUMENT, "a variable is NAME=value; this is not one: %.64s", *env);
		fh_auto_free char *name = fh_xstrndup(*env, (size_t)(sign - *env));
		json_t *value = fh_json_bytes(fh_str(sign + 1));
		if (json_object_set_new(variables, name, value) < 0)
			return fh_error_set(err, FH_E_ARGUMENT, "the name of a variable is not UTF-8");
	}
	return 0;
}

int fh_context_options_json(const struct fh_context_options *o, const struct fh_context_kind *kind, json_t **ret,
                            struct fh_error *err)
{
	static const char *const shells[] = { "auto", "ipython", "small" };
	const char *shell = FH_HAS(o, shell) && o->shell ? o->shell : "auto";
	const char *const *preload = FH_HAS(o, preload) ? o->preload : NULL;
	bool known = false;
	for (size_t i = 0; i < FH_ARRAY_SIZE(shells); i++)
		known = known || strcmp(shells[i], shell) == 0;
	if (!known) {
		int r = fh_error_set(err, FH_E_ARGUMENT, "there is no shell %.64s", shell);
		fh_error_hint(err, "auto, ipython or small");
		return r;
	}
	fh_auto_json json_t *options = json_object();
	json_t *modules = json_array();
	json_object_set_new(options, "language", json_string(kind->name));
	json_object_set_new(options, "shell", json_string(shell));
	json_object_set_new(options, "preload", modules);
	for (; preload && *preload; preload++)
		json_array_append_new(modules, fh_json_bytes(fh_str(*preload)));
	if (FH_HAS(o, preload_quietly) && o->preload_quietly)
		json_object_set_new(options, "preload_quietly", json_true());
	int r = fh_context_add_variables(options, "env", FH_HAS(o, env) ? o->env : NULL, err);
	if (r == 0)
		*ret = FH_TAKE_PTR(options);
	return r;
}

/* Variables that an interpreter, or its C library, reads when it starts: prefixes end with '*'. */
static const char *const read_at_start[] = { "PYTHON*",  "LD_*",     "LC_*", "MALLOC_*",  "GLIBC_*",
	                                         "IPYTHON*", "JUPYTER*", "MPL*", "OPENSSL_*", "LANG",
	                                         "LANGUAGE", "TZ",       "HOME" };

static bool is_read_at_start(const char *name)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(read_at_start); i++) {
		size_t n = strcspn(read_at_start[i], "*");
		if (strncmp(name, read_at_start[i], n) == 0 && (read_at_start[i][n] == '*' || !name[n]))
			return true;
	}
	return false;
}

int fh_context_options_adopt(json_t *options, const char *const *env, struct fh_error *err)
{
	fh_auto_json json_t *given = json_object();
	const char *name;
	json_t *value, *had = json_object_get(options, "env");
	int r = fh_context_add_variables(given, "env", env, err);
	if (r < 0)
		return r;
	json_object_foreach(
	    json_object_get(given, "env"), name,
	    value) if (is_read_at_start(name) &&
	               !json_equal(json_object_get(had, name),
	                           value)) return fh_error_set(err, FH_E_UNAVAILABLE,
	                                                       "the interpreter has started, and read %.64s at its start",
	                                                       name);
	if (env && !had)
		json_object_set(options, "env", json_object_get(given, "env"));
	else if (env)
		json_object_update(had, json_object_get(given, "env"));
	return 0;
}

FH_OWN FH_NULLABLE char **fh_context_options_env(const json_t *options)
{
	const json_t *env = json_object_get(options, "env");
	const char *name;
	json_t *value;
	size_t n = 0;
	if (!json_object_size(env))
		return NULL;
	char **list = fh_xcalloc(json_object_size(env) + 1, sizeof(*list));
	json_object_foreach((json_t *)(uintptr_t)env, name,
	                    value) if (json_is_string(value) &&
	                               !memchr(json_string_value(value), 0, json_string_length(value))) list[n++] =
	    fh_xasprintf("%s=%s", name, json_string_value(value));
	return list;
}
