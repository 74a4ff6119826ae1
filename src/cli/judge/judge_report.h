/* SPDX-License-Identifier: MIT */
/* The summary of a judgement: a table by verdict, pass@k with intervals, and what to do next; as text or as JSON. */
#pragma once
#include "judge/rows/estimate.h"
#include "judge/problems/problem.h"
#include "judge/rows/results.h"
#include "judge/self_check.h"

#define FH_JUDGE_KS_MAX 16

struct fh_judge_report {
	const char *results_path;
	FH_NULLABLE const char *stored; /* id in the store; NULL: it was not stored */
	size_t samples, tasks, kept;
	size_t counted_tasks;   /* tasks with samples that count for pass@k */
	size_t without_samples; /* tasks of the data set without any sample; they do not count for pass@k */
	size_t verdicts[FH_VERDICT_COUNT_];
	bool packages;                        /* programs and tests saw installed packages */
	bool allow_in_process;                /* samples whose test ran in the candidate's process count for pass@k */
	size_t in_process, in_process_passed; /* number of such samples; those that passed */
	uint64_t ks[FH_JUDGE_KS_MAX];
	struct fh_estimate estimates[FH_JUDGE_KS_MAX]; /* pass@k */
	struct fh_estimate all[FH_JUDGE_KS_MAX];       /* pass^k */
	size_t k_count;
	size_t flaky;                                       /* samples that got different verdicts in repeats */
	FH_NULLABLE const struct fh_self_check *self_check; /* NULL: the self-check was skipped */
	FH_NULLABLE const struct fh_judge_session *session;
	size_t first_failure; /* index of the first sample that did not pass; SIZE_MAX: all passed */
	int64_t elapsed_ms;
};

/* Parts of the report that the store keeps too. New references. */
FH_OWN json_t *fh_judge_self_check_json(const struct fh_self_check *c);
FH_OWN json_t *fh_judge_tools_json(const struct fh_judge_session *s); /* {language: version} */

/* Counts the results. Before: the caller sets ks, k_count and allow_in_process, which decide what is counted. The other
 * members are the caller's to set before it prints. */
void fh_judge_report_count(struct fh_judge_report *r, const struct fh_judge_problems *problems,
                           const struct fh_judge_samples *samples, const struct fh_results *results);
/* show_command: the command that shows one sample, to which its index is appended. */
void fh_judge_report_text(const struct fh_judge_report *r, const char *show_command, bool color, unsigned width,
                          struct fh_buf *out);
void fh_judge_report_json(const struct fh_judge_report *r, struct fh_buf *out);
