/* SPDX-License-Identifier: MIT */
/*
 * A program that writes the function otherwise than its declaration does, and is the same to whoever calls it: takes
 * const references, wider numbers, is a template, static, inline, a variable that holds a function. A test in the same
 * unit would not see the difference; the stand-in's symbol is another one. Such a program gets a few lines behind its
 * text, in its own unit: a function of the declared types that calls it as a test does, with values that are nobody
 * else's. They are made of the declaration alone, which is in the prompt.
 */
#pragma once
#include "base/buf.h"
#include "base/error.h"

#define FH_CPP_ADAPTER "adapter.cpp" /* as the compiler names these lines */

/* helpers: the data file guest/cpp/split_adapter.hpp. program may be what out holds. 1: appended to out; 0: the program
 * defines the function as it is declared, by the look of it, and needs none; or the error of fh_cpp_signature. A look
 * that misses it costs a little time: the adapter calls it all the same. One that does not compile is told by a line of
 * FH_CPP_ADAPTER: no call of the declared types means the program's function, if there is one. */
int fh_cpp_adapter(struct fh_str helpers, struct fh_str declaration, struct fh_str program, struct fh_buf *out,
                   struct fh_error *err);
