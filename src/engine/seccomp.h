/* SPDX-License-Identifier: MIT */
/* The filter that tools/seccomp-gen.c made of engine/seccomp_policy.c. */
#pragma once
#include <linux/filter.h>

extern const struct sock_filter fh_seccomp_filter[];
extern const unsigned short fh_seccomp_filter_size;
