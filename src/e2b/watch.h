/* SPDX-License-Identifier: MIT */
#pragma once
#include "e2b/sandboxes.h"

/* Closes the watchers that clients of a sandbox that has ended left open. */
void fh_hosted_forget_watchers(struct fh_hosted *h);
