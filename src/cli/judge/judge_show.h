/* SPDX-License-Identifier: MIT */
/* Shows one sample in detail: its program with line numbers, the recorded result, and the result of a new run. */
#pragma once
#include "judge/session/session.h"

/* results_path may be NULL: then no recorded result is shown. Prints to stdout. */
int fh_judge_show(const struct fh_judge_settings *settings, const struct fh_judge_problems *problems,
                  const struct fh_judge_samples *samples, const char *results_path, size_t index, struct fh_error *err);
