/* SPDX-License-Identifier: MIT */
/*
 * The stand-in for class Solution that judging Java in two processes needs: the declaration's class with its helpers,
 * in which the method under test calls SplitJudge.call. The candidate's own class is compiled beside SplitCandidate.
 */
#pragma once
#include "base/buf.h"
#include "base/error.h"

#define FH_JAVA_CLASS "Solution"

/* -FH_E_UNAVAILABLE: no stand-in can be made, with the reason. */
int fh_java_stand_in(struct fh_str declaration, struct fh_buf *out, struct fh_error *err);
/* A candidate's text without the word public in front of its top-level types, which says no more than how a file is
 * called: a class Main beside class Solution may have it. Each byte stays where it is. */
void fh_java_program(struct fh_str text, struct fh_buf *out);
