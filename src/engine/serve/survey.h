/* SPDX-License-Identifier: MIT */
/*
 * SURVEY: what a client asks of the engine's machine before it makes a plan. A process of its own answers
 * (survey/survey_answer.h), with the rights of the engine; the engine carries its bytes and reads none of them.
 */
#pragma once
#include "engine/core/engine.h"

int fh_request_survey(struct fh_connection *c, const struct fh_frame *f, struct fh_error *err);
/* Ends the surveys of a connection, or that of one of its requests; request 0: all of them. Returns how many. */
size_t fh_surveys_end(struct fh_connection *c, uint64_t request);
