/* SPDX-License-Identifier: MIT */
/* What the store and a report tell about a judgement beside its rows: what was judged, with which settings and tools.
 */
#pragma once
#include "cli/judge/judge_keep.h"

struct fh_judge_documents {
	char *description;                                /* "samples.jsonl of HumanEval.jsonl" */
	json_t *config, *options, *vars, *columns, *tags; /* as in struct fh_store_documents */
};
void fh_judge_documents_make(const struct fh_judge_keep *k, struct fh_judge_documents *ret);
void fh_judge_documents_release(struct fh_judge_documents *d);
#define fh_auto_judge_documents FH_CLEANUP(fh_judge_documents_release)

/* A path made absolute, so that it is valid from any folder. New reference. */
FH_OWN json_t *fh_judge_path_json(const char *path);
