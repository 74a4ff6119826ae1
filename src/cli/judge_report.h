/* SPDX-License-Identifier: MIT */
/* The summary of a judgement: a table by verdict, pass@k with intervals, and what to do next; as text or as JSON. */
#pragma once
#include "judge/estimate.h"
#include "judge/formats/problem.h"
#include "judge/results.h"
#include "judge/self_check.h"

#define FH_JUDGE_KS_MAX 16

struct fh_judge_report {
	const char *results_path;
	FH_NULLABLE const char *stored; /* its id in the store; NULL: it is not there */
	size_t samples, tasks, kept;
	size_t counted_tasks;   /* those with samples that count in the figures */
	size_t without_samples; /* tasks of the data set that no sample is of: they are in no figure */
	size_t verdicts[FH_VERDICT_COUNT_];
	bool packages;                        /* programs and tests saw installed packages */
	bool allow_in_process;                /* such samples count in pass@k */
	size_t in_process, in_process_passed; /* samples whose test ran in the candidate's process */
	uint64_t ks[FH_JUDGE_KS_MAX];
	struct fh_estimate estimates[FH_JUDGE_KS_MAX]; /* pass@k */
	struct fh_estimate all[FH_JUDGE_KS_MAX];       /* pass^k */
	size_t k_count;
	size_t flaky; /* samples that were judged several times with different verdicts */
	FH_NULLABLE const struct fh_self_check *self_check; /* NULL: it was left out */
	FH_NULLABLE const struct fh_judge_session *session;
	size_t first_failure; /* index of the first sample that did not pass; SIZE_MAX: none */
	int64_t elapsed_ms;
};

/* The parts that the store keeps as well. New references. */
FH_OWN json_t *fh_judge_self_check_json(const struct fh_self_check *c);
FH_OWN json_t *fh_judge_tools_json(const struct fh_judge_session *s); /* {language: version} */

/* Counts what is in results; ks and k_count, results_path and elapsed_ms are the caller's. */
void fh_judge_report_count(struct fh_judge_report *r, const struct fh_judge_problems *problems,
                           const struct fh_judge_samples *samples, const struct fh_results *results);
/* show_command: how to show one sample, ready to be copied, without the index. */
void fh_judge_report_text(const struct fh_judge_report *r, const char *show_command, bool color, unsigned width,
                          struct fh_buf *out);
void fh_judge_report_json(const struct fh_judge_report *r, struct fh_buf *out);
/* A table in Markdown, with the same figures. */
void fh_judge_report_markdown(const struct fh_judge_report *r, struct fh_buf *out);
/* Writes it as the file's name says: .json, .md, or text. */
int fh_judge_report_write(const struct fh_judge_report *r, const char *show_command, const char *path,
                          struct fh_error *err);
