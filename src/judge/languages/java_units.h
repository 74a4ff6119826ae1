/* SPDX-License-Identifier: MIT */
/*
 * The stand-in for a class of the program's (in data sets, Solution), for judging Java in two processes: the
 * declaration's class with its helpers, in which the method under test calls SplitJudge.call; or, if nothing is
 * declared, the class of the reference that the test uses, with all methods and constructors that are not private, and
 * no fields. The candidate's own class and SplitCandidate, which is compiled once, become one program. If a test cannot
 * be split, program and test are two files of one program (java_in_process.c).
 */
#pragma once
#include "base/buf.h"
#include "base/error.h"
#include "judge/problems/languages.h"
#include "proto/plan.h"

#define FH_JAVA_CLASS "Solution"        /* in SplitProgram.java */
#define FH_JAVA_COMPILED ".fhsplit.jar" /* classes that languages/java/compile.sh adds */
#define FH_JAVA_JUDGE "SplitJudge"      /* the judge's main class */

/* The class in which a declaration ends; empty: it ends in none. */
struct fh_str fh_java_class_name(struct fh_str declaration);
/* Appends the class's name, and the stand-in. -FH_E_UNAVAILABLE, with the reason: none can be made. */
int fh_java_stand_in(const struct fh_judge_problem *p, struct fh_buf *ret_class, struct fh_buf *out,
                     struct fh_error *err);
/* For the table of languages: a test file for JUnit becomes a test with a class Main (java_test_file.c). */
int fh_java_test_file(struct fh_buf *test, struct fh_error *err);
bool fh_java_is_for_junit(struct fh_str test);
/* The classes that a test for JUnit uses (guest/java), for FH_JAVA_COMPILED. They are compiled once for all tests: that
 * takes longer than compiling a test with its program. */
struct fh_artifact;
struct fh_split;
int fh_java_junit(struct fh_split *s, struct fh_client *client, struct fh_artifact *ret, struct fh_error *err);
/* Appends a candidate's text without its package, and without `public` before its top-level types (which only requires
 * a certain file name, and which a class Main beside class Solution may have). All other bytes keep their positions. */
void fh_java_program(struct fh_str text, struct fh_buf *out);
/* Appends the candidate's text in the same way if the test's class Main is in the same program: a class Main of the
 * candidate's is renamed. */
void fh_java_program_beside_main(struct fh_str text, struct fh_buf *out);
/* Whether the text defines the type at its top level. */
bool fh_java_defines(struct fh_str text, struct fh_str name);
/* Appends a test for the judge's process, in which `new Random(…)` is replaced by a call of SplitJudge. */
void fh_java_test(struct fh_str text, struct fh_buf *out);
/* Appends the declaration's imports, which the test may use too: in one file they would precede both. */
void fh_java_imports(struct fh_str head, struct fh_buf *out);
/* Appends the imports of the declaration on one line without its end, so that lines of the program keep their numbers:
 * for a whole program that leaves them out. */
void fh_java_imports_before(struct fh_str head, struct fh_buf *out);
/* Appends a whole program; one that is only methods, as a model answers where a method is asked for, as the class. Its
 * lines keep their numbers. */
void fh_java_add_whole(struct fh_str text, struct fh_str class, struct fh_buf *out);
/* Changes the plan to start `class_name` instead of Main. Opens java.io to it, because the drivers use descriptors by
 * number, which no public class allows; and enables assert, with which some tests are written. */
void fh_java_start(struct fh_plan *plan, const char *class_name);

/* For the table of languages: makes the files of program and test, which are compiled together with the driver. */
int fh_java_beside_test(struct fh_split *s, struct fh_client *client, const struct fh_judge_parts *p,
                        struct fh_plan *plan, struct fh_error *err);
