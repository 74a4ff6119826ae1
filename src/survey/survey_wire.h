/* SPDX-License-Identifier: MIT */
/*
 * Questions and answers as fields of a frame (docs/protocol.md, "Survey"): a client asks them of an engine whose
 * machine is not its own.
 *
 *     SURVEY   { QUESTION { KIND, ROOT, PATH, ARGV*, MAX_BYTES } * }
 *     REPLY    { ANSWER { SYS, FACT*, CONTENT, NAME* } *, COUNT }       in the order of the questions
 *
 * COUNT, behind the last answer, shows that none is missing.
 */
#pragma once
#include "survey/survey.h"

enum { FH_SURVEY_QUESTIONS_MAX = 4096, FH_SURVEY_QUESTIONS_BYTES = 1 << 20, FH_SURVEY_ARGS_MAX = 14 };

/* A question that was read. The texts and the list of the question are its own. */
struct fh_survey_asked {
	struct fh_survey_question question;
	char *root, *path, *args[FH_SURVEY_ARGS_MAX + 1];
};
void fh_survey_asked_release(struct fh_survey_asked *a);
#define fh_auto_survey_asked FH_CLEANUP(fh_survey_asked_release)

void fh_survey_question_write(struct fh_buf *out, const struct fh_survey_question *q);
/* Reads the value of a QUESTION. False: it is malformed. *ret is to be released in either case, and must not be
 * moved. */
bool fh_survey_question_read(struct fh_str message, struct fh_survey_asked *ret);

void fh_survey_answer_write(struct fh_buf *out, const struct fh_survey_answer *a);
/* Reads the value of an ANSWER to a question of that kind. False: it is malformed, or answers another kind. *ret is to
 * be released in either case. */
bool fh_survey_answer_read(struct fh_str message, enum fh_survey_kind kind, struct fh_survey_answer *ret);
