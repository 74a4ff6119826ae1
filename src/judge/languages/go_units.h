/* SPDX-License-Identifier: MIT */
/*
 * The programs for judging Go. In two processes there are two programs, each with a package main beside package fhsplit
 * (guest/go/split_*.go):
 *
 *     judge      the declaration's helpers, a stand-in, the test, and a main that passes its Test functions to
 *                fhsplit, which has the parts of testing and testify that tests use
 *     candidate  a file with the candidate's own text, and one whose init answers calls after the candidate's own
 *                init functions have run; a main of the candidate's is therefore never reached
 *
 * Go rejects unused imports and undeclared names. Like the data set's own harness, an unused import of the declaration
 * is removed, and a missing one from a short list is added. The imports of a complete program are kept, and those that
 * only the test needs are added, because the harness has both in one file. All this is judged by the text alone; a
 * misleading file does not compile.
 */
#pragma once
#include "base/buf.h"
#include "base/error.h"

/* Appends what a prompt defines before the function, without imports, unless the declaration has definitions of its
 * own. */
void fh_go_add_helpers(struct fh_buf *out, struct fh_str prompt, struct fh_str declaration);
/* For the table of languages: where the test is of a package x_test, writes X for x.X, the program being in the same
 * package here. Fails if it imports a package that is neither this one nor the standard library's nor testify's. */
int fh_go_test_file(struct fh_buf *test, struct fh_error *err);
/* -FH_E_UNAVAILABLE, with the reason: no stand-in can be made. */
int fh_go_judge(struct fh_str declaration, struct fh_str test, struct fh_buf *out, struct fh_error *err);
/* head is empty if the completion is a complete program. lacks_imports: it uses packages that it does not import, which
 * are then the declaration's or some of the standard library's. */
int fh_go_candidate(struct fh_str declaration, struct fh_str test, struct fh_str head, struct fh_str completion,
                    bool lacks_imports, struct fh_buf *ret_solution, struct fh_buf *ret_main, struct fh_error *err);

/* In one process there is one program: package fhsplit (guest/go/judge.go, split_testing.go, split_assert*.go), the
 * candidate's own text, and a file with the test, whose init runs it after the candidate's own init functions. So a
 * main of the candidate's is never reached here either. If the test uses predeclared names such as len or true, a third
 * file keeps the candidate from redefining them: it has imports with these names, and Go rejects a package-level name
 * that is also the name of an import. */
struct fh_go_task {
	struct fh_str declaration, test;
	struct fh_str reference; /* predeclared names that it redefines are left to the task; may be empty */
};
struct fh_go_whole {
	struct fh_buf main, solution, names;
	struct fh_buf key; /* for package fhsplit (guest/go/judge.go) */
};
/* -FH_E_UNAVAILABLE, with the reason: the task cannot be judged in one process. */
int fh_go_whole(const struct fh_go_task *task, struct fh_str head, struct fh_str completion, struct fh_go_whole *ret,
                struct fh_error *err);
void fh_go_whole_release(struct fh_go_whole *w);
#define fh_auto_go_whole FH_CLEANUP(fh_go_whole_release) struct fh_go_whole
