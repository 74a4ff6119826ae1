/* SPDX-License-Identifier: MIT */
#include "init/init.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/prctl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "init/lib/packet.h"

FH_START;
void fh_init_main(const long *stack) __attribute__((noreturn, used));

enum { REAP_MOST = 64 }; /* maximum processes reaped in a row before other descriptors have their turn */

static struct fh_init in;
static char packet[FH_INIT_PACKET_MAX + 1];

static void die(int status)
{
	fh_sys(__NR_exit_group, status);
	for (;;)
		;
}

/* Sends a message to the engine, with descriptors. The socket blocks, which is safe because the engine always reads. */
static void send_with(const void *message, size_t size, const int *fds, int count)
{
	if (fh_send_packet(FH_INIT_SOCKET, message, size, fds, count) < 0)
		die(1); /* the engine is gone */
}

/* The same with one descriptor, if fd >= 0. */
static void send_message(const void *message, size_t size, int fd)
{
	send_with(message, size, &fd, fd >= 0);
}

/* Sends LAUNCHED with what set-up made for the engine. */
static void say_launched(const char *made)
{
	struct fh_init_launched m;
	uint32_t bits = 0;
	int fds[2], count = 0;
	memset(&m, 0, sizeof(m));
	while (*made)
		bits = bits * 10 + (uint32_t)(*made++ - '0');
	m.h.op = FH_INIT_LAUNCHED;
	m.layers_off = bits & (FH_INIT_IN_DOMAIN - 1);
	m.landlock = !!(bits & FH_INIT_IN_DOMAIN);
	m.rules = !!(bits & FH_INIT_HAS_RULES);
	m.disk = !!(bits & FH_INIT_HAS_DISK);
	if (m.rules)
		fds[count++] = FH_INIT_RULES;
	if (m.disk)
		fds[count++] = FH_INIT_DISK;
	send_with(&m, sizeof(m), fds, count);
	if (m.disk)
		fh_sys(__NR_close, FH_INIT_DISK);
}

static int free_child(void)
{
	for (int i = 0; i < FH_INIT_PROCESSES_MAX; i++)
		if (in.child[i].pid == 0)
			return i;
	return -1;
}

static void remember(int slot, int32_t pid, uint32_t op, uint32_t token, int result, int ours)
{
	in.child[slot].pid = pid;
	in.child[slot].op = op;
	in.alone = in.resting = 0;
	in.child[slot].token = token;
	in.child[slot].result = result;
	in.child[slot].ours = ours;
}

/* ------------------------------------------------------------------------------------------------------- transfers */

/* Forks a child that becomes the program's user and moves the file. Its report is read from a pipe when it exits. */
static void transfer(uint32_t op, const void *message, int fd)
{
	const struct fh_init_header *h = message;
	struct fh_init_done done = { .h = { op == FH_INIT_PUT ? FH_INIT_PUT_DONE : FH_INIT_GET_DONE, h->token } };
	int pipe[2], slot = free_child();
	long r = slot < 0 ? -EAGAIN : fh_sys(__NR_pipe2, pipe, O_CLOEXEC);
	if (r == 0) {
		r = fh_sys(__NR_clone, SIGCHLD, 0, 0, 0, 0);
		if (r == 0) {
			int e = fh_init_enter_memory_group(&in);
			if (e == 0)
				e = fh_init_become_user(&in.start);
			if (e < 0) {
				done.refused = FH_REFUSED_ERROR;
				done.error = -e;
			} else if (op == FH_INIT_PUT) {
				fh_init_put(((const struct fh_init_put *)message)->base, fd, &done);
			} else {
				fh_init_get(message, fd, &done);
			}
			fh_write_full(pipe[1], &done, sizeof(done));
			die(0);
		}
		fh_sys(__NR_close, pipe[1]);
		if (r < 0)
			fh_sys(__NR_close, pipe[0]);
	}
	if (r > 0) {
		remember(slot, (int32_t)r, op, h->token, pipe[0], 1);
		return;
	}
	done.refused = FH_REFUSED_ERROR;
	done.error = (int32_t)-r;
	send_message(&done, sizeof(done), -1);
}

static void transfer_ended(int slot)
{
	uint32_t op = in.child[slot].op == FH_INIT_PUT ? FH_INIT_PUT_DONE : FH_INIT_GET_DONE;
	struct fh_init_done done;
	if (fh_read_full(in.child[slot].result, &done, sizeof(done)) != 1) {
		memset(&done, 0, sizeof(done)); /* the child was killed, by a limit or by another program of the same user */
		done.refused = FH_REFUSED_ERROR;
		done.error = EINTR;
	}
	done.h.op = op;
	done.h.token = in.child[slot].token;
	fh_sys(__NR_close, in.child[slot].result);
	send_message(&done, sizeof(done), -1);
}

/* ---------------------------------------------------------------------------------------------------------- ending */

static uint64_t time_us(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * 1000000 + (uint64_t)t->tv_usec;
}

static void account(const struct rusage *u)
{
	in.reaped_user_us += time_us(&u->ru_utime);
	in.reaped_sys_us += time_us(&u->ru_stime);
	in.reaped++;
}

static void finish(uint32_t token);

static void reaped(int32_t pid, int status, const struct rusage *u)
{
	account(u);
	for (int i = 0; i < FH_INIT_PROCESSES_MAX; i++) {
		if (in.child[i].pid != pid)
			continue;
		in.child[i].pid = 0;
		if (in.child[i].op != FH_INIT_SPAWN) {
			transfer_ended(i);
			return;
		}
		struct fh_init_exited m = { .h = { FH_INIT_EXITED, in.child[i].token }, .status = status };
		m.user_us = time_us(&u->ru_utime);
		m.sys_us = time_us(&u->ru_stime);
		m.resident_peak_bytes = (uint64_t)u->ru_maxrss * 1024;
		send_message(&m, sizeof(m), -1);
		return;
	}
}

/* Reaps up to `most` processes that have ended. Returns 1 if there may be more, 0 if the others are alive, -ECHILD if
 * no child is left. */
static long reap(int flags, int most)
{
	for (; most; most--) {
		int status = 0;
		struct rusage u;
		long r = fh_sys(__NR_wait4, -1, &status, flags | __WALL, &u);
		if (r == -EINTR)
			continue;
		if (r <= 0)
			return r;
		int one_shot = 0;
		uint32_t token = 0;
		for (int i = 0; i < FH_INIT_PROCESSES_MAX; i++)
			if (in.child[i].pid == r && in.child[i].op == FH_INIT_SPAWN &&
			    (int)in.child[i].token == in.one_shot_token) {
				one_shot = 1;
				token = in.child[i].token;
			}
		reaped((int32_t)r, status, &u);
		if (one_shot) {
			in.one_shot_token = -1;
			finish(token);
		}
	}
	return 1;
}

/* Kills all other processes until none is left, then sends FINISHED. */
static void finish(uint32_t token)
{
	uint64_t before = in.reaped;
	do
		fh_sys(__NR_kill, -1, SIGKILL);
	while (reap(0, INT_MAX) != -ECHILD);
	struct fh_init_finished m = { .h = { FH_INIT_FINISHED, token } };
	fh_init_disk(&in, &m);
	m.user_us = in.reaped_user_us;
	m.sys_us = in.reaped_sys_us;
	m.left = in.reaped - before;
	send_message(&m, sizeof(m), -1);
}

/* -------------------------------------------------------------------------------------------------------- messages */

static void on_spawn(const struct fh_init_spawn *m, size_t size, int *fds, int fd_count)
{
	struct fh_init_spawned answer = { .h = { FH_INIT_SPAWNED, m->h.token } };
	int terminal = -1, slot = free_child();
	if (size < sizeof(*m) || size - sizeof(*m) != m->text_size) {
		answer.error = EINVAL;
	} else if (slot < 0) {
		answer.error = EAGAIN;
		answer.step = FH_STEP_FORK;
	} else if (fh_init_spawn(&in, m, (const char *)(m + 1), fds, fd_count, &answer, &terminal) == 0) {
		remember(slot, (int32_t)answer.pid, FH_INIT_SPAWN, m->h.token, -1, (m->flags & FH_SPAWN_HELPER) != 0);
		if (m->flags & FH_SPAWN_ONE_SHOT)
			in.one_shot_token = (int)m->h.token;
	}
	send_message(&answer, sizeof(answer), terminal);
	if (terminal >= 0)
		fh_sys(__NR_close, terminal);
}

static void on_signal(const struct fh_init_signal *m, const int *looks, int look_count)
{
	int32_t pid = 0;
	for (int i = 0; i < FH_INIT_PROCESSES_MAX; i++)
		if (in.child[i].pid && in.child[i].op == FH_INIT_SPAWN && in.child[i].token == m->h.token)
			pid = in.child[i].pid;
	if (m->tree && (pid || look_count))
		fh_tree_kill(pid, looks, look_count);
	else if (pid && fh_sys(__NR_kill, -pid, m->signal) < 0)
		fh_sys(__NR_kill, pid, m->signal);
}

/* All other processes are stopped. Sampling pauses too: nothing can change, and a paused sandbox should use no CPU. A
 * process that was stopped by a signal can have arranged to be continued, and is looked for every WATCH_NS. */
static int held_still, held_by_signals;

static void on_hold(const struct fh_init_hold_request *m, const int *fds, int fd_count)
{
	struct fh_init_held held = { .h = { FH_INIT_HELD, m->h.token } };
	fh_tree_hold(m->how, fds, fd_count, &held);
	held_still = m->how != FH_HOLD_RELEASE && !held.error;
	held_by_signals = held_still && m->how == FH_HOLD_STOP;
	send_message(&held, sizeof(held), -1);
}

static void on_apart(const int *fds, int fd_count)
{
	if (fd_count != 2 || in.memory_group >= 0)
		return;
	in.memory_group = (int)fh_sys(__NR_fcntl, fds[1], F_DUPFD_CLOEXEC, 3 + FH_INIT_DESCRIPTORS_MAX);
	if (in.memory_group < 0 || fh_write_full(fds[0], "0", 1) == 0)
		return;
	fh_sys(__NR_close, in.memory_group);
	in.memory_group = -1;
}

static void on_start(void)
{
	memcpy(&in.start, packet, sizeof(in.start));
	if (!in.start.keep_capabilities)
		(void)fh_init_empty_bounding(); /* where that fails each child tries it again, and says so */
}

static void on_message(size_t size, int *fds, int fd_count)
{
	const struct fh_init_header *h = (const void *)packet;
	static const size_t least[] = {
		[FH_INIT_START] = sizeof(struct fh_init_start),       [FH_INIT_PUT] = sizeof(struct fh_init_put),
		[FH_INIT_SPAWN] = sizeof(struct fh_init_spawn),       [FH_INIT_SIGNAL] = sizeof(struct fh_init_signal),
		[FH_INIT_GET] = sizeof(struct fh_init_get),           [FH_INIT_FINISH] = sizeof(struct fh_init_header),
		[FH_INIT_HOLD] = sizeof(struct fh_init_hold_request), [FH_INIT_APART] = sizeof(struct fh_init_header),
	};
	if (size < sizeof(*h) || h->op == 0 || h->op >= sizeof(least) / sizeof(least[0]) || size < least[h->op])
		die(2); /* cannot happen: the engine and init are of one build */
	if (h->op == FH_INIT_START)
		on_start();
	else if (h->op == FH_INIT_SPAWN)
		on_spawn((const void *)packet, size, fds, fd_count);
	else if (h->op == FH_INIT_SIGNAL)
		on_signal((const void *)packet, fds, fd_count);
	else if (h->op == FH_INIT_FINISH)
		finish(h->token);
	else if (h->op == FH_INIT_HOLD)
		on_hold((const void *)packet, fds, fd_count);
	else if (h->op == FH_INIT_APART)
		on_apart(fds, fd_count);
	else if (fd_count == 1)
		transfer(h->op, packet, fds[0]);
	for (int i = 0; i < fd_count; i++)
		fh_sys(__NR_close, fds[i]);
}

static void receive(void)
{
	int fds[FH_SENT_FDS_MAX], fd_count;
	long n = fh_receive_packet(FH_INIT_SOCKET, packet, FH_INIT_PACKET_MAX, fds, &fd_count);
	if (n == -EAGAIN)
		return;
	if (n <= 0)
		die(0); /* the engine is gone; when pid 1 ends, the kernel kills all processes here */
	packet[n] = 0;
	on_message((size_t)n, fds, fd_count);
}

/* How long to wait for the next sample: sample_ms; or while processes end, up to twice that, so that none can end in
 * time (lives.c). */
static int64_t period_ns(void)
{
	enum { MS = 1000000 };
	uint32_t random = 0;
	int64_t mean = (int64_t)in.start.sample_ms * MS;
	if (in.start.only_kernel || !fh_lives_end() || fh_sys(__NR_getrandom, &random, sizeof(random), 0) != sizeof(random))
		return mean;
	return MS / 2 + (int64_t)(random % 1024) * (2 * mean - MS) / 1024;
}

static int64_t next_sample_ns;

/* Samples at most every sample_ms, however often the loop wakes, and computes for at most half of the time (what it
 * waits for, a program may draw out). If a sample costs more than usual, the programs caused that (very many processes,
 * descriptors, mappings or sockets), so it counts as their CPU time. 1: a sample was taken.
 *
 * Where control groups count the rest, most sandboxes have neither sockets nor many locks: then a look is one read, and
 * nothing is told. `in_time`: the loop has waited for a whole period, so that no clock needs to be read. */
static int sample(int in_time)
{
	enum { PLAIN_NS = 1000000 };
	int due = in.start.shares && fh_shares_are_due();
	if (in.start.only_kernel && in_time && !due && fh_sockets_none() && !fh_locks_bytes() &&
	    !fh_watches_are_too_many() && !fh_pipes_worth_looking())
		return 1;
	int64_t begin = fh_clock_ns(FH_CLOCK_MONOTONIC);
	if (begin < next_sample_ns)
		return 0;
	int64_t used = fh_clock_ns(FH_CLOCK_OWN_CPU);
	struct fh_init_usage u = { .h = { FH_INIT_USAGE, 0 } };
	fh_init_sample(&in, &u);
	int64_t end = fh_clock_ns(FH_CLOCK_MONOTONIC), least = period_ns();
	used = fh_clock_ns(FH_CLOCK_OWN_CPU) - used;
	if (used > PLAIN_NS && !in.start.only_kernel)
		in.reaped_sys_us += (uint64_t)(used - PLAIN_NS) / 1000;
	next_sample_ns = used * 2 > least ? end + used : begin + least;
	if (!in.start.only_kernel || u.kernel_bytes || u.too_many_watches)
		send_message(&u, sizeof(u), -1);
	return 1;
}

void fh_init_main(const long *stack)
{
	long argc = stack[0];
	const char *const *argv = (const char *const *)(stack + 1);
	uint64_t mask = 1ULL << (SIGCHLD - 1);
	in.one_shot_token = in.memory_group = -1;
	in.alone = 1;
	fh_sys(__NR_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0);
	fh_sys(__NR_rt_sigprocmask, SIG_BLOCK, &mask, 0, 8);
	/* A signalfd: SIGCHLD is read from a descriptor like everything else, so no handler is needed. */
	long signals = fh_sys(__NR_signalfd4, -1, &mask, 8, O_CLOEXEC | O_NONBLOCK);
	if (signals < 0)
		die(3);
	if (argc > 1)
		say_launched(argv[1]);
	enum { WATCH_NS = 200000000 };
	int more = 0;
	for (;;) {
		struct pollfd wait[2] = { { .fd = FH_INIT_SOCKET, .events = POLLIN },
			                      { .fd = (int)signals, .events = POLLIN } };
		struct {
			int64_t s, ns;
		} interval = { in.start.sample_ms / 1000, (int64_t)(in.start.sample_ms % 1000) * 1000000 };
		if (fh_lives_end()) {
			int64_t rest = next_sample_ns - fh_clock_ns(FH_CLOCK_MONOTONIC);
			interval.s = 0;
			interval.ns = rest > 0 ? rest : 0;
		}
		if (held_by_signals) {
			interval.s = 0;
			interval.ns = WATCH_NS;
		}
		int whole = !more;
		if (more)
			interval.s = interval.ns = 0;
		int samples = in.start.sample_ms && !held_still && !in.resting;
		long n = fh_sys(__NR_ppoll, wait, 2, samples || more || held_by_signals ? &interval : 0, 0, 8);
		if (n < 0 && n != -EINTR)
			die(4);
		if (wait[1].revents & POLLIN) {
			char info[128]; /* room for the record of one signal; at most one is pending */
			fh_sys(__NR_read, signals, info, sizeof(info));
			more = 1;
		}
		if (more) { /* many orphans must not keep init from sampling and from the engine's messages */
			long r = reap(WNOHANG, REAP_MOST);
			more = r == 1;
			in.alone = r == -ECHILD;
		}
		if (held_by_signals && whole && n == 0)
			fh_tree_keep_still(&in);
		if (samples && sample(whole && n == 0))
			in.resting = in.alone && in.start.rests;
		if (wait[0].revents)
			receive();
	}
}
