/* SPDX-License-Identifier: MIT */
/* The signature of the function that a declaration in C++, Java, Rust or Go opens: its body begins with the last `{`
 * that is not closed, at depth 0, or in Java at depth 1. The text before it (includes, types, helper functions) belongs
 * to the task. There is no parser behind it: it finds what a stand-in for the function needs, and what it gets wrong
 * shows when the stand-in is compiled. */
#pragma once
#include "base/buf.h"
#include "base/error.h"

#define FH_SIGNATURE_PARAMETERS_MAX 64

struct fh_parameter {
	struct fh_str type; /* text of the parameter: type and name, without a default value */
	struct fh_str name; /* n = 0: it has no name */
};

/* All slices point into `text`: the declaration with comments and the contents of literals blanked, of the same
 * length. */
struct fh_signature {
	struct fh_buf text;
	size_t start, end; /* positions, also valid in the declaration: `end` is that of the `{` */
	struct fh_str result, name;
	struct fh_str lifetimes; /* Rust: the "<'a>" behind the name, or empty */
	struct fh_parameter parameters[FH_SIGNATURE_PARAMETERS_MAX];
	size_t parameter_count;
};

/* 0, or -FH_E_UNAVAILABLE with the reason why no stand-in can be made ("the entry point is a template"). */
int fh_cpp_signature(struct fh_str declaration, struct fh_signature *ret, struct fh_error *err);
/* The function is a method of a class; `result` is without modifiers, type parameters and annotations. */
int fh_java_signature(struct fh_str declaration, struct fh_signature *ret, struct fh_error *err);
/* A parameter's `type` is only its type, without the name; `result` may be empty. */
int fh_rust_signature(struct fh_str declaration, struct fh_signature *ret, struct fh_error *err);
/* `start` is the position of the word func. `result` holds the parameters and results as a function type has them, that
 * is all text behind the name. A parameter's `type` is its name followed by its type, if the type is written there.
 * When parameters have no names, none is read. */
int fh_go_signature(struct fh_str declaration, struct fh_signature *ret, struct fh_error *err);
/* The name of the function that a declaration opens, as a slice of it; empty when it opens none. */
struct fh_str fh_cpp_name(struct fh_str declaration);
/* The text of a program up to the { of its plain function `name`, which is what data sets call a declaration. Empty
 * when there is no such function. */
struct fh_str fh_cpp_declaration_of(struct fh_str program, struct fh_str name);
struct fh_str fh_go_declaration_of(struct fh_str program, struct fh_str name);
struct fh_str fh_java_name(struct fh_str declaration);
struct fh_str fh_rust_name(struct fh_str declaration);
struct fh_str fh_go_name(struct fh_str declaration);
/* White space in these languages. */
static inline bool fh_signature_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}
/* Position of the `)` that closes the `(` at s[open], in blanked text; s.n when it is missing. */
size_t fh_signature_closing(struct fh_str s, size_t open);
/* Appends s with comments replaced by blanks and the contents of literals by x; every other byte keeps its position. */
void fh_signature_blank(struct fh_buf *out, struct fh_str s);
void fh_signature_release(struct fh_signature *s);
#define fh_auto_signature FH_CLEANUP(fh_signature_release)
