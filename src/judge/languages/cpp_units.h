/* SPDX-License-Identifier: MIT */
/*
 * The texts that judging C++ in two processes needs, made from a task's declaration and test (guest/cpp/split_codec.hpp
 * says how they work together):
 *
 *   glue   the codecs, the declaration's helpers, a weak stand-in for the function and a weak main that serves
 *   test   the declaration's helpers, the function's prototype and the test
 *
 * glue is compiled once per task to an object, the test is linked with it to the judge, the candidate's own text to the
 * program that answers. Nothing is added to that text where it defines the function as it is declared (cpp_adapter.h).
 */
#pragma once
#include "base/buf.h"
#include "base/error.h"
#include "code/signature.h"

/* Of the compiler, beside its own; the glue's object is called FH_CPP_OBJECT there. */
extern const char *const fh_cpp_glue_flags[];
extern const char *const fh_cpp_judge_flags[];
extern const char *const fh_cpp_candidate_flags[];
#define FH_CPP_OBJECT "glue.o"

/* The data files guest/cpp/split_codec.hpp, split_any.hpp and split_engines.hpp. */
struct fh_cpp_texts {
	struct fh_str codec, any, engines;
};
/* -FH_E_UNAVAILABLE: no stand-in can be made,
 * with the reason; that a type has no codec shows when the glue is compiled. */
int fh_cpp_units(const struct fh_cpp_texts *texts, struct fh_str declaration, struct fh_str test, struct fh_buf *glue,
                 struct fh_buf *ret_test, struct fh_error *err);

/* RESULT NAME(PARAMETERS), each parameter with a name and without a default value; and the name of one of them. */
void fh_cpp_add_head(struct fh_buf *out, const struct fh_signature *s, struct fh_str name);
void fh_cpp_add_name(struct fh_buf *out, const struct fh_signature *s, size_t i);
