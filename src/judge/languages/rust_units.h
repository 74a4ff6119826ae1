/* SPDX-License-Identifier: MIT */
/*
 * The crates that judging Rust needs. In two processes there are two:
 *
 *   judge      the declaration's helpers, a stand-in, and the test as a plain module whose functions main calls; with
 *              guest/rust/split_codec.rs as module split
 *   candidate  the candidate's own text as the crate's root, so that `crate::`, `$crate` and inner attributes mean what
 *              they mean in a program by itself, and one macro call behind it; with guest/rust/split_codec.rs and
 *              split_fit.rs as crate fh_split, where neither lints nor macros of the candidate's reach
 *
 * In one process it is one, whose root is the program likewise, with no_main; behind it stand the test as a module of
 * ours, which gets std's assertions and the like whatever the program calls its macros, and guest/rust/judge.rs, which
 * has the C main.
 *
 * Beside std's there are crates of ours by the names and with the commonest functions of those that BigCode's harness
 * has (guest/rust/crate_*.rs), wherever the text names them. Others are not there: the declaration's `use` of one is
 * left out, and a program that needs it does not compile.
 */
#pragma once
#include "base/buf.h"
#include "base/error.h"

/* -FH_E_UNAVAILABLE: no stand-in can be made, with the reason. */
int fh_rust_judge(struct fh_str declaration, struct fh_str test, struct fh_buf *out, struct fh_error *err);
/* fit: for a program whose function has other types than the declared ones, by guest/rust/split_fit.rs. */
int fh_rust_candidate(struct fh_str declaration, struct fh_str program, bool fit, struct fh_buf *out,
                      struct fh_error *err);

/* Of the compiler, beside its own: for the crate fh_split, and for the candidate's, where it is called FH_RUST_CODEC.
 */
extern const char *const fh_rust_codec_flags[];
extern const char *const fh_rust_candidate_flags[];
#define FH_RUST_CODEC "libfh_split.rlib"
/* For what is compiled of the judge's. */
extern const char *const fh_rust_judge_flags[];

/* -FH_E_UNAVAILABLE: the test cannot be run in one process either, with the reason. */
int fh_rust_unit(struct fh_str declaration, struct fh_str completion, struct fh_str test, struct fh_str driver,
                 struct fh_buf *out, struct fh_error *err);
extern const char *const fh_rust_unit_flags[];
/* Adds to the plan that compiles `text` the crates of ours that it mentions (rust.c). */
struct fh_client;
struct fh_plan;
struct fh_split;
int fh_rust_add_crates(struct fh_split *s, struct fh_client *client, struct fh_str text, struct fh_plan *plan,
                       struct fh_error *err);

struct fh_rust_crate {
	const char *name, *file;
	const char *texts[2]; /* files of guest/rust/ that make it up, in order */
	const char *external; /* as --extern takes it */
	const char *const *flags;
};
#define FH_RUST_CRATES 3
extern const struct fh_rust_crate fh_rust_crates[FH_RUST_CRATES];
/* Whether the text may mean the crate by its name: it has the word, and no module of that name. */
bool fh_rust_mentions(struct fh_str text, const struct fh_rust_crate *crate);

/* The program that the completion makes of the declaration: without the `use` of crates that are not there, and without
 * the declaration's empty main where the completion has a main of its own. */
void fh_rust_program(struct fh_buf *out, struct fh_str declaration, struct fh_str completion);
