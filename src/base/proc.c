/* SPDX-License-Identifier: MIT */
#include "base/proc.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC (1U << 2)
#endif

enum stage { STAGE_STDIO, STAGE_GROUP, STAGE_DEATH, STAGE_CWD, STAGE_EXEC };

/* What the child says when it could not become the program. */
struct failure {
	int32_t stage, sys;
};

/* Everything the child needs, made before the fork. */
struct child {
	const char *file;
	char *const *argv;
	char *const *env;
	const char *cwd;
	int source[3]; /* the descriptor to become 0, 1, 2; -1: /dev/null */
	int report;    /* write end of the pipe that exec closes */
	pid_t parent;
	bool own_group;
};

/* ---- between fork and exec: async-signal-safe calls only ---- */

static FH_NORETURN void child_fail(int report, enum stage stage)
{
	struct failure f = { .stage = (int32_t)stage, .sys = errno };
	ssize_t ignored = write(report, &f, sizeof(f));
	(void)ignored;
	_exit(127);
}

static void child_signals(void)
{
	struct sigaction dfl = { .sa_handler = SIG_DFL };
	for (int sig = 1; sig < NSIG; sig++)
		sigaction(sig, &dfl, NULL);
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* All sources are first copied above 2, so that none is overwritten before its turn. */
static bool child_stdio(int source[3])
{
	int copy[3];
	for (int i = 0; i < 3; i++) {
		copy[i] = source[i] >= 0 ? fcntl(source[i], F_DUPFD_CLOEXEC, 3) : -1;
		/* No descriptor to inherit, or none wanted. */
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

static void child_close_others(int report)
{
	if (syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC) == 0)
		return;
	/* A kernel before 5.11. */
	struct rlimit limit;
	int end = 65536;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < (rlim_t)end)
		end = (int)limit.rlim_cur;
	for (int fd = 3; fd < end; fd++)
		if (fd != report)
			close(fd);
}

static FH_NORETURN void child_main(struct child *c)
{
	child_signals();
	int report = fcntl(c->report, F_DUPFD_CLOEXEC, 3);
	if (report < 0)
		_exit(127);
	if (!child_stdio(c->source))
		child_fail(report, STAGE_STDIO);
	child_close_others(report);
	if (c->own_group && setpgid(0, 0) < 0)
		child_fail(report, STAGE_GROUP);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		child_fail(report, STAGE_DEATH);
	/* The parent may have died before the line above. */
	if (getppid() != c->parent)
		_exit(127);
	if (c->cwd && chdir(c->cwd) < 0)
		child_fail(report, STAGE_CWD);
	execve(c->file, c->argv, c->env);
	child_fail(report, STAGE_EXEC);
}

/* ---- parent ---- */

static void close_pair(int (*pair)[2])
{
	fh_closep(&(*pair)[0]);
	fh_closep(&(*pair)[1]);
}
#define auto_pair FH_CLEANUP(close_pair)

static int start_error(const struct fh_proc_options *o, const char *file, struct failure f, struct fh_error *err)
{
	if (f.stage == STAGE_CWD)
		return fh_error_sys(err, f.sys, "cannot start %s: cannot enter %s", file, o->cwd);
	if (f.stage == STAGE_EXEC && f.sys == ENOENT && fh_path_exists(file)) {
		fh_error_set(err, FH_E_NOT_FOUND, "cannot start %s: the interpreter that it names is not there", file);
		fh_error_hint(err, "look at its first line, or, for a binary, at the loader that `file` reports");
		return -FH_E_NOT_FOUND;
	}
	if (f.stage == STAGE_EXEC && f.sys == ENOENT)
		return fh_error_set(err, FH_E_NOT_FOUND, "cannot start %s: no such program", file);
	if (f.stage == STAGE_EXEC && f.sys == ENOEXEC) {
		fh_error_sys(err, f.sys, "cannot start %s", file);
		fh_error_hint(err, "a script needs a first line such as #!/usr/bin/env python3");
		return -FH_E_SYSTEM;
	}
	return fh_error_sys(err, f.sys, "cannot start %s", file);
}

/* Forks with every signal blocked, so that no handler of ours runs in the child. */
static pid_t fork_child(struct child *c)
{
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pid_t pid = fork();
	if (pid == 0)
		child_main(c);
	int sys = errno;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = sys;
	return pid;
}

/* 0 when the exec went through; otherwise the child is reaped and *ret_failure says why. */
static int read_report(int fd, pid_t pid, struct failure *ret_failure)
{
	struct failure f;
	ssize_t n;
	do
		n = read(fd, &f, sizeof(f));
	while (n < 0 && errno == EINTR);
	if (n == 0)
		return 0;
	if (n != sizeof(f))
		f = (struct failure){ .stage = STAGE_STDIO, .sys = n < 0 ? errno : EIO };
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	*ret_failure = f;
	return -1;
}

/* Makes the pipes that the options ask for: *theirs* into c->source, *ours* into ours. */
static int make_pipes(const struct fh_proc_options *o, struct child *c, int ours[3], int theirs[3],
                      struct fh_error *err)
{
	for (int i = 0; i < 3; i++) {
		int pair[2];
		c->source[i] = o->stdio[i] == FH_STDIO_INHERIT ? i : o->stdio[i] == FH_STDIO_FD ? o->stdio_fd[i] : -1;
		if (o->stdio[i] != FH_STDIO_PIPE)
			continue;
		if (pipe2(pair, O_CLOEXEC) < 0)
			return fh_error_sys(err, errno, "cannot start %s: pipe", o->argv[0]);
		ours[i] = pair[i == 0 ? 1 : 0];
		theirs[i] = c->source[i] = pair[i == 0 ? 0 : 1];
	}
	return 0;
}

static void close_three(int (*fds)[3])
{
	for (int i = 0; i < 3; i++)
		fh_closep(&(*fds)[i]);
}
#define auto_three FH_CLEANUP(close_three)

int fh_proc_start(struct fh_proc *p, const struct fh_proc_options *o, struct fh_error *err)
{
	union {
		const char *const *in;
		char *const *out; /* execve's prototype; it changes nothing */
	} argv = { .in = o->argv }, env = { .in = o->env };
	fh_auto_free char *file =
	    strchr(o->argv[0], '/') ? fh_xstrdup(o->argv[0]) : fh_path_which(o->argv[0], getenv("PATH"));
	if (!file) {
		fh_error_set(err, FH_E_NOT_FOUND, "cannot start %s: no such program on PATH", o->argv[0]);
		return -FH_E_NOT_FOUND;
	}
	auto_three int ours[3] = { -1, -1, -1 };
	auto_three int theirs[3] = { -1, -1, -1 };
	auto_pair int report[2] = { -1, -1 };
	struct child c = {
		.file = file,
		.argv = argv.out,
		.env = o->env ? env.out : environ,
		.cwd = o->cwd,
		.parent = getpid(),
		.own_group = o->own_group,
	};
	int r = make_pipes(o, &c, ours, theirs, err);
	if (r < 0)
		return r;
	if (pipe2(report, O_CLOEXEC) < 0)
		return fh_error_sys(err, errno, "cannot start %s: pipe", file);
	c.report = report[1];
	pid_t pid = fork_child(&c);
	if (pid < 0)
		return fh_error_sys(err, errno, "cannot start %s: fork", file);
	close(FH_TAKE_FD(report[1]));
	struct failure failure;
	if (read_report(report[0], pid, &failure) < 0)
		return start_error(o, file, failure, err);
	*p = (struct fh_proc){ .pid = pid, .stdio = { FH_TAKE_FD(ours[0]), FH_TAKE_FD(ours[1]), FH_TAKE_FD(ours[2]) } };
	return 0;
}

static int64_t deadline_of(int64_t timeout_ms)
{
	return timeout_ms < 0 || timeout_ms > INT64_MAX / FH_NS_PER_MS / 2 ? INT64_MAX
	                                                                   : fh_now_ns() + timeout_ms * FH_NS_PER_MS;
}

/* What poll wants: rounded up, so that a wait never ends before its time. */
static int poll_ms(int64_t deadline)
{
	if (deadline == INT64_MAX)
		return -1;
	int64_t left = deadline - fh_now_ns();
	return left <= 0 ? 0 : (int)FH_MIN((left + FH_NS_PER_MS - 1) / FH_NS_PER_MS, (int64_t)INT_MAX);
}

static int reap(struct fh_proc *p, int *ret_status, struct fh_error *err)
{
	int status;
	pid_t r;
	do
		r = waitpid(p->pid, &status, 0);
	while (r < 0 && errno == EINTR);
	if (r < 0)
		return fh_error_sys(err, errno, "cannot wait for process %d", (int)p->pid);
	p->pid = 0;
	*ret_status = status;
	return 0;
}

int fh_proc_wait(struct fh_proc *p, int64_t timeout_ms, int *ret_status, struct fh_error *err)
{
	if (p->pid <= 0)
		return fh_error_set(err, FH_E_ARGUMENT, "the process was already waited for");
	if (timeout_ms >= 0) {
		int64_t deadline = deadline_of(timeout_ms);
		fh_auto_close int pidfd = pidfd_open(p->pid, 0);
		if (pidfd < 0)
			return fh_error_sys(err, errno, "cannot watch process %d", (int)p->pid);
		struct pollfd poller = { .fd = pidfd, .events = POLLIN };
		int r;
		do
			r = poll(&poller, 1, poll_ms(deadline));
		while (r < 0 && errno == EINTR);
		if (r < 0)
			return fh_error_sys(err, errno, "cannot watch process %d", (int)p->pid);
		if (r == 0)
			return fh_error_set(err, FH_E_TIMEOUT, "process %d still runs after %lld ms", (int)p->pid,
			                    (long long)timeout_ms);
	}
	return reap(p, ret_status, err);
}

/* Before the process is reaped its id cannot be anyone else's, nor can that of the group it leads. */
static void kill_tree(const struct fh_proc *p)
{
	if (getpgid(p->pid) == p->pid)
		kill(-p->pid, SIGKILL);
	kill(p->pid, SIGKILL);
}

void fh_proc_kill(struct fh_proc *p)
{
	if (p->pid <= 0)
		return;
	kill_tree(p);
	int status;
	if (reap(p, &status, NULL) < 0)
		p->pid = 0;
}

void fh_proc_release(struct fh_proc *p)
{
	fh_proc_kill(p);
	for (int i = 0; i < 3; i++) {
		fh_closep(&p->stdio[i]);
		p->stdio[i] = -1;
	}
}

/* ---- running to the end ---- */

struct run {
	struct fh_proc proc;
	int pidfd;
	struct fh_str input;
	struct fh_buf *collect[3]; /* [0] is unused */
};

static void run_release(struct run *run)
{
	fh_proc_release(&run->proc);
	fh_closep(&run->pidfd);
}

static void run_close(struct run *run, int i)
{
	close(FH_TAKE_FD(run->proc.stdio[i]));
}

/* A program need not read its input: a closed pipe ends the feeding, not the run. */
static void run_feed(struct run *run)
{
	ssize_t n = write(run->proc.stdio[0], run->input.p, FH_MIN(run->input.n, (size_t)65536));
	if (n > 0)
		run->input.p += n, run->input.n -= (size_t)n;
	if (run->input.n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		run_close(run, 0);
}

/* Reads what is there: false when nothing is (yet). stdout beyond its maximum is an error, since half an answer is
 * none; of stderr the start is kept. */
static int run_collect(struct run *run, int i, bool *ret_more)
{
	char chunk[16384];
	struct fh_buf *to = run->collect[i];
	ssize_t n = read(run->proc.stdio[i], chunk, sizeof(chunk));
	*ret_more = n > 0 || (n < 0 && errno == EINTR);
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		run_close(run, i);
	if (n <= 0)
		return 0;
	size_t room = (to->max ? to->max : FH_BUF_DEFAULT_MAX) - to->n;
	fh_buf_add(to, chunk, FH_MIN((size_t)n, room));
	if ((size_t)n <= room)
		return 0;
	to->overflowed = true;
	return i == 1 ? -FH_E_LIMIT : 0;
}

static int run_limit(const struct run *run, const struct fh_proc_options *o, struct fh_error *err)
{
	const struct fh_buf *out = run->collect[1];
	return fh_error_set(err, FH_E_LIMIT, "%s wrote more than %zu bytes", o->argv[0],
	                    out->max ? out->max : FH_BUF_DEFAULT_MAX);
}

/* The program has ended: what it wrote is in the pipes already. A descendant that holds them open is not waited for. */
static int run_drain(struct run *run, const struct fh_proc_options *o, struct fh_error *err)
{
	for (int i = 1; i < 3; i++) {
		bool more = run->proc.stdio[i] >= 0;
		/* Twice the largest pipe: what a descendant goes on writing is not followed for ever. */
		for (size_t budget = 128; more && budget > 0; budget--) {
			if (run_collect(run, i, &more) < 0)
				return run_limit(run, o, err);
			more = more && run->proc.stdio[i] >= 0;
		}
	}
	return 0;
}

static int run_loop(struct run *run, const struct fh_proc_options *o, int64_t timeout_ms, struct fh_error *err)
{
	int64_t deadline = deadline_of(timeout_ms);
	for (;;) {
		struct pollfd fds[4] = { { .fd = run->pidfd, .events = POLLIN } };
		for (int i = 0; i < 3; i++)
			fds[1 + i] = (struct pollfd){ .fd = run->proc.stdio[i], .events = i == 0 ? POLLOUT : POLLIN };
		int r = poll(fds, 4, poll_ms(deadline));
		if (r < 0 && errno != EINTR)
			return fh_error_sys(err, errno, "cannot watch %s", o->argv[0]);
		if (r == 0)
			return fh_error_set(err, FH_E_TIMEOUT, "%s did not end within %lld ms", o->argv[0], (long long)timeout_ms);
		if (r < 0)
			continue;
		if (fds[1].revents)
			run_feed(run);
		for (int i = 1; i < 3; i++) {
			bool more;
			if (fds[1 + i].revents && run_collect(run, i, &more) < 0)
				return run_limit(run, o, err);
		}
		if (fds[0].revents) {
			if (o->own_group)
				kill_tree(&run->proc);
			return run_drain(run, o, err);
		}
	}
}

/* SIGPIPE belongs to the process: it is blocked for this thread, and one that we caused is taken back. */
struct sigpipe_guard {
	sigset_t before;
	bool was_pending;
};

static void sigpipe_block(struct sigpipe_guard *g)
{
	sigset_t pipe_only, pending;
	sigemptyset(&pipe_only);
	sigaddset(&pipe_only, SIGPIPE);
	sigpending(&pending);
	g->was_pending = sigismember(&pending, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &pipe_only, &g->before);
}

static void sigpipe_restore(struct sigpipe_guard *g)
{
	sigset_t pipe_only;
	struct timespec now = { 0 };
	sigemptyset(&pipe_only);
	sigaddset(&pipe_only, SIGPIPE);
	if (!g->was_pending)
		while (sigtimedwait(&pipe_only, NULL, &now) < 0 && errno == EINTR)
			;
	pthread_sigmask(SIG_SETMASK, &g->before, NULL);
}

int fh_proc_run(const struct fh_proc_options *o, struct fh_str input, int64_t timeout_ms, struct fh_buf *out,
                struct fh_buf *errout, int *ret_status, struct fh_error *err)
{
	struct fh_proc_options options = *o;
	FH_CLEANUP(run_release)
	struct run run = {
		.proc = { .stdio = { -1, -1, -1 } }, .pidfd = -1, .input = input, .collect = { NULL, out, errout }
	};
	bool piped[3] = { input.n > 0, out != NULL, errout != NULL };
	for (int i = 0; i < 3; i++)
		options.stdio[i] = piped[i] ? FH_STDIO_PIPE : o->stdio[i] == FH_STDIO_PIPE ? FH_STDIO_NULL : o->stdio[i];
	int r = fh_proc_start(&run.proc, &options, err);
	if (r < 0)
		return r;
	run.pidfd = pidfd_open(run.proc.pid, 0);
	if (run.pidfd < 0)
		return fh_error_sys(err, errno, "cannot watch %s", o->argv[0]);
	for (int i = 0; i < 3; i++)
		if (run.proc.stdio[i] >= 0 && fh_set_nonblock(run.proc.stdio[i], true) < 0)
			return fh_error_sys(err, errno, "cannot watch %s", o->argv[0]);
	struct sigpipe_guard guard;
	sigpipe_block(&guard);
	r = run_loop(&run, o, timeout_ms, err);
	sigpipe_restore(&guard);
	if (r < 0)
		return r;
	return reap(&run.proc, ret_status, err);
}
