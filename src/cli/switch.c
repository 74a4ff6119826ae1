/* SPDX-License-Identifier: MIT */
#include "cli/switch.h"

#include <dirent.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/host/data.h"
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

/* A variable's value before the switch. It is kept in a variable of our own: "=" and the value, or "-" if it was
 * unset. */
struct before {
	bool known;
	FH_NULLABLE const char *value;
};

static struct before look_back(const char *record)
{
	const char *text = getenv(record);
	if (!text || (text[0] != '=' && !fh_streq(text, "-")))
		return (struct before){ 0 };
	return (struct before){ true, text[0] == '=' ? text + 1 : NULL };
}

/* The list with our entries (one or two) put first. An empty list has no entries; but an empty entry of another list
 * means the current folder. */
static char *with_ours(const char *list, const char *const *ours)
{
	const char *colon = ours[1] ? ":" : "", *second = ours[1] ? ours[1] : "";
	return list && *list ? fh_xasprintf("%s%s%s:%s", ours[0], colon, second, list)
	                     : fh_xasprintf("%s%s%s", ours[0], colon, second);
}

/* The list with each of our entries removed once, since the user may have them too. NULL: nothing is left. */
static char *without_ours(const char *list, const char *const *ours)
{
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(0);
	bool taken[2] = { false, false }, left = false;
	while (list) {
		size_t n = strcspn(list, ":");
		bool is_ours = false;
		for (size_t i = 0; i < FH_ARRAY_SIZE(taken) && !is_ours; i++)
			if (!taken[i] && ours[i] && strlen(ours[i]) == n && strncmp(list, ours[i], n) == 0)
				is_ours = taken[i] = true;
		if (!is_ours) {
			if (left)
				fh_buf_addc(&out, ':');
			fh_buf_add(&out, list, n);
			left = true;
		}
		list = list[n] ? list + n + 1 : NULL;
	}
	if (!left)
		return NULL;
	if (out.n == 0)
		fh_buf_addc(&out, ':');
	size_t n;
	return fh_buf_take(&out, &n);
}

/* The list as it was before the switch; changes made to it since then are kept. */
static char *list_before(const char *now, const struct before *b, const char *const *ours)
{
	if (!b->known)
		return now ? fh_xstrdup(now) : NULL;
	fh_auto_free char *made = with_ours(b->value, ours);
	if (!now || !fh_streq(now, made))
		return without_ours(now, ours);
	return b->value ? fh_xstrdup(b->value) : NULL;
}

static void set(struct fh_switch *s, const char *name, char *value)
{
	s->variables = fh_xrealloc(s->variables, s->count + 1, sizeof(*s->variables));
	s->variables[s->count++] = (struct fh_switch_variable){ fh_xstrdup(name), value };
}

static void set_record(struct fh_switch *s, const char *record, const char *value)
{
	set(s, record, value ? fh_xasprintf("=%s", value) : fh_xstrdup("-"));
}

static void switch_list(struct fh_switch *s, bool on, const char *name, const char *record, const char *const *ours)
{
	const struct before b = look_back(record);
	if (!on && !b.known)
		return;
	char *before = list_before(getenv(name), &b, ours);
	if (!on) {
		set(s, name, before);
		set(s, record, NULL);
		return;
	}
	set(s, name, with_ours(before, ours));
	set_record(s, record, before);
	free(before);
}

/* Name of the variable that keeps another's earlier value: FUMEHOOD_NAME_BEFORE; a NAME that begins with FUMEHOOD_ gets
 * no second one. */
static char *record_of(const char *name)
{
	struct fh_buf out = FH_BUF_INIT(0);
	if (!fh_starts_with(name, "FUMEHOOD_"))
		fh_buf_adds(&out, "FUMEHOOD_");
	fh_buf_adds(&out, name);
	fh_buf_adds(&out, "_BEFORE");
	return fh_buf_take(&out, NULL);
}

/* Switches a variable to our value or back. The user's own value from before is restored; one set since then stays. */
static void switch_value(struct fh_switch *s, bool on, const char *name, const char *ours)
{
	fh_auto_free char *record = record_of(name);
	const struct before b = look_back(record);
	const char *now = getenv(name);
	bool is_ours = b.known && now && fh_streq(now, ours);
	const char *before = is_ours ? b.value : now;
	if (on) {
		set(s, name, fh_xstrdup(ours));
		set_record(s, record, before);
	} else if (b.known) {
		set(s, name, before ? fh_xstrdup(before) : NULL);
		set(s, record, NULL);
	}
}

/* As switch_value, for a variable whose value of ours is unknown when it is switched off: the record has it. */
static void switch_recorded(struct fh_switch *s, bool on, const char *name, FH_NULLABLE const char *ours)
{
	const char *now = getenv(name);
	switch_value(s, on, name, on ? ours : now ? now : "");
}

/* Points E2B's SDKs to our server. A key that the user has set stays. */
static void switch_e2b(struct fh_switch *s, bool on, const struct fh_switch_e2b *e2b)
{
	static const char *const of_domain[] = { "E2B_DOMAIN", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS" };
	const char *key = getenv("E2B_API_KEY");
	if (!on || !key || !*key || getenv("FUMEHOOD_E2B_API_KEY_BEFORE"))
		switch_value(s, on, "E2B_API_KEY", e2b->key);
	switch_value(s, on && !e2b->domain, "E2B_API_URL", e2b->url);
	switch_value(s, on && !e2b->domain, "E2B_SANDBOX_URL", e2b->url);
	switch_value(s, on && !e2b->domain, "E2B_VOLUME_API_URL", e2b->url);
	for (size_t i = 0; i < 3; i++)
		switch_recorded(s, on && e2b->domain, of_domain[i], i ? e2b->authority : e2b->domain);
}

int fh_switch_make(bool on, const struct fh_switch_e2b *e2b, struct fh_switch *ret, struct fh_error *err)
{
	struct fh_switch s = { 0 };
	int r = fh_data_path("python/compat", &s.folder, err);
	if (r < 0)
		return r;
	fh_auto_free char *above = fh_path_dir(s.folder);
	fh_auto_free char *folder = fh_path_self_dir();
	fh_auto_free char *self = folder ? fh_path_join(folder, "fumehood") : NULL;
	const char *const ours[] = { s.folder, above };
	list_modules(&s);
	switch_list(&s, on, "PYTHONPATH", "FUMEHOOD_PYTHONPATH_BEFORE", ours);
	/* The folder with the command promptfoo, and with npx, which runs promptfoo by that name. */
	fh_auto_free char *commands = fh_path_join(s.folder, "bin");
	const char *const bins[] = { commands, NULL };
	if (fh_path_is_dir(commands))
		switch_list(&s, on, "PATH", "FUMEHOOD_PATH_BEFORE", bins);
	if (self)
		switch_value(&s, on, "FUMEHOOD_PROGRAM", self);
	switch_e2b(&s, on, e2b);
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
