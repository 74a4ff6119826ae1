/* SPDX-License-Identifier: MIT */
/* The program that a command line gives: by -c CODE, as a FILE, or as - from standard input. */
#pragma once
#include "base/buf.h"
#include "sandbox/planning/language.h"

#define FH_PROGRAM_MAX (64u << 20) /* bytes of its text */

struct fh_program {
	struct fh_buf code;
	struct fh_language *language;
	const char *name;        /* its file's, where that tells the language; NULL: the language's default */
	const char *const *args; /* its own arguments; NULL: none */
	bool took_stdin;         /* its text came from standard input, which it cannot read any more */
};
#define FH_PROGRAM_INIT                                                                                                \
	{                                                                                                                  \
		.code = FH_BUF_INIT(FH_PROGRAM_MAX)                                                                            \
	}

/* language and code are the values of -l and -c, or NULL. Without -c, args[0] is the file or "-". Without -l the file's
 * name tells the language, or else its first line. An unknown language is FH_E_ARGUMENT. */
int fh_program_read(struct fh_program *p, const char *language, const char *code, const char *const *args, size_t count,
                    struct fh_error *err);
void fh_program_release(struct fh_program *p);
