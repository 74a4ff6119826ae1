/* SPDX-License-Identifier: MIT */
/* The tables of routes of the control API. */
#pragma once
#include "server/http.h"

extern const struct fh_http_route fh_e2b_control_routes[], fh_e2b_copy_routes[], fh_e2b_build_routes[],
    fh_e2b_look_routes[], fh_e2b_absent_routes[];
