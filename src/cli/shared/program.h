/* SPDX-License-Identifier: MIT */
/* The program that a command line gives: by -c CODE, as a FILE, or as - from standard input. */
#pragma once
#include "base/buf.h"
#include "sandbox/planning/language.h"

#define FH_PROGRAM_MAX (64u << 20) /* maximum bytes of a program's text */

struct fh_program {
	struct fh_buf code;
	struct fh_language *language;
	const char *name; /* name of the program's file, if it tells the language; NULL: the language's default name */
	const char *const *args; /* arguments of the program itself; NULL: none */
	bool took_stdin; /* the program's text was read from standard input, so the program has no other input there */
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
