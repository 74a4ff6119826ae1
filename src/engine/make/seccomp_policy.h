/* SPDX-License-Identifier: MIT */
/*
 * What a program in a sandbox may ask of the kernel: the table from which the filter is made at build time
 * (tools/seccomp-gen.c) and which `fumehood-engine --policy` prints, with the reason for each entry.
 *
 * Anything that the table does not name, on any architecture, answers ENOSYS: a runtime then falls back to an older
 * call, as it would on an older kernel. Nothing is answered by a kill: language runtimes probe for new calls.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is tested of an argument. Where the kernel looks at no more than 32 bits, so does the test, else a set high bit
 * would slip past a filter that the kernel then ignores; a pointer is tested whole. */
enum fh_test {
	FH_TEST_NONE,
	FH_TEST_IS,    /* (low 32 bits & mask) == value */
	FH_TEST_ANY,   /* (low 32 bits & mask) != 0 */
	FH_TEST_ABOVE, /* low 32 bits, without a sign, > value */
	FH_TEST_NULL,  /* all 64 bits are 0 */
	FH_TEST_GIVEN, /* not all 64 bits are 0 */
};
enum { FH_CONDITIONS_MAX = 3 };
struct fh_condition {
	enum fh_test test;
	unsigned arg;
	uint32_t mask, value;
};

/* An entry with conditions applies when all hold. Of a call's entries those with conditions are tried first, in the
 * order of the table; the one without, if there is one, says what holds for the rest, else it is ENOSYS. */
enum fh_verdict { FH_ALLOW, FH_REFUSE };
struct fh_policy_entry {
	const char *call;
	enum fh_verdict verdict;
	int error; /* what a refused call answers; 0: that it worked, with nothing done */
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
/* Allowed, or refused, where the conditions that follow hold: FH_IS(…) and its like. */
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

/* The calls by which a sandbox is made of a template (engine/warm/template.h), which no program may make. The *base*
 * filter, loaded once into a template's holder and inherited by fork, is the policy with these allowed; that of a
 * *zygote*, with the few of them that it makes itself. The *seal*, which is loaded last into init and every program,
 * refuses them all as the policy does and has no opinion on any other call. The kernel takes the strictest answer of
 * all filters, so base and seal together are the policy. */
/* Beside those, in the base: a socket of this family and protocol, through which init counts what programs hold in
 * theirs. */
enum { FH_SETUP_FAMILY = 16 /* AF_NETLINK */, FH_SETUP_PROTOCOL = 4 /* NETLINK_SOCK_DIAG */ };
extern const char *const fh_seccomp_setup_calls[];
extern const size_t fh_seccomp_setup_call_count;
extern const char *const fh_seccomp_zygote_calls[];
extern const size_t fh_seccomp_zygote_call_count;
