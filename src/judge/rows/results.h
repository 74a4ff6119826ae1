/* SPDX-License-Identifier: MIT */
/*
 * The results file: JSONL, plain or gzip (sink/line_file.h), one row for each sample; a sink of rows (sink/sink.h), and
 * the one from which a judgement is resumed.
 *
 * While samples are judged, rows are appended in the order in which they finish, each by one write, and are synced to
 * disk at least once a second. So a process that dies loses only the samples that were running; a truncated last line
 * is dropped at the next start. The end writes a new file, complete and sorted by index, and renames it into place. So
 * a resumed run and an uninterrupted one give the same file, except for measured values.
 *
 * A row is recalled only if its index and its key are those of a sample of this run, and never if its verdict is an
 * engine error. Only one process at a time may use a results file.
 */
#pragma once
#include "base/text/sha256.h"
#include "judge/common/verdict.h"
#include "sink/sink.h"

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
void fh_results_close(struct fh_results *r); /* closes the file and writes nothing more; NULL is allowed */

/* The results file as a sink. Close the sink before the file. Its end fails if rows are missing although all are
 * expected. */
struct fh_sink fh_results_sink(struct fh_results *r);

size_t fh_results_kept(const struct fh_results *r); /* number of rows that are recalled */
/* rows of other samples, limits or versions, which are not reused */
size_t fh_results_stale(const struct fh_results *r);
/* Whether none of the file's rows is for a sample of ours, under any limits. */
bool fh_results_strange(const struct fh_results *r);
struct fh_results_row fh_results_row(const struct fh_results *r, size_t index);

/* Reads the last row of `index` from a results file, to show it; a new reference. */
int fh_results_find(const char *path, size_t index, json_t **ret, struct fh_error *err);
