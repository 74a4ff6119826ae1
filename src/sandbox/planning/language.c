/* SPDX-License-Identifier: MIT */
#include "sandbox/planning/language.h"

#include "base/fd.h"
#include "base/text/parse.h"
#include "base/path.h"
#include "json/json.h"
#include "proto/plan.h"
#include "sandbox/planning/json_reader.h"

static void free_strings(char **list)
{
	for (size_t i = 0; list && list[i]; i++)
		free(list[i]);
	free(list);
}

void fh_language_free(struct fh_language *l)
{
	if (!l)
		return;
	char **lists[] = { l->aliases,      l->tags,    l->extensions,   l->tools,          l->genuine,
		               l->ask,          l->run,     l->prefix_parts, l->hide,           l->module_folders,
		               l->module_files, l->keep,    l->env,          l->compile,        l->zygote_options,
		               l->zygote_env,   l->prepare, l->prepare_outs, l->hash_secret_env };
	for (size_t i = 0; i < FH_ARRAY_SIZE(lists); i++)
		free_strings(lists[i]);
	for (size_t i = 0; i < l->link_count; i++) {
		free(l->links[i].include);
		free_strings(l->links[i].flags);
	}
	free(l->links);
	for (size_t i = 0; i < l->header_count; i++) {
		free(l->headers[i].include);
		free(l->headers[i].package);
	}
	free(l->headers);
	free(l->name);
	free(l->file);
	free(l->package);
	free(l->hello);
	free(l->prepare_for);
	free(l->script);
	free(l->prepare_script);
	free(l->artifact);
	free(l);
}

/* ---------------------------------------------------------------------------------------------------- the data file */

typedef int parse_fn(const char *text, uint64_t *ret, struct fh_error *err);

static int parse_count(const char *text, uint64_t *ret, struct fh_error *err)
{
	return fh_parse_u64(text, 0, UINT64_MAX, ret, err);
}

static int read_quantity(struct fh_json_reader *r, const json_t *value, parse_fn *parse, uint64_t *ret)
{
	struct fh_error why = FH_ERROR_INIT;
	fh_auto_free char *text = NULL;
	int code = fh_json_read_text(r, value, &text);
	if (code == 0 && parse(text, ret, &why) < 0)
		code = fh_json_reader_fail(r, "%s", why.message);
	return code;
}

static int read_duration(struct fh_json_reader *r, const json_t *value, void *target)
{
	return read_quantity(r, value, fh_parse_duration, target);
}

static int read_size(struct fh_json_reader *r, const json_t *value, void *target)
{
	return read_quantity(r, value, fh_parse_size, target);
}

static int read_count(struct fh_json_reader *r, const json_t *value, void *target)
{
	return read_quantity(r, value, parse_count, target);
}

static fh_json_read_fn *reader_for(const char *unit)
{
	return fh_streq(unit, "ms") ? read_duration : fh_streq(unit, "bytes") ? read_size : read_count;
}

static int read_limits(struct fh_json_reader *r, const json_t *value, void *target)
{
	struct fh_json_field fields[FH_LIMIT_COUNT_ + 1] = { 0 };
	for (int i = 0; i < FH_LIMIT_COUNT_; i++)
		fields[i] = (struct fh_json_field){ fh_limit_table[i].name, reader_for(fh_limit_table[i].unit),
			                                offsetof(struct fh_limits, value) + i * sizeof(uint64_t), false };
	return fh_json_read_object(r, value, fields, target);
}

static int read_links(struct fh_json_reader *r, const json_t *value, void *target)
{
	struct fh_language *l = target;
	if (!json_is_object(value))
		return fh_json_reader_fail(r, "expected an object, not %s", fh_json_kind(value));
	size_t n = json_object_size(value);
	l->links = fh_xcalloc(n + 1, sizeof(*l->links));
	const char *key;
	json_t *flags;
	json_object_foreach((json_t *)(uintptr_t)value, key, flags)
	{
		struct fh_link_rule *rule = &l->links[l->link_count++];
		rule->include = fh_xstrdup(key);
		int code = fh_json_read_strings(r, flags, &rule->flags);
		if (code < 0)
			return code;
	}
	return 0;
}

static int read_headers(struct fh_json_reader *r, const json_t *value, void *target)
{
	struct fh_language *l = target;
	if (!json_is_object(value))
		return fh_json_reader_fail(r, "expected an object, not %s", fh_json_kind(value));
	l->headers = fh_xcalloc(json_object_size(value) + 1, sizeof(*l->headers));
	const char *key;
	json_t *package;
	json_object_foreach((json_t *)(uintptr_t)value, key, package)
	{
		struct fh_header_rule *rule = &l->headers[l->header_count++];
		rule->include = fh_xstrdup(key);
		int code = fh_json_read_text(r, package, &rule->package);
		if (code < 0)
			return code;
	}
	return 0;
}

static int read_prepare(struct fh_json_reader *r, const json_t *value, void *target)
{
	static const struct fh_json_field fields[] = {
		{ "argv", fh_json_read_strings, offsetof(struct fh_language, prepare), true },
		{ "script", fh_json_read_text, offsetof(struct fh_language, prepare_script), false },
		{ "outs", fh_json_read_strings, offsetof(struct fh_language, prepare_outs), true },
		{ "include", fh_json_read_text, offsetof(struct fh_language, prepare_for), false },
		{ "limits", read_limits, offsetof(struct fh_language, prepare_limits), false },
		{ NULL },
	};
	return fh_json_read_object(r, value, fields, target);
}

static int read_compile(struct fh_json_reader *r, const json_t *value, void *target)
{
	static const struct fh_json_field fields[] = {
		{ "argv", fh_json_read_strings, offsetof(struct fh_language, compile), true },
		{ "script", fh_json_read_text, offsetof(struct fh_language, script), false },
		{ "artifact", fh_json_read_text, offsetof(struct fh_language, artifact), true },
		{ "limits", read_limits, offsetof(struct fh_language, compile_limits), false },
		{ "link", read_links, 0, false },
		{ "headers", read_headers, 0, false },
		{ "prepare", read_prepare, 0, false },
		{ NULL },
	};
	return fh_json_read_object(r, value, fields, target);
}

static int read_zygote(struct fh_json_reader *r, const json_t *value, void *target)
{
	static const struct fh_json_field fields[] = {
		{ "options", fh_json_read_strings, offsetof(struct fh_language, zygote_options), false },
		{ "env", fh_json_read_strings, offsetof(struct fh_language, zygote_env), false },
		{ NULL },
	};
	((struct fh_language *)target)->zygote = true;
	return fh_json_read_object(r, value, fields, target);
}

static int read_hash_secret(struct fh_json_reader *r, const json_t *value, void *target)
{
	static const struct fh_json_field fields[] = {
		{ "env", fh_json_read_strings, offsetof(struct fh_language, hash_secret_env), false },
		{ NULL },
	};
	((struct fh_language *)target)->has_hash_secret = true;
	return fh_json_read_object(r, value, fields, target);
}

static const struct fh_json_field language_fields[] = {
	{ "name", fh_json_read_text, offsetof(struct fh_language, name), true },
	{ "aliases", fh_json_read_strings, offsetof(struct fh_language, aliases), false },
	{ "tags", fh_json_read_strings, offsetof(struct fh_language, tags), false },
	{ "extensions", fh_json_read_strings, offsetof(struct fh_language, extensions), true },
	{ "file", fh_json_read_text, offsetof(struct fh_language, file), true },
	{ "tools", fh_json_read_strings, offsetof(struct fh_language, tools), true },
	{ "genuine", fh_json_read_strings, offsetof(struct fh_language, genuine), false },
	{ "ask", fh_json_read_strings, offsetof(struct fh_language, ask), false },
	{ "package", fh_json_read_text, offsetof(struct fh_language, package), true },
	{ "hello", fh_json_read_text, offsetof(struct fh_language, hello), false },
	{ "run", fh_json_read_strings, offsetof(struct fh_language, run), true },
	{ "compile", read_compile, 0, false },
	{ "prefix_parts", fh_json_read_strings, offsetof(struct fh_language, prefix_parts), false },
	{ "hide", fh_json_read_strings, offsetof(struct fh_language, hide), false },
	{ "module_folders", fh_json_read_strings, offsetof(struct fh_language, module_folders), false },
	{ "module_files", fh_json_read_strings, offsetof(struct fh_language, module_files), false },
	{ "keep", fh_json_read_strings, offsetof(struct fh_language, keep), false },
	{ "env", fh_json_read_strings, offsetof(struct fh_language, env), false },
	{ "hash_secret", read_hash_secret, 0, false },
	{ "zygote", read_zygote, 0, false },
	{ NULL },
};

static int check(struct fh_json_reader *r, const struct fh_language *l)
{
	if (!l->tools[0])
		return fh_json_reader_fail(r, "\"tools\" names no program");
	if (!l->run[0])
		return fh_json_reader_fail(r, "\"run\" is empty");
	if (!l->file[0] || strchr(l->file, '/'))
		return fh_json_reader_fail(r, "\"file\" has to be a plain file name");
	for (size_t i = 0; l->env[i]; i++)
		if (!strchr(l->env[i], '='))
			return fh_json_reader_fail(r, "\"env\": %s is not NAME=value", l->env[i]);
	for (size_t i = 0; l->hash_secret_env[i]; i++)
		if (!strchr(l->hash_secret_env[i], '='))
			return fh_json_reader_fail(r, "\"hash_secret\": %s is not NAME=value", l->hash_secret_env[i]);
	return 0;
}

/* Replaces the file name in *script by the file's text, and {script} in argv as well. The file is beside the data
 * file. */
static int read_script(struct fh_json_reader *r, char **script, char **argv)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(FH_LANGUAGE_FILE_MAX);
	fh_auto_free char *folder = fh_path_dir(r->name), *path = NULL;
	struct fh_error why = FH_ERROR_INIT;
	bool used = false;
	for (size_t i = 0; argv[i]; i++)
		used = used || fh_streq(argv[i], "{script}");
	if (!*script && !used)
		return 0;
	if (!*script || !used)
		return fh_json_reader_fail(r, "\"script\" names a file, and one word of \"argv\" is \"{script}\"; or neither");
	path = fh_path_join(folder, *script);
	if (fh_file_read(path, &text, &why) < 0)
		return fh_json_reader_fail(r, "\"script\": %s", why.message);
	fh_plan_set_text(script, fh_buf_cstr(&text));
	for (size_t i = 0; argv[i]; i++)
		if (fh_streq(argv[i], "{script}"))
			fh_plan_set_text(&argv[i], *script);
	return 0;
}

int fh_language_parse(struct fh_str json, const char *path, struct fh_language **ret, struct fh_error *err)
{
	fh_auto_json json_t *root = fh_json_parse(json, path, err);
	if (!root)
		return -FH_E_CONFIG;
	fh_auto_language struct fh_language *l = FH_NEW(struct fh_language);
	char ***lists[] = { &l->aliases,      &l->tags,    &l->extensions,   &l->tools,          &l->genuine,
		                &l->ask,          &l->run,     &l->prefix_parts, &l->hide,           &l->module_folders,
		                &l->module_files, &l->keep,    &l->env,          &l->compile,        &l->zygote_options,
		                &l->zygote_env,   &l->prepare, &l->prepare_outs, &l->hash_secret_env };
	for (size_t i = 0; i < FH_ARRAY_SIZE(lists); i++)
		*lists[i] = fh_xcalloc(1, sizeof(char *));
	fh_limits_init(&l->compile_limits);
	fh_limits_init(&l->prepare_limits);
	struct fh_json_reader r = { .text = json, .name = path, .err = err };
	int code = fh_json_read_object(&r, root, language_fields, l);
	if (code == 0)
		code = check(&r, l);
	if (code == 0)
		code = read_script(&r, &l->script, l->compile);
	if (code == 0)
		code = read_script(&r, &l->prepare_script, l->prepare);
	if (code < 0)
		return code;
	*ret = FH_TAKE_PTR(l);
	return 0;
}
