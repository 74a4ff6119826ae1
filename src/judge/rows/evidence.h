/* SPDX-License-Identifier: MIT */
/* What an outcome tells about how it came about, as members of a JSON object: the same in the rows of a judgement and
 * in the metadata of an eval's `code` assertions. */
#pragma once
#include "json/json.h"
#include "judge/common/outcome.h"

/* Adds integrity, exit_code, signal and usage of the candidate's run, and where they apply judge_usage, raised_limits,
 * seed, repeats and flaky. */
void fh_judge_evidence_add(json_t *o, const struct fh_judge_outcome *outcome);
