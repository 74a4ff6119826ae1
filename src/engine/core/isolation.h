/* SPDX-License-Identifier: MIT */
/* Which layers of a sandbox's isolation are in force, read back from the kernel. */
#pragma once
#include "engine/core/sandbox.h"

/* Reads what the kernel reports about init into b->layers and b->missing. */
void fh_isolation_read(struct fh_sandbox *b);
/* The capabilities that programs with uid 0 start with; 0: none. */
uint32_t fh_root_capabilities(const struct fh_sandbox *b);
void fh_isolation_add_state(struct fh_sandbox *b, const struct fh_init_state *s);
/* Checks that all layers in plan->require are in force: those that can be known before a program starts, or all when
 * `final` is set. */
int fh_isolation_check(const struct fh_sandbox *b, bool final, struct fh_error *err);
/* Writes layers, missing layers and the enforcement of each limit, for RESULT and EXIT. */
void fh_isolation_write(const struct fh_sandbox *b, struct fh_buf *out);
