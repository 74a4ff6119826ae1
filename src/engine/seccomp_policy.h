/* SPDX-License-Identifier: MIT */
/*
 * What a program in a sandbox may ask of the kernel: the table from which the filter is made at build time
 * (tools/seccomp-gen.c) and which `fumehood-engine --policy` prints, with the reason for each entry.
 *
 * Anything that the table does not name, on any architecture, answers ENOSYS: a runtime then falls back to an older
 * call, as it would on an older kernel. Nothing is answered by a kill: language runtimes probe for new calls.
 */
#pragma once
#include <stddef.h>

enum fh_verdict { FH_ALLOW, FH_EPERM, FH_ENOSYS };

/* At most one test of one argument; the entry applies when it holds. Arguments are compared in their low 32 bits where
 * the kernel looks at no more (`masked`), else a set high bit would slip past a filter that the kernel then ignores. */
enum fh_compare { FH_CMP_NONE, FH_CMP_EQ, FH_CMP_MASKED_EQ };
struct fh_policy_entry {
	const char *call;
	enum fh_verdict verdict;
	const char *reason;
	unsigned arg;
	enum fh_compare compare;
	unsigned long long mask, value;
};

#define FH_A(name, why)                                                                                                \
	{                                                                                                                  \
		name, FH_ALLOW, why                                                                                            \
	}
#define FH_P(name, why)                                                                                                \
	{                                                                                                                  \
		name, FH_EPERM, why                                                                                            \
	}
#define FH_N(name, why)                                                                                                \
	{                                                                                                                  \
		name, FH_ENOSYS, why                                                                                           \
	}
/* allowed when (argument & mask) == value */
#define FH_AM(name, n, mask, value, why)                                                                               \
	{                                                                                                                  \
		name, FH_ALLOW, why, n, FH_CMP_MASKED_EQ, mask, value                                                          \
	}
#define FH_AE(name, n, value, why)                                                                                     \
	{                                                                                                                  \
		name, FH_ALLOW, why, n, FH_CMP_EQ, ~0ULL, value                                                                \
	}

extern const struct fh_policy_entry fh_seccomp_policy[];
extern const size_t fh_seccomp_policy_count;

/* The calls by which a sandbox is made of a template (engine/template.h), which no program may make. The *base* filter,
 * loaded once into a template's own processes and inherited by fork, is the policy with these allowed; the *seal*,
 * which is loaded last into init and every program, refuses them as the policy does and has no opinion on any other
 * call. The kernel takes the strictest answer of all filters, so base and seal together are the policy. */
extern const char *const fh_seccomp_setup_calls[];
extern const size_t fh_seccomp_setup_call_count;
