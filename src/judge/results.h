/* SPDX-License-Identifier: MIT */
/*
 * The results file: JSONL, one row for each sample; also the state from which a run is resumed.
 *
 * While samples are judged, rows are appended in the order in which they finish, each by one write, and are synced to
 * disk at least once a second. So a process that dies loses only the samples that were running; a truncated last line
 * is dropped at the next start. fh_results_finish writes a new file, complete and sorted by index, and renames it into
 * place. So a resumed run and an uninterrupted one give the same file, except for measured values.
 *
 * A row is reused only if its index and its key are those of a sample of this run, and never if its verdict is an
 * engine error. Only one process at a time may use a results file (flock).
 */
#pragma once
#include "base/sha256.h"
#include "json/json.h"
#include "judge/formats/problem.h"
#include "judge/session.h"

struct fh_results;

/* The parts of a row that the summary needs. */
struct fh_results_row {
	bool present;
	enum fh_verdict verdict;
	bool in_process; /* the test ran in the candidate's process (integrity) */
	bool flaky;      /* judged several times, with differing verdicts */
};

/* Opens or creates the file for `count` samples. `keys`, which the caller keeps until the file is closed, are the keys
 * of the judgements; `samples` are hashes of the samples alone (NULL: unknown). A file that contains anything but
 * result rows is refused and left unchanged. */
int fh_results_open(const char *path, const char (*keys)[FH_SHA256_HEX],
                    FH_NULLABLE const char (*samples)[FH_SHA256_HEX], size_t count, struct fh_results **ret,
                    struct fh_error *err);
void fh_results_close(struct fh_results *r); /* NULL is allowed; writes nothing */

size_t fh_results_kept(const struct fh_results *r); /* number of rows that are reused */
/* rows of other samples, limits or versions, which are not reused */
size_t fh_results_stale(const struct fh_results *r);
/* Whether none of the file's rows is for a sample of ours, under any limits. */
bool fh_results_strange(const struct fh_results *r);
struct fh_results_row fh_results_row(const struct fh_results *r, size_t index);
/* The row's JSON object on one line; NULL: none yet. Only for rows that no thread is writing. */
FH_NULLABLE const char *fh_results_text(const struct fh_results *r, size_t index);

/* Appends the row of sample `index`. Thread-safe. */
int fh_results_put(struct fh_results *r, size_t index, const struct fh_judge_problem *problem,
                   const struct fh_judge_outcome *outcome, struct fh_error *err);
/* Syncs the appended rows to disk. */
int fh_results_sync(struct fh_results *r, struct fh_error *err);
/* Writes the sorted file; all rows must be there. */
int fh_results_finish(struct fh_results *r, struct fh_error *err);

/* Reads the last row of `index` from a results file, to show it; a new reference. */
int fh_results_find(const char *path, size_t index, json_t **ret, struct fh_error *err);
