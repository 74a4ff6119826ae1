/* SPDX-License-Identifier: MIT */
/* The engine's side of its conversation with a sandbox's init, and the kernel's notice of an out-of-memory kill. */
#include "engine/core/talk.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/core/engine.h"
#include "engine/core/limits.h"
#include "engine/core/pause.h"
#include "engine/core/process/process.h"
#include "engine/core/sandbox.h"
#include "engine/core/process/transfer.h"

enum {
	OOM_LOOKS = 20
}; /* how often, at intervals of 1 ms, to look for killed processes after the kernel reported an out-of-memory event */

/* ------------------------------------------------------------------------------------------------------------- answers
 * A program can stop any helper that runs as the same user, and a successful attack might control init itself. The
 * engine therefore never waits for either without a bound. */

static bool transfer_is_stuck(struct fh_transfer *t)
{
	const struct fh_output *s = t->stream;
	uint64_t moved = s ? s->acked + fh_output_held(s) : 0;
	bool reader_is_slow = s && fh_output_held(s) >= s->window;
	bool stuck = t->awaited && moved == t->moved && !reader_is_slow;
	t->awaited = true;
	t->moved = moved;
	return stuck;
}

static bool start_is_stuck(struct fh_process *p)
{
	bool stuck = p->awaited;
	p->awaited = true;
	return stuck;
}

static uint64_t carried(const struct fh_process *p)
{
	uint64_t moved = p->input.written;
	for (const struct fh_output *s = p->streams; s; s = s->next)
		moved += s->acked + fh_output_held(s);
	return moved;
}

/* Whether a helper made no progress, although its client reads its output and has sent it input. Of two that are
 * joined, the one that reads tells of progress while there is any (FH_HELPER_PROGRESS). */
static bool helper_is_stuck(struct fh_process *p)
{
	const struct fh_process *reader = fh_id_is_zero(p->into) ? NULL : fh_process_find(p->sandbox->engine, p->into);
	uint64_t moved = carried(p) + (reader ? carried(reader) : 0);
	bool waits = !p->joined && !p->input.end_seen && p->input.buffer.n == p->input.taken;
	for (const struct fh_output *s = p->streams; s; s = s->next)
		waits = waits || fh_output_held(s) >= s->window;
	bool stuck = p->awaited && moved == p->moved && !waits;
	p->awaited = true;
	p->moved = moved;
	return stuck;
}

static void look_for_answers(struct fh_timer *t)
{
	struct fh_sandbox *b = t->owner;
	bool any = false, stuck = false;
	for (struct fh_process *p = b->processes, *next; p; p = next) {
		next = p->next;
		if (p->exited || b->paused)
			continue;
		any = any || !p->started || p->helper;
		if (!p->started)
			stuck = start_is_stuck(p) || stuck;
		else if (p->helper && helper_is_stuck(p))
			fh_process_abandon(p); /* tells the client of the process that the helper's answer is incomplete */
	}
	for (struct fh_transfer *x = b->transfers; x; x = x->next) {
		any = true;
		stuck = transfer_is_stuck(x) || stuck;
	}
	if (b->hold) {
		any = true;
		stuck = fh_pause_is_stuck(b) || stuck;
	}
	if (stuck) {
		struct fh_error err = FH_ERROR_INIT;
		fh_error_set(&err, FH_E_TIMEOUT, "the sandbox did not carry out a request within %d s; it was destroyed",
		             FH_ANSWER_MS / 1000);
		fh_sandbox_fail(b, &err);
	} else if (any) {
		fh_timer_set(b->engine->loop, t, fh_now_ns() + (int64_t)FH_ANSWER_MS * FH_NS_PER_MS);
	}
}

static void await_answer(struct fh_sandbox *b, uint32_t op)
{
	if ((op != FH_INIT_SPAWN && op != FH_INIT_PUT && op != FH_INIT_GET && op != FH_INIT_HOLD) || b->answer_timer.slot)
		return;
	b->answer_timer = (struct fh_timer){ .on_time = look_for_answers, .owner = b };
	fh_timer_set(b->engine->loop, &b->answer_timer, fh_now_ns() + (int64_t)FH_ANSWER_MS * FH_NS_PER_MS);
}

int fh_sandbox_send(struct fh_sandbox *b, const void *message, size_t size, const int *fds, int fd_count,
                    struct fh_error *err)
{
	char control[CMSG_SPACE(FH_SPAWN_FDS_MAX * sizeof(int))] = { 0 };
	struct iovec io = { (void *)(uintptr_t)message, size };
	struct msghdr h = { .msg_iov = &io, .msg_iovlen = 1 };
	if (fd_count) {
		h.msg_control = control;
		h.msg_controllen = CMSG_SPACE((size_t)fd_count * sizeof(int));
		struct cmsghdr *c = CMSG_FIRSTHDR(&h);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN((size_t)fd_count * sizeof(int));
		memcpy(CMSG_DATA(c), fds, (size_t)fd_count * sizeof(int));
	}
	if (b->state != FH_READY)
		return fh_error_set(err, FH_E_NOT_FOUND, "the sandbox is gone");
	for (;;) {
		if (sendmsg(b->child.socket, &h, MSG_NOSIGNAL) >= 0) {
			await_answer(b, ((const struct fh_init_header *)message)->op);
			return 0;
		}
		if (errno == EINTR)
			continue;
		int e = errno;
		fh_error_sys(err, e, "cannot reach the sandbox's init");
		if (err)
			err->retryable = e == EAGAIN;
		return -FH_E_SYSTEM;
	}
}

static struct fh_process *by_token(struct fh_sandbox *b, uint32_t token)
{
	for (struct fh_process *p = b->processes; p; p = p->next)
		if (p->token == token)
			return p;
	return NULL;
}

static void fire_memory(struct fh_sandbox *b)
{
	for (struct fh_process *p = b->processes; p; p = p->next)
		if (!p->exited)
			fh_limits_fire(p, FH_LIMIT_MEMORY);
}

/* Adds what sockets hold and control groups do not count (v1: their buffers as well) to the memory that these count. */
static void on_kernel_memory(struct fh_sandbox *b, uint64_t bytes)
{
	enum { WORTH_LOOKING = 256 << 10 };
	if (bytes < WORTH_LOOKING)
		return;
	struct fh_cgroup_use now;
	fh_cgroup_now(&b->cgroup, &now);
	uint64_t memory = bytes + now.memory_bytes;
	b->kernel_peak = FH_MAX(b->kernel_peak, memory);
	if (memory > b->plan->limits.value[FH_LIMIT_MEMORY])
		fire_memory(b);
}

/* Whether so many processes tell that the program was at its limit. A limit of one is reached by every program. */
static bool is_full(const struct fh_sandbox *b, uint64_t tasks)
{
	return tasks > 1 && tasks >= b->plan->limits.value[FH_LIMIT_PROCESSES];
}

static void on_usage(struct fh_sandbox *b, const struct fh_init_usage *u)
{
	uint64_t memory = u->memory_bytes + u->disk_bytes;
	const uint64_t *limit = b->plan->limits.value;
	b->heard_ns = fh_now_ns();
	if (u->too_many_watches)
		fire_memory(b);
	if (b->sampling_kernel)
		on_kernel_memory(b, u->kernel_bytes);
	if (!b->sampling)
		return;
	b->sample = *u;
	b->peak.memory_peak_bytes = FH_MAX(b->peak.memory_peak_bytes, memory);
	b->peak.processes_peak = FH_MAX(b->peak.processes_peak, u->tasks);
	b->mapped_peak = FH_MAX(b->mapped_peak, u->mapped_bytes);
	if (is_full(b, u->tasks))
		b->tasks_refused++;
	if (memory <= limit[FH_LIMIT_MEMORY] || b->engine->cgroups.version[FH_CG_MEMORY])
		return;
	fire_memory(b);
}

static void on_finished(struct fh_sandbox *b, const struct fh_init_finished *m)
{
	fh_timer_stop(b->engine->loop, &b->finish_timer);
	b->disk_full = (m->disk_total && m->disk_free < 4096) || (m->inodes_total && m->inodes_free == 0);
	if (!b->engine->cgroups.version[FH_CG_CPUACCT]) {
		b->sample.user_us = FH_MAX(b->sample.user_us, m->user_us);
		b->sample.sys_us = FH_MAX(b->sample.sys_us, m->sys_us);
	}
	/* A program whose fork was refused may end before the next sample: those that it leaves, and itself, say it. */
	if (b->sampling && is_full(b, m->left + 1))
		b->tasks_refused++;
	b->init_finished = true;
	if (b->owner->on_finished)
		b->owner->on_finished(b);
}

/* Handles one packet, whose size must be that of its op. */
static bool on_packet(struct fh_sandbox *b, const void *packet, size_t size, int fd)
{
	const struct fh_init_header *h = packet;
	struct fh_process *p;
	if (size < sizeof(*h))
		return false;
	switch (h->op) {
	case FH_INIT_PUT_DONE:
	case FH_INIT_GET_DONE:
		if (size != sizeof(struct fh_init_done))
			return false;
		fh_transfer_on_done(b, packet);
		return true;
	case FH_INIT_SPAWNED:
		p = by_token(b, h->token);
		if (size != sizeof(struct fh_init_spawned) || !p || p->started)
			return false;
		fh_process_on_spawned(p, packet, fd);
		return true;
	case FH_INIT_EXITED:
		p = by_token(b, h->token);
		if (size != sizeof(struct fh_init_exited))
			return false;
		if (p) {
			fh_process_on_exited(p, packet);
			if (b->owner->on_exit)
				b->owner->on_exit(b);
		}
		return true;
	case FH_INIT_FINISHED:
		if (size != sizeof(struct fh_init_finished))
			return false;
		on_finished(b, packet);
		return true;
	case FH_INIT_HELD:
		if (size != sizeof(struct fh_init_held))
			return false;
		fh_pause_on_held(b, packet);
		return true;
	case FH_INIT_USAGE:
		if (size != sizeof(struct fh_init_usage))
			return false;
		on_usage(b, packet);
		return true;
	default:
		return false;
	}
}

void fh_talk_on_socket(struct fh_watch *w, uint32_t events)
{
	struct fh_sandbox *b = w->owner;
	(void)events;
	if (b->state >= FH_DYING) { /* nothing more is read: a socket that is at its end would wake the loop without rest */
		fh_watch_stop(b->engine->loop, w);
		return;
	}
	for (int packets = 0; packets < FH_INIT_PACKETS_MAX && b->state == FH_READY; packets++) {
		union {
			struct fh_init_header h;
			struct fh_init_spawned spawned;
			struct fh_init_finished finished;
			char bytes[512];
		} packet;
		char control[CMSG_SPACE(4 * sizeof(int))];
		struct iovec io = { &packet, sizeof(packet) };
		struct msghdr h = {
			.msg_iov = &io, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)
		};
		ssize_t n = recvmsg(b->child.socket, &h, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) { /* end of file: init is dying, which its pidfd reports */
			if (n == 0)
				fh_watch_stop(b->engine->loop, &b->socket_watch);
			return;
		}
		int fd = -1;
		for (struct cmsghdr *c = CMSG_FIRSTHDR(&h); c; c = CMSG_NXTHDR(&h, c)) {
			size_t count = c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS
			                   ? (c->cmsg_len - CMSG_LEN(0)) / sizeof(int)
			                   : 0;
			for (size_t i = 0; i < count; i++) {
				int got;
				memcpy(&got, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
				if (fd < 0 && packet.h.op == FH_INIT_SPAWNED)
					fd = got;
				else
					close(got);
			}
		}
		if (!on_packet(b, &packet, (size_t)n, fd)) {
			struct fh_error err = FH_ERROR_INIT;
			if (fd >= 0)
				close(fd);
			fh_error_set(&err, FH_E_PROTOCOL, "the sandbox's init sent an invalid message; the sandbox was destroyed");
			fh_sandbox_fail(b, &err);
		}
	}
}

static bool was_killed_in(const struct fh_process *p)
{
	struct fh_cgroup_use u = { 0 };
	fh_cgroup_counts(&p->group, &u);
	return u.oom_kills > 0;
}

/* Looks for processes that the kernel killed for lack of memory. A notification alone means little: on v2 other
 * counters of memory.events cause one too, and on v1 every group below one that is short of memory gets it. v1 notifies
 * before it kills, so there the counter is read a few more times. */
static void look_for_kill(struct fh_sandbox *b)
{
	struct fh_usage u;
	bool seen = false;
	fh_limits_use(b, &u);
	for (struct fh_process *p = b->processes; p; p = p->next) {
		/* in a session, only that program is ended to which the killed process belonged */
		bool hit = b->owner->one_program ? b->oom_seen : p->has_group && was_killed_in(p);
		seen = seen || hit;
		if (hit && !p->exited)
			fh_limits_fire(p, FH_LIMIT_MEMORY);
	}
	if (!(b->owner->one_program ? b->oom_seen : seen) && b->oom_looks-- > 0)
		fh_timer_set(b->engine->loop, &b->oom_timer, fh_now_ns() + FH_NS_PER_MS);
}

static void on_oom_timer(struct fh_timer *t)
{
	look_for_kill(t->owner);
}

void fh_talk_on_oom(struct fh_watch *w, uint32_t events)
{
	struct fh_sandbox *b = w->owner;
	char drain[1024];
	(void)events;
	if (b->cgroup.oom_is_eventfd)
		(void)!read(b->cgroup.oom, drain, 8);
	else
		(void)!pread(b->cgroup.oom, drain, sizeof(drain), 0);
	b->oom_looks = b->cgroup.oom_is_eventfd ? OOM_LOOKS : 0;
	b->oom_timer.on_time = on_oom_timer;
	b->oom_timer.owner = b;
	look_for_kill(b);
}
