/* SPDX-License-Identifier: MIT */
#include "e2b/hosted/start_command.h"

#include "base/clock.h"
#include "e2b/hosted/accounts.h"
#include "e2b/hosted/processes.h"
#include "fumehood/session.h"

enum { LOOK_MS = 100 };

/* Runs the ready command; true when it exits with 0. */
static bool is_ready(struct fh_hosted *h, const json_t *settings, const char *user, const char *cwd, int64_t until_ns)
{
	const char *const argv[] = { "/bin/bash", "-l", "-c", fh_json_str(settings, "ready", ""), NULL };
	struct fh_spawn_options o = FH_SPAWN_OPTIONS_INIT;
	struct fh_process *p;
	struct fh_exit x = { .exit_code = -1 };
	char **env = fh_account_env(h, user, false, json_object_get(settings, "env"));
	o.argv = argv;
	o.env = (const char *const *)env;
	o.cwd = cwd;
	o.user = fh_account_for(h, user);
	o.no_stdin = true;
	o.drop_unread = true;
	o.wall_time_ms = (uint64_t)FH_MAX((until_ns - fh_now_ns()) / FH_NS_PER_MS, (int64_t)1);
	int r = fh_process_spawn(h->sandbox, &o, &p, NULL);
	fh_strings_free(env);
	if (r < 0)
		return false;
	r = fh_process_wait(p, -1, &x, NULL);
	fh_process_free(p);
	return r == 0 && !x.signal && x.exit_code == 0;
}

static json_t *config_of(const json_t *settings, const char *cwd)
{
	json_t *config = json_object(), *args = json_array();
	json_array_append_new(args, json_string("-l"));
	json_array_append_new(args, json_string("-c"));
	json_array_append(args, json_object_get(settings, "start"));
	json_object_set_new(config, "cmd", json_string("/bin/bash"));
	json_object_set_new(config, "args", args);
	json_object_set(config, "envs", json_object_get(settings, "env"));
	json_object_set_new(config, "cwd", json_string(cwd));
	return config;
}

static bool has_failed(struct fh_hosted_process *p)
{
	pthread_mutex_lock(&p->lock);
	bool failed = p->ended && (p->exit.signal || p->exit.exit_code);
	pthread_mutex_unlock(&p->lock);
	return failed;
}

int fh_start_command(struct fh_hosted *h, const json_t *settings, int64_t patience_ms, struct fh_error *err)
{
	const char *user = fh_account_named(fh_json_str(settings, "user", NULL));
	const char *cwd = fh_json_str(settings, "cwd", fh_account_home(user));
	struct fh_connect_error e = FH_CONNECT_ERROR_INIT;
	struct fh_hosted_process *p;
	int64_t until_ns = fh_now_ns() + patience_ms * FH_NS_PER_MS;
	int r = 0;
	if (!fh_json_str(settings, "start", NULL))
		return 0;
	fh_auto_json json_t *config = config_of(settings, cwd);
	const struct fh_process_request q = { .config = config, .user = user };
	if (fh_hosted_process_start(h, &q, &p, &e) < 0)
		return fh_error_set(err, FH_E_ARGUMENT, "the start command: %s", e.message);
	atomic_fetch_add(&p->references, 1); /* reference held by the pumps */
	fh_hosted_process_pump(p);
	while (r == 0 && fh_json_str(settings, "ready", NULL) && !is_ready(h, settings, user, cwd, until_ns)) {
		if (has_failed(p))
			break;
		if (fh_now_ns() > until_ns)
			r = fh_error_set(err, FH_E_TIMEOUT, "the start command was not ready after %lld s",
			                 (long long)patience_ms / 1000);
		else
			fh_sleep_ns(LOOK_MS * FH_NS_PER_MS);
	}
	if (r == 0 && has_failed(p)) /* also where the ready command only lets time pass */
		r = fh_error_set(err, FH_E_ARGUMENT, "the start command ended with a failure before it was ready");
	fh_hosted_process_drop(p);
	fh_hosted_process_drop(p);
	return r;
}
