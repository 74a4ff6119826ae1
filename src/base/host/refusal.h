/* SPDX-License-Identifier: MIT */
/*
 * Why this host refuses namespaces, or restricts what they allow: the common settings, and how to change each. The
 * engine adds it to its errors; `fumehood doctor` checks before anything has failed.
 */
#pragma once
#include "base/base.h"

struct fh_refusal {
	const char *why;  /* lower-case, without a full stop; constant */
	const char *mend; /* a command, or what to do; constant */
	bool guessed;     /* no setting was found that proves it; it is the most common cause */
};

/* Whether we are root of the host's own user namespace with the right to make namespaces of all kinds, so that the
 * restrictions of other users do not apply. Root of a container usually has no such right. */
bool fh_is_host_root(void);

/* Whether this process may use all of these capabilities: a set of 1 << CAP_… */
bool fh_has_capabilities(uint64_t set);

/* The first cause that applies to this host, for a call that failed with errno `error`; 0: no call has failed yet.
 * False: no cause is known. */
bool fh_refusal_find(int error, struct fh_refusal *ret);
