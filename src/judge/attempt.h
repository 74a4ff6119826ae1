/* SPDX-License-Identifier: MIT */
/*
 * One judgement: a program and its problem's test, in the way that the session has for the problem (split, in one
 * process, or by output), tried again in a fresh sandbox where it failed by no fault of the program's.
 */
#pragma once
#include "judge/languages.h"
#include "judge/session.h"

/* The plan of program and test in one process. */
int fh_attempt_plan(const struct fh_judge_session *s, const struct fh_judge_parts *p, const struct fh_limits *limits,
                    const char *secret, struct fh_plan **ret, struct fh_error *err);
/* As fh_judge_one, of a program that need not be a sample's. */
int fh_attempt(struct fh_judge_session *s, const struct fh_judge_parts *p, struct fh_judge_outcome *ret,
               struct fh_error *err);
