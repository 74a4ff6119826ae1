/* SPDX-License-Identifier: MIT */
/* One sample in detail: its program with line numbers, the recorded result, and what a run of it does now. */
#pragma once
#include "judge/session.h"

/* results_path may be NULL: then nothing recorded is shown. Prints to stdout. */
int fh_judge_show(const struct fh_judge_settings *settings, const struct fh_judge_problems *problems,
                  const struct fh_judge_samples *samples, const char *results_path, size_t index, struct fh_error *err);
