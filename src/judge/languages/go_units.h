/* SPDX-License-Identifier: MIT */
/*
 * The programs that judging Go needs. In two processes these are two, each a package main beside package fhsplit
 * (guest/go/split_*.go):
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

/* Appends what a prompt defines in front of the function, without imports, unless the declaration has such of its own.
 */
void fh_go_add_helpers(struct fh_buf *out, struct fh_str prompt, struct fh_str declaration);
/* -FH_E_UNAVAILABLE: no stand-in can be made, with the reason. */
int fh_go_judge(struct fh_str declaration, struct fh_str test, struct fh_buf *out, struct fh_error *err);
/* head is empty where the completion is a program by itself. */
int fh_go_candidate(struct fh_str declaration, struct fh_str test, struct fh_str head, struct fh_str completion,
                    struct fh_buf *ret_solution, struct fh_buf *ret_main, struct fh_error *err);

/* In one process it is one program: beside package fhsplit (guest/go/judge.go, guest/go/split_assert.go) the
 * candidate's own text, and a file with the test, whose init runs it once the candidate's own have run; so here, too, a
 * main of the candidate's is never reached. Where the test says len or true, a third file keeps the candidate from
 * giving these names another meaning: its imports have them, and Go refuses a name of the package that is one of an
 * import. */
struct fh_go_task {
	struct fh_str declaration, test;
	struct fh_str reference; /* such names that it declares are the task's; may be empty */
};
struct fh_go_whole {
	struct fh_buf main, solution, names;
	struct fh_buf key; /* of package fhsplit */
};
/* -FH_E_UNAVAILABLE: the task cannot be judged so, with the reason. */
int fh_go_whole(const struct fh_go_task *task, struct fh_str head, struct fh_str completion, struct fh_go_whole *ret,
                struct fh_error *err);
void fh_go_whole_release(struct fh_go_whole *w);
#define fh_auto_go_whole FH_CLEANUP(fh_go_whole_release) struct fh_go_whole
