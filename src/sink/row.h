/* SPDX-License-Identifier: MIT */
/*
 * What is known of one finished piece of work: a cell of an eval, a sample of a judgement, or a run that is kept.
 *
 * Evals and judgements make this record of their own states (struct fh_eval_result, struct fh_judge_outcome) when a
 * piece is finished, and every place that keeps or counts rows reads nothing else. `text` has all of it as JSON, in the
 * form of docs/eval.md or docs/judging.md; the other members are what sinks select, sort and count by.
 *
 * Whoever makes a row owns everything in it; sinks borrow it for one call.
 */
#pragma once
#include "base/buf.h"

/* Why a piece of work did not succeed. The store keeps the numbers. */
enum fh_failure {
	FH_FAILURE_NONE,
	FH_FAILURE_ASSERTION, /* an assertion failed, or the verdict is not `passed` */
	FH_FAILURE_ERROR,     /* there is no verdict: the provider or the harness failed */
};

struct fh_row {
	size_t index;         /* place among all rows of the work: of the sample, or of the cell in the plan */
	uint32_t row, column; /* a judgement has the one column 0 */
	bool again;           /* an earlier run of the same work finished it, and a sink recalled it */
	bool success;
	enum fh_failure failure;
	double score, latency_ms, cost;
	int64_t tokens;
	FH_NULLABLE const char *key;      /* hash (hex) of what was asked and how it was checked; NULL: the sink makes it */
	FH_NULLABLE const char *status;   /* the verdict, or how the program ended: "passed", "memory_limit" … */
	FH_NULLABLE const char *language; /* of the program */
	FH_NULLABLE const char *integrity; /* FH_INTEGRITY_… (judge/common/outcome.h) */
	bool flaky;                        /* judged several times, with differing verdicts */
	FH_NULLABLE const char *named;     /* JSON object of named scores; NULL: no scores */
	struct fh_str text;                /* JSON object, on one line, without the newline */
	/* Appends further members to the object's text, each with a comma before it: what only a store keeps of a run (its
	 * program, streams, limits, isolation). Called by sinks that want them. NULL: there are none. */
	void (*add_evidence)(const struct fh_row *row, struct fh_buf *out);
	FH_NULLABLE const void *source; /* for add_evidence */
};

/* Appends the row's object with its evidence. */
void fh_row_add_whole(const struct fh_row *row, struct fh_buf *out);
