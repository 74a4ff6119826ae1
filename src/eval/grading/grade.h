/* SPDX-License-Identifier: MIT */
/* Helpers that the assertions share: grades to and from JSON, the value as text. */
#pragma once
#include "eval/grading/assertion.h"

/* A grade as an entry of componentResults: {pass, score, reason, namedScores?, …, assertion, metadata?}. New reference;
 * its members are shared with the grade. */
FH_OWN json_t *fh_grade_json(const struct fh_grade *g, const json_t *assertion);

/* Whether a script returned a whole result: {pass: boolean, score: number, reason: string, …}. */
bool fh_grade_is_object(const json_t *value);
/* Sets *ret from such an object. */
void fh_grade_from_object(struct fh_grade *ret, const json_t *value);

/* The call's value as text, when it is a non-empty string or a number (formatted as in JavaScript); otherwise an error
 * that says what the type needs. free() *ret. */
int fh_call_value_text(const struct fh_assertion_call *call, char **ret, struct fh_error *err);
