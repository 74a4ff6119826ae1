/* SPDX-License-Identifier: MIT */
/*
 * The self-test. The zygote forks a child that runs a small program (selftest/) like any run, but without isolation. It
 * must print "ok" and exit with 0 within TEST_MS; otherwise the zygote does not serve, and what the program printed is
 * the reason. The program tries what a fork may have broken: imports, threads, files, timers, children, randomness.
 */
#include "warm.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

enum { TEST_MS = 20000 }; /* less than the engine waits (FH_TEMPLATE_MAKING_MS), so that the engine gets the reason */

static const struct fh_warm_run *as_test(const struct fh_warm_interpreter *i, int program, int input, int output)
{
	static struct fh_warm_run run;
	static char main[64], why[FH_ZYGOTE_WHY_MAX];
	fh_sys(__NR_setsid);
	fh_sys(__NR_dup3, input, 0, 0);
	fh_sys(__NR_dup3, output, 1, 0);
	fh_sys(__NR_dup3, output, 2, 0);
	fh_sys(__NR_close, fh_warm_start.socket);
	fh_text_set(main, sizeof(main), "/proc/self/fd/");
	fh_text_add_number(main, sizeof(main), (uint64_t)program);
	run.cwd = ".";
	run.argv = fh_warm_start.argv;
	run.argc = fh_warm_start.argc;
	run.env = fh_warm_start.env;
	run.env_count = fh_warm_start.env_count;
	run.self_test = true;
	run.main = main;
	if (!fh_warm_forked(i, -1))
		fh_text_set(why, sizeof(why), "what it holds cannot be made anew");
	if (why[0] || !fh_warm_become(i, &run, why)) {
		fh_write_full(1, why, strlen(why));
		fh_sys(__NR_exit_group, 1);
	}
	return &run;
}

/* Reads until end of file; false: not reached in time. */
static bool read_within(int fd, char *text, size_t size)
{
	struct {
		int64_t s, ns;
	} now;
	int64_t until = 0;
	size_t have = 0;
	for (;;) {
		fh_sys(__NR_clock_gettime, 1 /* CLOCK_MONOTONIC */, &now);
		int64_t ms = now.s * 1000 + now.ns / 1000000;
		until = until ? until : ms + TEST_MS;
		struct pollfd p = { .fd = fd, .events = POLLIN };
		struct {
			int64_t s, ns;
		} wait = { (until - ms) / 1000, (until - ms) % 1000 * 1000000 };
		long r = ms >= until ? 0 : fh_sys(__NR_ppoll, &p, 1, &wait, 0, 0);
		if (r == -EINTR)
			continue;
		if (r <= 0)
			return false;
		char part[256];
		long n = fh_sys(__NR_read, fd, part, sizeof(part));
		if (n == -EINTR)
			continue;
		if (n <= 0) {
			text[have] = 0;
			return true;
		}
		for (long k = 0; k < n && have + 1 < size; k++)
			text[have++] = part[k];
		text[have] = 0;
	}
}

const struct fh_warm_run *fh_warm_self_test(const struct fh_warm_interpreter *i, char *why)
{
	int out[2], in[2], status = -1;
	char text[FH_ZYGOTE_WHY_MAX - 64] = "";
	if (!i->self_test)
		return NULL;
	long program = fh_sys(__NR_memfd_create, "self-test", 0);
	if (program < 0 || fh_write_full((int)program, i->self_test, *i->self_test_size) < 0 ||
	    fh_sys(__NR_lseek, program, 0, 0) < 0 || fh_sys(__NR_pipe2, out, O_CLOEXEC) < 0 ||
	    fh_sys(__NR_pipe2, in, O_CLOEXEC) < 0) {
		fh_text_set(why, FH_ZYGOTE_WHY_MAX, "the self-test cannot be started");
		return NULL;
	}
	fh_atfork_prepare();
	if (i->before_fork)
		i->before_fork();
	long pid = fh_warm_fork(i, 0, -1, NULL, NULL);
	if (pid == 0)
		return as_test(i, (int)program, in[0], out[1]);
	if (i->after_fork)
		i->after_fork();
	fh_atfork_parent();
	fh_sys(__NR_close, out[1]);
	fh_sys(__NR_close, in[0]);
	fh_sys(__NR_close, in[1]);
	bool in_time = pid > 0 && read_within(out[0], text, sizeof(text));
	if (pid > 0 && !in_time)
		fh_sys(__NR_kill, -pid, SIGKILL);
	if (pid > 0 && !in_time)
		fh_sys(__NR_kill, pid, SIGKILL);
	while (pid > 0 && fh_sys(__NR_wait4, pid, &status, __WALL, 0) == -EINTR)
		;
	fh_sys(__NR_close, out[0]);
	fh_sys(__NR_close, program);
	if (in_time && status == 0 && fh_text_equal(text, "ok\n"))
		return NULL;
	fh_text_set(why, FH_ZYGOTE_WHY_MAX,
	            in_time ? "the self-test in a forked child failed: "
	                    : "the self-test in a forked child did not end in time: ");
	if (in_time) {
		fh_text_add(why, FH_ZYGOTE_WHY_MAX, status & 0x7f ? "signal " : "exit status ");
		fh_text_add_number(why, FH_ZYGOTE_WHY_MAX, (uint64_t)(status & 0x7f ? status & 0x7f : status >> 8 & 0xff));
		fh_text_add(why, FH_ZYGOTE_WHY_MAX, ", ");
	}
	fh_text_add(why, FH_ZYGOTE_WHY_MAX, text);
	return NULL;
}
