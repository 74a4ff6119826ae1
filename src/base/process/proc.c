/* SPDX-License-Identifier: MIT */
#include "base/process/proc.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

/* Makes the pipes that the options ask for; the child's ends go to `source` and `theirs`, ours to `ours`. */
static int make_pipes(const struct fh_proc_options *o, int source[3], int ours[3], int theirs[3], struct fh_error *err)
{
	for (int i = 0; i < 3; i++) {
		int pair[2];
		source[i] = o->stdio[i] == FH_STDIO_INHERIT ? i : o->stdio[i] == FH_STDIO_FD ? o->stdio_fd[i] : -1;
		if (o->stdio[i] != FH_STDIO_PIPE)
			continue;
		if (pipe2(pair, O_CLOEXEC) < 0)
			return fh_error_sys(err, errno, "cannot start %s: pipe", o->argv[0]);
		ours[i] = pair[i == 0 ? 1 : 0];
		theirs[i] = source[i] = pair[i == 0 ? 0 : 1];
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
	fh_auto_free char *file =
	    strchr(o->argv[0], '/') ? fh_xstrdup(o->argv[0]) : fh_path_which(o->argv[0], getenv("PATH"));
	if (!file) {
		fh_error_set(err, FH_E_NOT_FOUND, "cannot start %s: no such program on PATH", o->argv[0]);
		return -FH_E_NOT_FOUND;
	}
	auto_three int ours[3] = { -1, -1, -1 };
	auto_three int theirs[3] = { -1, -1, -1 };
	struct fh_child_options c = {
		.file = file,
		.argv = o->argv,
		.env = o->env,
		.cwd = o->cwd,
		.flags = FH_CHILD_DIES_WITH_US | (o->own_group ? FH_CHILD_GROUP : 0),
	};
	int r = make_pipes(o, c.stdio, ours, theirs, err);
	if (r < 0)
		return r;
	struct fh_child child;
	r = fh_child_start(&child, &c, err);
	if (r < 0)
		return r;
	*p = (struct fh_proc){
		.pid = child.pid,
		.stdio = { FH_TAKE_FD(ours[0]), FH_TAKE_FD(ours[1]), FH_TAKE_FD(ours[2]) },
		.child = child,
	};
	return 0;
}

static int64_t deadline_of(int64_t timeout_ms)
{
	return timeout_ms < 0 || timeout_ms > INT64_MAX / FH_NS_PER_MS / 2 ? INT64_MAX
	                                                                   : fh_now_ns() + timeout_ms * FH_NS_PER_MS;
}

/* A timeout for poll(2), rounded up, so that a wait never ends early. */
static int poll_ms(int64_t deadline)
{
	if (deadline == INT64_MAX)
		return -1;
	int64_t left = deadline - fh_now_ns();
	return left <= 0 ? 0 : (int)FH_MIN((left + FH_NS_PER_MS - 1) / FH_NS_PER_MS, (int64_t)INT_MAX);
}

int fh_proc_wait(struct fh_proc *p, int64_t timeout_ms, int *ret_status, struct fh_error *err)
{
	int r = fh_child_wait(&p->child, timeout_ms, ret_status, err);
	p->pid = p->child.pid;
	return r;
}

static void kill_and_reap(struct fh_proc *p)
{
	int status;
	if (p->pid <= 0)
		return;
	fh_child_kill(&p->child);
	(void)fh_proc_wait(p, -1, &status, NULL);
}

void fh_proc_release(struct fh_proc *p)
{
	kill_and_reap(p);
	for (int i = 0; i < 3; i++) {
		fh_closep(&p->stdio[i]);
		p->stdio[i] = -1;
	}
}

/* ---- running to the end ---- */

struct run {
	struct fh_proc proc;
	struct fh_str input;
	struct fh_buf *collect[3]; /* [0] is unused */
};

static void run_release(struct run *run)
{
	fh_proc_release(&run->proc);
}

static void run_close(struct run *run, int i)
{
	close(FH_TAKE_FD(run->proc.stdio[i]));
}

/* Writes input. A program that closes its stdin ends the writing, not the run. */
static void run_feed(struct run *run)
{
	ssize_t n = write(run->proc.stdio[0], run->input.p, FH_MIN(run->input.n, (size_t)65536));
	if (n > 0)
		run->input.p += n, run->input.n -= (size_t)n;
	if (run->input.n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		run_close(run, 0);
}

/* Reads available output; *ret_more is false if there is none at the moment. More stdout than its maximum is an error,
 * because a truncated answer is useless; of stderr the beginning is kept. */
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

/* The program has ended, and its output is in the pipes. A descendant that holds them open is not waited for. */
static int run_drain(struct run *run, const struct fh_proc_options *o, struct fh_error *err)
{
	for (int i = 1; i < 3; i++) {
		bool more = run->proc.stdio[i] >= 0;
		/* twice the largest pipe, so that a descendant that goes on writing is not read without end */
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
		struct pollfd fds[4] = { { .fd = run->proc.child.watch, .events = POLLIN } };
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
				fh_child_kill(&run->proc.child);
			return run_drain(run, o, err);
		}
	}
}

int fh_proc_run(const struct fh_proc_options *o, struct fh_str input, int64_t timeout_ms, struct fh_buf *out,
                struct fh_buf *errout, int *ret_status, struct fh_error *err)
{
	struct fh_proc_options options = *o;
	FH_CLEANUP(run_release)
	struct run run = { .proc = { .stdio = { -1, -1, -1 } }, .input = input, .collect = { NULL, out, errout } };
	bool piped[3] = { input.n > 0, out != NULL, errout != NULL };
	for (int i = 0; i < 3; i++)
		options.stdio[i] = piped[i] ? FH_STDIO_PIPE : o->stdio[i] == FH_STDIO_PIPE ? FH_STDIO_NULL : o->stdio[i];
	int r = fh_proc_start(&run.proc, &options, err);
	if (r < 0)
		return r;
	for (int i = 0; i < 3; i++)
		if (run.proc.stdio[i] >= 0 && fh_set_nonblock(run.proc.stdio[i], true) < 0)
			return fh_error_sys(err, errno, "cannot watch %s", o->argv[0]);
	struct fh_sigpipe_guard guard;
	fh_sigpipe_block(&guard);
	r = run_loop(&run, o, timeout_ms, err);
	fh_sigpipe_restore(&guard);
	if (r < 0)
		return r;
	return fh_proc_wait(&run.proc, -1, ret_status, err);
}
