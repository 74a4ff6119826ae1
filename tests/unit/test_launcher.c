/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/process/child.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/process/launcher.h"
#include "base/process/proc.h"

static const char *const clean_env[] = { "PATH=/usr/bin:/bin", "LC_ALL=C", NULL };

/* The launcher changes its process for good: each test runs in a process of its own and says 0 for "as it should". */
static int in_process(int (*body)(void))
{
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		alarm(30);
		_exit(body());
	}
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* Line `key` of /proc/self/status, without it. */
static bool status_line(const char *key, char *ret, size_t size)
{
	FILE *f = fopen("/proc/self/status", "re");
	char line[256];
	bool found = false;
	while (f && !found && fgets(line, sizeof(line), f))
		if (strncmp(line, key, strlen(key)) == 0) {
			snprintf(ret, size, "%s", line + strlen(key));
			found = true;
		}
	if (f)
		fclose(f);
	return found;
}

static int run_shell(const char *script, const char *cwd, struct fh_buf *out, int *ret_status)
{
	const char *const argv[] = { "/bin/sh", "-c", script, NULL };
	struct fh_proc_options o = { .argv = argv, .env = clean_env, .cwd = cwd };
	struct fh_error err = FH_ERROR_INIT;
	int r = fh_proc_run(&o, fh_str(""), 10000, out, NULL, ret_status, &err);
	if (r < 0)
		fprintf(stderr, "%s\n", err.message);
	return r;
}

static int drops_and_keeps(void)
{
	char before[256], after[256];
	struct fh_error err = FH_ERROR_INIT;
	if (!status_line("CapPrm:", before, sizeof(before)))
		return 10;
	if (fh_launcher_start(&err) < 0 || !fh_launcher_active())
		return 11;
	if (!status_line("CapPrm:", after, sizeof(after)) || strtoull(after, NULL, 16) != 0)
		return 12;
	if (!status_line("CapEff:", after, sizeof(after)) || strtoull(after, NULL, 16) != 0)
		return 13;
	if (!status_line("NoNewPrivs:", after, sizeof(after)) || atoi(after) != 0)
		return 14;
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(1 << 16);
	int status;
	if (run_shell("grep ^CapPrm: /proc/self/status | cut -f2", NULL, &out, &status) < 0 || status != 0)
		return 15;
	return strtoull(fh_buf_cstr(&out), NULL, 16) == strtoull(before, NULL, 16) ? 0 : 16;
}

static int carries_all(void)
{
	int status;
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(1 << 16);
	if (fh_launcher_start(NULL) < 0 || chdir("/usr") < 0)
		return 10;
	if (run_shell("pwd; echo $PATH; ls /proc/self/fd | wc -l; exit 7", "lib", &out, &status) < 0)
		return 11;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 7)
		return 12;
	/* ls has 0, 1, 2 and the folder that it reads */
	if (strcmp(fh_buf_cstr(&out), "/usr/lib\n/usr/bin:/bin\n4\n") != 0)
		return 13;
	if (run_shell("kill -TERM $$", NULL, &out, &status) < 0)
		return 14;
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM ? 0 : 15;
}

static int says_what_is_missing(void)
{
	const char *const argv[] = { "/no/such/program", NULL };
	struct fh_child_options o = { .file = argv[0], .argv = argv, .stdio = { -1, -1, -1 } };
	struct fh_child c;
	struct fh_error err = FH_ERROR_INIT;
	if (fh_launcher_start(NULL) < 0)
		return 10;
	if (fh_child_start(&c, &o, &err) != -FH_E_NOT_FOUND)
		return 11;
	return strstr(err.message, "/no/such/program") ? 0 : 12;
}

static int kills_and_times_out(void)
{
	const char *const argv[] = { "/bin/sleep", "60", NULL };
	struct fh_child_options o = { .file = argv[0], .argv = argv, .stdio = { -1, -1, -1 }, .flags = FH_CHILD_GROUP };
	struct fh_child c;
	int status;
	if (fh_launcher_start(NULL) < 0 || fh_child_start(&c, &o, NULL) < 0)
		return 10;
	if (fh_child_wait(&c, 20, &status, NULL) != -FH_E_TIMEOUT)
		return 11;
	fh_child_kill(&c);
	if (fh_child_wait(&c, 10000, &status, NULL) < 0)
		return 12;
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && c.pid == 0 ? 0 : 13;
}

static int ends_unused(void)
{
	int status;
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(1 << 16);
	if (fh_launcher_start(NULL) < 0)
		return 10;
	fh_launcher_end_unused();
	if (waitpid(-1, &status, 0) <= 0 || !WIFEXITED(status))
		return 11;
	/* and nothing is started without it: that would run without capabilities */
	return run_shell("exit 0", NULL, &out, &status) < 0 ? 0 : 12;
}

static int stays_when_used(void)
{
	int status;
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(1 << 16);
	if (fh_launcher_start(NULL) < 0 || run_shell("exit 3", NULL, &out, &status) < 0)
		return 10;
	fh_launcher_end_unused();
	if (run_shell("exit 4", NULL, &out, &status) < 0)
		return 11;
	return WIFEXITED(status) && WEXITSTATUS(status) == 4 ? 0 : 12;
}

/* Starts one child that is to die with its parent and one that lives on, prints their pids, and ends. */
static pid_t bound_and_free[2];
static int report_fd;
static int leaves_two(void)
{
	const char *const argv[] = { "/bin/sleep", "60", NULL };
	struct fh_child_options o = { .file = argv[0], .argv = argv, .stdio = { -1, -1, -1 } };
	struct fh_child free_one, bound;
	if (fh_launcher_start(NULL) < 0 || fh_child_start(&free_one, &o, NULL) < 0)
		return 10;
	o.flags = FH_CHILD_DIES_WITH_US;
	if (fh_child_start(&bound, &o, NULL) < 0)
		return 11;
	pid_t pids[2] = { bound.pid, free_one.pid };
	return fh_write_all(report_fd, pids, sizeof(pids)) < 0 ? 12 : 0;
}

static void root_only(void)
{
	char caps[256];
	if (getuid() != 0 || !status_line("CapPrm:", caps, sizeof(caps)) || !strtoull(caps, NULL, 16)) {
		print_message("needs root with capabilities\n");
		skip();
	}
}

static void test_capabilities_are_dropped_here_and_kept_there(void **state)
{
	(void)state;
	root_only();
	assert_int_equal(in_process(drops_and_keeps), 0);
}

static void test_everything_reaches_the_child(void **state)
{
	(void)state;
	root_only();
	assert_int_equal(in_process(carries_all), 0);
}

static void test_a_missing_program_is_named(void **state)
{
	(void)state;
	root_only();
	assert_int_equal(in_process(says_what_is_missing), 0);
}

static void test_a_child_is_killed_and_waited_for(void **state)
{
	(void)state;
	root_only();
	assert_int_equal(in_process(kills_and_times_out), 0);
}

static void test_children_die_with_us_when_asked(void **state)
{
	(void)state;
	int pipes[2];
	root_only();
	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	report_fd = pipes[1];
	assert_int_equal(in_process(leaves_two), 0);
	assert_int_equal(read(pipes[0], bound_and_free, sizeof(bound_and_free)), sizeof(bound_and_free));
	close(pipes[0]);
	close(pipes[1]);
	bool gone = false;
	for (int i = 0; i < 1000 && !gone; i++) {
		char path[64], text[512] = "";
		snprintf(path, sizeof(path), "/proc/%d/stat", (int)bound_and_free[0]);
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd >= 0 && read(fd, text, sizeof(text) - 1) < 0)
			text[0] = 0;
		gone = fd < 0 || strstr(text, ") Z ");
		if (fd >= 0)
			close(fd);
		fh_sleep_ns(10 * FH_NS_PER_MS);
	}
	assert_true(gone);
	assert_int_equal(kill(bound_and_free[1], 0), 0);
	kill(bound_and_free[1], SIGKILL);
}

static void test_a_launcher_ends_early_only_unused(void **state)
{
	(void)state;
	root_only();
	assert_int_equal(in_process(ends_unused), 0);
	assert_int_equal(in_process(stays_when_used), 0);
}

static void test_the_same_calls_hold_without_a_launcher(void **state)
{
	(void)state;
	const char *const argv[] = { "/bin/sh", "-c", "exit 3", NULL };
	struct fh_child_options o = { .file = argv[0], .argv = argv, .env = clean_env, .stdio = { -1, -1, -1 } };
	struct fh_child c;
	int status;
	assert_false(fh_launcher_active());
	assert_int_equal(fh_child_start(&c, &o, NULL), 0);
	assert_int_equal(fh_child_wait(&c, 10000, &status, NULL), 0);
	assert_int_equal(WEXITSTATUS(status), 3);
	assert_int_equal(fh_child_wait(&c, 0, &status, NULL), -FH_E_ARGUMENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_same_calls_hold_without_a_launcher),
		cmocka_unit_test(test_capabilities_are_dropped_here_and_kept_there),
		cmocka_unit_test(test_everything_reaches_the_child),
		cmocka_unit_test(test_a_missing_program_is_named),
		cmocka_unit_test(test_a_child_is_killed_and_waited_for),
		cmocka_unit_test(test_children_die_with_us_when_asked),
		cmocka_unit_test(test_a_launcher_ends_early_only_unused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
