/* SPDX-License-Identifier: MIT */
/* The tables of routes of envd: processes, files, watchers. */
#pragma once
#include "server/http.h"

extern const struct fh_http_route fh_e2b_process_routes[], fh_e2b_filesystem_routes[], fh_e2b_watch_routes[],
    fh_e2b_file_routes[];
