/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include "base/fd.h"
#include "base/path.h"
#include "eval/config/config_internal.h"
#include "eval/common/csv.h"
#include "eval/common/text.h"
#include "eval/rendering/media.h"
#include "script/script.h"

#define PATHS_MAX 100000
#define FOLDER_DEPTH_MAX 32

/* ------------------------------------------------------------------------------------------------------------ globs */

static int last_first(const void *a, const void *b)
{
	return strcmp(*(char *const *)b, *(char *const *)a);
}

static void add_matches(const char *pattern, struct fh_eval_paths *ret, size_t *capacity)
{
	glob_t found = { 0 };
	if (glob(pattern, GLOB_BRACE | GLOB_NOSORT, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc && ret->count <= PATHS_MAX; i++)
			FH_PUSH(ret->items, ret->count, *capacity) = fh_xstrdup(found.gl_pathv[i]);
	globfree(&found);
}

/* Adds the folders that a "**" of a pattern stands for: `dir` and all folders below it. */
static void add_folders(const char *dir, unsigned depth, const char *rest, struct fh_eval_paths *ret, size_t *capacity)
{
	fh_auto_free char *pattern = fh_path_join(dir, rest);
	add_matches(pattern, ret, capacity);
	DIR *d = depth < FOLDER_DEPTH_MAX ? opendir(dir) : NULL;
	for (const struct dirent *e; d && (e = readdir(d));) {
		if (*e->d_name == '.' || (e->d_type != DT_DIR && e->d_type != DT_UNKNOWN))
			continue;
		fh_auto_free char *below = fh_path_join(dir, e->d_name);
		if (fh_path_is_dir(below))
			add_folders(below, depth + 1, rest, ret, capacity);
	}
	if (d)
		closedir(d);
}

int fh_eval_glob(const char *dir, const char *pattern, struct fh_eval_paths *ret, struct fh_error *err)
{
	pattern += fh_text_is_file(pattern) ? strlen("file://") : 0;
	fh_auto_free char *whole = fh_path_join(dir, pattern);
	size_t capacity = 0;
	if (!strpbrk(pattern, "*?[{") || fh_path_exists(whole)) {
		if (!fh_path_exists(whole))
			return fh_error_set(err, FH_E_CONFIG,
			                    errno == ELOOP ? "a link that leads to itself: %s" : "no such file: %s", whole);
		FH_PUSH(ret->items, ret->count, capacity) = FH_TAKE_PTR(whole);
		return 0;
	}
	const char *any = strstr(whole, "/**/");
	if (any) {
		fh_auto_free char *top = fh_xstrndup(whole, (size_t)(any - whole));
		add_folders(top, 0, any + strlen("/**/"), ret, &capacity);
	} else {
		add_matches(whole, ret, &capacity);
	}
	if (ret->count > PATHS_MAX)
		return fh_error_set(err, FH_E_CONFIG, "more than %d files match %s", PATHS_MAX, whole);
	if (ret->count == 0)
		return fh_error_set(err, FH_E_CONFIG, "no file matches %s", whole);
	qsort(ret->items, ret->count, sizeof(*ret->items), last_first);
	return 0;
}

int fh_eval_config_paths(const struct fh_eval_config *c, const char *pattern, struct fh_eval_paths *ret,
                         struct fh_error *err)
{
	return fh_eval_glob(c->dir, pattern, ret, err);
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

/* -------------------------------------------------------------------------------------------------- file:// values */

/* The rows of a CSV file as objects; if it has only one column, a list of its cells. */
static json_t *csv_rows(const json_t *rows)
{
	const json_t *head = json_array_get(rows, 0);
	json_t *list = json_array();
	for (size_t i = 1; i < json_array_size(rows); i++) {
		const json_t *row = json_array_get(rows, i);
		if (json_array_size(head) == 1) {
			json_array_append(list, json_array_get(row, 0));
			continue;
		}
		json_t *o = json_object();
		for (size_t j = 0; j < json_array_size(head); j++)
			json_object_set(o, json_string_value(json_array_get(head, j)), json_array_get(row, j));
		json_array_append_new(list, o);
	}
	return list;
}

static int read_value(struct fh_eval_config *c, const char *path, json_t **ret, struct fh_error *err)
{
	const char *extension = fh_path_ext(path);
	if (fh_streq(extension, ".json") || fh_streq(extension, ".yaml") || fh_streq(extension, ".yml")) {
		struct fh_document *d = NULL;
		int r = fh_eval_config_document(c, path, &d, err);
		if (r == 0)
			*ret = json_incref(d->root);
		return r;
	}
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(FH_VALUE_FILE_MAX);
	int r = fh_file_read(path, &text, err);
	if (r < 0)
		return r;
	if (!fh_streq(extension, ".csv")) {
		*ret = fh_json_bytes(fh_buf_str(&text));
		return 0;
	}
	fh_auto_json json_t *rows = fh_csv_parse(fh_buf_str(&text), ',', path, err);
	if (!rows)
		return -FH_E_CONFIG;
	*ret = csv_rows(rows);
	return 0;
}

int fh_eval_config_value(struct fh_eval_config *c, const struct fh_document *d, const json_t *value, const char *place,
                         json_t **ret, struct fh_error *err)
{
	const char *text = json_string_value(value);
	FH_CLEANUP(fh_eval_paths_release) struct fh_eval_paths paths = { 0 };
	if (!fh_text_is_file(text)) {
		*ret = value ? json_incref((json_t *)(uintptr_t)value) : NULL;
		return 0;
	}
	int r = fh_eval_config_paths(c, text, &paths, err);
	fh_auto_json json_t *all = json_array();
	json_t *one = NULL;
	for (size_t i = 0; i < paths.count && r == 0; i++) {
		if ((r = read_value(c, paths.items[i], &one, err)) < 0)
			break;
		if (!strpbrk(text, "*?[{")) {
			*ret = one;
			return 0;
		}
		if (json_is_array(one))
			json_array_extend(all, one);
		else if (!json_is_null(one))
			json_array_append(all, one);
		json_decref(one);
	}
	if (r < 0)
		return fh_document_place(d, place, err);
	*ret = json_incref(all);
	return 0;
}

/* Whether the text names a file whose content is known when the config is loaded. A script is called where it is used,
 * media and PDF files are read there, and a name with a template is complete there. */
static bool is_content(const struct fh_eval_config *c, const char *text)
{
	enum fh_script_language language;
	if (!fh_text_is_file(text) || strstr(text, "{{"))
		return false;
	fh_auto_free char *path = NULL;
	fh_auto_free char *function = NULL;
	fh_text_split_file(text, c->dir, &path, &function);
	return !fh_script_language_of(path, &language) && !fh_media_is(path) && !fh_streq(fh_path_ext(path), ".pdf");
}

static int expand(struct fh_eval_config *c, const struct fh_document *d, const json_t *value, unsigned depth,
                  json_t **ret, struct fh_error *err)
{
	const char *key;
	json_t *member;
	if (depth > 64)
		return fh_document_error(d, "", err, "more than 64 levels");
	if (is_content(c, json_string_value(value)))
		return fh_eval_config_value(c, d, value, "", ret, err);
	if (!json_is_object(value) && !json_is_array(value)) {
		*ret = json_incref((json_t *)(uintptr_t)value);
		return 0;
	}
	fh_auto_json json_t *copy = json_is_object(value) ? json_object() : json_array();
	for (size_t i = 0; i < json_array_size(value); i++) {
		json_t *item = NULL;
		int r = expand(c, d, json_array_get(value, i), depth + 1, &item, err);
		if (r < 0)
			return r;
		json_array_append_new(copy, item);
	}
	json_object_foreach((json_t *)(uintptr_t)value, key, member)
	{
		json_t *item = NULL;
		int r = strcmp(key, "vars") == 0 ? 0 : expand(c, d, member, depth + 1, &item, err);
		if (r < 0)
			return r;
		json_object_set_new(copy, key, item ? item : json_incref(member));
	}
	*ret = json_incref(copy);
	return 0;
}

static bool has_file(const json_t *value, unsigned depth)
{
	const char *key;
	json_t *v;
	if (depth > 64 || fh_text_is_file(json_string_value(value)))
		return true;
	for (size_t i = 0; i < json_array_size(value); i++)
		if (has_file(json_array_get(value, i), depth + 1))
			return true;
	json_object_foreach((json_t *)(uintptr_t)value, key, v)
	{
		if (strcmp(key, "vars") != 0 && has_file(v, depth + 1))
			return true;
	}
	return false;
}

int fh_eval_config_expand(struct fh_eval_config *c, const struct fh_document *d, const json_t *value, json_t **ret,
                          struct fh_error *err)
{
	/* A value that names no file is returned itself, because the document knows positions by the value's address. */
	if (!has_file(value, 0)) {
		*ret = json_incref((json_t *)(uintptr_t)value);
		return 0;
	}
	return expand(c, d, value, 0, ret, err);
}

int fh_eval_config_whole(struct fh_eval_config *c, const char *path, struct fh_document **ret_document, json_t **ret,
                         struct fh_error *err)
{
	struct fh_document *d = NULL;
	int r = fh_eval_config_document(c, path, &d, err);
	if (r == 0)
		r = fh_eval_config_expand(c, d, d->root, ret, err);
	if (r == 0)
		*ret_document = d;
	return r;
}
