/* SPDX-License-Identifier: MIT */
#include "warm.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>

#include "init/lib/packet.h"

/* A zygote's own messages are small. The message of a run goes into memory that the zygote never writes to, so a child
 * pays only for the pages that it uses. */
enum { OWN_PACKET_MAX = 16 * 1024 };
_Static_assert(3 + FH_ZYGOTE_EXTRAS_MAX <= FH_SENT_FDS_MAX, "a program has as many descriptors");
/* A program's pid in its own pid namespace. Random generators (OpenSSL's) recognize a fork by a changed pid, so the
 * zygote's must be another. */
enum { PROGRAM_PID = 2 };
static _Alignas(8) char packet[OWN_PACKET_MAX];
static _Alignas(8) char run_packet[FH_ZYGOTE_PACKET_MAX];

static void die(int status)
{
	fh_sys(__NR_exit_group, status);
	for (;;)
		;
}

/* ------------------------------------------------------------------------------------------------------------ fork */

/* The place where the C library keeps the thread's id (for raise and recursive locks); the kernel must write a child's
 * id there. glibc has told the kernel the place; in musl it is at a known offset from pthread_self(). NULL: unknown. */
static int *thread_id_place(void)
{
	enum { MUSL_TID = 12 };
	unsigned long *(*self)(void) = NULL;
	int *place = NULL, tid = (int)fh_sys(__NR_gettid);
	if (fh_sys(__NR_prctl, PR_GET_TID_ADDRESS, &place, 0, 0, 0) == 0 && place && *place == tid)
		return place;
	const struct fh_symbol_wanted wanted[] = { { "pthread_self", &self, true } };
	(void)fh_symbols(wanted, 1, NULL);
	place = self ? (int *)self() + MUSL_TID : NULL;
	return place && *place == tid ? place : NULL;
}

static bool is_stem;
static int *thread_id;

/* Parameters and result of the fork that is in progress. */
static struct {
	bool asked; /* the interpreter's next call of fork() is the one that was prepared */
	long pid;   /* result of the fork: the child's pid, 0 in the child, or -errno */
	uint64_t flags;
	int cgroup, *pidfd;
	void (*first)(void);
} making;

static long fork_now(void)
{
	void *robust = NULL;
	size_t robust_size = 0;
	struct clone_args a = {
		.flags = making.flags | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | (making.pidfd ? CLONE_PIDFD : 0) |
		         (making.cgroup >= 0 ? CLONE_INTO_CGROUP : 0),
		.child_tid = (uint64_t)(uintptr_t)thread_id,
		.pidfd = (uint64_t)(uintptr_t)making.pidfd,
		.cgroup = making.cgroup >= 0 ? (uint64_t)making.cgroup : 0,
	};
	fh_sys(__NR_get_robust_list, 0, &robust, &robust_size);
	long pid = fh_sys(__NR_clone3, &a, sizeof(a));
	if (pid == -ENOSYS &&
	    making.cgroup <
	        0) /* a zygote in a session runs under the filter of a sandbox's programs, which refuses clone3 */
		pid = fh_clone(a.flags, making.pidfd, thread_id);
	making.pid = pid;
	making.asked = pid < 0; /* after a failure the interpreter may call fork() again */
	if (pid == 0 && robust)
		fh_sys(__NR_set_robust_list, robust, robust_size);
	if (pid == 0 && making.first)
		making.first();
	return pid;
}

FH_EXPORT int fork(void);

int fork(void)
{
	static int (*real)(void);
	if (!real)
		real = (int (*)(void))fh_next("fork");
	if (!making.asked)
		return real ? real() : -1;
	long pid = fork_now();
	if (pid < 0 && __errno_location)
		*__errno_location() = (int)-pid;
	return pid < 0 ? -1 : (int)pid;
}

long fh_warm_fork(const struct fh_warm_interpreter *i, uint64_t flags, int cgroup, int *ret_pidfd, void (*first)(void))
{
	making.asked = true;
	making.pid = -EPROTO; /* the result if the interpreter does not call fork() */
	making.flags = flags;
	making.cgroup = cgroup;
	making.pidfd = ret_pidfd;
	making.first = first;
	if (i->fork)
		i->fork();
	else
		fork_now();
	making.asked = false;
	return making.pid;
}

bool fh_warm_forked(const struct fh_warm_interpreter *i, int socket)
{
	fh_atfork_child();
	if (i->child)
		i->child();
	return fh_warm_renew(socket);
}

/* --------------------------------------------------------------------------------------------------------- program */

/* Tells the engine that this run cannot be done here. A fresh start needs the run's descriptors, which are sent
 * back. */
static void give_back(int socket, const struct fh_zygote_failed *failed, const struct fh_zygote_run *go)
{
	int fds[FH_SENT_FDS_MAX] = { 0, 1, 2 };
	int count = 0;
	if (failed->step == FH_WARM_INTERPRETER) {
		count = 3 + (int)go->extra_count;
		for (int k = 3; k < count; k++)
			fds[k] = (int)go->extra[k - 3];
	}
	(void)fh_send_packet(socket, failed, sizeof(*failed), fds, count);
}

/* State of a program between its fork and RUN. */
static struct {
	const struct fh_zygote_fork *message;
	const int *fds;
	int error, socket;
	struct fh_zygote_parked parked;
} child;

static int namespace_count(const struct fh_zygote_fork *m)
{
	int n = 0;
	for (uint32_t rest = m->namespaces; rest; rest &= rest - 1)
		n++;
	return n;
}

/* The first thing that a forked program does: enters its sandbox. */
static void isolate(void)
{
	const struct fh_zygote_fork *m = child.message;
	const int *fds = child.fds;
	int next = namespace_count(m);
	child.socket = fds[next++];
	int landlock = m->flags & FH_FORK_LANDLOCK ? fds[next++] : -1;
	if (m->flags & FH_FORK_CGROUP)
		next++;
	fh_sys(__NR_close, fh_warm_start.socket);
	child.error = fh_warm_isolate(m, m + 1, fds, landlock, fds + next, &child.parked.step);
	child.parked.state.landlock = landlock >= 0 && child.error == 0;
	for (int k = 0; k < next + (int)m->cgroups; k++)
		if (fds[k] != child.socket)
			fh_sys(__NR_close, fds[k]);
}

/* Continues after isolate() until RUN came. */
static const struct fh_warm_run *program(const struct fh_warm_interpreter *i)
{
	static struct fh_warm_run run;
	static struct fh_zygote_failed failed;
	const struct fh_zygote_fork *m = child.message;
	struct fh_zygote_parked parked = child.parked;
	int run_fds[FH_SENT_FDS_MAX], run_fd_count = 0, r = child.error, socket = child.socket;
	uint32_t landlock = child.parked.state.landlock;
	if (r == 0 && !fh_warm_forked(i, socket)) {
		parked.step = FH_WARM_OWN;
		r = -EMFILE;
	}
	parked.h = (struct fh_init_header){ FH_ZYGOTE_PARKED, m->h.token };
	/* moves the socket above the numbers of the program's descriptors */
	long moved = fh_sys(__NR_fcntl, socket, F_DUPFD_CLOEXEC, 900);
	if (moved < 0)
		moved = fh_sys(__NR_fcntl, socket, F_DUPFD_CLOEXEC, 100);
	if (moved < 0)
		die(127);
	fh_sys(__NR_close, socket);
	socket = (int)moved;
	parked.error = -r;
	fh_init_read_state(&parked.state);
	parked.state.landlock = landlock;
	if (fh_send_packet(socket, &parked, sizeof(parked), NULL, 0) < 0 || r < 0)
		die(127);

	long n = fh_receive_packet(socket, run_packet, sizeof(run_packet), run_fds, &run_fd_count);
	if (n == 0)
		die(0); /* the engine does not need this program */
	const struct fh_zygote_run *go = (const void *)run_packet;
	failed.h.op = FH_ZYGOTE_FAILED;
	failed.h.token = m->h.token;
	failed.step = FH_WARM_MESSAGE;
	r = -EBADMSG;
	if (n >= (long)sizeof(*go) && go->h.op == FH_ZYGOTE_RUN)
		r = fh_warm_begin(go, (size_t)n, run_fds, run_fd_count, &run, &failed);
	if (r == 0 && (fh_warm_settings_differ(i, &run, failed.why) || !fh_warm_become(i, &run, failed.why))) {
		failed.step = FH_WARM_INTERPRETER;
		r = -ENOTSUP;
	}
	if (r < 0) {
		failed.error = -r;
		give_back(socket, &failed, go);
		die(127);
	}
	fh_sys(__NR_close, socket);
	return &run;
}

/* ---------------------------------------------------------------------------------------------------------- zygote */

/* Forks a copy of this zygote that serves on `socket`. Returns 0 in the copy. */
static long copy_to(const struct fh_warm_interpreter *i, int socket, int *ret_pidfd)
{
	fh_atfork_prepare();
	if (i->before_fork)
		i->before_fork();
	long pid = fh_warm_fork(i, CLONE_PARENT, -1, ret_pidfd, NULL);
	if (pid == 0) {
		/* keeps the number of the socket, so that nothing else has to change */
		fh_sys(__NR_dup3, socket, fh_warm_start.socket, 02000000 /* O_CLOEXEC */);
		if (!fh_warm_forked(i, -1))
			die(3);
		return 0;
	}
	if (i->after_fork)
		i->after_fork();
	fh_atfork_parent();
	return pid;
}

/* Forks the stem. Returns true in it. In the zygote, `ours` receives its socket and its pidfd, or -1 if there is
 * none. */
static bool leave_stem(const struct fh_warm_interpreter *i, int ours[2])
{
	int pair[2], pidfd = -1;
	ours[0] = ours[1] = -1;
	if (!i->preload || fh_sys(__NR_socketpair, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return false;
	long pid = copy_to(i, pair[1], &pidfd);
	fh_sys(__NR_close, pair[1]);
	if (pid <= 0)
		fh_sys(__NR_close, pair[0]);
	if (pid > 0) {
		ours[0] = pair[0];
		ours[1] = pidfd;
	}
	return pid == 0;
}

static void say_ready(const struct fh_warm_interpreter *i, const char *why, const int stem[2])
{
	struct fh_zygote_ready m = { .h = { FH_ZYGOTE_READY, 0 } };
	m.threads = (uint32_t)fh_status_number("Threads:");
	m.resident_bytes = fh_status_number("VmRSS:") * 1024;
	fh_text_set(m.interpreter, sizeof(m.interpreter), i->name);
	fh_text_set(m.why, sizeof(m.why), why);
	if (fh_send_packet(fh_warm_start.socket, &m, sizeof(m), stem, stem[0] < 0 ? 0 : 2) < 0 || why[0])
		die(why[0] ? 1 : 0);
	fh_close_all(stem, stem[0] < 0 ? 0 : 2);
}

/* A fork may lose the helper threads only while they hold no lock. Waits until the kernel shows each of them asleep
 * several times in a row; the main thread is here and gives them no work. */
static void let_helpers_rest(void)
{
	struct {
		int64_t s, ns;
	} moment = { 0, 2000000 };
	for (int calm = 0, turn = 0; calm < 3 && turn < 1000; turn++) {
		fh_sys(__NR_nanosleep, &moment, 0);
		calm = fh_running_threads() <= 1 ? calm + 1 : 0;
	}
}

/* Imports modules, runs the self-test, forks the stem and sends READY. Returns the run in the self-test's child, else
 * NULL. */
static const struct fh_warm_run *get_ready(const struct fh_warm_interpreter *i, const char *preload, bool branch)
{
	static char why[FH_ZYGOTE_WHY_MAX];
	const struct fh_warm_run *test = NULL;
	why[0] = 0;
	thread_id = thread_id_place();
	if (!i->name[0])
		fh_text_set(why, sizeof(why), "the warm library does not know this interpreter");
	else if (fh_sys(__NR_getpid) == PROGRAM_PID)
		fh_text_set(why, sizeof(why), "its process id is the one that its programs will have");
	else if (!thread_id)
		fh_text_set(why, sizeof(why), "the place of the thread's id in this C library is not known");
	else if (!branch && i->load && !i->load(why))
		;
	else if (preload[0] && !i->preload)
		fh_text_set(why, sizeof(why), "this interpreter cannot import modules ahead of a run");
	else if (preload[0] && !i->preload(preload, why))
		;
	else if (fh_status_number("Threads:") > (i->threads ? i->threads : 1)) {
		fh_text_set(why, sizeof(why), "it has more than one thread, which a fork would lose: ");
		fh_text_add_number(why, sizeof(why), fh_status_number("Threads:"));
	} else {
		if (i->ready)
			i->ready();
		if (i->threads)
			let_helpers_rest();
		test = fh_warm_account(i, fh_warm_main_fd(), why) ? fh_warm_self_test(i, why) : NULL;
		if (test)
			return test;
	}
	int stem[2] = { -1, -1 };
	is_stem = !why[0] && leave_stem(i, stem);
	if (!is_stem)
		say_ready(i, why, stem);
	return NULL;
}

static void answer(uint32_t token, long pid, uint32_t step, int pidfd)
{
	struct fh_zygote_forked m = { .h = { FH_ZYGOTE_FORKED, token } };
	m.error = pid < 0 ? (int32_t)-pid : 0;
	m.step = pid < 0 ? step : FH_WARM_NONE;
	if (fh_send_packet(fh_warm_start.socket, &m, sizeof(m), &pidfd, pid < 0 ? 0 : 1) < 0)
		die(0);
}

/* Whether the message is complete and has the descriptors that it announces. */
static bool fork_is_sound(const struct fh_zygote_fork *m, size_t size, int fd_count)
{
	if (size < sizeof(*m) || m->seal_count > FH_ZYGOTE_SEAL_MAX || m->cgroups > FH_ZYGOTE_CGROUPS_MAX ||
	    size - sizeof(*m) != m->seal_count * sizeof(struct sock_filter) || !(m->flags & FH_FORK_SOCKET))
		return false;
	int wanted = (int)m->cgroups + namespace_count(m);
	for (uint32_t bit = FH_FORK_SOCKET; bit <= FH_FORK_CGROUP; bit <<= 1)
		wanted += !!(m->flags & bit);
	return wanted == fd_count;
}

/* Forks a program. The parent closes the descriptors; the child keeps them. */
static const struct fh_warm_run *on_fork(const struct fh_warm_interpreter *i, size_t size, const int *fds, int fd_count)
{
	const struct fh_zygote_fork *m = (const void *)packet;
	uint32_t step = FH_WARM_MESSAGE;
	int pidfd = -1, cgroup = -1, at = 0;
	long pid = -EBADMSG;
	if (fork_is_sound(m, size, fd_count)) {
		at = namespace_count(m);
		for (uint32_t bit = FH_FORK_SOCKET; bit < FH_FORK_CGROUP; bit <<= 1)
			at += !!(m->flags & bit);
		if (m->flags & FH_FORK_CGROUP)
			cgroup = fds[at];
		step = FH_WARM_PID_NAMESPACE;
		/* the pid namespace's descriptor comes first */
		pid = m->namespaces & CLONE_NEWPID ? fh_sys(__NR_setns, fds[0], CLONE_NEWPID) : 0;
	}
	if (pid == 0) {
		step = FH_WARM_FORK;
		fh_atfork_prepare();
		if (i->before_fork)
			i->before_fork();
		child.message = m;
		child.fds = fds;
		pid = fh_warm_fork(i, CLONE_PARENT, cgroup, &pidfd, isolate);
		if (pid == 0)
			return program(i);
		if (i->after_fork)
			i->after_fork();
		fh_atfork_parent();
	}
	/* this copy is closed before the answer is sent: when the socket's last copy is closed, the engine knows that the
	 * program has begun */
	fh_close_all(fds, fd_count);
	answer(m->h.token, pid, step, pidfd);
	if (pidfd >= 0)
		fh_sys(__NR_close, pidfd);
	return NULL;
}

/* Branches: forks a zygote that imports more modules. Returns true in that. */
static bool on_branch(const struct fh_warm_interpreter *i, size_t size, const int *fds, int fd_count)
{
	const struct fh_zygote_branch *m = (const void *)packet;
	int pidfd = -1;
	long pid = -EBADMSG;
	if (size >= sizeof(*m) && m->preload_size <= FH_ZYGOTE_PRELOAD_MAX && size - sizeof(*m) == m->preload_size &&
	    fd_count == 1) {
		pid = copy_to(i, fds[0], &pidfd);
		if (pid == 0) {
			memcpy(fh_warm_start.preload, m + 1, m->preload_size);
			fh_warm_start.preload[m->preload_size] = 0;
			return true;
		}
	}
	answer(m->h.token, pid, pid == -EBADMSG ? FH_WARM_MESSAGE : FH_WARM_FORK, pidfd);
	if (pidfd >= 0)
		fh_sys(__NR_close, pidfd);
	return false;
}

const struct fh_warm_run *fh_warm_serve(const struct fh_warm_interpreter *i)
{
	const struct fh_warm_run *run = get_ready(i, fh_warm_start.preload, false);
	while (!run) {
		int fds[FH_SENT_FDS_MAX], fd_count;
		const struct fh_init_header *h = (const void *)packet;
		long n = fh_receive_packet(fh_warm_start.socket, packet, sizeof(packet), fds, &fd_count);
		if (n <= 0 && n != -EBADMSG)
			die(0); /* the engine died, or ended this zygote */
		if (n >= (long)sizeof(*h) && h->op == FH_ZYGOTE_FORK && !is_stem) {
			run = on_fork(i, (size_t)n, fds, fd_count);
		} else if (n >= (long)sizeof(*h) && h->op == FH_ZYGOTE_BRANCH && is_stem) {
			bool branched = on_branch(i, (size_t)n, fds, fd_count);
			fh_close_all(fds, fd_count);
			if (branched)
				run = get_ready(i, fh_warm_start.preload, true);
		} else {
			die(2); /* cannot happen: engine and library are of one build */
		}
	}
	return run;
}
