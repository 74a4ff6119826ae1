/* SPDX-License-Identifier: MIT */
/* Plans for any machine whose survey can be asked. fh_plan_build (fumehood/sandbox.h) plans for this one. */
#pragma once
#include "proto/plan.h"
#include "survey/survey.h"

/* Every fact of the machine comes from the survey. FH_E_NOT_FOUND names a question that the survey could not answer. */
int fh_plan_build_from(const struct fh_request *request, struct fh_survey *survey, struct fh_plan **ret,
                       struct fh_error *err);
