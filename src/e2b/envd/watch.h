/* SPDX-License-Identifier: MIT */
#pragma once
#include "e2b/hosted/hosted.h"

/* Closes the watchers that clients left open in a sandbox that has ended. */
void fh_hosted_forget_watchers(struct fh_hosted *h);
