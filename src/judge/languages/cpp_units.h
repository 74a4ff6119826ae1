/* SPDX-License-Identifier: MIT */
/*
 * The texts for judging C++ in two processes, made from a task's declaration and test (guest/cpp/split_codec.hpp
 * explains how they work together):
 *
 *   glue   the codecs, the declaration's helpers, a weak stand-in for the function and a weak main that serves
 *   test   the declaration's helpers, the function's prototype and the test
 *
 * The glue is compiled once for each task to an object. Linked with the test it is the judge; linked with the
 * candidate's own text it is the program that answers calls. Nothing is added to that text if it defines the function
 * as declared (cpp_adapter.h).
 */
#pragma once
#include "base/buf.h"
#include "base/error.h"
#include "code/signature.h"

/* Stands before a test: it may count on assert(), and what a program makes of that name is no concern of its. */
#define FH_CPP_ASSERT "#undef NDEBUG\n#include <assert.h>\n"

/* Compiler options in addition to the language's own; the glue's object is called FH_CPP_OBJECT. */
extern const char *const fh_cpp_glue_flags[];
extern const char *const fh_cpp_judge_flags[];
extern const char *const fh_cpp_candidate_flags[];
#define FH_CPP_OBJECT "glue.o"

/* The texts of guest/cpp/split_codec.hpp, split_sides.hpp, split_any.hpp and split_engines.hpp. */
struct fh_cpp_texts {
	struct fh_str codec, sides, any, engines;
};
/* -FH_E_UNAVAILABLE, with the reason: no stand-in can be made. That a type has no codec only shows when the glue is
 * compiled. */
int fh_cpp_units(const struct fh_cpp_texts *texts, struct fh_str declaration, struct fh_str test, struct fh_buf *glue,
                 struct fh_buf *ret_test, struct fh_error *err);

/* Appends a text that compiles where the test gives a variable as the i-th argument. False: there is no such argument.
 */
bool fh_cpp_lvalue_unit(struct fh_str declaration, struct fh_str test, size_t i, struct fh_buf *out);

/* Appends RESULT NAME(PARAMETERS), each parameter with a name and without a default value; fh_cpp_add_name appends the
 * name of the i-th one. */
void fh_cpp_add_head(struct fh_buf *out, const struct fh_signature *s, struct fh_str name);
void fh_cpp_add_name(struct fh_buf *out, const struct fh_signature *s, size_t i);

/* Appends the lines of a declaration that include headers or use a namespace: what a test next to a whole program may
 * count on, and nothing that the program might define as well. Without `namespaces`: headers only. */
void fh_cpp_add_preamble(struct fh_buf *out, struct fh_str before, bool namespaces);
/* Appends what stands before a program that lacks headers: the whole standard library, and the declaration's lines as
 * above. Line numbers of the program do not change. */
#define FH_CPP_ALL_HEADERS "bits/stdc++.h"
void fh_cpp_add_headers(struct fh_buf *out, struct fh_str declaration);
