/* SPDX-License-Identifier: MIT */
/*
 * The proof that a program ran to its end: a last line that prints a random word, which nobody else prints. A program
 * that leaves early, however it sets its exit status, does not print it. The word stands in the program's own text,
 * in two halves, so a program that reads its text could still print it: such a verdict is FH_INTEGRITY_IN_PROCESS.
 */
#pragma once
#include "base/buf.h"
#include "base/error.h"

enum { FH_CODE_PROOF_HALF = 16 };
struct fh_code_proof {
	char half[2][FH_CODE_PROOF_HALF + 1]; /* hexadecimal */
};

/* Whether there is such a line in a language. */
bool fh_code_proof_can(const char *language);
/* Lines that belong between two calls, so that one that fails is not made good by the next; "" in most languages. */
const char *fh_code_proof_between(const char *language);
/* Lines that belong in front of the calls: they end a program in which a check that does not hold passes all the same,
 * as it has another `assert` or `==`, or give checks their meaning back. They find what a program does to the language,
 * not what it does to these lines. "" where there is no need. */
const char *fh_code_proof_checks_hold(const char *language);
int fh_code_proof_make(struct fh_code_proof *ret, struct fh_error *err);
void fh_code_proof_add(const struct fh_code_proof *p, const char *language, struct fh_buf *program);
/* Whether the word stands in what the program printed, from where it is removed. */
bool fh_code_proof_take(const struct fh_code_proof *p, unsigned char *output, size_t *size);
