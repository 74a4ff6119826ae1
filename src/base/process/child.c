/* SPDX-License-Identifier: MIT */
#include "base/process/child.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/process/launcher.h"
#include "base/path.h"

#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC (1U << 2)
#endif

enum stage { STAGE_STDIO, STAGE_GROUP, STAGE_DEATH, STAGE_CWD, STAGE_EXEC, STAGE_FORK };

/* The child shares our memory and calls a dozen functions, none of them deep, on this stack. */
enum { STACK_SIZE = 64 << 10 };

struct birth {
	const struct fh_child_options *o;
	union {
		const char *const *in;
		char *const *out; /* the type that execve wants; it does not modify the strings */
	} argv, env;
	pid_t parent;
	struct fh_child_failure failure; /* written by the child, which shares our memory */
};

/* ---- between clone and exec: only system calls; memory is shared with the parent ---- */

static FH_NORETURN void child_fail(struct birth *b, enum stage stage)
{
	b->failure = (struct fh_child_failure){ .stage = (int32_t)stage, .sys = errno };
	_exit(127);
}

static void child_signals(unsigned flags)
{
	struct sigaction dfl = { .sa_handler = SIG_DFL }, ign = { .sa_handler = SIG_IGN };
	for (int sig = 1; sig < NSIG; sig++)
		sigaction(sig, &dfl, NULL);
	if (flags & FH_CHILD_IGNORES_INTERRUPT) {
		sigaction(SIGINT, &ign, NULL);
		sigaction(SIGQUIT, &ign, NULL);
	}
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Copies all sources above 2 first, so that none is overwritten before it is used. */
static bool child_stdio(const int source[3])
{
	int copy[3];
	for (int i = 0; i < 3; i++) {
		copy[i] = source[i] >= 0 ? fcntl(source[i], F_DUPFD_CLOEXEC, 3) : -1;
		/* the caller wants no descriptor here, or its own one is closed */
		if (copy[i] < 0 && (source[i] < 0 || (source[i] == i && errno == EBADF))) {
			int null = open("/dev/null", O_RDWR | O_CLOEXEC);
			copy[i] = null >= 0 ? fcntl(null, F_DUPFD_CLOEXEC, 3) : -1;
			if (null >= 0)
				close(null);
		}
		if (copy[i] < 0)
			return false;
	}
	for (int i = 0; i < 3; i++)
		if (dup2(copy[i], i) < 0)
			return false;
	return true;
}

static void child_close_others(void)
{
	if (syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC) == 0)
		return;
	/* for kernels before 5.11 */
	struct rlimit limit;
	int end = 65536;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < (rlim_t)end)
		end = (int)limit.rlim_cur;
	for (int fd = 3; fd < end; fd++)
		close(fd);
}

static int child_main(void *arg)
{
	struct birth *b = arg;
	const struct fh_child_options *o = b->o;
	child_signals(o->flags);
	if (!child_stdio(o->stdio))
		child_fail(b, STAGE_STDIO);
	child_close_others();
	if ((o->flags & FH_CHILD_SESSION) && setsid() < 0)
		child_fail(b, STAGE_GROUP);
	if ((o->flags & FH_CHILD_GROUP) && setpgid(0, 0) < 0)
		child_fail(b, STAGE_GROUP);
	if (o->flags & FH_CHILD_DIES_WITH_US) {
		if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
			child_fail(b, STAGE_DEATH);
		if (getppid() != b->parent) /* the parent died before prctl */
			_exit(127);
	}
	if (o->cwd && chdir(o->cwd) < 0)
		child_fail(b, STAGE_CWD);
	execve(o->file, b->argv.out, b->env.out);
	child_fail(b, STAGE_EXEC);
}

/* ---- parent ---- */

static int wait_pid(pid_t pid, int *ret_status)
{
	int status;
	pid_t r;
	do
		r = waitpid(pid, &status, __WALL);
	while (r < 0 && errno == EINTR);
	if (r == pid)
		*ret_status = status;
	return r == pid ? 0 : -1;
}

bool fh_child_make(const struct fh_child_options *o, pid_t *ret_pid, int *ret_pidfd, struct fh_child_failure *ret)
{
	struct birth b = { .o = o, .argv.in = o->argv, .parent = getpid(), .failure = { .stage = -1 } };
	if (o->env)
		b.env.in = o->env;
	else
		b.env.out = environ;
	fh_auto_free char *stack = malloc(STACK_SIZE);
	sigset_t all, before;
	int pidfd = -1, cancel;
	if (!stack) {
		*ret = (struct fh_child_failure){ STAGE_FORK, ENOMEM };
		return false;
	}
	/* Signals are blocked so that none of our handlers runs in the child, and the thread must not be cancelled while
	 * the child uses its memory. */
	sigfillset(&all);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pid_t pid = clone(child_main, stack + STACK_SIZE, CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, &b, &pidfd);
	int sys = errno;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_setcancelstate(cancel, NULL);
	if (pid < 0) {
		*ret = (struct fh_child_failure){ STAGE_FORK, sys };
		return false;
	}
	if (b.failure.stage >= 0) {
		int status;
		(void)wait_pid(pid, &status);
		fh_closep(&pidfd);
		*ret = b.failure;
		return false;
	}
	*ret_pid = pid;
	if (ret_pidfd)
		*ret_pidfd = pidfd;
	else
		fh_closep(&pidfd);
	return true;
}

static int start_error(const struct fh_child_options *o, struct fh_child_failure f, struct fh_error *err)
{
	if (f.stage == STAGE_CWD)
		return fh_error_sys(err, f.sys, "cannot start %s: cannot enter %s", o->file,
		                    o->cwd ? o->cwd : "the current folder");
	if (f.stage == STAGE_EXEC && f.sys == ENOENT && fh_path_exists(o->file)) {
		(void)fh_error_set(err, FH_E_NOT_FOUND, "cannot start %s: the interpreter that it names is not there", o->file);
		fh_error_hint(err, "look at its first line, or, for a binary, at the loader that `file` reports");
		return -FH_E_NOT_FOUND;
	}
	if (f.stage == STAGE_EXEC && f.sys == ENOENT)
		return fh_error_set(err, FH_E_NOT_FOUND, "cannot start %s: no such program", o->file);
	if (f.stage == STAGE_EXEC && f.sys == ENOEXEC) {
		(void)fh_error_sys(err, f.sys, "cannot start %s", o->file);
		fh_error_hint(err, "a script needs a first line such as #!/usr/bin/env python3");
		return -FH_E_SYSTEM;
	}
	return fh_error_sys(err, f.sys, "cannot start %s", o->file);
}

int fh_child_start(struct fh_child *ret, const struct fh_child_options *o, struct fh_error *err)
{
	struct fh_child c = { .watch = -1, .launched = fh_launcher_active() };
	struct fh_child_failure failure;
	if (c.launched) {
		int r = fh_launcher_make(o, &c.pid, &c.watch, &failure, err);
		if (r < 0)
			return r;
		if (!c.pid)
			return start_error(o, failure, err);
	} else if (!fh_child_make(o, &c.pid, &c.watch, &failure)) {
		return start_error(o, failure, err);
	}
	*ret = c;
	return 0;
}

/* A timeout for poll(2), rounded up, so that a wait never ends early. */
static int poll_ms(int64_t deadline)
{
	if (deadline == INT64_MAX)
		return -1;
	int64_t left = deadline - fh_now_ns();
	return left <= 0 ? 0 : (int)FH_MIN((left + FH_NS_PER_MS - 1) / FH_NS_PER_MS, (int64_t)INT_MAX);
}

static int read_status(struct fh_child *c, int *ret_status, struct fh_error *err)
{
	int32_t status = 0;
	ssize_t n;
	if (!c->launched)
		return wait_pid(c->pid, ret_status) < 0 ? fh_error_sys(err, errno, "cannot wait for process %d", (int)c->pid)
		                                        : 0;
	do
		n = recv(c->watch, &status, sizeof(status), 0);
	while (n < 0 && errno == EINTR);
	if (n != sizeof(status)) /* the launcher died; its children died too, unless they were started to live on */
		return fh_error_set(err, FH_E_SYSTEM, "the launcher ended while process %d ran", (int)c->pid);
	*ret_status = status;
	return 0;
}

int fh_child_wait(struct fh_child *c, int64_t timeout_ms, int *ret_status, struct fh_error *err)
{
	if (c->pid <= 0)
		return fh_error_set(err, FH_E_ARGUMENT, "the process was already waited for");
	int64_t deadline = timeout_ms < 0 || timeout_ms > INT64_MAX / FH_NS_PER_MS / 2
	                       ? INT64_MAX
	                       : fh_now_ns() + timeout_ms * FH_NS_PER_MS;
	struct pollfd p = { .fd = c->watch, .events = POLLIN };
	int r, status = 0;
	do
		r = poll(&p, 1, poll_ms(deadline));
	while (r < 0 && errno == EINTR);
	if (r < 0)
		return fh_error_sys(err, errno, "cannot watch process %d", (int)c->pid);
	if (r == 0)
		return fh_error_set(err, FH_E_TIMEOUT, "process %d still runs after %lld ms", (int)c->pid,
		                    (long long)timeout_ms);
	r = read_status(c, &status, err);
	fh_child_forget(c);
	if (r == 0)
		*ret_status = status;
	return r;
}

void fh_child_kill(const struct fh_child *c)
{
	if (c->pid <= 0)
		return;
	if (getpgid(c->pid) == c->pid)
		kill(-c->pid, SIGKILL);
	kill(c->pid, SIGKILL);
}

void fh_child_forget(struct fh_child *c)
{
	if (c->pid <= 0)
		return;
	fh_closep(&c->watch);
	c->watch = -1;
	c->pid = 0;
}
