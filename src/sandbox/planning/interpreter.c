/* SPDX-License-Identifier: MIT */
#include "sandbox/planning/interpreter.h"

#include <errno.h>
#include <fnmatch.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/path.h"
#include "proto/plan.h"
#include "sandbox/planning/interpreter_private.h"

#define SHIM_DEPTH_MAX 4
#define LINK_DEPTH_MAX 40

void fh_tool_free(struct fh_tool *t)
{
	if (!t)
		return;
	char **lists[] = { t->prefixes, t->path_dirs, t->env };
	for (size_t i = 0; i < FH_ARRAY_SIZE(lists); i++) {
		for (size_t k = 0; lists[i] && lists[i][k]; k++)
			free(lists[i][k]);
		free(lists[i]);
	}
	for (size_t i = 0; i < t->mount_count; i++) {
		free(t->mounts[i].target);
		free(t->mounts[i].link);
	}
	free(t->mounts);
	free(t->host_path);
	free(t->inside);
	free(t);
}

static struct fh_tool *tool_new(void)
{
	struct fh_tool *t = FH_NEW(struct fh_tool);
	t->host_path = fh_xstrdup("");
	t->inside = fh_xstrdup("");
	t->prefixes = fh_xcalloc(1, sizeof(char *));
	t->path_dirs = fh_xcalloc(1, sizeof(char *));
	t->env = fh_xcalloc(1, sizeof(char *));
	return t;
}

/* ----------------------------------------------------------------------------------------------- what is visible */

bool fh_in_default_image(const char *path)
{
	static const char *const folders[] = { "/usr",   "/bin",   "/sbin",   "/lib",
		                                   "/lib32", "/lib64", "/libx32", "/etc/alternatives" };
	for (size_t i = 0; i < FH_ARRAY_SIZE(folders); i++)
		if (fh_path_within(path, folders[i]))
			return true;
	return false;
}

static bool visible(const struct fh_tool *t, const char *path)
{
	if (fh_in_default_image(path))
		return true;
	for (size_t i = 0; i < t->mount_count; i++)
		if (t->mounts[i].link ? fh_streq(path, t->mounts[i].target) : fh_path_within(path, t->mounts[i].target))
			return true;
	return false;
}

static void show(struct fh_tool *t, const char *target, const char *link)
{
	if (visible(t, target))
		return;
	t->mounts = fh_xrealloc(t->mounts, t->mount_count + 1, sizeof(*t->mounts));
	t->mounts[t->mount_count++] =
	    (struct fh_tool_mount){ .target = fh_xstrdup(target), .link = link ? fh_xstrdup(link) : NULL };
}

static void add_path_dir(struct fh_tool *t, const char *dir)
{
	fh_auto_free char *entry = fh_xasprintf(":%s:", dir);
	if (strstr(":" FH_STANDARD_PATH ":", entry) || strchr(dir, ':'))
		return;
	for (size_t i = 0; t->path_dirs[i]; i++)
		if (fh_streq(t->path_dirs[i], dir))
			return;
	fh_plan_add_string(&t->path_dirs, dir);
}

/* Makes every symbolic link on the way to `path` resolve inside as it does on the host, by making links anew that are
 * outside the bound folders. */
static void show_links(struct fh_tool *t, struct fh_survey *s, const char *path)
{
	fh_auto_free char *done = fh_xstrdup("");
	fh_auto_free char *rest = fh_xstrdup(path);
	for (int links = 0; rest[0] && links < LINK_DEPTH_MAX;) {
		const char *p = rest + strspn(rest, "/");
		size_t n = strcspn(p, "/");
		if (n == 0)
			return;
		fh_auto_free char *joined = fh_xasprintf("%s/%.*s", done, (int)n, p);
		char *here = fh_path_clean(joined);
		char *after = fh_xstrdup(p + n);
		fh_auto_free char *text = fh_survey_link(s, here);
		if (text && text[0]) {
			show(t, here, text);
			free(here);
			here = fh_xstrdup(text[0] == '/' ? "" : done);
			char *longer = fh_xasprintf("%s%s", text, after);
			free(after);
			after = longer;
			links++;
		}
		free(done);
		free(rest);
		done = here;
		rest = after;
	}
}

/* --------------------------------------------------------------------------------------------------------- prefixes */

/* The folder that a program was installed into; NULL when its path does not tell. */
static char *prefix_of(const char *program)
{
	/* Two package managers link files of one package to those of others, so their whole store has to be visible. */
	const char *cellar = strstr(program, "/Cellar/");
	if (cellar && cellar > program)
		return fh_xstrndup(program, (size_t)(cellar - program));
	if (fh_starts_with(program, "/nix/store/"))
		return fh_xstrdup("/nix/store");
	if (fh_starts_with(program, "/gnu/store/"))
		return fh_xstrdup("/gnu/store");
	fh_auto_free char *dir = fh_path_dir(program);
	return fh_streq(fh_path_base(dir), "bin") ? fh_path_dir(dir) : NULL;
}

/* Whether a folder holds more than one installation, so that binding it would show a user's other files. */
static bool too_broad(const struct fh_tool_query *q, const char *prefix)
{
	static const char *const broad[] = { "/",    "/home", "/root",  "/opt",  "/srv", "/var",
		                                 "/tmp", "/etc",  "/media", "/data", "/mnt", "/run" };
	for (size_t i = 0; i < FH_ARRAY_SIZE(broad); i++)
		if (fh_streq(prefix, broad[i]))
			return true;
	fh_auto_free char *up = fh_path_dir(prefix);
	fh_auto_free char *real_home = q->home && q->home[0] == '/' ? fh_survey_real(q->survey, q->home) : NULL;
	return fh_streq(up, "/home") || (real_home && !fh_streq(real_home, "/") && fh_path_within(real_home, prefix));
}

static void show_parts(struct fh_tool *t, const struct fh_tool_query *q, const char *prefix)
{
	for (char *const *part = q->language->prefix_parts; *part; part++) {
		fh_auto_free char *pattern = fh_path_join(prefix, *part);
		fh_auto_survey_list char **found = fh_survey_glob(q->survey, pattern);
		for (size_t i = 0; found[i]; i++) {
			struct fh_survey_facts facts;
			/* A link is made anew and not followed, since its target may be anything. */
			if (fh_survey_own_facts(q->survey, found[i], &facts) && S_ISLNK(facts.mode))
				show_links(t, q->survey, found[i]);
			else
				show(t, found[i], NULL);
		}
	}
}

/* Shows the files that belong to the program's installation. */
static void show_prefix(struct fh_tool *t, const struct fh_tool_query *q, const char *program)
{
	fh_auto_free char *prefix = prefix_of(program);
	if (prefix)
		fh_plan_add_string(&t->prefixes, prefix);
	if (visible(t, program))
		return;
	if (prefix && !too_broad(q, prefix)) {
		show(t, prefix, NULL);
		return;
	}
	if (prefix)
		show_parts(t, q, prefix);
	show(t, program, NULL);
}

/* --------------------------------------------------------------------------------------------- from name to program */

static bool matches(char *const *globs, const char *name)
{
	for (; *globs; globs++)
		if (fnmatch(*globs, name, 0) == 0)
			return true;
	return false;
}

static bool is_script(struct fh_survey *s, const char *path)
{
	return fh_survey_begins(s, path, "#!");
}

/* Resolves links in the path's folder, but not a link at the path itself: bin/python3 stays bin/python3. */
static char *settle(struct fh_survey *s, const char *path)
{
	fh_auto_free char *dir = fh_path_dir(path);
	fh_auto_free char *real = fh_survey_real(s, dir);
	return real ? fh_path_join(real, fh_path_base(path)) : NULL;
}

/* PATH without the folder `dir`. */
static char *path_without(struct fh_survey *s, const char *path, const char *dir)
{
	struct fh_buf out = FH_BUF_INIT(1 << 20);
	for (const char *p = path ? path : FH_STANDARD_PATH;; p++) {
		size_t n = strcspn(p, ":");
		fh_auto_free char *entry = fh_xstrndup(p, n);
		fh_auto_free char *real = fh_survey_real(s, entry);
		if (n > 0 && !fh_streq(entry, dir) && !fh_streq(real, dir))
			fh_buf_addf(&out, "%s%s", out.n ? ":" : "", entry);
		p += n;
		if (!*p)
			break;
	}
	return fh_buf_take(&out, NULL);
}

static int missing(const struct fh_tool_query *q, const char *where, struct fh_error *err)
{
	const struct fh_language *l = q->language;
	fh_auto_buf struct fh_buf names = FH_BUF_INIT(4096);
	for (size_t i = 0; l->tools[i]; i++)
		fh_buf_addf(&names, "%s%s", i == 0 ? "" : l->tools[i + 1] ? ", " : " or ", l->tools[i]);
	int r = fh_error_set(err, FH_E_NOT_FOUND, "%s needs %s, which is not %s", l->name, fh_buf_cstr(&names), where);
	if (q->image)
		fh_error_hint(err, "install it into the image, or name the program inside with --interpreter PATH");
	else
		fh_error_hint(err, "install it (Debian and Ubuntu: apt install %s), or name a program with --interpreter PATH",
		              l->package);
	return r;
}

static bool in_venv(struct fh_survey *s, const char *entry)
{
	fh_auto_free char *dir = fh_path_dir(entry);
	fh_auto_free char *root = fh_path_dir(dir);
	fh_auto_free char *config = fh_path_join(root, "pyvenv.cfg");
	return fh_survey_exists(s, config);
}

/* Whether a compiler's name on PATH leads to a compiler cache or distributor. Inside a sandbox it would find neither
 * its cache nor its network, and compiled programs are cached anyway (compile_cache.h). */
static bool is_launcher(const char *real)
{
	static const char *const names[] = { "ccache", "distcc", "icecc", "sccache" };
	for (size_t i = 0; i < FH_ARRAY_SIZE(names); i++)
		if (fh_streq(fh_path_base(real), names[i]))
			return true;
	return false;
}

/* Follows `found` through shims to the real program; *ret_entry is the path to call it by. */
static int follow_shims(const struct fh_tool_query *q, const char *found, char **ret_entry, struct fh_error *err)
{
	fh_auto_free char *path = fh_xstrdup(found);
	fh_auto_free char *search = fh_xstrdup(q->path ? q->path : FH_STANDARD_PATH);
	for (int depth = 0; depth < SHIM_DEPTH_MAX; depth++) {
		fh_auto_free char *entry = settle(q->survey, path);
		fh_auto_free char *real = entry ? fh_survey_real(q->survey, entry) : NULL;
		if (!real)
			return fh_error_sys(err, errno, "cannot follow %s", path);
		bool script = is_script(q->survey, real), linked = !fh_streq(entry, real);
		bool named = !q->language->genuine[0] || matches(q->language->genuine, fh_path_base(real));
		bool chosen = depth == 0 && q->interpreter && !linked, launcher = linked && is_launcher(real);
		if (((named && !launcher) || chosen) && (!script || !q->language->ask[0])) {
			*ret_entry = FH_TAKE_PTR(entry);
			return 0;
		}
		char *next = NULL;
		int r = launcher                             ? 0
		        : fh_pyenv_is_shim(q->survey, entry) ? fh_pyenv_resolve(q->survey, entry, &next, err)
		                                             : fh_shim_ask(q->survey, q->language, entry, &next, err);
		if (r < 0)
			return r;
		if (!next) {
			fh_auto_free char *shims = fh_path_dir(entry);
			char *shorter = path_without(q->survey, search, shims);
			free(search);
			search = shorter;
			next = fh_survey_which(q->survey, fh_path_base(entry), search);
		}
		if (!next)
			return missing(
			    q, launcher ? "on PATH outside the folder of a compiler cache" : "on PATH outside the shims of pyenv",
			    err);
		free(path);
		path = next;
	}
	int r = fh_error_set(err, FH_E_NOT_FOUND, "%s leads from one shim to the next", found);
	fh_error_hint(err, "name the real program with --interpreter PATH");
	return r;
}

/* ------------------------------------------------------------------------------------------- virtual environments */

/* The value of `home` in pyvenv.cfg: the folder of the base interpreter. */
static char *venv_home(struct fh_survey *s, const char *root)
{
	fh_auto_free char *path = fh_path_join(root, "pyvenv.cfg");
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(64 << 10);
	if (fh_survey_text(s, "", path, &text) != 0 || !text.p)
		return NULL;
	char *save = text.p;
	for (char *line; (line = strsep(&save, "\n"));) {
		line += strspn(line, " \t");
		char *equals = strchr(line, '=');
		if (!equals || strncmp(line, "home", 4) != 0 || 4 + strspn(line + 4, " \t") != (size_t)(equals - line))
			continue;
		char *value = equals + 1 + strspn(equals + 1, " \t");
		size_t n = strlen(value);
		while (n > 0 && strchr(" \t\r", value[n - 1]))
			n--;
		return n && value[0] == '/' ? fh_xstrndup(value, n) : NULL;
	}
	return NULL;
}

static int use_venv(struct fh_tool *t, const struct fh_tool_query *q, const char *entry, struct fh_error *err)
{
	fh_auto_free char *bin = fh_path_dir(entry);
	fh_auto_free char *root = fh_path_dir(bin);
	fh_auto_free char *real = fh_survey_real(q->survey, entry);
	fh_auto_free char *home = venv_home(q->survey, root);
	if (!real || !home || is_script(q->survey, real)) {
		int r = fh_error_set(err, FH_E_NOT_FOUND, "the virtual environment %s is broken: %s", root,
		                     !home ? "its pyvenv.cfg names no home" : "its interpreter is gone");
		fh_error_hint(err, "make it again: python3 -m venv %s", root);
		return r;
	}
	if (too_broad(q, root)) {
		fh_auto_free char *config = fh_path_join(root, "pyvenv.cfg");
		show_parts(t, q, root);
		show(t, config, NULL);
	} else {
		show(t, root, NULL);
	}
	fh_plan_add_string(&t->prefixes, root);
	show_prefix(t, q, real);
	show_links(t, q->survey, entry);
	show_links(t, q->survey, home);
	add_path_dir(t, bin);
	add_path_dir(t, home);
	fh_auto_free char *variable = fh_xasprintf("VIRTUAL_ENV=%s", root);
	fh_plan_add_string(&t->env, variable);
	fh_plan_set_text(&t->host_path, real);
	fh_plan_set_text(&t->inside, entry);
	return 0;
}

static int find_in_venv(struct fh_tool *t, const struct fh_tool_query *q, struct fh_error *err)
{
	fh_auto_free char *root = fh_survey_real(q->survey, q->venv);
	fh_auto_free char *config = root ? fh_path_join(root, "pyvenv.cfg") : NULL;
	if (!config || !fh_survey_exists(q->survey, config)) {
		int r = fh_error_set(err, FH_E_NOT_FOUND, "%s is not a virtual environment: it has no pyvenv.cfg", q->venv);
		fh_error_hint(err, "make one: python3 -m venv %s", q->venv);
		return r;
	}
	for (size_t i = 0; q->language->tools[i]; i++) {
		fh_auto_free char *entry = fh_xasprintf("%s/bin/%s", root, q->language->tools[i]);
		if (fh_survey_is_program(q->survey, "", entry))
			return use_venv(t, q, entry, err);
	}
	fh_auto_free char *where = fh_xasprintf("in %s/bin", root);
	return missing(q, where, err);
}

/* ----------------------------------------------------------------------------------------------------------- images */

static void use_inside(struct fh_tool *t, const char *inside)
{
	fh_auto_free char *prefix = prefix_of(inside);
	if (prefix)
		fh_plan_add_string(&t->prefixes, prefix);
	fh_auto_free char *dir = fh_path_dir(inside);
	add_path_dir(t, dir);
	fh_plan_set_text(&t->inside, inside);
}

static int find_in_image(struct fh_tool *t, const struct fh_tool_query *q, struct fh_error *err)
{
	const char *given[] = { q->interpreter, NULL };
	const char *const *names = q->interpreter ? given : (const char *const *)q->language->tools;
	for (; *names; names++) {
		if ((*names)[0] == '/' && fh_survey_is_program(q->survey, q->image, *names)) {
			use_inside(t, *names);
			return 0;
		}
		fh_auto_free char *dirs = fh_xstrdup(strchr(*names, '/') ? "" : FH_STANDARD_PATH);
		char *rest = dirs;
		for (char *dir; (dir = strsep(&rest, ":")) && dir[0];) {
			fh_auto_free char *inside = fh_path_join(dir, *names);
			if (fh_survey_is_program(q->survey, q->image, inside)) {
				use_inside(t, inside);
				return 0;
			}
		}
	}
	fh_auto_free char *where = fh_xasprintf("in the image %s", q->image);
	if (!q->interpreter)
		return missing(q, where, err);
	return fh_error_set(err, FH_E_NOT_FOUND, "there is no program %s in the image %s", q->interpreter, q->image);
}

/* ------------------------------------------------------------------------------------------------------- everything */

/* Finds the program that PATH, or the caller, names. */
static int look_up(const struct fh_tool_query *q, char **ret, struct fh_error *err)
{
	if (q->interpreter) {
		*ret = fh_survey_which(q->survey, q->interpreter, q->path);
		return *ret ? 0 : fh_error_set(err, FH_E_NOT_FOUND, "there is no program %s", q->interpreter);
	}
	for (size_t i = 0; q->language->tools[i]; i++)
		if ((*ret = fh_survey_which(q->survey, q->language->tools[i], q->path)))
			return 0;
	return missing(q, "on PATH", err);
}

static int find_on_host(struct fh_tool *t, const struct fh_tool_query *q, struct fh_error *err)
{
	fh_auto_free char *found = NULL;
	fh_auto_free char *entry = NULL;
	int r = look_up(q, &found, err);
	if (r == 0)
		r = follow_shims(q, found, &entry, err);
	if (r < 0)
		return r;
	if (in_venv(q->survey, entry))
		return use_venv(t, q, entry, err);
	fh_auto_free char *real = fh_survey_real(q->survey, entry);
	if (!real)
		return fh_error_sys(err, errno, "cannot follow %s", entry);
	show_prefix(t, q, real);
	/* A link that is outside what is bound (~/.local/bin/python3) does not exist inside; the real path is used then. */
	const char *inside = visible(t, entry) ? entry : real;
	show_links(t, q->survey, inside);
	fh_auto_free char *dir = fh_path_dir(inside);
	add_path_dir(t, dir);
	fh_plan_set_text(&t->host_path, real);
	fh_plan_set_text(&t->inside, inside);
	return 0;
}

int fh_tool_find(const struct fh_tool_query *q, struct fh_tool **ret, struct fh_error *err)
{
	fh_auto_tool struct fh_tool *t = tool_new();
	int r = q->image ? find_in_image(t, q, err) : q->venv ? find_in_venv(t, q, err) : find_on_host(t, q, err);
	if (r < 0)
		return r;
	*ret = FH_TAKE_PTR(t);
	return 0;
}
