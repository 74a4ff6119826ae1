/* SPDX-License-Identifier: MIT */
/* Requests about processes. */
#include "engine/core/connection.h"
#include "engine/core/process/process.h"
#include "engine/core/sandbox.h"
#include "engine/core/process/stream.h"
#include "engine/serve/requests.h"

#include <errno.h>
#include <signal.h>
#include <sys/ioctl.h>

#include "engine/core/pause.h"
#include "engine/warm/zygote.h"
#include "proto/wire.h"

struct strings {
	char **items;
	size_t count, capacity;
};

static void free_strings(struct strings *s)
{
	for (size_t i = 0; i < s->count; i++)
		free(s->items[i]);
	free(s->items);
}

static void add_string(struct strings *s, struct fh_wire_reader *r, const struct fh_wire_field *x)
{
	if (s->count >= FH_PLAN_STRINGS_MAX) {
		r->malformed = true;
		return;
	}
	char *text = fh_wire_get_text(r, x);
	FH_PUSH(s->items, s->count, s->capacity) = text;
}

/* Takes ownership of "NAME=value", which replaces the variable of that name. */
static void set_variable(struct strings *env, char **variable)
{
	size_t name = strcspn(*variable, "=");
	for (size_t i = 0; i < env->count; i++)
		if (strncmp(env->items[i], *variable, name) == 0 && env->items[i][name] == '=') {
			free(env->items[i]);
			env->items[i] = FH_TAKE_PTR(*variable);
			return;
		}
	FH_PUSH(env->items, env->count, env->capacity) = FH_TAKE_PTR(*variable);
}

static uint64_t or_plan(uint64_t asked, uint64_t planned)
{
	return asked ? asked : planned;
}

/* Where a sandbox has a single host id, the plan's user is the only one. */
static int choose_user(const struct fh_sandbox *b, const char *user, struct fh_spawn *s, struct fh_error *err)
{
	static const struct {
		const char *name;
		uint32_t id;
	} users[] = { { "user", 1000 }, { "root", 0 } };
	s->uid = b->plan->uid;
	s->gid = b->plan->gid;
	if (!user)
		return 0;
	for (size_t i = 0; i < FH_ARRAY_SIZE(users); i++) {
		if (!fh_streq(users[i].name, user))
			continue;
		if (users[i].id != s->uid && !b->ids.ranges) {
			(void)fh_error_set(err, FH_E_UNAVAILABLE, "this sandbox has one user id: nothing in it can run as %s",
			                   user);
			fh_error_hint(err, "start the engine as root, or make the sandbox for that user");
			return -FH_E_UNAVAILABLE;
		}
		s->uid = s->gid = users[i].id;
		return 0;
	}
	return fh_error_set(err, FH_E_ARGUMENT, "unknown user %.40s: a sandbox has the users \"user\" and \"root\"", user);
}

/* The texts of a SPAWN request. Each list ends with NULL; empty: the plan's own is used. */
struct words {
	struct strings argv, env;
	char *cwd;         /* NULL: the plan's */
	struct fh_id into; /* zero: none */
};

static void release_words(struct words *w)
{
	free_strings(&w->argv);
	free_strings(&w->env);
	free(w->cwd);
}

/* False: the request is malformed. *ret must be released in either case. */
static bool read_words(const struct fh_plan *plan, const struct fh_frame *f, struct words *ret)
{
	struct strings more = { 0 };
	struct fh_wire_reader r = fh_wire_reader(f->payload);
	struct fh_wire_field x;
	while (fh_wire_next(&r, &x)) {
		if (x.tag == F_ARGV) {
			add_string(&ret->argv, &r, &x);
		} else if (x.tag == F_ENV) {
			add_string(&ret->env, &r, &x);
		} else if (x.tag == F_MORE_ENV) {
			add_string(&more, &r, &x);
		} else if (x.tag == F_INTO && x.value.n == sizeof(ret->into.b)) {
			memcpy(ret->into.b, x.value.p, sizeof(ret->into.b));
		} else if (x.tag == F_CWD) {
			free(ret->cwd);
			ret->cwd = fh_wire_get_text(&r, &x);
		}
	}
	struct strings *env = &ret->env;
	if (more.count && !env->count)
		for (char *const *v = plan->env; *v && env->count < FH_PLAN_STRINGS_MAX; v++) {
			char *copy = fh_xstrdup(*v);
			FH_PUSH(env->items, env->count, env->capacity) = copy;
		}
	for (size_t i = 0; i < more.count && env->count < FH_PLAN_STRINGS_MAX; i++)
		set_variable(env, &more.items[i]);
	free_strings(&more);
	FH_PUSH(ret->argv.items, ret->argv.count, ret->argv.capacity) = NULL;
	FH_PUSH(env->items, env->count, env->capacity) = NULL;
	return !r.malformed;
}

/* Only helpers are joined: they run our code, and neither can hold the other's pipe for longer than the other lives. */
static int join_helpers(struct fh_connection *c, struct fh_id id, struct fh_spawn *s, struct fh_error *err)
{
	s->into = fh_process_find(c->engine, id);
	if (!s->helper || !s->into || !s->into->helper || s->into->connection != c)
		return fh_error_set(err, FH_E_ARGUMENT, "only a helper's output can go into a helper of the same client");
	return 0;
}

int fh_request_spawn(struct fh_connection *c, const struct fh_frame *f, struct fh_error *err)
{
	struct fh_sandbox *b = fh_request_sandbox(c, f);
	if (!b)
		return fh_request_no_sandbox(err);
	const uint64_t *limit = b->plan->limits.value;
	bool helper = fh_request_number(f, F_HELPER, 0) != 0;
	int e = helper && fh_pause_lets_helpers_run(b) ? 0 : fh_pause_refuses(b, err);
	if (e)
		return e;
	FH_CLEANUP(release_words) struct words w = { 0 };
	fh_auto_free char *user = NULL, *tag = NULL;
	bool whole = read_words(b->plan, f, &w);
	struct fh_spawn s = {
		.argv = w.argv.items[0] ? w.argv.items : b->plan->argv,
		.env = w.env.items[0] ? w.env.items : b->plan->env,
		.cwd = w.cwd ? w.cwd : b->plan->cwd,
		.pty = fh_request_number(f, F_PTY, 0) != 0,
		.stdin_open = fh_request_number(f, F_NO_STDIN, 0) == 0,
		.rows = (uint16_t)fh_request_number(f, F_ROWS, 24),
		.columns = (uint16_t)fh_request_number(f, F_COLUMNS, 80),
		.window = fh_request_number(f, F_WINDOW, 0),
		.limits = { or_plan(fh_request_number(f, F_WALL_MS, 0), limit[FH_LIMIT_WALL_TIME]),
		            or_plan(fh_request_number(f, F_CPU_MS, 0), limit[FH_LIMIT_CPU_TIME]),
		            or_plan(fh_request_number(f, F_OUTPUT, 0), limit[FH_LIMIT_OUTPUT]) },
		.memory_bytes = fh_request_number(f, F_MEMORY, FH_UNLIMITED),
		.helper = helper,
		.drop = fh_request_number(f, F_DROP, 0) != 0,
		.counts_whole = fh_request_number(f, F_WHOLE, 0) != 0,
		.stdin_data = { "", 0 },
	};
	struct fh_process *p;
	e = fh_request_text(f, F_USER, 64, &user, err);
	if (e == 0)
		e = fh_request_text(f, F_TAG, sizeof(p->tag), &tag, err);
	if (e == 0)
		e = choose_user(b, user, &s, err);
	s.tag = tag;
	/* a helper gets no limits of its own: its work is bounded by the request, and it ends with its client */
	if (s.helper) {
		s.limits = (struct fh_process_limits){ FH_UNLIMITED, FH_UNLIMITED, FH_UNLIMITED };
		s.memory_bytes = FH_UNLIMITED;
		s.pty = false;
	}
	if (e == 0 && !fh_id_is_zero(w.into))
		e = join_helpers(c, w.into, &s, err);
	if (e == 0)
		e = whole ? fh_process_spawn_in(b, &s, c, f->request, &p, err)
		          : fh_error_set(err, FH_E_PROTOCOL, "a malformed request to start a process");
	return e;
}

int fh_request_wait(struct fh_connection *c, const struct fh_frame *f, struct fh_error *err)
{
	struct fh_process *p = fh_process_find(c->engine, f->id);
	if (!p)
		return fh_request_no_process(err);
	fh_process_add_waiter(p, c, f->request, fh_request_number(f, F_TIMEOUT_MS, FH_UNLIMITED));
	return 0;
}

int fh_request_signal(struct fh_connection *c, const struct fh_frame *f, struct fh_error *err)
{
	struct fh_process *p = fh_process_find(c->engine, f->id);
	uint64_t number = fh_request_number(f, F_SIGNAL, 0);
	if (!p || p->exited)
		return fh_request_no_process(err);
	if (fh_request_number(f, F_TREE, 0)) {
		fh_process_end_tree(p);
		fh_request_reply(c, f);
		return 0;
	}
	/* SIGKILL from the client means that it needs no more of the helper's answer */
	if (p->helper && number == SIGKILL) {
		fh_request_reply(c, f);
		fh_process_abandon(p);
		return 0;
	}
	if (number == 0 || number > 64)
		return fh_error_set(err, FH_E_ARGUMENT, "%llu is not a signal", (unsigned long long)number);
	struct fh_init_signal m = { .h = { FH_INIT_SIGNAL, p->token }, .signal = (int32_t)number };
	int r = fh_zygote_signal(p->sandbox, (int)number) ? 0 : fh_sandbox_send(p->sandbox, &m, sizeof(m), NULL, 0, err);
	if (r == 0)
		fh_request_reply(c, f);
	return r;
}

int fh_request_resize(struct fh_connection *c, const struct fh_frame *f, struct fh_error *err)
{
	struct fh_process *p = fh_process_find(c->engine, f->id);
	if (!p)
		return fh_request_no_process(err);
	if (!p->pty || p->streams->fd < 0)
		return fh_error_set(err, FH_E_ARGUMENT, "the process has no terminal");
	struct winsize size = { .ws_row = (uint16_t)fh_request_number(f, F_ROWS, 24),
		                    .ws_col = (uint16_t)fh_request_number(f, F_COLUMNS, 80) };
	if (fh_output_resize(p->streams, &size) < 0)
		return fh_error_sys(err, errno, "cannot resize the terminal");
	fh_request_reply(c, f);
	return 0;
}
