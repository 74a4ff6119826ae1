/* SPDX-License-Identifier: MIT */
#include "engine/core/stuck.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "base/clock.h"
#include "base/fd.h"
#include "engine/core/engine.h"
#include "engine/core/process/process.h"

enum { SELDOM_MS = 1000 }; /* between two looks at an init that has nothing to tell */

/* Where the kernel's freezer stops a process, it has the same state. At rest, init waits in ppoll(2). */
static bool is_frozen(pid_t pid)
{
	static const char *const places[] = { "__refrigerator", "poll_schedule_timeout" };
	char path[32], text[64];
	snprintf(path, sizeof(path), "/proc/%d/wchan", (int)pid);
	fh_auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	text[FH_MAX(n, 0)] = 0;
	for (size_t i = 0; i < FH_ARRAY_SIZE(places); i++)
		if (strncmp(text, places[i], strlen(places[i])) == 0)
			return true;
	return false;
}

/* A program that met a limit before is told of that. An init that is dying may wait for locks of the kernel's own. */
static void end(struct fh_sandbox *b)
{
	struct fh_error err = FH_ERROR_INIT;
	bool fired = false;
	fh_error_set(&err, FH_E_TIMEOUT,
	             "what the sandbox's init looks at was held locked from inside; the sandbox was destroyed");
	err.phase = FH_PHASE_RUN;
	for (const struct fh_process *p = b->processes; p; p = p->next)
		fired = fired || p->fired;
	if (fired || b->state >= FH_DYING)
		fh_sandbox_destroy_now(b);
	else
		fh_sandbox_fail(b, &err);
	fh_kill_all_of(b->child.pid, b->child.pidfd);
}

static void on_look(struct fh_timer *t)
{
	struct fh_sandbox *b = t->owner;
	bool told = fh_now_ns() - b->heard_ns < FH_STUCK_LOOK_MS * FH_NS_PER_MS;
	char state = told || b->paused ? '?' : fh_state_of(b->child.pid);
	b->stuck_seen = b->stuck_seen << 1 | (state == FH_STUCK && !is_frozen(b->child.pid));
	if (__builtin_popcount(b->stuck_seen) >= FH_STUCK_MOST)
		end(b);
	/* one that sleeps waits for its next sample, or for the engine */
	fh_timer_set(b->engine->loop, t, fh_in_ms(state == 'S' || b->paused ? SELDOM_MS : FH_STUCK_LOOK_MS));
}

void fh_stuck_watch(struct fh_sandbox *b)
{
	fh_timer_prepare(b->engine->loop, &b->stuck_timer, on_look, b);
	b->stuck_seen = 0;
	fh_timer_set(b->engine->loop, &b->stuck_timer, fh_in_ms(FH_STUCK_LOOK_MS));
}
