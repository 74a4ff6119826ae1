/* SPDX-License-Identifier: MIT */
/*
 * The crates for judging Rust. In two processes there are two:
 *
 *   judge      the declaration's helpers, a stand-in, and the test as a plain module whose functions main calls; with
 *              guest/rust/split_codec.rs as module split
 *   candidate  the candidate's own text as the crate's root, so that `crate::`, `$crate` and inner attributes mean what
 *              they mean in a program by itself, and one macro call behind it; with guest/rust/split_codec.rs and
 *              split_fit.rs as crate fh_split, where neither lints nor macros of the candidate's reach
 *
 * In one process there is one crate, whose root is the program too, with no_main. The test follows as a module of ours,
 * which uses std's assertion macros even if the program defines macros with the same names, and then
 * guest/rust/judge.rs, which has the C main.
 *
 * For crates that BigCode's harness provides, there are replacements with the same names and the most common functions
 * (guest/rust/crate_*.rs), which are added if the text mentions them. Other crates are not available: the declaration's
 * `use` of one is removed, and a program that needs one does not compile.
 */
#pragma once
#include "base/buf.h"
#include "base/error.h"

/* -FH_E_UNAVAILABLE, with the reason: no stand-in can be made. */
int fh_rust_judge(struct fh_str declaration, struct fh_str test, struct fh_buf *out, struct fh_error *err);
/* How the program's function is called, whose types may be other ones than the declared: guest/rust/split_fit.rs
 * converts them. FH_RUST_FIT_MORE: also those that are changed in place, and a Result's error of any type into a
 * String; for a program that does not compile with FH_RUST_FIT. */
enum fh_rust_fit { FH_RUST_AS_DECLARED, FH_RUST_FIT, FH_RUST_FIT_MORE };
/* Whether the declared function takes an argument by &mut. */
bool fh_rust_changes(struct fh_str declaration);
/* Whether a declaration has something that only FH_RUST_FIT_MORE converts. */
bool fh_rust_can_fit_more(struct fh_str declaration);
int fh_rust_candidate(struct fh_str declaration, struct fh_str program, enum fh_rust_fit how, struct fh_buf *out,
                      struct fh_error *err);

/* Compiler options in addition to the language's own: for the crate fh_split, and for the candidate's crate, where
 * fh_split is called FH_RUST_CODEC. */
extern const char *const fh_rust_codec_flags[];
extern const char *const fh_rust_candidate_flags[];
#define FH_RUST_CODEC "libfh_split.rlib"
/* For the judge's crate. */
extern const char *const fh_rust_judge_flags[];

/* -FH_E_UNAVAILABLE, with the reason: the test cannot be run in one process either. */
int fh_rust_unit(struct fh_str declaration, struct fh_str completion, struct fh_str test, struct fh_str driver,
                 struct fh_buf *out, struct fh_error *err);
extern const char *const fh_rust_unit_flags[];

struct fh_rust_crate {
	const char *name, *file;
	const char *texts[2]; /* the names of its files in guest/rust/, in the order in which they are compiled */
	const char *external; /* argument of --extern */
	const char *const *flags;
};
#define FH_RUST_CRATES 3
extern const struct fh_rust_crate fh_rust_crates[FH_RUST_CRATES];
/* Whether the text may refer to the crate: it contains the name as a word, and no module with that name. */
bool fh_rust_mentions(struct fh_str text, const struct fh_rust_crate *crate);

/* Appends the program that the completion makes of the declaration, without `use` lines of unavailable crates, and
 * without the declaration's empty main if the completion has a main of its own. */
void fh_rust_program(struct fh_buf *out, struct fh_str declaration, struct fh_str completion);
/* Appends the `use` lines of the declaration for a whole program that leaves them out: in a module, of which all is
 * imported, since such names give way to the program's own. Nothing if it has none. */
void fh_rust_add_uses(struct fh_buf *out, struct fh_str declaration);
