/* SPDX-License-Identifier: MIT */
/* The survey of the machine of this process: each question is answered by looking. */
#pragma once
#include "survey/survey.h"

struct fh_survey_host {
	struct fh_survey survey;
	char *root; /* the image that was asked about last, kept open; NULL: none */
	int root_fd;
};
void fh_survey_host_init(struct fh_survey_host *h);
void fh_survey_host_release(struct fh_survey_host *h);
#define fh_auto_survey_host FH_CLEANUP(fh_survey_host_release)

/* Whether this survey looks at this machine itself, rather than at kept answers. */
bool fh_survey_is_host(const struct fh_survey *s);
