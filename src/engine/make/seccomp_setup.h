/* SPDX-License-Identifier: MIT */
/*
 * The calls that make a sandbox from a template (engine/warm/template.h). No program may make them. The *base* filter
 * is loaded once into a template's holder and inherited by fork; it is the policy with these calls allowed. The
 * *zygote* filter allows only the few that a zygote makes itself. The *seal* is loaded last, into init and every
 * program; it refuses all of these calls as the policy does and allows every other call. The kernel applies the
 * strictest answer of all filters, so base and seal together are the policy.
 */
#pragma once
#include <stddef.h>

/* The base filter also allows a socket of this family and protocol, through which init counts the buffers of the
 * sandbox's sockets. */
enum { FH_SETUP_FAMILY = 16 /* AF_NETLINK */, FH_SETUP_PROTOCOL = 4 /* NETLINK_SOCK_DIAG */ };
extern const char *const fh_seccomp_setup_calls[];
extern const size_t fh_seccomp_setup_call_count;
extern const char *const fh_seccomp_zygote_calls[];
extern const size_t fh_seccomp_zygote_call_count;
