/* SPDX-License-Identifier: MIT */
#pragma once
#include "e2b/hosted/e2b.h"

extern const struct fh_http_route fh_e2b_volume_routes[];  /* volume_routes.c: volumes as a whole */
extern const struct fh_http_route fh_e2b_content_routes[]; /* content.c: the files in them */
