/* SPDX-License-Identifier: MIT */
#include "e2b/hosted/accounts.h"

#include <stdio.h>

#include "base/path.h"
#include "base/text/base64.h"
#include "e2b/common/tools.h"
#include "fumehood/session.h"

enum { ARGS_MAX = 4096 };

static const struct account {
	const char *name, *home;
	uint32_t uid;
} accounts[] = { { "user", "/home/user", 1000 }, { "root", "/root", 0 } };

static const struct account *find(const char *name)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(accounts); i++)
		if (fh_streq(name, accounts[i].name))
			return &accounts[i];
	return NULL;
}

FH_NULLABLE const char *fh_account_named(FH_NULLABLE const char *name)
{
	const struct account *a = !name || !*name ? &accounts[0] : find(name);
	return a ? a->name : NULL;
}

const char *fh_account_of_request(const struct fh_http_request *r, struct fh_connect_error *e)
{
	const char *header = fh_http_header(r, "Authorization"), *name = fh_http_query(r, "username");
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(256);
	if (header && strncmp(header, "Basic ", 6) == 0 && fh_base64_decode(&text, fh_str(header + 6)) == 0) {
		name = fh_buf_cstr(&text);
		if (text.n)
			text.p[strcspn(text.p, ":")] = '\0';
	}
	const char *usual = fh_json_str(fh_e2b_hosted(r)->settings, "user", NULL);
	const char *user = fh_account_named(name && *name ? name : usual);
	if (!user)
		fh_connect_fail(e, FH_CONNECT_UNAUTHENTICATED, "invalid username: '%.64s'", name);
	return user;
}

FH_NULLABLE const char *fh_account_for(const struct fh_hosted *h, const char *user)
{
	return h->one_id ? NULL : user;
}

const char *fh_account_home(const char *user)
{
	return find(user)->home;
}

uint32_t fh_account_uid(const char *user)
{
	return find(user)->uid;
}

const char *fh_account_name(uint32_t uid, char buffer[16])
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(accounts); i++)
		if (uid == accounts[i].uid)
			return accounts[i].name;
	snprintf(buffer, 16, "%u", uid);
	return buffer;
}

FH_OWN char *fh_account_path(const char *user, const char *path)
{
	const char *home = fh_account_home(user);
	if (path[0] == '~' && (path[1] == '/' || !path[1]))
		path += path[1] ? 2 : 1;
	fh_auto_free char *joined = fh_path_join(home, path);
	return fh_path_clean(joined);
}

bool fh_account_has_folder(struct fh_hosted *h, FH_NULLABLE const char *user, const char *path)
{
	struct fh_file_info info;
	fh_auto_free char *buffer = NULL;
	return fh_files_stat(h->sandbox, user, path, 0, &info, &buffer, NULL) == 0 && info.type == FH_FILE_FOLDER;
}

/* ---------------------------------------------------------------------------------------------------- environment */

struct strings {
	char **items;
	size_t count, capacity;
};

static void add(struct strings *s, FH_OWN char *text)
{
	FH_PUSH(s->items, s->count, s->capacity) = text;
}

/* Sets a variable; a later value replaces an earlier one. A name that is empty or holds '=' is ignored. */
static void set(struct strings *s, const char *name, const char *value)
{
	size_t n = strlen(name);
	if (!n || strchr(name, '='))
		return;
	for (size_t i = 0; i < s->count; i++)
		if (strncmp(s->items[i], name, n) == 0 && s->items[i][n] == '=') {
			free(s->items[i]);
			s->items[i] = fh_xasprintf("%s=%s", name, value);
			return;
		}
	add(s, fh_xasprintf("%s=%s", name, value));
}

static void set_all(struct strings *s, FH_NULLABLE const json_t *o)
{
	const char *name;
	json_t *value;
	json_object_foreach((json_t *)(uintptr_t)o, name, value) if (json_is_string(value))
	    set(s, name, json_string_value(value));
}

FH_OWN char **fh_account_env(const struct fh_hosted *h, const char *user, bool pty, FH_NULLABLE const json_t *more)
{
	struct strings s = { 0 };
	set(&s, "PATH", FH_E2B_TOOLS ":/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
	set(&s, "HOME", fh_account_home(user));
	set(&s, "USER", user);
	set(&s, "LOGNAME", user);
	set(&s, "LANG", "C.UTF-8");
	set(&s, "E2B_SANDBOX", "true");
	set(&s, "E2B_SANDBOX_ID", h->id);
	set(&s, "E2B_TEMPLATE_ID", h->template_id);
	if (pty)
		set(&s, "TERM", "xterm-256color");
	set_all(&s, json_object_get(h->settings, "env"));
	set_all(&s, h->envs);
	set_all(&s, more);
	add(&s, NULL);
	return s.items;
}

void fh_strings_free(FH_OWN char **strings)
{
	for (size_t i = 0; strings && strings[i]; i++)
		free(strings[i]);
	free(strings);
}

/* -------------------------------------------------------------------------------------------------------- commands */

int fh_command_read(const struct fh_hosted *h, const json_t *config, const char *user, bool pty, struct fh_command *ret,
                    struct fh_connect_error *e)
{
	const char *cmd = fh_json_str(config, "cmd", NULL), *cwd = fh_json_str(config, "cwd", NULL);
	const json_t *args = json_object_get(config, "args"), *arg;
	struct strings argv = { 0 };
	size_t i;
	if (!cmd || !*cmd)
		return fh_connect_fail(e, FH_CONNECT_INVALID_ARGUMENT, "the request names no command");
	if (json_array_size(args) > ARGS_MAX)
		return fh_connect_fail(e, FH_CONNECT_INVALID_ARGUMENT, "more than %d arguments", ARGS_MAX);
	add(&argv, fh_xstrdup(cmd));
	json_array_foreach(args, i, arg) add(&argv, fh_xstrdup(json_is_string(arg) ? json_string_value(arg) : ""));
	add(&argv, NULL);
	ret->argv = argv.items;
	ret->env = fh_account_env(h, user, pty, json_object_get(config, "envs"));
	ret->cwd = fh_account_path(user, cwd && *cwd ? cwd : fh_json_str(h->settings, "cwd", "~"));
	return 0;
}

void fh_command_release(struct fh_command *c)
{
	fh_strings_free(c->argv);
	fh_strings_free(c->env);
	free(c->cwd);
	*c = (struct fh_command){ 0 };
}
