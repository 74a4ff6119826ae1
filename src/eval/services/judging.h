/* SPDX-License-Identifier: MIT */
/*
 * Judges programs of answers as `fumehood judge` does: sessions of the judge (judge/session/session.h) that live as
 * long as the eval and share its sandbox client, one for each set of limits that its tests name.
 *
 * Every function is thread-safe.
 */
#pragma once
#include "base/error.h"
#include "fumehood/sandbox.h"

struct fh_judging;
struct fh_judge_session;

/* How many sets of limits one eval may name. */
#define FH_JUDGING_SESSIONS_MAX 64

struct fh_judging *fh_judging_new(FH_NULLABLE const volatile int *cancel);
void fh_judging_free(struct fh_judging *j); /* NULL is fine */

/* The session for these limits, opened at the first call. client is borrowed until fh_judging_free. */
int fh_judging_session(struct fh_judging *j, struct fh_client *client, const struct fh_limits *limits, bool packages,
                       struct fh_judge_session **ret, struct fh_error *err);
