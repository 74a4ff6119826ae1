// SPDX-License-Identifier: MIT
/* How sandboxes come to be: made fresh, or of a template by its holder; and how a parked one becomes a run's. */
#include "engine/engine.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/packet.h"
#include "engine/template.h"
#include "proto/wire.h"

static int64_t in_ms(int64_t ms)
{
	return fh_now_ns() + ms * FH_NS_PER_MS;
}

static void reply_created(struct fh_sandbox *b)
{
	struct fh_connection *c = b->connection;
	if (!c || c->closing)
		return;
	struct fh_buf *out = fh_connection_out(c);
	size_t mark = fh_frame_begin(out, FH_FRAME_REPLY, 0, b->request, b->id);
	fh_wire_bytes(out, F_ID, b->id.b, 16);
	fh_frame_end(out, mark);
	fh_connection_flush(c);
	b->request = 0;
}

static const char *first_writable(const struct fh_plan *p)
{
	for (size_t i = 0; i < p->mount_count; i++)
		if (p->mounts[i].kind == FH_MOUNT_WRITABLE)
			return p->mounts[i].target;
	return "";
}

static void create_files_done(struct fh_sandbox *b, struct fh_transfer *t, const struct fh_init_done *m)
{
	if (m && m->refused) {
		struct fh_error err = FH_ERROR_INIT;
		fh_transfer_explain(b->plan, m, &err);
		fh_sandbox_fail(b, &err);
	} else if (m) {
		reply_created(b);
	}
	free(t);
}

static int send_start(struct fh_sandbox *b, struct fh_error *err)
{
	struct fh_init_start start = { .h = { .op = FH_INIT_START } };
	start.uid = b->plan->uid;
	start.gid = b->plan->gid;
	start.switch_ids = b->ids.ranges;
	start.keep_capabilities = !(b->plan->layers & 1u << FH_LAYER_CAPABILITIES);
	start.root_capabilities = fh_root_capabilities(b);
	start.only_sockets = !b->sampling;
	start.sample_ms = b->parked ? 0 : b->sampling ? FH_SAMPLE_MS : b->sampling_sockets ? FH_SOCKETS_MS : 0;
	start.rules = b->rules >= 0;
	snprintf(start.disk_path, sizeof(start.disk_path), "%.63s", first_writable(b->plan));
	return fh_sandbox_send(b, &start, sizeof(start), NULL, 0, err);
}

/* Everything that a request needs is there. */
static void on_ready(struct fh_sandbox *b)
{
	struct fh_error err = FH_ERROR_INIT;
	fh_timer_stop(b->engine->loop, &b->making_timer);
	fh_queue_is_made(b);
	if (b->template)
		b->template->proven = true;
	if (b->parked) {
		fh_pool_add(b);
	} else if (b->run) {
		fh_run_on_ready(b);
	} else if (b->plan->file_count) {
		struct fh_transfer *t = FH_NEW(struct fh_transfer);
		t->done = create_files_done;
		if (fh_transfer_put(b, b->plan->files, b->plan->file_count, b->plan->cwd, NULL, t, &err) < 0) {
			free(t);
			fh_sandbox_fail(b, &err);
		}
	} else {
		reply_created(b);
	}
}

/* init runs and the kernel shows what it is made of. */
static void on_made(struct fh_sandbox *b)
{
	struct fh_error err = FH_ERROR_INIT;
	b->state = FH_READY;
	b->socket_watch.on_event = fh_talk_on_socket;
	(void)fh_watch_set(b->engine->loop, &b->socket_watch, b->child.socket, EPOLLIN);
	fh_isolation_read(b);
	if (fh_isolation_check(b, false, &err) < 0 || send_start(b, &err) < 0)
		fh_sandbox_fail(b, &err);
	else if (b->template && b->template->has_zygote)
		fh_warm_fork(b);
	else
		on_ready(b);
}

static void on_report(struct fh_watch *w, uint32_t events)
{
	struct fh_sandbox *b = w->owner;
	struct fh_error err = FH_ERROR_INIT;
	(void)events;
	for (;;) {
		struct fh_setup_report r;
		ssize_t n = read(b->child.report, &r, sizeof(r));
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n == 0) { /* exec happened, if READY came before; else the child died and its pidfd tells */
			fh_watch_stop(b->engine->loop, &b->report_watch);
			if (b->made && b->state == FH_MAKING)
				on_made(b);
			return;
		}
		r.what[sizeof(r.what) - 1] = 0;
		if (n != sizeof(r)) {
			fh_error_set(&err, FH_E_BUG, "a torn report from a sandbox's set-up");
		} else if (r.step == FH_SETUP_IDS && !r.error) {
			if (fh_launch_write_maps(&b->child, &b->ids, &err) == 0)
				continue;
		} else if (r.step == FH_SETUP_READY && !r.error) {
			b->made = true;
			b->report = r;
			continue;
		} else {
			(void)fh_launch_failed(&r, &err);
		}
		err.phase = FH_PHASE_CREATE;
		fh_watch_stop(b->engine->loop, &b->report_watch);
		fh_sandbox_fail(b, &err);
		return;
	}
}

static void on_making_late(struct fh_timer *t)
{
	struct fh_error err = FH_ERROR_INIT;
	fh_error_set(&err, FH_E_TIMEOUT, "the sandbox was not ready after %d s", FH_MAKING_MS / 1000);
	err.phase = FH_PHASE_CREATE;
	err.retryable = true;
	fh_sandbox_fail(t->owner, &err);
}

static struct fh_cgroup_limits group_limits(const struct fh_plan *plan)
{
	const uint64_t *limit = plan->limits.value;
	return (struct fh_cgroup_limits){
		.memory_bytes = limit[FH_LIMIT_MEMORY],
		.tasks =
		    limit[FH_LIMIT_PROCESSES] == FH_UNLIMITED ? FH_UNLIMITED : limit[FH_LIMIT_PROCESSES] + 1, /* our init */
		.milli_cpus = limit[FH_LIMIT_CPU_RATE],
	};
}

enum { PARKED_MEMORY_MIN = 16 << 20 }; /* bytes; init and a zygote's child need a few MiB */

/* One that is to be parked gets what the last request asked for, so that nothing is to be set when the next one takes
 * it: but never so little that making it would run into it, or take long. */
static void expect_limits(const struct fh_template *t, struct fh_cgroup_limits *limits)
{
	if (t->adopted_limits.memory_bytes >= PARKED_MEMORY_MIN)
		limits->memory_bytes = t->adopted_limits.memory_bytes;
	if (t->adopted_limits.tasks)
		limits->tasks = t->adopted_limits.tasks;
}

static int make_cgroup(struct fh_sandbox *b, struct fh_error *err)
{
	char name[40] = "";
	fh_id_hex(b->id, name);
	bool any = false;
	for (int c = 0; c < FH_CG_COUNT_; c++)
		any = any || b->engine->cgroups.version[c];
	struct fh_cgroup_limits limits = group_limits(b->plan);
	if (b->template && b->plan == b->template->plan)
		expect_limits(b->template, &limits);
	b->sampling = !b->engine->cgroups.version[FH_CG_MEMORY] || !b->engine->cgroups.version[FH_CG_CPUACCT];
	b->sampling_sockets = b->engine->cgroups.version[FH_CG_MEMORY] == 1;
	return any ? fh_cgroup_create(&b->cgroup, &b->engine->cgroups, name, &limits, err) : 0;
}

static void watch_life(struct fh_sandbox *b)
{
	struct fh_loop *l = b->engine->loop;
	(void)fh_watch_set(l, &b->pid_watch, b->child.pidfd, EPOLLIN);
	if (b->cgroup.oom >= 0)
		(void)fh_watch_set(l, &b->oom_watch, b->cgroup.oom, b->cgroup.oom_is_eventfd ? EPOLLIN : EPOLLPRI);
}

static void watch_making(struct fh_sandbox *b)
{
	fh_timer_prepare(b->engine->loop, &b->making_timer, on_making_late, b);
	fh_timer_set(b->engine->loop, &b->making_timer, in_ms(FH_MAKING_MS));
}

static struct fh_sandbox *new_sandbox(struct fh_engine *e, struct fh_plan *plan, struct fh_connection *c,
                                      uint64_t request)
{
	struct fh_sandbox *b = FH_NEW(struct fh_sandbox);
	b->engine = e;
	b->plan = plan;
	b->connection = c;
	b->request = request;
	b->born_ns = fh_now_ns();
	b->start = FH_START_FRESH;
	b->cgroup = (struct fh_cgroup)FH_CGROUP_INIT;
	b->child = (struct fh_child){ .pidfd = -1, .socket = -1, .report = -1, .go = -1 };
	b->disk = b->rules = b->program.pidfd = b->program.socket = -1;
	b->report_watch = (struct fh_watch){ .fd = -1, .on_event = on_report, .owner = b };
	b->socket_watch = (struct fh_watch){ .fd = -1, .on_event = fh_talk_on_socket, .owner = b };
	b->pid_watch = (struct fh_watch){ .fd = -1, .on_event = fh_sandbox_on_pid, .owner = b };
	b->oom_watch = (struct fh_watch){ .fd = -1, .on_event = fh_talk_on_oom, .owner = b };
	b->program.pid_watch.fd = b->program.socket_watch.fd = -1;
	for (size_t i = 0; i < FH_ARRAY_SIZE(b->links); i++)
		b->links[i] = -1;
	fh_id_random(&b->id);
	return b;
}

/* Its ids and control groups. */
static int take_room(struct fh_sandbox *b, struct fh_error *err)
{
	int r = 0;
	if (b->engine->sandbox_count >= FH_SANDBOXES_MAX)
		r = fh_error_set(err, FH_E_LIMIT, "%d sandboxes are alive; no more are allowed at once", FH_SANDBOXES_MAX);
	if (r == 0)
		r = fh_id_pool_take(&b->engine->ids, &b->ids, err);
	return r == 0 ? make_cgroup(b, err) : r;
}

static int launch_fresh(struct fh_sandbox *b, struct fh_error *err)
{
	int r = fh_launch(b->plan, FH_PART_WHOLE, b->cgroup.host ? &b->cgroup : NULL, &b->ids, b->sampling, &b->child, err);
	if (r < 0)
		return r;
	(void)fh_watch_set(b->engine->loop, &b->report_watch, b->child.report, EPOLLIN);
	watch_life(b);
	watch_making(b);
	return 0;
}

static void list_sandbox(struct fh_sandbox *b)
{
	b->next = b->engine->sandboxes;
	b->engine->sandboxes = b;
	b->engine->sandbox_count++;
}

/* One that is nowhere listed yet. */
static int give_up(struct fh_sandbox *b, int r, struct fh_error *err)
{
	if (err && err->phase == FH_PHASE_NONE)
		err->phase = FH_PHASE_CREATE;
	(void)fh_cgroup_remove(&b->cgroup);
	fh_id_pool_give_back(&b->engine->ids, &b->ids);
	if (!b->template || b->plan != b->template->plan)
		fh_plan_free(b->plan);
	free(b);
	return r;
}

int fh_sandbox_make(struct fh_engine *e, struct fh_plan *plan, struct fh_connection *c, uint64_t request,
                    struct fh_sandbox **ret, struct fh_error *err)
{
	struct fh_sandbox *b = new_sandbox(e, plan, c, request);
	int r = take_room(b, err);
	if (r == 0)
		r = launch_fresh(b, err);
	if (r)
		return give_up(b, r, err);
	list_sandbox(b);
	*ret = b;
	return 0;
}

/* ----------------------------------------------------------------------------------------------------- of a template
 */

/* The last word of the set-up: descriptors to keep, or what failed. */
static void on_launch_packet(struct fh_watch *w, uint32_t events)
{
	struct fh_sandbox *b = w->owner;
	struct fh_init_launched m;
	struct fh_error err = FH_ERROR_INIT;
	int fds[FH_PACKET_FDS_MAX], count;
	(void)events;
	ssize_t n = fh_packet_receive(b->child.socket, &m, sizeof(m), fds, &count);
	if (n == -EAGAIN)
		return;
	fh_watch_stop(b->engine->loop, &b->socket_watch);
	if (n == (ssize_t)sizeof(m) && m.h.op == FH_INIT_LAUNCHED && !m.error &&
	    count == (m.landlock != 0) + (m.disk != 0)) {
		int next = 0;
		if (m.landlock)
			b->rules = fds[next++];
		if (m.disk)
			b->disk = fds[next++];
		b->report.layers_off = m.layers_off;
		b->launched = true;
		fh_sandbox_on_launched(b);
		return;
	}
	for (int i = 0; i < count; i++)
		close(fds[i]);
	struct fh_setup_report r = { .step = m.step, .error = m.error };
	m.what[sizeof(m.what) - 1] = 0;
	memcpy(r.what, m.what, sizeof(r.what));
	if (n == (ssize_t)sizeof(m) && m.h.op == FH_INIT_LAUNCHED && m.error)
		(void)fh_launch_failed(&r, &err);
	else
		fh_error_set(&err, FH_E_SYSTEM, "the sandbox's set-up ended early");
	err.phase = FH_PHASE_CREATE;
	if (b->parked)
		fh_template_break(b->template, err.message);
	else
		fh_sandbox_fail(b, &err);
}

void fh_sandbox_on_launched(struct fh_sandbox *b)
{
	if (b->child.socket >= 0 && !b->launched) {
		b->socket_watch.on_event = on_launch_packet;
		(void)fh_watch_set(b->engine->loop, &b->socket_watch, b->child.socket, EPOLLIN);
	}
	if (b->child.pidfd >= 0 && !b->pid_watch.events) {
		b->child.pid = fh_pid_of(b->child.pidfd);
		watch_life(b);
		if (b->state == FH_DYING)
			syscall(SYS_pidfd_send_signal, b->child.pidfd, SIGKILL, NULL, 0);
	}
	if (b->launched && b->child.pidfd >= 0 && b->state == FH_MAKING)
		on_made(b);
}

int fh_sandbox_make_of(struct fh_template *t, struct fh_plan *plan, struct fh_connection *c, uint64_t request,
                       struct fh_sandbox **ret, struct fh_error *err)
{
	struct fh_engine *e = t->engine;
	struct fh_sandbox *b = new_sandbox(e, plan ? plan : t->plan, c, request);
	b->template = t;
	b->token = ++e->next_token;
	int r = take_room(b, err);
	if (r == 0)
		r = fh_template_make(t, b, err);
	if (r) {
		b->template = plan ? NULL : t;
		return give_up(b, r, err);
	}
	b->start = t->has_zygote ? FH_START_ZYGOTE : FH_START_FRESH;
	b->parked = !plan;
	if (b->parked) {
		t->making++;
		e->parked_count++;
	}
	t->users++;
	watch_making(b);
	list_sandbox(b);
	*ret = b;
	return 0;
}

bool fh_sandbox_fits(const struct fh_sandbox *b, const struct fh_plan *plan)
{
	struct fh_cgroup_limits l = group_limits(plan);
	return fh_cgroup_fits(&b->cgroup, &l);
}

void fh_sandbox_adopt(struct fh_sandbox *b, struct fh_plan *plan, struct fh_connection *c, uint64_t request)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_cgroup_limits l = group_limits(plan);
	b->plan = plan;
	b->connection = c;
	b->request = request;
	b->born_ns = fh_now_ns();
	b->start = FH_START_PARKED;
	int r = fh_cgroup_limit(&b->cgroup, &l);
	b->template->adopted_limits = l;
	if (r < 0) {
		fh_error_sys(&err, -r, "cannot set the limits of a control group");
		err.phase = FH_PHASE_CREATE;
		fh_sandbox_fail(b, &err);
	} else if ((b->sampling || b->sampling_sockets) && send_start(b, &err) < 0) {
		fh_sandbox_fail(b, &err);
	}
}

void fh_sandbox_fall_back(struct fh_sandbox *b, const char *why)
{
	struct fh_template *t = FH_TAKE_PTR(b->template);
	struct fh_error err = FH_ERROR_INIT;
	fh_watch_stop(b->engine->loop, &b->socket_watch);
	if (b->child.socket >= 0)
		close(FH_TAKE_FD(b->child.socket));
	b->asked = b->launched = false;
	b->start = FH_START_FRESH;
	b->socket_watch.on_event = fh_talk_on_socket;
	snprintf(b->start_why, sizeof(b->start_why), "%.159s", why);
	if (b->plan->start != FH_START_AUTO) {
		fh_error_set(&err, FH_E_UNAVAILABLE, "a %s start cannot be had: %s", fh_start_name(b->plan->start), why);
		err.phase = FH_PHASE_CREATE;
		fh_sandbox_fail(b, &err);
	} else if (launch_fresh(b, &err) < 0) {
		err.phase = FH_PHASE_CREATE;
		fh_sandbox_fail(b, &err);
	}
	fh_template_unuse(t);
}

void fh_sandbox_on_program(struct fh_sandbox *b)
{
	struct fh_error err = FH_ERROR_INIT;
	if (b->state != FH_READY)
		return;
	if (fh_isolation_check(b, true, &err) < 0)
		fh_sandbox_fail(b, &err);
	else
		on_ready(b);
}

static void look_at_disk(struct fh_sandbox *b)
{
	struct statfs fs;
	if (b->disk >= 0 && fstatfs(b->disk, &fs) == 0)
		b->disk_full =
		    (fs.f_blocks && (uint64_t)fs.f_bfree * (uint64_t)fs.f_bsize < 4096) || (fs.f_files && !fs.f_ffree);
	if (b->disk >= 0)
		close(FH_TAKE_FD(b->disk)); /* ours must not be the last: taking it down is for who dies with it */
}

void fh_sandbox_on_program_end(struct fh_sandbox *b, const struct fh_init_exited *m)
{
	struct fh_process *p = b->processes;
	if (!p || !b->run) { /* parked, or never begun */
		if (b->state < FH_DYING && b->parked)
			fh_sandbox_destroy_now(b);
		else if (b->state < FH_DYING && !b->failed) {
			struct fh_error err = FH_ERROR_INIT;
			fh_error_set(&err, FH_E_SYSTEM, "the program that was forked for the run ended before it began");
			err.retryable = true;
			fh_sandbox_fail(b, &err);
		}
		return;
	}
	bool failed = b->failed;
	if (b->state == FH_READY)
		look_at_disk(b);
	fh_process_on_exited(p, m);
	if (failed || b->state != FH_READY)
		return;
	if (b->group)
		fh_group_on_over(b, false);
	if (!b->plan->outs[0] && !b->sampling)
		fh_run_on_last_exit(b); /* init has nothing to do but to die, and everybody with it */
	else if (b->init_finished)
		fh_run_on_finished(b);
	else
		fh_sandbox_kill_all(b);
}
