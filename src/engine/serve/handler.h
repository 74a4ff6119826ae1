/* SPDX-License-Identifier: MIT */
/* The implementation of struct fh_handler: answers clients, and ends the engine when nothing needs it any more. */
#pragma once
#include "engine/core/engine.h"

extern const struct fh_handler fh_request_handler;
