/* SPDX-License-Identifier: MIT */
/*
 * The two programs that judging Go in two processes needs, each a package main beside package fhsplit
 * (guest/split_*.go):
 *
 *   judge      the declaration's helpers, a stand-in, the test and a main that gives its Test functions to fhsplit,
 * which has what tests take of testing and of testify candidate  a file with the candidate's own text, and one whose
 * init answers calls once the candidate's own have run; so a main of the candidate's is never reached, and no harm
 *
 * Go refuses imports that are not used and names that are not imported. As the data set's own harness has it, an import
 * of the declaration's that nothing uses is left out, and one of a short list that is missing is put in; what a program
 * by itself imports stays as it is, but for what the test uses and the program does not: the harness has both in one
 * file. By look only: a file that misleads does not compile.
 */
#pragma once
#include "base/buf.h"
#include "base/error.h"

/* -FH_E_UNAVAILABLE: no stand-in can be made, with the reason. */
int fh_go_judge(struct fh_str declaration, struct fh_str test, struct fh_buf *out, struct fh_error *err);
/* head is empty where the completion is a program by itself. */
int fh_go_candidate(struct fh_str declaration, struct fh_str test, struct fh_str head, struct fh_str completion,
                    struct fh_buf *ret_solution, struct fh_buf *ret_main, struct fh_error *err);
