/* SPDX-License-Identifier: MIT */
/* What answers the engine's clients, and ends the engine when nobody needs it. */
#pragma once
#include "engine/core/engine.h"

extern const struct fh_handler fh_request_handler;
