/* SPDX-License-Identifier: MIT */
/*
 * The rows of a judgement (sink/row.h): one for each sample, made of its outcome or read back from its text. The text
 * is what the results file has; add_evidence appends the program, its streams, limits and isolation.
 */
#pragma once
#include "json/json.h"
#include "judge/session/session.h"
#include "sink/row.h"

/* What is judged, as the rows need it. All members are borrowed. */
struct fh_judgement {
	struct fh_judge_session *session;
	const struct fh_judge_problems *problems;
	const struct fh_judge_samples *samples;
	const char (*keys)[FH_SHA256_HEX]; /* for each sample its key (fh_judge_key) */
	FH_NULLABLE const char (
	    *hashes)[FH_SHA256_HEX]; /* for each sample the hash of its own text and nothing else; NULL: unknown */
};

/* Makes rows. Thread-safe. */
struct fh_judge_rows;
FH_OWN struct fh_judge_rows *fh_judge_rows_new(const struct fh_judgement *judgement); /* borrows it */
void fh_judge_rows_free(FH_NULLABLE struct fh_judge_rows *r);

/* A row and what it was made from. The latter is borrowed: the row is valid as long as its struct fh_judge_rows, its
 * outcome and this struct are. */
struct fh_judge_row {
	struct fh_row row;
	struct fh_judge_rows *rows;
	FH_NULLABLE const struct fh_judge_outcome *outcome; /* NULL: the row was read back */
	struct fh_buf text;
};
void fh_judge_row_release(struct fh_judge_row *r);

/* Makes the row of sample `index`. Release *ret; it must not be moved. */
void fh_judge_row_make(struct fh_judge_rows *rows, size_t index, const struct fh_judge_outcome *outcome,
                       struct fh_judge_row *ret);
/* Makes the row of a sample from a line of a results file; marks it as read `again`. Release *ret, which must not be
 * moved. */
void fh_judge_row_recall(struct fh_judge_rows *rows, size_t index, struct fh_str text, struct fh_judge_row *ret);

/* What can be read from a row's text about its sample. */
struct fh_judge_row_text {
	int64_t index;           /* index of the sample; -1: the text is not a row */
	enum fh_verdict verdict; /* FH_VERDICT_COUNT_: unknown */
	const char *integrity;   /* FH_INTEGRITY_…; in-process if the text has no known value */
	bool flaky;
	FH_NULLABLE const char *key,
	    *sample; /* key of the judgement, borrowed from the JSON; NULL: the text is not a row */
};
struct fh_judge_row_text fh_judge_row_read(const json_t *row);
