/* SPDX-License-Identifier: MIT */
/* Helpers that the assertions share: grades to and from JSON, the value as text. */
#pragma once
#include "eval/grading/assertion.h"

/* A grade as one entry of componentResults: {pass, score, reason, namedScores?, …, assertion, metadata?}. New
 * reference; what it holds is shared with the grade. */
FH_OWN json_t *fh_grade_json(const struct fh_grade *g, const json_t *assertion);

/* Whether a script returned a whole result: {pass: boolean, score: number, reason: string, …}. */
bool fh_grade_is_object(const json_t *value);
/* Takes such a result over into *ret. */
void fh_grade_from_object(struct fh_grade *ret, const json_t *value);

/* The call's value when it is a non-empty string or a number (as JavaScript prints it); otherwise an error that says
 * what the type needs. free() it. */
int fh_call_value_text(const struct fh_assertion_call *call, char **ret, struct fh_error *err);
