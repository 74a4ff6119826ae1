/* SPDX-License-Identifier: MIT */
#pragma once
/* Requests that may be repeated: one that comes while the first is still being answered waits for it, so that both are
 * answered alike (Idempotency-Key). */
#include "base/base.h"

struct fh_once;
struct fh_key;
FH_OWN struct fh_once *fh_once_new(void);
void fh_once_free(FH_OWN FH_NULLABLE struct fh_once *o);
/* Returns when no other request with the same owner and key is between this and fh_once_leave. The key is borrowed
 * until then. */
void fh_once_enter(struct fh_once *o, const struct fh_key *owner, const char *key);
void fh_once_leave(struct fh_once *o, const struct fh_key *owner, const char *key);
