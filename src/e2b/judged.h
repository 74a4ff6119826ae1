/* SPDX-License-Identifier: MIT */
/*
 * The problems that /judge and /submit judge: data sets that the operator named (--data-set NAME=FILE), read when the
 * server starts, and rows that come with a request.
 *
 * A *set* is problems and the judge's session for them (judge/session.h), opened at the first judgement: what that
 * finds out about interpreters holds for all that follow. Of the rows of clients the sets that were used last are
 * kept, so that many completions of one problem cost one opening. Counted.
 */
#pragma once
#include "e2b/server.h"
#include "judge/session.h"

struct fh_judged_set {
	char *name; /* of a data set; NULL: a row's */
	struct fh_judge_problems problems;
	struct fh_judge_samples samples;
	struct fh_judge_settings settings;
	char key[FH_SHA256_HEX];

	pthread_mutex_t opening;
	struct fh_judge_session *session;
	atomic_int references;
};

struct fh_judged;
FH_OWN struct fh_judged *fh_judged_new(void);
void fh_judged_free(FH_OWN struct fh_judged *j);
/* "NAME=FILE", before requests come. */
int fh_judged_add(struct fh_judged *j, const char *text, const struct fh_ceilings *ceilings, struct fh_error *err);
/* With a reference, its session open. -FH_E_NOT_FOUND */
int fh_judged_set(struct fh_judged *j, const char *name, struct fh_judged_set **ret, struct fh_error *err);
/* The set of one row, read as a line of a data set. -FH_E_CONFIG: what is wrong with it. */
int fh_judged_row(struct fh_judged *j, const struct fh_key *owner, const json_t *row, struct fh_judged_set **ret,
                  struct fh_error *err);
void fh_judged_drop(struct fh_judged_set *s);
