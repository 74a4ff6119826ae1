/* SPDX-License-Identifier: MIT */
/* How the engine learns that a child has ended. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cmocka.h>

#include "engine/core/children.h"

static int pidfd_of(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

static void test_a_living_child_has_not_ended(void **state)
{
	(void)state;
	siginfo_t info = { .si_code = 77 };
	struct rusage use;
	pid_t pid = fork();
	if (pid == 0)
		for (;;)
			pause();
	int pidfd = pidfd_of(pid);
	assert_false(fh_child_ended(pidfd, &info, &use));
	assert_int_equal(info.si_code, 77);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(pidfd);
}

static void test_an_end_is_told_with_its_status(void **state)
{
	(void)state;
	siginfo_t info, waited = { 0 };
	struct rusage use;
	pid_t pid = fork();
	if (pid == 0)
		_exit(7);
	int pidfd = pidfd_of(pid);
	assert_int_equal(waitid(P_PID, (id_t)pid, &waited, WEXITED | WNOWAIT), 0);
	assert_true(fh_child_ended(pidfd, &info, &use));
	assert_int_equal(info.si_code, CLD_EXITED);
	assert_int_equal(info.si_status, 7);
	assert_int_equal(waitpid(pid, NULL, WNOHANG), -1); /* it was reaped */
	close(pidfd);
}

/* Otherwise its descriptor would stay readable, and the loop would never rest. */
static void test_a_child_that_was_reaped_by_another_has_ended_killed(void **state)
{
	(void)state;
	siginfo_t info;
	struct rusage use;
	pid_t pid = fork();
	if (pid == 0)
		_exit(0);
	int pidfd = pidfd_of(pid);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_true(fh_child_ended(pidfd, &info, &use));
	assert_int_equal(info.si_code, CLD_KILLED);
	assert_int_equal(info.si_status, SIGKILL);
	close(pidfd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_living_child_has_not_ended),
		cmocka_unit_test(test_an_end_is_told_with_its_status),
		cmocka_unit_test(test_a_child_that_was_reaped_by_another_has_ended_killed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
