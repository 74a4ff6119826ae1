/* SPDX-License-Identifier: MIT */
/* Shared by the assertions that models grade (graded_*.c). */
#pragma once
#include "eval/assertions/kinds.h"
#include "eval/grading/grade.h"
#include "eval/checking/rubric.h"

struct fh_rubric_call fh_graded_call(const struct fh_assertion_call *call, const json_t *vars);
/* A copy of the row's variables, for the caller to add what is graded. New reference. */
FH_OWN json_t *fh_graded_vars(const struct fh_assertion_call *call);
/* The error for an answer that holds no verdict. */
int fh_graded_no_verdict(const struct fh_assertion_call *call, const char *answer, struct fh_error *err);
void fh_graded_set(struct fh_grade *ret, bool pass, double score, FH_OWN char *reason, json_t *tokens);
/* Asks for {reason, pass, score} and grades by it. */
int fh_graded_rubric(const struct fh_assertion_call *call, const json_t *vars, const char *prompt, struct fh_grade *ret,
                     struct fh_error *err);
