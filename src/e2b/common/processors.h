/* SPDX-License-Identifier: MIT */
#pragma once
#include <stdint.h>

uint64_t fh_e2b_processors(void); /* number of processors that this process may use */
