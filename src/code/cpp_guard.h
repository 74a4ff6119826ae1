/* SPDX-License-Identifier: MIT */
/*
 * In one process a test in C++ stands behind the program, in the same unit. What is here keeps the program from giving
 * the test's own words another meaning: by a macro, or by an operator of a class of its own, such as one that equals
 * everything. What the task itself defines (its declaration, its reference, its test) a program may define as well.
 */
#pragma once
#include "base/buf.h"

struct fh_cpp_guard {
	struct fh_buf program; /* what the compiler is to see of it */
	struct fh_buf behind;  /* lines that stand between it and the test */
};
void fh_cpp_guard_release(struct fh_cpp_guard *g);

/* task: the texts of declaration, reference and test. has_reference: they say all that the test needs of a program. */
void fh_cpp_guard(struct fh_str program, struct fh_str task, struct fh_str test, bool has_reference,
                  struct fh_cpp_guard *ret);

/* Finds the next name behind a `define` in the text, whose literals and comments are blanked, from *at on, and moves
 * *at behind it. False: there is none. */
bool fh_cpp_next_macro(struct fh_str blanked, size_t *at, struct fh_str *ret);
