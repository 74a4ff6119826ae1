/* SPDX-License-Identifier: MIT */
/* How the engine lists the descriptors of a zygote. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "engine/warm/own.h"

enum { CLOSED = 40 };

/* A process with many descriptors, which closes most of them once it is told to. */
static pid_t closing(int *ret_tell)
{
	int tell[2], opened[CLOSED];
	assert_int_equal(pipe2(tell, O_CLOEXEC), 0);
	pid_t pid = fork();
	if (pid == 0) {
		char byte;
		for (int i = 0; i < CLOSED; i++)
			opened[i] = dup(0);
		ssize_t told = read(tell[0], &byte, 1);
		for (int i = 0; told == 1 && i < CLOSED; i++)
			close(opened[i]);
		pause();
	}
	close(tell[0]);
	*ret_tell = tell[1];
	return pid;
}

/* A zygote closes what it has sent with its message, while the engine, which has the message, looks. */
static void test_a_descriptor_that_is_closed_meanwhile_is_no_fault(void **state)
{
	(void)state;
	for (int i = 0; i < 100; i++) {
		int tell;
		struct fh_held held;
		pid_t pid = closing(&tell);
		assert_int_equal(write(tell, "", 1), 1);
		for (int k = 0; k < 8; k++)
			assert_true(fh_held_read(pid, &held));
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		close(tell);
	}
}

static void test_more_descriptors_than_can_be_compared_are_one(void **state)
{
	(void)state;
	struct fh_held held;
	int opened[FH_HELD_MAX];
	for (int i = 0; i < FH_HELD_MAX; i++)
		opened[i] = dup(0);
	assert_false(fh_held_read(getpid(), &held));
	for (int i = 0; i < FH_HELD_MAX; i++)
		close(opened[i]);
	assert_true(fh_held_read(getpid(), &held));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_descriptor_that_is_closed_meanwhile_is_no_fault),
		cmocka_unit_test(test_more_descriptors_than_can_be_compared_are_one),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
