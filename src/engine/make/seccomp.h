/* SPDX-License-Identifier: MIT */
/*
 * The filters that tools/seccomp-gen.c made of make/seccomp_policy.c: the whole policy, for a sandbox that is made
 * fresh; and the same in two parts, base (of a zygote's programs: zygote) and seal, for what is made of a template
 * (seccomp_policy.h says how).
 */
#pragma once
#include <linux/filter.h>

extern const struct sock_filter fh_seccomp_filter[];
extern const unsigned short fh_seccomp_filter_size;
extern const struct sock_filter fh_seccomp_base[];
extern const unsigned short fh_seccomp_base_size;
extern const struct sock_filter fh_seccomp_zygote[];
extern const unsigned short fh_seccomp_zygote_size;
extern const struct sock_filter fh_seccomp_seal[];
extern const unsigned short fh_seccomp_seal_size;
