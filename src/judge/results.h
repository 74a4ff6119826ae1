/* SPDX-License-Identifier: MIT */
/*
 * The results file: JSONL, one row a sample, and the state to resume from.
 *
 * While samples are judged, rows are appended in the order in which they end, each by one write, and given to the disk
 * at least once a second. A process that dies at any moment thus loses no more than the samples that were running; a
 * last line that was cut off is dropped at the next start. fh_results_finish writes the file anew, whole and sorted by
 * index, and renames it into place, so that a resumed run and an uninterrupted one end with the same file but for
 * what was measured.
 *
 * A row is used again only where its index and its key are those of a sample of this run, and never when it tells of
 * an engine error. One process at a time may hold a results file (flock).
 */
#pragma once
#include "base/sha256.h"
#include "json/json.h"
#include "judge/formats/problem.h"
#include "judge/session.h"

struct fh_results;

/* What the summary needs of a row. */
struct fh_results_row {
	bool present;
	enum fh_verdict verdict;
	bool in_process; /* integrity */
	bool flaky;      /* judged several times, with different verdicts */
};

/* Opens or makes path for `count` samples, whose keys the caller keeps until the file is closed, and their hashes (of
 * the sample alone, whatever it is judged with; NULL: unknown). A file that holds anything but result rows is refused
 * and left as it is. */
int fh_results_open(const char *path, const char (*keys)[FH_SHA256_HEX],
                    FH_NULLABLE const char (*samples)[FH_SHA256_HEX], size_t count, struct fh_results **ret,
                    struct fh_error *err);
void fh_results_close(struct fh_results *r); /* NULL is fine; writes nothing */

size_t fh_results_kept(const struct fh_results *r);  /* rows that are used again */
size_t fh_results_stale(const struct fh_results *r); /* rows of other samples, limits or versions */
/* Whether the file's results are all of other samples: not one was judged for a sample of ours, under any limits. */
bool fh_results_strange(const struct fh_results *r);
struct fh_results_row fh_results_row(const struct fh_results *r, size_t index);
/* The row's JSON object, on one line; NULL: there is none. Of a row that other threads have done with. */
FH_NULLABLE const char *fh_results_text(const struct fh_results *r, size_t index);

/* Appends the row of sample `index`; from any thread. */
int fh_results_put(struct fh_results *r, size_t index, const struct fh_judge_problem *problem,
                   const struct fh_judge_outcome *outcome, struct fh_error *err);
/* What was appended is on the disk. */
int fh_results_sync(struct fh_results *r, struct fh_error *err);
/* Every row is there: writes the file sorted. */
int fh_results_finish(struct fh_results *r, struct fh_error *err);

/* The last row of `index` in a results file, for showing it: a new reference. */
int fh_results_find(const char *path, size_t index, json_t **ret, struct fh_error *err);
