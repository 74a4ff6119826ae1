/* SPDX-License-Identifier: MIT */
/*
 * Why this host refuses namespaces, or what a namespace should allow: the settings that people meet, and what mends
 * each. The engine puts it into its errors, `fumehood doctor` looks before anything has failed.
 */
#pragma once
#include "base/base.h"

struct fh_refusal {
	const char *why;  /* lower-case, without a full stop; constant */
	const char *mend; /* a command, or what to do; constant */
	bool guessed;     /* nothing was found that says so; it is what mostly is the cause */
};

/* Root of the host's own user namespace: what is kept from plain users is not kept from it. */
bool fh_is_host_root(void);

/* The first cause that holds here, for a call that failed with errno `error`; 0: none has failed yet. False: no cause
 * is known for such an errno. */
bool fh_refusal_find(int error, struct fh_refusal *ret);
