/* SPDX-License-Identifier: MIT */
/* The tables of routes of each part of the server; NULL ends a list of tables. */
#pragma once
#include "server/http.h"

extern const struct fh_http_route fh_e2b_process_routes[], fh_e2b_filesystem_routes[], fh_e2b_watch_routes[],
    fh_e2b_file_routes[];
extern const struct fh_http_route fh_e2b_control_routes[], fh_e2b_copy_routes[], fh_e2b_build_routes[],
    fh_e2b_look_routes[], fh_e2b_run_routes[], fh_e2b_judge_routes[];
extern const struct fh_http_route fh_e2b_interpreter_routes[];
extern const struct fh_http_route fh_e2b_port_routes[];
