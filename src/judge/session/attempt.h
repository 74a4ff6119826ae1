/* SPDX-License-Identifier: MIT */
/*
 * Judges one program by its problem's test, in the mode that the session has for the problem (split, in one process, or
 * by output). If the judgement fails for a reason that is not the program's, it is repeated in a fresh sandbox.
 */
#pragma once
#include "judge/problems/languages.h"
#include "judge/session/session.h"

/* The plan for program and test in one process. */
int fh_attempt_plan(const struct fh_judge_session *s, const struct fh_judge_parts *p, const struct fh_limits *limits,
                    const char *secret, struct fh_plan **ret, struct fh_error *err);
/* Like fh_judge_one (session.h), but the parts may come from anywhere, not only from a sample. */
int fh_attempt(struct fh_judge_session *s, const struct fh_judge_parts *p, struct fh_judge_outcome *ret,
               struct fh_error *err);
