/* SPDX-License-Identifier: MIT */
/*
 * A survey: questions about the machine on which a plan's sandbox will be made, and their answers.
 *
 * A plan names interpreters, folders and files of that machine. Planning never looks at them itself: it learns each
 * fact as the answer to a question. Who answers is a function: the machine of this process (survey_host.h), or a record
 * of answers that were given before (survey_record.h). So one code plans for every machine that can be asked.
 *
 * No answer depends on an earlier question, so questions may be answered in any order, and answers may be kept. A
 * survey is used by one thread.
 */
#pragma once
#include "base/base.h"
#include "base/buf.h"
#include "base/error.h"
#include "survey/facts.h"

enum fh_survey_kind {
	FH_SURVEY_FACTS,     /* facts of the file that the path leads to */
	FH_SURVEY_OWN_FACTS, /* facts of what is at the path itself, be it a symbolic link */
	FH_SURVEY_LINK,      /* text: where the symbolic link at the path leads */
	FH_SURVEY_REAL,      /* text: the path with all links resolved */
	FH_SURVEY_PLACE,     /* text: as REAL, without following links that a program in a sandbox may have made
	                        (base/host/place.h) */
	FH_SURVEY_TEXT,      /* text: all bytes of a regular file, at most max */
	FH_SURVEY_HEAD,      /* text: the first max bytes of a file */
	FH_SURVEY_PROGRAM,   /* no error: the path leads to a regular file that may be executed */
	FH_SURVEY_GLOB,      /* list: the paths that match the pattern, sorted */
	FH_SURVEY_NAMES,     /* list: names in the folder, in no order; max other than 0: no more than so many */
	FH_SURVEY_VARIABLE,  /* text: the environment variable; error ENOENT: it is not set */
	FH_SURVEY_CWD,       /* text: the working directory */
	FH_SURVEY_OUTPUT,    /* text: what a program writes to its standard output, if it succeeds; args: its arguments */
	FH_SURVEY_CACHE,     /* text: the folder of the client's cache with this name, if the machine is the client's */
	FH_SURVEY_INSTALLED, /* text: a digest that changes with everything that is installed on the machine */
	FH_SURVEY_KIND_COUNT_,
};

struct fh_survey_question {
	enum fh_survey_kind kind;
	/* "": the machine's root. Otherwise a folder: links are resolved as if it were the root. For FACTS, TEXT and
	 * PROGRAM. */
	const char *root;
	const char *path;                    /* or the pattern, or the name of a variable or cache; "": none is needed */
	FH_NULLABLE const char *const *args; /* NULL-terminated */
	size_t max;
};

/* All zero but for what the question's kind asks for. The caller owns text and list. */
struct fh_survey_answer {
	int error; /* an errno; 0: none */
	struct fh_survey_facts facts;
	char *text; /* NULL, or `size` bytes and a NUL */
	size_t size;
	char **list; /* NULL, or NULL-terminated */
};
void fh_survey_answer_release(struct fh_survey_answer *a);
#define fh_auto_survey_answer FH_CLEANUP(fh_survey_answer_release)

struct fh_survey {
	void (*answer)(struct fh_survey *s, const struct fh_survey_question *q, struct fh_survey_answer *ret);
	/* The first question that could not be answered, in words; NULL: none so far. What was concluded from such an
	 * answer is worthless. Owned; freed by whoever made the survey. */
	char *unanswered;
};

/* Questions in the form of calls. What returns a text returns NULL, with errno, if there is none. The caller owns texts
 * and lists. */
bool fh_survey_facts(struct fh_survey *s, const char *root, const char *path, struct fh_survey_facts *ret);
bool fh_survey_own_facts(struct fh_survey *s, const char *path, struct fh_survey_facts *ret);
bool fh_survey_exists(struct fh_survey *s, const char *path);
bool fh_survey_is_dir(struct fh_survey *s, const char *path);
FH_OWN FH_NULLABLE char *fh_survey_link(struct fh_survey *s, const char *path);
FH_OWN FH_NULLABLE char *fh_survey_real(struct fh_survey *s, const char *path);
FH_OWN FH_NULLABLE char *fh_survey_place(struct fh_survey *s, const char *path);
/* Appends the file's bytes. Returns an errno: EFBIG: it is larger than out's room; EINVAL: it is no regular file. */
int fh_survey_text(struct fh_survey *s, const char *root, const char *path, struct fh_buf *out);
/* Whether the file begins with these bytes. */
bool fh_survey_begins(struct fh_survey *s, const char *path, const char *bytes);
bool fh_survey_is_program(struct fh_survey *s, const char *root, const char *path);
char **fh_survey_glob(struct fh_survey *s, const char *pattern); /* empty: nothing matches */
char **fh_survey_names(struct fh_survey *s, const char *dir, size_t max);
void fh_survey_list_free(char **list);
static inline void fh_survey_list_freep(char ***list)
{
	fh_survey_list_free(*list);
}
#define fh_auto_survey_list FH_CLEANUP(fh_survey_list_freep)
FH_OWN FH_NULLABLE char *fh_survey_variable(struct fh_survey *s, const char *name);
FH_OWN FH_NULLABLE char *fh_survey_cwd(struct fh_survey *s);
FH_OWN FH_NULLABLE char *fh_survey_output(struct fh_survey *s, const char *program, const char *const *args);
FH_OWN FH_NULLABLE char *fh_survey_cache(struct fh_survey *s, const char *name);
FH_OWN FH_NULLABLE char *fh_survey_installed(struct fh_survey *s);
/* The executable that a shell there would run for `name`; a name with a slash is used as it is. */
FH_OWN FH_NULLABLE char *fh_survey_which(struct fh_survey *s, const char *name, FH_NULLABLE const char *path_variable);
