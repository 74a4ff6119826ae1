/* SPDX-License-Identifier: MIT */
/*
 * The stand-in for class Solution that judging Java in two processes needs: the declaration's class with its helpers,
 * in which the method under test calls SplitJudge.call. The candidate's own class is compiled beside SplitCandidate.
 * Where a test cannot be split, program and test are two files of one program (java_in_process.c).
 */
#pragma once
#include "base/buf.h"
#include "base/error.h"
#include "judge/languages.h"
#include "proto/plan.h"

#define FH_JAVA_CLASS "Solution"
#define FH_JAVA_JUDGE "SplitJudge" /* the judge's main class */

/* -FH_E_UNAVAILABLE: no stand-in can be made, with the reason. */
int fh_java_stand_in(struct fh_str declaration, struct fh_buf *out, struct fh_error *err);
/* A candidate's text without the word public in front of its top-level types, which says no more than how a file is
 * called: a class Main beside class Solution may have it; and without its package. Each byte stays where it is. */
void fh_java_program(struct fh_str text, struct fh_buf *out);
/* The same where the test's class Main is in the same program: a Main of the program's own is called otherwise. */
void fh_java_program_beside_main(struct fh_str text, struct fh_buf *out);
/* Whether a text defines the type at its top level. */
bool fh_java_defines(struct fh_str text, struct fh_str name);
/* A test as the judge's process gets it: what it makes by `new Random(…)` comes from SplitJudge. */
void fh_java_test(struct fh_str text, struct fh_buf *out);
/* The declaration's imports hold for the test as well: in one file they stand in front of both. */
void fh_java_imports(struct fh_str head, struct fh_buf *out);
/* Starts `class_name` instead of Main, with java.io open to it: the drivers reach their descriptors by number, for
 * which there is no public way. Where the test is written with assert, it holds. */
void fh_java_start(struct fh_plan *plan, const char *class_name);

/* For the table of languages: program and test become files beside the driver's. */
void fh_java_beside_test(struct fh_plan *plan, const struct fh_judge_parts *p);
