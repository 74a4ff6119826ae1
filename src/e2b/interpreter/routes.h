/* SPDX-License-Identifier: MIT */
/* The tables of routes of the interpreter. */
#pragma once
#include "server/http.h"

extern const struct fh_http_route fh_e2b_interpreter_routes[];
