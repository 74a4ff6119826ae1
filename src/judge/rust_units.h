/* SPDX-License-Identifier: MIT */
/*
 * The two crates that judging Rust in two processes needs, each of a main.rs and guest/split_codec.rs as split.rs:
 *
 *   judge      the declaration's helpers, a stand-in, and the test as a plain module whose functions main calls
 *   candidate  a module that includes solution.rs, the candidate's own text, and answers calls
 *
 * Crates other than std's are not there: the declaration's `use` of one is left out, and a program that needs it does
 * not compile.
 */
#pragma once
#include "base/buf.h"
#include "base/error.h"

/* -FH_E_UNAVAILABLE: no stand-in can be made, with the reason. */
int fh_rust_judge(struct fh_str declaration, struct fh_str test, struct fh_buf *out, struct fh_error *err);
int fh_rust_candidate(struct fh_str declaration, struct fh_buf *out, struct fh_error *err);
/* The declaration without the `use` of crates that are not there. */
void fh_rust_head(struct fh_buf *out, struct fh_str declaration);
