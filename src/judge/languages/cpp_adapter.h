/* SPDX-License-Identifier: MIT */
/*
 * Adapters for programs whose function differs from its declaration but can be called in the same way: it takes const
 * references or wider numbers, or is a template, static, inline, or a variable that holds a function. A test in the
 * same unit would not notice, but the stand-in has another symbol. So a few lines are added to the end of such a
 * program: a function with the declared types that calls the program's function as a test does, with copies of the
 * values. They are made from the declaration only, which is in the prompt, and of the test from nothing but which
 * parameters get variables: a program may take such by a reference to non-const.
 */
#pragma once
#include "base/buf.h"
#include "base/error.h"

/* The compiler's file name for these lines, which languages/cpp/compile.sh knows as well. */
#define FH_CPP_ADAPTER "fumehood-adapter.cpp"

/* helpers: the text of guest/cpp/split_adapter.hpp. lvalues: bit i is set where the test gives a variable as the i-th
 * argument. `program` may be the content of `out`. Returns 1: an adapter was appended to out; 0: the text seems to
 * define the function as declared, so none is needed; or the error of fh_cpp_signature. An adapter added without need
 * costs only a little time. If it does not compile, the error is at a line of FH_CPP_ADAPTER, which means that the
 * program has no function that can be called with the declared types. */
int fh_cpp_adapter(struct fh_str helpers, struct fh_str declaration, uint64_t lvalues, struct fh_str program,
                   struct fh_buf *out, struct fh_error *err);
