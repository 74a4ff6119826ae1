/* SPDX-License-Identifier: MIT */
/* What holds of a sandbox's isolation, read back from the kernel. */
#pragma once
#include "engine/core/sandbox.h"

/* What the kernel says of init, into b->layers and b->missing. */
void fh_isolation_read(struct fh_sandbox *b);
/* Those that programs with uid 0 are to start with; 0: none. */
uint32_t fh_root_capabilities(const struct fh_sandbox *b);
void fh_isolation_add_state(struct fh_sandbox *b, const struct fh_init_state *s);
/* Whether all bits of plan->require hold, of those that are known before a program starts or (final) after. */
int fh_isolation_check(const struct fh_sandbox *b, bool final, struct fh_error *err);
/* Layers, what is missing and how limits are enforced, for RESULT and EXIT. */
void fh_isolation_write(const struct fh_sandbox *b, struct fh_buf *out);
