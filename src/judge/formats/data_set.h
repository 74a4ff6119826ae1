/* SPDX-License-Identifier: MIT */
/*
 * Reads a data set's problems, and the samples that were made for it: one JSON object on each line, or an array of
 * them; gzip or not. All lines are read before anything is run. The first invalid line is an error with file and line.
 */
#pragma once
#include "judge/problems/problem.h"

int fh_judge_problems_read(const char *path, struct fh_judge_problems *ret, struct fh_error *err);
/* Each sample belongs to one of `problems`. */
int fh_judge_samples_read(const char *path, const struct fh_judge_problems *problems, struct fh_judge_samples *ret,
                          struct fh_error *err);
/* Makes a sample of the problem at `at` in `problems`: text is a continuation of its head or, with is_whole, a program
 * or a model's answer that holds one. What copying does to a program is repaired (code/clean.h). */
void fh_judge_sample_make(const struct fh_judge_problems *problems, size_t at, struct fh_str text, bool is_whole,
                          struct fh_judge_sample *ret);
