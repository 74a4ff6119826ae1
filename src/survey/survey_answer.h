/* SPDX-License-Identifier: MIT */
/*
 * The process that answers the questions of a SURVEY (`fumehood-engine --survey`): reads the frame's payload from
 * standard input, and writes that of the reply to standard output. It is not the engine itself, because a file system
 * that hangs must not hold up sandboxes, and because a question may have a program executed.
 */
#pragma once

/* Returns the exit status: 0; 1: the payload is malformed; 2: the reply would be too long. */
int fh_survey_answer_main(void);
