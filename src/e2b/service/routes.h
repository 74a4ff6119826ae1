/* SPDX-License-Identifier: MIT */
/* The tables of routes of single runs and verdicts. */
#pragma once
#include "server/http.h"

extern const struct fh_http_route fh_e2b_run_routes[], fh_e2b_judge_routes[];
