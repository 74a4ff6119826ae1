/* SPDX-License-Identifier: MIT */
/* The route to every port of a sandbox that no other part of the server serves. */
#pragma once
#include "server/http.h"

extern const struct fh_http_route fh_e2b_port_routes[];
