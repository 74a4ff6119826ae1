/* SPDX-License-Identifier: MIT */
/*
 * The words by which people and models call languages, of all data files of languages together: read once, at the first
 * question, and kept while the process lives. Threads may share them. Where the data files cannot be read there are
 * none.
 */
#pragma once
#include "base/base.h"

enum fh_word_kind {
	FH_WORD_NAME = 1, /* a name or an alias, as it is written */
	FH_WORD_TAG = 2,  /* what stands behind a fence in an answer: also one of `tags`; capitals do not matter */
};

/* The name of the language that is called so ("py": "python"); NULL: none of ours. */
FH_NULLABLE const char *fh_language_of_word(struct fh_str word, enum fh_word_kind kind);
/* The names of all languages, one behind the other with ", " between them. */
const char *fh_language_names(void);
