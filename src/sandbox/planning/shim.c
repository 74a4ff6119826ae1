/* SPDX-License-Identifier: MIT */
#include "sandbox/planning/interpreter_private.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/proc.h"

#define ASK_TIMEOUT_MS 10000
#define VERSION_FILE_MAX (64 << 10)

/* ----------------------------------------------------------------------------------------------------------- pyenv */

bool fh_pyenv_is_shim(const char *path)
{
	fh_auto_free char *dir = fh_path_dir(path);
	if (!fh_streq(fh_path_base(dir), "shims"))
		return false;
	fh_auto_free char *root = fh_path_dir(dir);
	fh_auto_free char *versions = fh_path_join(root, "versions");
	fh_auto_free char *command = fh_path_join(root, "libexec/pyenv");
	fh_auto_free char *bin = fh_path_join(root, "bin/pyenv");
	/* asdf has shims/ too, but no versions/; nodenv has both, but no pyenv. */
	const char *named = getenv("PYENV_ROOT");
	return fh_path_is_dir(versions) &&
	       (fh_path_exists(command) || fh_path_exists(bin) || (named && fh_streq(named, root)));
}

/* The words of a version file, joined by colons, without comments; NULL if the file is missing or empty. */
static char *read_version_file(const char *path)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(VERSION_FILE_MAX);
	if (fh_file_read(path, &text, NULL) < 0)
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
static char *chosen_versions(const char *root, char **ret_origin)
{
	const char *variable = getenv("PYENV_VERSION");
	if (variable && variable[0]) {
		*ret_origin = fh_xstrdup("PYENV_VERSION");
		return fh_xstrdup(variable);
	}
	const char *start = getenv("PYENV_DIR");
	fh_auto_free char *dir = start && start[0] == '/' ? fh_xstrdup(start) : getcwd(NULL, 0);
	while (dir) {
		char *file = fh_path_join(dir, ".python-version");
		char *found = read_version_file(file);
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
	char *found = read_version_file(file);
	*ret_origin = file;
	return found ? found : fh_xstrdup("system");
}

static bool leaves_folder(const char *name)
{
	return name[0] == '/' || fh_streq(name, "..") || fh_starts_with(name, "../") || strstr(name, "/..");
}

/* The highest installed version that "3.11" stands for. Like pyenv, it ignores previews. */
static char *latest_version(const char *versions, const char *wanted)
{
	DIR *d = opendir(versions);
	char *best = NULL;
	size_t n = strlen(wanted);
	for (struct dirent *e; d && (e = readdir(d));) {
		const char *rest = e->d_name + n;
		if (strncmp(e->d_name, wanted, n) != 0 || *rest != '.' || strspn(rest, ".0123456789") != strlen(rest))
			continue;
		if (!best || strverscmp(e->d_name, best) > 0) {
			free(best);
			best = fh_xstrdup(e->d_name);
		}
	}
	if (d)
		closedir(d);
	return best;
}

/* The program in one version; NULL when the version or the program does not exist. */
static char *program_of(const char *root, const char *version, const char *name)
{
	if (leaves_folder(version))
		return NULL;
	if (fh_starts_with(version, "python-"))
		version += strlen("python-");
	fh_auto_free char *versions = fh_path_join(root, "versions");
	fh_auto_free char *dir = fh_path_join(versions, version);
	fh_auto_free char *latest = fh_path_is_dir(dir) ? NULL : latest_version(versions, version);
	if (latest) {
		free(dir);
		dir = fh_path_join(versions, latest);
	}
	fh_auto_free char *program = fh_xasprintf("%s/bin/%s", dir, name);
	return access(program, X_OK) == 0 ? FH_TAKE_PTR(program) : NULL;
}

int fh_pyenv_resolve(const char *shim, char **ret, struct fh_error *err)
{
	fh_auto_free char *shims = fh_path_dir(shim);
	fh_auto_free char *root = fh_path_dir(shims);
	fh_auto_free char *origin = NULL;
	fh_auto_free char *versions = chosen_versions(root, &origin);
	char *rest = versions;
	for (char *word; (word = strsep(&rest, ":"));) {
		if (fh_streq(word, "system")) {
			*ret = NULL;
			return 0;
		}
		char *program = word[0] ? program_of(root, word, fh_path_base(shim)) : NULL;
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
static char *last_line(struct fh_buf *text)
{
	while (text->n > 0 && strchr(" \t\r\n", text->p[text->n - 1]))
		fh_buf_truncate(text, text->n - 1);
	const char *cut = text->n ? memrchr(text->p, '\n', text->n) : NULL;
	return fh_xstrdup(cut ? cut + 1 : fh_buf_cstr(text));
}

int fh_shim_ask(const struct fh_language *l, const char *shim, char **ret, struct fh_error *err)
{
	const char *argv[16] = { shim };
	size_t n = 1;
	for (size_t i = 0; l->ask[i] && n + 1 < FH_ARRAY_SIZE(argv); i++)
		argv[n++] = l->ask[i];
	struct fh_proc_options o = { .argv = argv, .own_group = true };
	o.stdio[1] = o.stdio[2] = FH_STDIO_PIPE;
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(64 << 10);
	fh_auto_buf struct fh_buf errout = FH_BUF_INIT(64 << 10);
	int status = -1;
	int r = n == 1 ? -FH_E_NOT_FOUND : fh_proc_run(&o, fh_str(""), ASK_TIMEOUT_MS, &out, &errout, &status, NULL);
	if (r == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0) {
		fh_auto_free char *path = last_line(&out);
		fh_auto_free char *below = fh_xasprintf("%s/bin/%s", path, fh_path_base(shim));
		char **answer = fh_path_is_dir(path) ? &below : &path;
		if (path[0] == '/' && access(*answer, X_OK) == 0) {
			*ret = FH_TAKE_PTR(*answer);
			return 0;
		}
	}
	r = fh_error_set(err, FH_E_NOT_FOUND, "%s is a stand-in that does not say which program it starts", shim);
	fh_error_hint(err, "name the real program with --interpreter PATH");
	return r;
}
