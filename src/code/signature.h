/* SPDX-License-Identifier: MIT */
/*
 * The signature of the function that a declaration in C++, Java, Rust or Go opens: the one whose body begins with the
 * last `{` that stays open, at depth 0, or in Java at depth 1. What stands before it (includes, types, helper
 * functions) belongs to the task. By look only: it finds what a stand-in has to be called, and what a compiler does not
 * accept is seen when the stand-in is compiled.
 */
#pragma once
#include "base/buf.h"
#include "base/error.h"

#define FH_SIGNATURE_PARAMETERS_MAX 64

struct fh_parameter {
	struct fh_str type; /* with the name, without the default value */
	struct fh_str name; /* n = 0: it has none */
};

/* Slices of `text`: the declaration with comments and the insides of literals blanked, as long as the declaration. */
struct fh_signature {
	struct fh_buf text;
	size_t start, end; /* of the signature, in the declaration as well: `end` is where the `{` stands */
	struct fh_str result, name;
	struct fh_str lifetimes; /* in Rust: "<'a>" behind the name, or empty */
	struct fh_parameter parameters[FH_SIGNATURE_PARAMETERS_MAX];
	size_t parameter_count;
};

/* 0, or -FH_E_UNAVAILABLE with the reason why no stand-in can be made ("the entry point is a template"). */
int fh_cpp_signature(struct fh_str declaration, struct fh_signature *ret, struct fh_error *err);
/* A method of a class; result has its modifiers, type parameters and annotations in front no more. */
int fh_java_signature(struct fh_str declaration, struct fh_signature *ret, struct fh_error *err);
/* A parameter's `type` is its type alone here, and result may be empty. */
int fh_rust_signature(struct fh_str declaration, struct fh_signature *ret, struct fh_error *err);
/* Here `start` is where the word func stands, `result` the parameters and results as they stand behind the name, as a
 * function's type has them, and a parameter's `type` holds its name, and its type where one stands behind it; none is
 * read where one has no name. */
int fh_go_signature(struct fh_str declaration, struct fh_signature *ret, struct fh_error *err);
/* The function that a declaration opens, in the declaration; empty where it opens none. */
struct fh_str fh_cpp_name(struct fh_str declaration);
/* The beginning of a program up to the { of its plain function `name`: a declaration as a data set has it. Empty where
 * there is no such function. */
struct fh_str fh_cpp_declaration_of(struct fh_str program, struct fh_str name);
struct fh_str fh_java_name(struct fh_str declaration);
struct fh_str fh_rust_name(struct fh_str declaration);
struct fh_str fh_go_name(struct fh_str declaration);
/* White space of these languages. */
static inline bool fh_signature_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}
/* The `)` that belongs to the `(` at s[open], in blanked text; s.n when there is none. */
size_t fh_signature_closing(struct fh_str s, size_t open);
/* Appends s with its comments as blanks and the insides of literals as x, each byte where it was. */
void fh_signature_blank(struct fh_buf *out, struct fh_str s);
void fh_signature_release(struct fh_signature *s);
#define fh_auto_signature FH_CLEANUP(fh_signature_release)
