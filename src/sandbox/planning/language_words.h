/* SPDX-License-Identifier: MIT */
/*
 * The words by which users and models name languages, from all data files of languages. They are read once, at the
 * first call, and kept until the process ends. Thread-safe. If the data files cannot be read, there are no words.
 */
#pragma once
#include "base/base.h"

enum fh_word_kind {
	FH_WORD_NAME = 1, /* a name or an alias, exactly as written */
	FH_WORD_TAG = 2,  /* a word after a code fence: a name, an alias or one of `tags`; case does not matter */
};

/* The name of the language for a word ("py": "python"); NULL: no language has it. */
FH_NULLABLE const char *fh_language_of_word(struct fh_str word, enum fh_word_kind kind);
/* The names of all languages, separated by ", ". */
const char *fh_language_names(void);
