/* SPDX-License-Identifier: MIT */
/* Which language is meant: by its name, by a file's name, by a #! line. */
#include "sandbox/planning/language.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>

#include "base/fd.h"
#include "base/host/data.h"
#include "base/path.h"
#include "base/text/nearest.h"

static int load_file(const char *path, struct fh_language **ret, struct fh_error *err)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(FH_LANGUAGE_FILE_MAX);
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
