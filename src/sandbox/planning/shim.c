/* SPDX-License-Identifier: MIT */
#include "sandbox/planning/interpreter_private.h"

#include "base/path.h"

#define VERSION_FILE_MAX (64 << 10)

/* ----------------------------------------------------------------------------------------------------------- pyenv */

bool fh_pyenv_is_shim(struct fh_survey *s, const char *path)
{
	fh_auto_free char *dir = fh_path_dir(path);
	if (!fh_streq(fh_path_base(dir), "shims"))
		return false;
	fh_auto_free char *root = fh_path_dir(dir);
	fh_auto_free char *versions = fh_path_join(root, "versions");
	fh_auto_free char *command = fh_path_join(root, "libexec/pyenv");
	fh_auto_free char *bin = fh_path_join(root, "bin/pyenv");
	/* asdf has shims/ too, but no versions/; nodenv has both, but no pyenv. */
	fh_auto_free char *named = fh_survey_variable(s, "PYENV_ROOT");
	return fh_survey_is_dir(s, versions) &&
	       (fh_survey_exists(s, command) || fh_survey_exists(s, bin) || (named && fh_streq(named, root)));
}

/* The words of a version file, joined by colons, without comments; NULL if the file is missing or empty. */
static char *read_version_file(struct fh_survey *s, const char *path)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(VERSION_FILE_MAX);
	if (fh_survey_text(s, "", path, &text) != 0)
		return NULL;
	struct fh_buf out = FH_BUF_INIT(VERSION_FILE_MAX);
	bool comment = false, gap = false;
	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];
		if (c == '\n')
			comment = false;
		else if (c == '#')
			comment = true;
		if (comment || strchr(" \t\r\n", c)) {
			gap = true;
			continue;
		}
		if (gap && out.n > 0)
			fh_buf_addc(&out, ':');
		gap = false;
		fh_buf_addc(&out, c);
	}
	if (out.n == 0) {
		fh_buf_release(&out);
		return NULL;
	}
	return fh_buf_take(&out, NULL);
}

/* The chosen versions, separated by colons. *ret_origin: where the choice was found. */
static char *chosen_versions(struct fh_survey *s, const char *root, char **ret_origin)
{
	fh_auto_free char *variable = fh_survey_variable(s, "PYENV_VERSION");
	if (variable && variable[0]) {
		*ret_origin = fh_xstrdup("PYENV_VERSION");
		return FH_TAKE_PTR(variable);
	}
	fh_auto_free char *start = fh_survey_variable(s, "PYENV_DIR");
	fh_auto_free char *dir = start && start[0] == '/' ? fh_xstrdup(start) : fh_survey_cwd(s);
	while (dir) {
		char *file = fh_path_join(dir, ".python-version");
		char *found = read_version_file(s, file);
		if (found) {
			*ret_origin = file;
			return found;
		}
		free(file);
		char *up = strcmp(dir, "/") == 0 ? NULL : fh_path_dir(dir);
		free(dir);
		dir = up;
	}
	char *file = fh_path_join(root, "version");
	char *found = read_version_file(s, file);
	*ret_origin = file;
	return found ? found : fh_xstrdup("system");
}

static bool leaves_folder(const char *name)
{
	return name[0] == '/' || fh_streq(name, "..") || fh_starts_with(name, "../") || strstr(name, "/..");
}

/* The highest installed version that "3.11" stands for. Like pyenv, it ignores previews. */
static char *latest_version(struct fh_survey *s, const char *versions, const char *wanted)
{
	fh_auto_survey_list char **names = fh_survey_names(s, versions, 0);
	const char *best = NULL;
	size_t n = strlen(wanted);
	for (size_t i = 0; names[i]; i++) {
		const char *rest = names[i] + n;
		if (strncmp(names[i], wanted, n) != 0 || *rest != '.' || strspn(rest, ".0123456789") != strlen(rest))
			continue;
		if (!best || strverscmp(names[i], best) > 0)
			best = names[i];
	}
	return best ? fh_xstrdup(best) : NULL;
}

/* The program in one version; NULL when the version or the program does not exist. */
static char *program_of(struct fh_survey *s, const char *root, const char *version, const char *name)
{
	if (leaves_folder(version))
		return NULL;
	if (fh_starts_with(version, "python-"))
		version += strlen("python-");
	fh_auto_free char *versions = fh_path_join(root, "versions");
	fh_auto_free char *dir = fh_path_join(versions, version);
	fh_auto_free char *program = fh_xasprintf("%s/bin/%s", dir, name);
	if (fh_survey_is_program(s, "", program))
		return FH_TAKE_PTR(program);
	fh_auto_free char *latest = fh_survey_is_dir(s, dir) ? NULL : latest_version(s, versions, version);
	if (!latest)
		return NULL;
	fh_auto_free char *there = fh_xasprintf("%s/%s/bin/%s", versions, latest, name);
	return fh_survey_is_program(s, "", there) ? FH_TAKE_PTR(there) : NULL;
}

int fh_pyenv_resolve(struct fh_survey *s, const char *shim, char **ret, struct fh_error *err)
{
	fh_auto_free char *shims = fh_path_dir(shim);
	fh_auto_free char *root = fh_path_dir(shims);
	fh_auto_free char *origin = NULL;
	fh_auto_free char *versions = chosen_versions(s, root, &origin);
	char *rest = versions;
	for (char *word; (word = strsep(&rest, ":"));) {
		if (fh_streq(word, "system")) {
			*ret = NULL;
			return 0;
		}
		char *program = word[0] ? program_of(s, root, word, fh_path_base(shim)) : NULL;
		if (program) {
			*ret = program;
			return 0;
		}
	}
	int r =
	    fh_error_set(err, FH_E_NOT_FOUND, "pyenv has no %s in the version that %s names", fh_path_base(shim), origin);
	fh_error_hint(err, "see `pyenv versions`, or name a program with --interpreter PATH");
	return r;
}

/* ---------------------------------------------------------------------------------------------------- other shims */

/* The last line of text, without blanks at its ends. */
static char *last_line(const char *text)
{
	size_t n = strlen(text);
	while (n > 0 && strchr(" \t\r\n", text[n - 1]))
		n--;
	const char *cut = memrchr(text, '\n', n);
	const char *line = cut ? cut + 1 : text;
	return fh_xstrndup(line, n - (size_t)(line - text));
}

int fh_shim_ask(struct fh_survey *s, const struct fh_language *l, const char *shim, char **ret, struct fh_error *err)
{
	fh_auto_free char *said = l->ask[0] ? fh_survey_output(s, shim, (const char *const *)l->ask) : NULL;
	if (said) {
		fh_auto_free char *path = last_line(said);
		fh_auto_free char *below = fh_xasprintf("%s/bin/%s", path, fh_path_base(shim));
		char **answer = fh_survey_is_dir(s, path) ? &below : &path;
		if (path[0] == '/' && fh_survey_is_program(s, "", *answer)) {
			*ret = FH_TAKE_PTR(*answer);
			return 0;
		}
	}
	int r = fh_error_set(err, FH_E_NOT_FOUND, "%s is a shim that does not say which program it starts", shim);
	fh_error_hint(err, "name the real program with --interpreter PATH");
	return r;
}
