/* SPDX-License-Identifier: MIT */
/* The states of a template. */
#include "engine/warm/template.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "engine/core/children.h"
#include "engine/core/connection.h"
#include "engine/core/sandbox.h"
#include "engine/host/packet.h"
#include "engine/make/enter.h"
#include "engine/warm/branch.h"
#include "engine/warm/choose.h"
#include "engine/warm/made.h"
#include "engine/warm/pool.h"
#include "engine/warm/zygote.h"

enum { ORPHANS_MS = 10 };

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* ------------------------------------------------------------------------------------------------------------- end */

static void answer_deferred(struct fh_template *t, const char *why)
{
	struct fh_error err = FH_ERROR_INIT;
	fh_error_set(&err, FH_E_UNAVAILABLE, "a parked start is not possible: %s", why);
	err.phase = FH_PHASE_CREATE;
	while (t->deferred) {
		struct fh_deferred *d = t->deferred;
		t->deferred = d->next;
		fh_connection_error(d->connection, d->request, &err);
		fh_plan_free(d->plan);
		free(d);
	}
}

static void free_template(struct fh_template *t)
{
	struct fh_engine *e = t->engine;
	for (struct fh_template **p = &e->templates; *p; p = &(*p)->next)
		if (*p == t) {
			*p = t->next;
			break;
		}
	fh_timer_stop(e->loop, &t->deadline);
	fh_timer_stop(e->loop, &t->look);
	fh_timer_stop(e->loop, &t->sweep);
	fh_timer_stop(e->loop, &t->orphans_look);
	fh_timer_stop(e->loop, &t->refill);
	fh_buf_release(&t->key);
	fh_plan_free(t->plan);
	fh_loop_free(e->loop, t);
	e->handler->settle(e);
}

static bool has_processes(const struct fh_template *t)
{
	/* the helper behind `entered` may still report a process, which must be reaped before the anchor can end */
	return t->entered >= 0 || t->anchor.pidfd >= 0 || t->holder.pidfd >= 0 || t->zygote.pidfd >= 0 ||
	       t->stem.pidfd >= 0;
}

static void let_go(struct fh_template *t);
static void settle(struct fh_template *t);

/* Detaches a branch from its trunk, which may be waiting for that to end. */
static void leave_trunk(struct fh_template *t)
{
	struct fh_template *trunk = t->trunk;
	if (trunk == t)
		return;
	t->trunk = t;
	trunk->branches--;
	if (trunk->state == FH_TEMPLATE_ENDING && !trunk->users && !trunk->branches)
		let_go(trunk);
	settle(trunk);
}

/* Nothing of the template is left on the host. A broken one stays in the list, with its reason. */
static void swept(struct fh_template *t)
{
	leave_trunk(t);
	fh_id_pool_give_back(&t->engine->ids, &t->ids);
	t->ids = (struct fh_ids){ 0 };
	if (t->state == FH_TEMPLATE_ENDING)
		free_template(t);
	else
		t->engine->handler->settle(t->engine);
}

static void on_sweep(struct fh_timer *timer)
{
	struct fh_template *t = timer->owner;
	if (!fh_cgroup_remove(&t->cgroup)) {
		int64_t waited = fh_now_ns() - t->sweep_since_ns;
		if (waited < 5 * FH_NS_PER_S) {
			fh_timer_set(t->engine->loop, &t->sweep, fh_now_ns() + FH_MAX(waited / 4, FH_NS_PER_MS / 4));
			return;
		}
		fh_cgroup_abandon(&t->cgroup);
	}
	swept(t);
}

/* Begins the sweep of an ended template once all its processes are reaped and no sandbox refers to it. */
static void settle(struct fh_template *t)
{
	if (t->state < FH_TEMPLATE_ENDING || has_processes(t) || t->users || t->branches || t->sweep_since_ns)
		return;
	t->sweep_since_ns = fh_now_ns();
	fh_timer_prepare(t->engine->loop, &t->sweep, on_sweep, t);
	fh_timer_set(t->engine->loop, &t->sweep, fh_now_ns());
}

static void on_orphans_look(struct fh_timer *timer)
{
	struct fh_template *t = timer->owner;
	if (!has_processes(t))
		return;
	/* an unreaped child in its pid namespace would keep the anchor from ending */
	fh_reap_unknown(t->engine->loop, &t->orphan);
	fh_timer_set(t->engine->loop, timer, fh_in_ms(ORPHANS_MS));
}

static void kill_member(const struct fh_member_process *m)
{
	if (m->pidfd >= 0)
		syscall(SYS_pidfd_send_signal, m->pidfd, SIGKILL, NULL, 0);
}

/* Ends what makes sandboxes: holder, zygote and stem. */
static void end_makers(struct fh_template *t)
{
	struct fh_loop *l = t->engine->loop;
	struct fh_watch *watches[] = { &t->holder_watch, &t->zygote_watch, &t->stem_watch };
	for (size_t i = 0; i < FH_ARRAY_SIZE(watches); i++)
		fh_watch_stop(l, watches[i]);
	fh_timer_stop(l, &t->deadline);
	fh_timer_stop(l, &t->look);
	fh_timer_stop(l, &t->refill);
	close_fd(&t->holder_socket);
	close_fd(&t->zygote_socket);
	close_fd(&t->stem_socket);
	close_fd(&t->zygote_output[0]);
	close_fd(&t->zygote_output[1]);
	kill_member(&t->holder);
	kill_member(&t->zygote);
	kill_member(&t->stem);
}

/* Ends the template's processes. With the anchor all sandboxes that are left die. */
static void let_go(struct fh_template *t)
{
	struct fh_loop *l = t->engine->loop;
	if (t->let_go)
		return;
	t->let_go = true;
	end_makers(t);
	fh_timer_prepare(l, &t->orphans_look, on_orphans_look, t);
	fh_timer_set(l, &t->orphans_look, fh_in_ms(ORPHANS_MS));
	fh_watch_stop(l, &t->report_watch);
	close_fd(&t->child.socket);
	close_fd(&t->child.report);
	close_fd(&t->child.go);
	kill_member(&t->anchor);
}

bool fh_template_is_busy(const struct fh_template *t)
{
	size_t left = t->users - t->parked_count - t->making;
	for (const struct fh_sandbox *b = t->engine->sandboxes; b && left; b = b->next)
		if (b->template == t && !b->parked) {
			if (b->owner->one_program || b->state == FH_MAKING)
				return true;
			left--;
		}
	return false;
}

/* Whether the template has sandboxes that need only its anchor, whose namespaces theirs lie below. A program that is
 * forked from a zygote may still wait for that. */
static bool has_independent(const struct fh_template *t)
{
	return t->users && !t->has_zygote && t->anchor.pidfd >= 0;
}

/* Handles the sandboxes that still wait for the holder's answer, which will not come. */
static void turn_away(struct fh_template *t, const char *why)
{
	for (struct fh_sandbox *b = t->engine->sandboxes, *next; b; b = next) {
		next = b->next;
		if (b->template != t || b->child.pidfd >= 0 || b->state >= FH_SWEEPING)
			continue;
		if (b->state == FH_DYING || b->parked)
			fh_sandbox_gone_unmade(b);
		else
			fh_made_fall_back(b, why);
	}
}

static void stop(struct fh_template *t, enum fh_template_state state, const char *why)
{
	if (state == FH_TEMPLATE_BROKEN && t->branches) /* the branches live in this template's namespaces */
		for (struct fh_template *b = t->engine->templates; b; b = b->next)
			if (b != t && b->trunk == t)
				stop(b, state, why);
	if (t->state >= FH_TEMPLATE_ENDING)
		return;
	if (t->state < FH_TEMPLATE_SERVING)
		t->trunk->branching = false;
	t->state = state;
	t->broken_ns = fh_now_ns();
	snprintf(t->why, sizeof(t->why), "%s", why);
	fh_pool_clear(t);
	bool stays = has_independent(t);
	if (!stays && ((!t->users && !t->branches) || state == FH_TEMPLATE_BROKEN))
		let_go(t);
	else if (stays && (state == FH_TEMPLATE_BROKEN || !fh_template_is_busy(t)))
		end_makers(t);
	turn_away(t, why);
	answer_deferred(t, why);
	settle(t);
}

void fh_template_break(struct fh_template *t, const char *why)
{
	stop(t, FH_TEMPLATE_BROKEN, why);
}

static void broken(struct fh_template *t, const char *format, ...) FH_PRINTF(2, 3);
static void broken(struct fh_template *t, const char *format, ...)
{
	char why[sizeof(t->why)];
	va_list args;
	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	stop(t, FH_TEMPLATE_BROKEN, why);
}

void fh_template_end(struct fh_template *t)
{
	if (t->state == FH_TEMPLATE_BROKEN) {
		t->state = FH_TEMPLATE_ENDING;
		if (!t->ids.ranges && t->sweep_since_ns && !t->sweep.slot)
			free_template(t); /* nothing of the template is left on the host */
		return;
	}
	stop(t, FH_TEMPLATE_ENDING, "its template has ended");
}

void fh_template_end_all(struct fh_engine *e)
{
	for (struct fh_template *t = e->templates, *next; t; t = next) {
		next = t->next;
		fh_template_end(t);
	}
}

void fh_template_unuse(struct fh_template *t)
{
	t->users--;
	if (t->state >= FH_TEMPLATE_ENDING && !t->users && !t->branches)
		let_go(t);
	settle(t);
}

/* ------------------------------------------------------------------------------------------------------- processes */

static const char *who_is(const struct fh_template *t, const struct fh_member_process *m)
{
	return m == &t->anchor   ? "its anchor"
	       : m == &t->holder ? "its holder"
	       : m == &t->zygote ? "its zygote"
	                         : "its stem";
}

/* A zygote that cannot serve sends the reason and ends; its end may be seen before the message. */
static void hear_last_words(struct fh_template *t)
{
	char first;
	if (t->state == FH_TEMPLATE_ZYGOTE && t->zygote_watch.owner &&
	    recv(t->zygote_socket, &first, 1, MSG_PEEK | MSG_DONTWAIT) > 0)
		fh_zygote_on_packet(&t->zygote_watch, EPOLLIN);
}

static void on_member_end(struct fh_watch *w, uint32_t events)
{
	struct fh_member_process *m = w->owner;
	struct fh_template *t = m->template;
	siginfo_t info;
	struct rusage use;
	(void)events;
	if (!fh_child_ended(m->pidfd, &info, &use))
		return;
	fh_watch_stop(t->engine->loop, &m->watch);
	close_fd(&m->pidfd);
	if (m == &t->zygote)
		hear_last_words(t);
	if (t->state < FH_TEMPLATE_ENDING || t->branches)
		broken(t, "%s ended (%s %d)", who_is(t, m), info.si_code == CLD_EXITED ? "exit status" : "signal",
		       info.si_status);
	settle(t);
}

static void watch_member(struct fh_template *t, struct fh_member_process *m, int pidfd)
{
	*m = (struct fh_member_process){ .template = t, .pidfd = pidfd };
	m->watch = (struct fh_watch){ .fd = -1, .on_event = on_member_end, .owner = m };
	(void)fh_watch_set(t->engine->loop, &m->watch, pidfd, EPOLLIN);
}

/* --------------------------------------------------------------------------------------------------------- serving */

static void serve(struct fh_template *t)
{
	t->trunk->branching = false;
	t->state = FH_TEMPLATE_SERVING;
	t->born_ns = t->used_ns = fh_now_ns();
	fh_timer_stop(t->engine->loop, &t->deadline);
	fh_timer_prepare(t->engine->loop, &t->look, fh_template_on_look, t);
	fh_timer_set(t->engine->loop, &t->look, fh_in_ms(FH_TEMPLATE_LOOK_MS));
	for (struct fh_template *old = t->engine->templates, *next; old; old = next) {
		next = old->next;
		if (old != t && old->succeeded && old->key.n == t->key.n && memcmp(old->key.p, t->key.p, t->key.n) == 0)
			fh_template_end(old);
	}
	for (struct fh_sandbox *b = t->engine->sandboxes, *next; b; b = next) {
		next = b->next;
		if (b->template == t && !b->asked && b->state == FH_MAKING)
			(void)fh_template_make(t, b, NULL);
	}
	fh_pool_refill(t);
}

void fh_template_serve(struct fh_template *t, uint64_t resident_bytes)
{
	t->resident_bytes = resident_bytes;
	serve(t);
}

static void hear_zygote(struct fh_template *t)
{
	t->zygote_watch = (struct fh_watch){ .fd = -1, .on_event = fh_zygote_on_packet, .owner = t };
	(void)fh_watch_set(t->engine->loop, &t->zygote_watch, t->zygote_socket, EPOLLIN);
	fh_timer_set(t->engine->loop, &t->deadline, fh_in_ms(FH_TEMPLATE_MAKING_MS));
}

void fh_template_add_zygote(struct fh_template *t, int pidfd)
{
	watch_member(t, &t->zygote, pidfd);
	hear_zygote(t);
}

void fh_template_add_stem(struct fh_template *t, int socket, int pidfd)
{
	watch_member(t, &t->stem, pidfd);
	t->stem_socket = socket;
	(void)fh_set_nonblock(socket, true);
	t->stem_watch = (struct fh_watch){ .fd = -1, .on_event = fh_template_on_stem, .owner = t };
	(void)fh_watch_set(t->engine->loop, &t->stem_watch, socket, EPOLLIN);
}

static void started(struct fh_template *t)
{
	if (t->state == FH_TEMPLATE_HOLDER) {
		if (!fh_holder_begin(t))
			broken(t, "its holder does not take the plan");
		else if (t->has_zygote)
			fh_template_enter_zygote(t);
		else
			serve(t);
		return;
	}
	hear_zygote(t);
}

/* Reads what the helper, and the program it starts, report (enter.h). End of file: the program was executed. */
void fh_template_on_entered(struct fh_watch *w, uint32_t events)
{
	struct fh_template *t = w->owner;
	struct fh_entered m;
	int fds[FH_PACKET_FDS_MAX], count;
	struct fh_member_process *who = t->state == FH_TEMPLATE_HOLDER ? &t->holder : &t->zygote;
	(void)events;
	for (;;) {
		ssize_t n = fh_packet_receive(t->entered, &m, sizeof(m), fds, &count);
		if (n == -EAGAIN)
			return;
		if (n == (ssize_t)sizeof(m) && m.error == 0 && count == 1 && t->state >= FH_TEMPLATE_ENDING) {
			fh_reap_later(t->engine->loop, fds[0]); /* the process dies with the anchor */
			continue;
		}
		if (n == (ssize_t)sizeof(m) && m.error == 0 && count == 1 && who->pidfd < 0) {
			watch_member(t, who, fds[0]);
			continue;
		}
		for (int i = 0; i < count; i++)
			close(fds[i]);
		fh_watch_stop(t->engine->loop, &t->entered_watch);
		close_fd(&t->entered);
		if (t->state >= FH_TEMPLATE_ENDING)
			settle(t);
		else if (n == 0 && who->pidfd >= 0)
			started(t);
		else if (n == (ssize_t)sizeof(m) && m.step >= 0 && m.step < FH_ENTRY_COUNT_)
			broken(t, "%s cannot %s: %s", who_is(t, who), fh_entry_step_texts[m.step], strerror(m.error));
		else
			broken(t, "%s did not start", who_is(t, who));
		return;
	}
}

/* ---------------------------------------------------------------------------------------------------------- anchor */

static void on_report(struct fh_watch *w, uint32_t events)
{
	struct fh_template *t = w->owner;
	struct fh_error err = FH_ERROR_INIT;
	(void)events;
	for (;;) {
		struct fh_setup_report r;
		ssize_t n = read(t->child.report, &r, sizeof(r));
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n == 0) {
			fh_watch_stop(t->engine->loop, &t->report_watch);
			if (t->state >= FH_TEMPLATE_ENDING)
				return; /* an ending template starts no more processes */
			if (t->anchor_ready)
				fh_template_enter_holder(t);
			else
				broken(t, "its anchor did not start");
			return;
		}
		r.what[sizeof(r.what) - 1] = 0;
		if (n == (ssize_t)sizeof(r) && r.step == FH_SETUP_IDS && !r.error) {
			if (fh_launch_write_maps(&t->child, &t->ids, &err) == 0)
				continue;
		} else if (n == (ssize_t)sizeof(r) && r.step == FH_SETUP_READY && !r.error) {
			t->anchor_ready = true;
			continue;
		} else {
			(void)fh_launch_failed(&r, &err);
		}
		broken(t, "%s", err.message);
		return;
	}
}

static void on_deadline(struct fh_timer *timer)
{
	static const char *const steps[] = { "its anchor", "its holder", "its zygote" };
	struct fh_template *t = timer->owner;
	broken(t, "%s was not ready after %d s", steps[FH_MIN((unsigned)t->state, 2u)], FH_TEMPLATE_MAKING_MS / 1000);
}

struct fh_template *fh_template_new(struct fh_engine *e, const struct fh_plan *plan, uid_t owner, struct fh_buf *key)
{
	struct fh_template *t = FH_NEW(struct fh_template);
	t->engine = e;
	t->trunk = t;
	t->owner = owner;
	t->plan = fh_plan_copy(plan);
	t->key = *key;
	*key = (struct fh_buf){ 0 };
	t->has_zygote = plan->zygote.main_file != 0;
	t->cgroup = (struct fh_cgroup)FH_CGROUP_INIT;
	t->child = (struct fh_launched){ .pidfd = -1, .socket = -1, .report = -1, .go = -1 };
	t->anchor.pidfd = t->holder.pidfd = t->zygote.pidfd = t->stem.pidfd = -1;
	t->entered = t->holder_socket = t->zygote_socket = t->stem_socket = -1;
	t->zygote_output[0] = t->zygote_output[1] = -1;
	t->target = 1;
	t->used_ns = fh_now_ns();
	return t;
}

void fh_template_discard(struct fh_template *t)
{
	fh_buf_release(&t->key);
	fh_plan_free(t->plan);
	free(t);
}

void fh_template_list(struct fh_template *t)
{
	fh_timer_prepare(t->engine->loop, &t->deadline, on_deadline, t);
	fh_timer_set(t->engine->loop, &t->deadline, fh_in_ms(FH_TEMPLATE_MAKING_MS));
	t->next = t->engine->templates;
	t->engine->templates = t;
}

struct fh_template *fh_template_start(struct fh_engine *e, const struct fh_plan *plan, uid_t owner, struct fh_buf *key,
                                      struct fh_error *err)
{
	struct fh_template *t = fh_template_new(e, plan, owner, key);
	const struct fh_cgroup_limits limits = { .memory_bytes = FH_TEMPLATE_MEMORY_MAX,
		                                     .tasks = FH_TEMPLATE_TASKS_MAX,
		                                     .milli_cpus = 0 };
	struct fh_id id;
	char name[40];
	fh_id_random(&id);
	fh_id_hex(id, name);
	bool groups = false;
	for (int c = 0; c < FH_CG_COUNT_; c++)
		groups = groups || e->cgroups.version[c];
	struct fh_plan *root = fh_template_root(plan);
	int r = fh_id_pool_take(&e->ids, &t->ids, err);
	t->ids.all = t->ids.ranges;
	if (r == 0 && groups)
		r = fh_cgroup_create(&t->cgroup, &e->cgroups, name, &limits, err);
	if (r == 0)
		r = fh_launch(root, FH_PART_SHARED, t->cgroup.host ? &t->cgroup : NULL, &t->ids, &t->child, err);
	fh_plan_free(root);
	if (r) {
		(void)fh_cgroup_remove(&t->cgroup);
		fh_id_pool_give_back(&e->ids, &t->ids);
		fh_template_discard(t);
		return NULL;
	}
	watch_member(t, &t->anchor, t->child.pidfd);
	t->report_watch = (struct fh_watch){ .fd = -1, .on_event = on_report, .owner = t };
	(void)fh_watch_set(e->loop, &t->report_watch, t->child.report, EPOLLIN);
	fh_template_list(t);
	return t;
}
