/* SPDX-License-Identifier: MIT */
#include "cli/switch.h"

#include <dirent.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/data.h"
#include "base/path.h"

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void list_modules(struct fh_switch *s)
{
	size_t n = 0, capacity = 0;
	DIR *d = opendir(s->folder);
	for (struct dirent *e; d && (e = readdir(d));) {
		fh_auto_free char *init = fh_xasprintf("%s/%s/__init__.py", s->folder, e->d_name);
		if (e->d_name[0] != '.' && fh_path_exists(init))
			FH_PUSH(s->modules, n, capacity) = fh_xstrdup(e->d_name);
	}
	if (d)
		closedir(d);
	if (n)
		qsort(s->modules, n, sizeof(*s->modules), compare);
	FH_PUSH(s->modules, n, capacity) = NULL;
}

/* Ours in front of what is left of the list when ours are taken out. NULL: nothing is left. */
static char *path_list(const char *now, const char *const *ours, bool on)
{
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(0);
	for (size_t i = 0; on && ours[i]; i++)
		fh_buf_addf(&out, "%s%s", out.n ? ":" : "", ours[i]);
	while (now && *now) {
		size_t n = strcspn(now, ":");
		bool is_ours = false;
		for (size_t i = 0; ours[i]; i++)
			is_ours = is_ours || (strlen(ours[i]) == n && strncmp(now, ours[i], n) == 0);
		if (!is_ours) {
			if (out.n)
				fh_buf_addc(&out, ':');
			fh_buf_add(&out, now, n);
		}
		now += n + (now[n] == ':');
	}
	size_t n;
	return out.n ? fh_buf_take(&out, &n) : NULL;
}

static void set(struct fh_switch *s, const char *name, char *value)
{
	s->variables = fh_xrealloc(s->variables, s->count + 1, sizeof(*s->variables));
	s->variables[s->count++] = (struct fh_switch_variable){ fh_xstrdup(name), value };
}

int fh_switch_make(bool on, struct fh_switch *ret, struct fh_error *err)
{
	struct fh_switch s = { 0 };
	int r = fh_data_path("python/compat", &s.folder, err);
	if (r < 0)
		return r;
	fh_auto_free char *above = fh_path_dir(s.folder);
	fh_auto_free char *self = fh_path_self_dir();
	const char *const ours[] = { s.folder, above, NULL };
	list_modules(&s);
	set(&s, "PYTHONPATH", path_list(getenv("PYTHONPATH"), ours, on));
	/* which program the Python package starts */
	set(&s, "FUMEHOOD_PROGRAM", on && self ? fh_path_join(self, "fumehood") : NULL);
	*ret = s;
	return 0;
}

void fh_switch_release(struct fh_switch *s)
{
	for (size_t i = 0; i < s->count; i++) {
		free(s->variables[i].name);
		free(s->variables[i].value);
	}
	for (size_t i = 0; s->modules && s->modules[i]; i++)
		free(s->modules[i]);
	free(s->modules);
	free(s->variables);
	free(s->folder);
	*s = (struct fh_switch){ 0 };
}
