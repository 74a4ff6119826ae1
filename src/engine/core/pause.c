/* SPDX-License-Identifier: MIT */
/*
 * Pausing a sandbox, in one of three ways: control groups v2 (cgroup.freeze); the v1 freezer, into which init moves
 * every process but itself; or a SIGSTOP from init to each process. Meanwhile the clocks of limits are stopped; a lease
 * runs on.
 *
 * No program can be started in a sandbox that is paused or being paused (requests_process.c calls fh_pause_refuses).
 * Helpers can where init runs on, so that the files of a paused sandbox are read, and its snapshot is taken.
 */
#include "engine/core/pause.h"

#include <errno.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "engine/core/connection.h"
#include "engine/core/engine.h"
#include "engine/core/limits.h"
#include "engine/core/process/process.h"
#include "engine/core/sandbox.h"
#include "proto/wire.h"

/* A HOLD message to init that is not answered yet, and the request to answer then. */
struct fh_hold {
	uint32_t how, token;
	bool awaited;
	struct fh_connection *connection;
	uint64_t request;
};

static void answer(struct fh_sandbox *b, struct fh_connection *c, uint64_t request)
{
	if (!c || c->closing || !request)
		return;
	struct fh_buf *out = fh_connection_out(c);
	size_t mark = fh_frame_begin(out, FH_FRAME_REPLY, 0, request, b->id);
	fh_wire_u64(out, F_HOW, b->paused);
	fh_frame_end(out, mark);
	fh_connection_flush(c);
}

static void set_clocks(struct fh_sandbox *b, void (*set)(struct fh_process *p))
{
	for (struct fh_process *p = b->processes; p; p = p->next)
		set(p);
}

static int ask(struct fh_sandbox *b, uint32_t how, const int *fds, int fd_count, struct fh_connection *c,
               uint64_t request, struct fh_error *err)
{
	struct fh_init_hold_request m = { .h = { FH_INIT_HOLD, ++b->next_token }, .how = how };
	int r = fh_sandbox_send(b, &m, sizeof(m), fds, fd_count, err);
	if (r < 0)
		return r;
	struct fh_hold *h = FH_NEW(struct fh_hold);
	*h = (struct fh_hold){ .how = how, .token = m.h.token, .connection = c, .request = request };
	free(b->hold);
	b->hold = h;
	return 0;
}

/* Has init move all other processes into a frozen v1 group. Returns false where that is not possible. */
static bool begin_freezer(struct fh_sandbox *b, struct fh_connection *c, uint64_t request)
{
	char name[40];
	fh_id_hex(b->id, name);
	/* programs may have nested groups in the other hierarchies; in this one, the sandbox's group holds every process */
	int fds[2 + FH_INIT_LOOKS] = { -1, -1 };
	int looks = fh_cgroup_members_of(&b->cgroup, FH_CG_PIDS, fds + 2, FH_INIT_LOOKS);
	bool good = looks && b->engine->cgroups.version[FH_CG_PIDS] == 1 &&
	            fh_freezer_make(&b->freezer, &b->engine->cgroups, name) == 0;
	if (good) {
		fds[0] = fh_freezer_members(&b->freezer);
		fds[1] = fh_freezer_state(&b->freezer);
	}
	good = good && fds[0] >= 0 && fds[1] >= 0 && ask(b, FH_HOLD_MOVE, fds, 2 + looks, c, request, NULL) == 0;
	for (int i = 0; i < 2 + looks; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	if (!good)
		(void)fh_freezer_remove(&b->freezer);
	return good;
}

int fh_pause(struct fh_sandbox *b, struct fh_connection *c, uint64_t request, struct fh_error *err)
{
	if (b->hold)
		return fh_error_set(err, FH_E_UNAVAILABLE, "the sandbox is being paused or resumed already");
	if (b->paused) {
		answer(b, c, request);
		return 0;
	}
	for (const struct fh_process *p = b->processes; p; p = p->next)
		if (!p->started && !p->exited) {
			int r = fh_error_set(err, FH_E_UNAVAILABLE, "a process of the sandbox is being started");
			if (err)
				err->retryable = true;
			return r;
		}
	/* this freezes init, too: it gets no requests while the sandbox is paused */
	if (fh_cgroup_freeze(&b->cgroup, true) == 0) {
		b->paused = FH_PAUSE_FREEZER;
		set_clocks(b, fh_limits_hold);
		answer(b, c, request);
		return 0;
	}
	set_clocks(b, fh_limits_hold);
	if (begin_freezer(b, c, request))
		return 0;
	int r = ask(b, FH_HOLD_STOP, NULL, 0, c, request, err);
	if (r < 0)
		set_clocks(b, fh_limits_go_on);
	return r;
}

int fh_resume(struct fh_sandbox *b, struct fh_connection *c, uint64_t request, struct fh_error *err)
{
	if (b->hold)
		return fh_error_set(err, FH_E_UNAVAILABLE, "the sandbox is being paused or resumed already");
	if (b->paused == FH_PAUSE_SIGNALS)
		return ask(b, FH_HOLD_RELEASE, NULL, 0, c, request, err);
	if (b->paused) {
		(void)fh_cgroup_freeze(&b->cgroup, false);
		fh_freezer_set(&b->freezer, false);
		b->paused = FH_PAUSE_NONE;
		set_clocks(b, fh_limits_go_on);
		/* makes init sample again; init's answer to this belongs to no request */
		struct fh_init_hold_request m = { .h = { FH_INIT_HOLD, ++b->next_token }, .how = FH_HOLD_RELEASE };
		(void)fh_sandbox_send(b, &m, sizeof(m), NULL, 0, NULL);
	}
	answer(b, c, request);
	return 0;
}

static void failed(struct fh_sandbox *b, const struct fh_hold *h, int error)
{
	struct fh_error err = FH_ERROR_INIT;
	fh_error_sys(&err, error, "cannot stop all processes of the sandbox");
	set_clocks(b, fh_limits_go_on);
	fh_connection_error(h->connection, h->request, &err);
}

void fh_pause_on_held(struct fh_sandbox *b, const struct fh_init_held *m)
{
	if (!b->hold || b->hold->token != m->h.token)
		return;
	fh_auto_free struct fh_hold *h = FH_TAKE_PTR(b->hold);
	/* the kernel did not let init move the processes: stops them by signals instead */
	if (m->error && h->how == FH_HOLD_MOVE) {
		fh_freezer_set(&b->freezer, false);
		if (ask(b, FH_HOLD_STOP, NULL, 0, h->connection, h->request, NULL) < 0)
			failed(b, h, m->error);
		return;
	}
	if (m->error) {
		failed(b, h, m->error);
		return;
	}
	static const enum fh_pause reached[] = {
		[FH_HOLD_RELEASE] = FH_PAUSE_NONE, [FH_HOLD_STOP] = FH_PAUSE_SIGNALS, [FH_HOLD_MOVE] = FH_PAUSE_FREEZER
	};
	b->paused = reached[h->how];
	if (!b->paused)
		set_clocks(b, fh_limits_go_on);
	answer(b, h->connection, h->request);
}

bool fh_pause_lets_helpers_run(const struct fh_sandbox *b)
{
	bool init_is_frozen = b->paused == FH_PAUSE_FREEZER && !b->freezer.path[0]; /* cgroup.freeze holds all of it */
	return !b->hold && !init_is_frozen;
}

bool fh_pause_is_stuck(struct fh_sandbox *b)
{
	bool stuck = b->hold->awaited;
	b->hold->awaited = true;
	return stuck;
}

int fh_pause_refuses(const struct fh_sandbox *b, struct fh_error *err)
{
	if (!b->paused && !b->hold)
		return 0;
	(void)fh_error_set(err, FH_E_UNAVAILABLE, "the sandbox is paused");
	fh_error_hint(err, "resume it first");
	return -FH_E_UNAVAILABLE;
}

void fh_pause_drop_connection(struct fh_sandbox *b, struct fh_connection *c)
{
	if (b->hold && b->hold->connection == c)
		b->hold->connection = NULL;
}

void fh_pause_end(struct fh_sandbox *b)
{
	if (b->hold && b->hold->connection) {
		struct fh_error err = FH_ERROR_INIT;
		fh_error_set(&err, FH_E_NOT_FOUND, "the sandbox was destroyed, or died");
		fh_connection_error(b->hold->connection, b->hold->request, &err);
	}
	free(FH_TAKE_PTR(b->hold));
	/* A process frozen by v1 does not die from SIGKILL, so the group is thawed before processes are killed. */
	fh_freezer_set(&b->freezer, false);
	if (b->paused == FH_PAUSE_FREEZER)
		(void)fh_cgroup_freeze(&b->cgroup, false);
}
