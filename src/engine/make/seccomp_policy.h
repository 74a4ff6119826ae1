/* SPDX-License-Identifier: MIT */
/*
 * Which system calls a program in a sandbox may make. The filters are generated from this table at build time
 * (tools/seccomp-gen.c), and `fumehood-engine --policy` prints it with the reason for each entry.
 *
 * A call that the table does not name, on any architecture, fails with ENOSYS: a runtime then falls back to an older
 * call, as on an older kernel. No call kills the process, because language runtimes probe for new calls.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How an argument is tested. Where the kernel looks at only 32 bits, the test does too; otherwise an argument with a
 * high bit set would pass the filter while the kernel ignored that bit. Pointers are tested as a whole. */
enum fh_test {
	FH_TEST_NONE,
	FH_TEST_IS,    /* (low 32 bits & mask) == value */
	FH_TEST_ANY,   /* (low 32 bits & mask) != 0 */
	FH_TEST_ABOVE, /* low 32 bits, as an unsigned number, > value */
	FH_TEST_NULL,  /* all 64 bits are 0 */
	FH_TEST_GIVEN, /* not all 64 bits are 0 */
};
enum { FH_CONDITIONS_MAX = 3 };
struct fh_condition {
	enum fh_test test;
	unsigned arg;
	uint32_t mask, value;
};

/* An entry with conditions applies when all of them hold. For each call, the entries with conditions are tried first,
 * in the order of the table. The entry without conditions decides all other cases; if there is none, the call fails
 * with ENOSYS. */
enum fh_filter_action { FH_ALLOW, FH_REFUSE };
struct fh_policy_entry {
	const char *call;
	enum fh_filter_action action;
	int error; /* errno of a refused call; 0: the call seems to succeed, but does nothing */
	const char *reason;
	struct fh_condition when[FH_CONDITIONS_MAX];
};

#define FH_A(name, why)                                                                                                \
	{                                                                                                                  \
		name, FH_ALLOW, 0, why,                                                                                        \
		{                                                                                                              \
			{                                                                                                          \
				0                                                                                                      \
			}                                                                                                          \
		}                                                                                                              \
	}
#define FH_E(name, errno_of_it, why)                                                                                   \
	{                                                                                                                  \
		name, FH_REFUSE, errno_of_it, why,                                                                             \
		{                                                                                                              \
			{                                                                                                          \
				0                                                                                                      \
			}                                                                                                          \
		}                                                                                                              \
	}
#define FH_P(name, why) FH_E(name, EPERM, why)
#define FH_N(name, why) FH_E(name, ENOSYS, why)
/* Allows or refuses a call if the following conditions hold: FH_IS(…) and the like. */
#define FH_A_IF(name, why, ...)                                                                                        \
	{                                                                                                                  \
		name, FH_ALLOW, 0, why,                                                                                        \
		{                                                                                                              \
			__VA_ARGS__                                                                                                \
		}                                                                                                              \
	}
#define FH_E_IF(name, errno_of_it, why, ...)                                                                           \
	{                                                                                                                  \
		name, FH_REFUSE, errno_of_it, why,                                                                             \
		{                                                                                                              \
			__VA_ARGS__                                                                                                \
		}                                                                                                              \
	}
#define FH_MASKED(n, mask, value)                                                                                      \
	{                                                                                                                  \
		FH_TEST_IS, n, mask, value                                                                                     \
	}
#define FH_IS(n, value) FH_MASKED(n, 0xFFFFFFFFu, value)
#define FH_ANY(n, mask)                                                                                                \
	{                                                                                                                  \
		FH_TEST_ANY, n, mask, 0                                                                                        \
	}
#define FH_ABOVE(n, value)                                                                                             \
	{                                                                                                                  \
		FH_TEST_ABOVE, n, 0, value                                                                                     \
	}
#define FH_NULL(n)                                                                                                     \
	{                                                                                                                  \
		FH_TEST_NULL, n, 0, 0                                                                                          \
	}
#define FH_GIVEN(n)                                                                                                    \
	{                                                                                                                  \
		FH_TEST_GIVEN, n, 0, 0                                                                                         \
	}

extern const struct fh_policy_entry fh_seccomp_policy[];
extern const size_t fh_seccomp_policy_count;
