/* SPDX-License-Identifier: MIT */
/* Where `fumehood serve` listens unless it is told otherwise: `fumehood env` and `fumehood with` look for it there. */
#pragma once

#define FH_SERVE_ADDRESS "127.0.0.1"
#define FH_SERVE_PORT "3000"
#define FH_SERVE_URL "http://" FH_SERVE_ADDRESS ":" FH_SERVE_PORT
