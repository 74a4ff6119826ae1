/* SPDX-License-Identifier: MIT */
/*
 * The problems that /judge and /submit judge: data sets of the operator (--data-set NAME=FILE), read when the server
 * starts, and rows that come in requests.
 *
 * A *set* is a list of problems and the judge's session for them (judge/session/session.h), which is opened at the
 * first judgement; later judgements reuse what it found out about interpreters. Before a problem's first judgement its
 * reference and a stub are judged, as `fumehood judge` does (judge/self_check.h), which finds how it is judged. Of the
 * clients' rows the most recently used sets are kept, so that many completions of one problem need only one session.
 * Sets are reference-counted.
 */
#pragma once
#include "e2b/hosted/e2b.h"
#include "judge/session/session.h"

struct fh_judged_set {
	char *name; /* name of the data set; NULL: the set is a client's row */
	struct fh_judge_problems problems;
	struct fh_judge_samples samples;
	struct fh_judge_settings settings;
	char key[FH_SHA256_HEX];

	pthread_mutex_t opening;
	struct fh_judge_session *session;
	struct fh_judged_check *checks; /* one for each problem */
	atomic_int references;
};

struct fh_judged;
FH_OWN struct fh_judged *fh_judged_new(void);
void fh_judged_free(FH_OWN struct fh_judged *j);
/* Adds a data set given as "NAME=FILE"; to be called before requests begin. */
int fh_judged_add(struct fh_judged *j, const char *text, const struct fh_ceilings *ceilings, struct fh_error *err);
/* A data set, with a reference and its session open. -FH_E_NOT_FOUND. */
int fh_judged_set(struct fh_judged *j, const char *name, struct fh_judged_set **ret, struct fh_error *err);
/* The set of one row, which is read like a line of a data set. The error -FH_E_CONFIG says what is wrong with the
 * row. */
int fh_judged_row(struct fh_judged *j, const struct fh_key *owner, const json_t *row, struct fh_judged_set **ret,
                  struct fh_error *err);
void fh_judged_drop(struct fh_judged_set *s);
/* Checks a problem of the set, once. *ret_doubt: why its verdicts mean little (its reference does not pass, or a stub
 * does); "": nothing was found. Valid as long as the set. */
int fh_judged_check(struct fh_judged_set *s, size_t problem, const char **ret_doubt, struct fh_error *err);
