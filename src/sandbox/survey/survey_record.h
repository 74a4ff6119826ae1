/* SPDX-License-Identifier: MIT */
/*
 * A record of questions and answers, from which plans are built without asking again: on another machine than the one
 * that answered, or later.
 *
 * A question that the record does not hold goes to the survey behind it, if there is one, and its answer is kept.
 * Otherwise it stays unanswered (survey.h), and fh_plan_build_from refuses the plan.
 *
 * As JSON, a record is a list of objects: "ask" is the kind of the question ("real"), then come those of "root",
 * "path", "args" and "max" that it has, and of the answer "error" (a name such as "ENOENT"), "text" (or "bytes",
 * base64, if it is not UTF-8), "list" or "facts" (device, inode, size, mode, and seconds and nanoseconds of
 * modification and change).
 */
#pragma once
#include "json/json.h"
#include "survey/survey.h"

#define FH_SURVEY_ENTRIES_MAX 4096

struct fh_survey_entry;
struct fh_survey_record {
	struct fh_survey survey;
	FH_NULLABLE struct fh_survey *behind; /* borrowed */
	struct fh_survey_entry *entries;
	size_t count, capacity;
};
void fh_survey_record_init(struct fh_survey_record *r, FH_NULLABLE struct fh_survey *behind);
void fh_survey_record_release(struct fh_survey_record *r);
#define fh_auto_survey_record FH_CLEANUP(fh_survey_record_release)

/* One of its questions, i from 0; borrowed. */
struct fh_survey_question fh_survey_record_question(const struct fh_survey_record *r, size_t i);
/* Adds a question that the record does not hold, and its answer, which it takes over. */
void fh_survey_record_add(struct fh_survey_record *r, const struct fh_survey_question *q,
                          FH_OWN struct fh_survey_answer *answer);

/* The record as JSON, in the order of its questions. New reference. */
FH_OWN json_t *fh_survey_record_json(const struct fh_survey_record *r);
/* Adds the entries of a JSON text; `name` is its file in errors. */
int fh_survey_record_read(struct fh_survey_record *r, struct fh_str json, const char *name, struct fh_error *err);
