/* SPDX-License-Identifier: MIT */
/* Runs the assertions of one cell: renders each, calls its check, and adds the grade to the row's score (score.h). */
#pragma once
#include "eval/services/services.h"
#include "eval/plan/plan.h"

struct fh_check {
	const struct fh_eval_plan *plan;
	struct fh_services *services;
	struct fh_graders *graders; /* models that grade (graders.h) */
	const json_t *test;
	const json_t *vars;     /* the row's rendered variables */
	const json_t *provider; /* {id, label, config?} */
	const json_t *response;
	const json_t *output;          /* the provider's output, after transforms */
	const json_t *provider_output; /* the provider's output, before the test's own transform */
	const char *prompt;            /* the rendered prompt */
	double latency_ms;
	bool kept; /* our cache answered */
};

/* Whether one of the test's assertions is graded by a model. */
bool fh_check_is_graded(const json_t *test);

/* *ret is the gradingResult. A negative code makes the row an error. */
int fh_check_all(const struct fh_check *c, json_t **ret, struct fh_error *err);
