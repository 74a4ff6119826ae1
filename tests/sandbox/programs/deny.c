/* SPDX-License-Identifier: MIT */
/*
 * Runs a program on a kernel that seems to lack something: the named system calls fail with the named errors, for it
 * and for all that it starts. What a container's filter or an old kernel does, for tests.
 *
 *     deny CALL=ERRNO… -- PROGRAM [ARG…]          deny landlock_create_ruleset=ENOSYS -- fumehood doctor
 *     deny 'CALL&BITS=ERRNO' …                    only when the first argument has one of the bits (hexadecimal)
 *     deny 'CALL@N>NUMBER=ERRNO' …                only when argument N (from 0) is greater
 */
#include <errno.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
	const char *name;
	int number;
} errors[] = { { "EPERM", EPERM },   { "EACCES", EACCES }, { "EINVAL", EINVAL }, { "ENOSYS", ENOSYS },
	           { "EAGAIN", EAGAIN }, { "ENOSPC", ENOSPC }, { "EBUSY", EBUSY },   { "EOPNOTSUPP", EOPNOTSUPP } };

static int error_number(const char *name)
{
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (strcmp(errors[i].name, name) == 0)
			return errors[i].number;
	fprintf(stderr, "deny: unknown error %s\n", name);
	exit(2);
}

/* One rule for each bit: a filter compares, it has no "any of". */
static int deny_bits(scmp_filter_ctx filter, int call, int error, unsigned long bits)
{
	int r = 0;
	for (unsigned long bit = 1; bit && r == 0; bit <<= 1)
		if (bits & bit)
			r = seccomp_rule_add(filter, SCMP_ACT_ERRNO((unsigned)error), call, 1,
			                     SCMP_A0(SCMP_CMP_MASKED_EQ, bit, bit));
	return r;
}

static void deny(scmp_filter_ctx filter, char *rule)
{
	char *equals = strrchr(rule, '='), *bits = strchr(rule, '&'), *at = strchr(rule, '@');
	if (!equals) {
		fprintf(stderr, "deny: %s is not CALL=ERRNO\n", rule);
		exit(2);
	}
	*equals = 0;
	if (bits)
		*bits++ = 0;
	unsigned argument = 0;
	unsigned long number = 0;
	if (at && sscanf(at, "@%u>%lu", &argument, &number) != 2) {
		fprintf(stderr, "deny: %s is not @N>NUMBER\n", at);
		exit(2);
	}
	if (at)
		*at = 0;
	int call = seccomp_syscall_resolve_name(rule), error = error_number(equals + 1);
	int r = call == __NR_SCMP_ERROR ? -EINVAL
	        : bits                  ? deny_bits(filter, call, error, strtoul(bits, NULL, 16))
	        : at                    ? seccomp_rule_add(filter, SCMP_ACT_ERRNO((unsigned)error), call, 1,
	                                                   SCMP_CMP(argument, SCMP_CMP_GT, number))
	                                : seccomp_rule_add(filter, SCMP_ACT_ERRNO((unsigned)error), call, 0);
	if (r < 0) {
		fprintf(stderr, "deny: cannot deny %s: %s\n", rule, strerror(-r));
		exit(2);
	}
}

int main(int argc, char **argv)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	int i = 1;
	for (; filter && i < argc && strcmp(argv[i], "--") != 0; i++)
		deny(filter, argv[i]);
	if (!filter || i + 1 >= argc || seccomp_load(filter) < 0) {
		fprintf(stderr, "usage: deny CALL[&BITS|@N>NUMBER]=ERRNO... -- PROGRAM [ARG...]\n");
		return 2;
	}
	seccomp_release(filter);
	execvp(argv[i + 1], argv + i + 1);
	perror(argv[i + 1]);
	return 127;
}
