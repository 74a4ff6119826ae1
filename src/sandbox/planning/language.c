/* SPDX-License-Identifier: MIT */
#include "sandbox/planning/language.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>

#include "base/data.h"
#include "base/fd.h"
#include "base/nearest.h"
#include "base/parse.h"
#include "base/path.h"
#include "json/json.h"
#include "proto/plan.h"
#include "sandbox/planning/json_reader.h"

#define FILE_MAX (256 << 10)

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
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(FILE_MAX);
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

/* --------------------------------------------------------------------------------------------------------- look-up */

static int load_file(const char *path, struct fh_language **ret, struct fh_error *err)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(FILE_MAX);
	int code = fh_file_read(path, &text, err);
	return code < 0 ? code : fh_language_parse(fh_buf_str(&text), path, ret, err);
}

static bool in_list(char *const *list, const char *word)
{
	for (; *list; list++)
		if (strcmp(*list, word) == 0)
			return true;
	return false;
}

typedef bool match_fn(const struct fh_language *l, void *context);

/* The first language, by file name, that matches; *ret stays NULL if none does. */
static int search(match_fn *match, void *context, struct fh_language **ret, struct fh_error *err)
{
	fh_auto_free char *dir = NULL;
	int code = fh_data_path("languages", &dir, err);
	if (code < 0)
		return code;
	struct dirent **entries;
	int n = scandir(dir, &entries, NULL, alphasort);
	if (n < 0)
		return fh_error_sys(err, errno, "cannot read the folder %s", dir);
	struct fh_language *found = NULL;
	for (int i = 0; i < n; i++) {
		if (code == 0 && !found && fh_streq(fh_path_ext(entries[i]->d_name), ".json")) {
			fh_auto_free char *path = fh_path_join(dir, entries[i]->d_name);
			fh_auto_language struct fh_language *l = NULL;
			code = load_file(path, &l, err);
			if (code == 0 && match(l, context))
				found = FH_TAKE_PTR(l);
		}
		free(entries[i]);
	}
	free(entries);
	if (code == 0)
		*ret = found;
	else
		fh_language_free(found);
	return code;
}

struct wanted {
	const char *name;
	struct fh_nearest near;
	char near_copy[64];
	struct fh_buf known;
};

static bool match_name(const struct fh_language *l, void *context)
{
	struct wanted *w = context;
	if (fh_streq(l->name, w->name) || in_list(l->aliases, w->name))
		return true;
	const char *before = w->near.best;
	fh_nearest_offer(&w->near, l->name);
	if (w->near.best != before) {
		snprintf(w->near_copy, sizeof(w->near_copy), "%s", l->name); /* a copy, since l is freed after this call */
		w->near.best = w->near_copy;
	}
	fh_buf_addf(&w->known, "%s%s", w->known.n ? ", " : "", l->name);
	return false;
}

int fh_language_load(const char *name, struct fh_language **ret, struct fh_error *err)
{
	if (strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(name) && name[0]) {
		fh_auto_free char *file = fh_xasprintf("languages/%s.json", name);
		fh_auto_free char *path = NULL;
		if (fh_data_path(file, &path, NULL) == 0)
			return load_file(path, ret, err);
	}
	struct wanted w = { .name = name, .near = FH_NEAREST_INIT(name), .known = FH_BUF_INIT(4096) };
	struct fh_language *found = NULL;
	int code = search(match_name, &w, &found, err);
	if (code == 0 && !found) {
		code = fh_error_set(err, FH_E_NOT_FOUND, "unknown language %s", name);
		if (w.near.best)
			fh_error_hint(err, "did you mean %s? known: %s", w.near.best, fh_buf_cstr(&w.known));
		else
			fh_error_hint(err, "known: %s", fh_buf_cstr(&w.known));
	}
	fh_buf_release(&w.known);
	if (code == 0)
		*ret = found;
	return code;
}

struct names {
	char **items;
	size_t count, capacity;
};

static bool keep_name(const struct fh_language *l, void *context)
{
	struct names *names = context;
	FH_PUSH(names->items, names->count, names->capacity) = fh_xstrdup(l->name);
	return false;
}

int fh_language_all(struct fh_language ***ret, size_t *ret_count, struct fh_error *err)
{
	struct names names = { 0 };
	struct fh_language *none = NULL;
	int code = search(keep_name, &names, &none, err);
	size_t n = 0;
	struct fh_language **all = fh_xcalloc(names.count + 1, sizeof(struct fh_language *));
	for (size_t i = 0; code == 0 && i < names.count; i++) {
		code = fh_language_load(names.items[i], &all[n], err);
		n += code == 0;
	}
	for (size_t i = 0; i < names.count; i++)
		free(names.items[i]);
	free(names.items);
	if (code == 0) {
		*ret = all;
		*ret_count = n;
		return 0;
	}
	while (n > 0)
		fh_language_free(all[--n]);
	free(all);
	return code;
}

static bool match_extension(const struct fh_language *l, void *context)
{
	return in_list(l->extensions, context);
}

int fh_language_for_file(const char *path, struct fh_language **ret, struct fh_error *err)
{
	const char *ext = fh_path_ext(path);
	fh_auto_free char *copy = fh_xstrdup(ext);
	struct fh_language *found = NULL;
	int code = ext[0] ? search(match_extension, copy, &found, err) : 0;
	if (code < 0)
		return code;
	if (!found) {
		code = fh_error_set(err, FH_E_NOT_FOUND, "cannot tell the language of %s by its name", path);
		fh_error_hint(err, "say which it is with -l LANGUAGE");
		return code;
	}
	*ret = found;
	return 0;
}

/* The interpreter's name in a #! line: the last component of the first word or, if that is `env`, of the first word
 * after it that is neither an option nor an assignment. */
static char *interpreter_name(struct fh_str code)
{
	if (code.n < 2 || memcmp(code.p, "#!", 2) != 0)
		return NULL;
	const char *end = memchr(code.p, '\n', code.n);
	fh_auto_free char *line = fh_xstrndup(code.p + 2, FH_MIN((end ? (size_t)(end - code.p) : code.n) - 2, (size_t)255));
	char *rest = line, *word;
	bool env = false;
	while ((word = strsep(&rest, " \t\r"))) {
		if (!*word || (env && (word[0] == '-' || strchr(word, '='))))
			continue;
		if (!env && fh_streq(fh_path_base(word), "env"))
			env = true;
		else
			return fh_xstrdup(fh_path_base(word));
	}
	return NULL;
}

static bool match_interpreter(const struct fh_language *l, void *name)
{
	bool found = fh_streq(l->name, name) || in_list(l->aliases, name);
	for (char **pattern = l->genuine; *pattern && !found; pattern++)
		found = fnmatch(*pattern, name, 0) == 0;
	return found;
}

int fh_language_for_shebang(struct fh_str code, struct fh_language **ret)
{
	fh_auto_free char *name = interpreter_name(code);
	struct fh_language *found = NULL;
	int r = name ? search(match_interpreter, name, &found, NULL) : 0;
	if (r < 0 || !found)
		return -FH_E_NOT_FOUND;
	*ret = found;
	return 0;
}

/* ------------------------------------------------------------------------------------------------------------ links */

/* The name in an #include line, or an empty slice. */
static struct fh_str included(struct fh_str line)
{
	const char *p = line.p, *end = line.p + line.n;
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	if (p == end || *p++ != '#')
		return (struct fh_str){ NULL, 0 };
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	if (end - p < 8 || memcmp(p, "include", 7) != 0)
		return (struct fh_str){ NULL, 0 };
	for (p += 7; p < end && (*p == ' ' || *p == '\t'); p++)
		;
	if (p == end || (*p != '<' && *p != '"'))
		return (struct fh_str){ NULL, 0 };
	p++;
	size_t n = 0;
	while (p + n < end && p[n] != '>' && p[n] != '"')
		n++;
	return (struct fh_str){ p, n };
}

/* The name in the next #include at or after *at; moves *at behind its line. */
static bool next_include(struct fh_str code, size_t *at, struct fh_str *ret)
{
	while (*at < code.n) {
		const char *end = memchr(code.p + *at, '\n', code.n - *at);
		size_t n = end ? (size_t)(end - code.p) - *at : code.n - *at;
		*ret = included((struct fh_str){ code.p + *at, n });
		*at += n + 1;
		if (ret->n > 0)
			return true;
	}
	return false;
}

static bool begins_with(struct fh_str name, const char *prefix)
{
	size_t n = strlen(prefix);
	return name.n >= n && memcmp(name.p, prefix, n) == 0;
}

bool fh_language_has_prepared(const struct fh_language *l, struct fh_str code)
{
	struct fh_str name;
	bool has = !l->prepare_for;
	for (size_t at = 0; !has && next_include(code, &at, &name);)
		has = begins_with(name, l->prepare_for);
	return has && l->prepare[0];
}

void fh_language_link_flags(const struct fh_language *l, struct fh_str code, char ***list)
{
	fh_auto_free bool *used = fh_xcalloc(l->link_count + 1, sizeof(bool));
	struct fh_str name;
	for (size_t at = 0; l->link_count > 0 && next_include(code, &at, &name);)
		for (size_t i = 0; i < l->link_count; i++)
			used[i] |= begins_with(name, l->links[i].include);
	/* In the order of the rules, not of the includes: a library must come before those that it needs. */
	for (size_t i = 0; i < l->link_count; i++)
		for (size_t k = 0; used[i] && l->links[i].flags[k]; k++)
			fh_plan_add_string(list, l->links[i].flags[k]);
}

const char *fh_language_missing_package(const struct fh_language *l, const char *said)
{
	static const char *const forms[] = { "error: %s", "error: '%s" }; /* the forms of gcc and clang */
	if (!strstr(said, "No such file or directory") && !strstr(said, "file not found"))
		return NULL;
	for (size_t i = 0; i < l->header_count; i++)
		for (size_t k = 0; k < FH_ARRAY_SIZE(forms); k++) {
			fh_auto_free char *wanted = fh_xasprintf(forms[k], l->headers[i].include);
			if (strstr(said, wanted))
				return l->headers[i].package;
		}
	return NULL;
}
