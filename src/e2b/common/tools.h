/* SPDX-License-Identifier: MIT */
/* Commands that E2B's images have and a host may lack, in a folder of their own that leads the PATH of a sandbox. */
#pragma once
#include "proto/plan.h"

#define FH_E2B_TOOLS "/opt/fumehood/bin"

/* Adds sudo, and python where the host has python3 alone. */
void fh_e2b_add_tools(struct fh_plan *plan);

/* guest/tools/sudo, embedded by the build. */
extern const unsigned char fh_e2b_sudo[];
extern const unsigned long fh_e2b_sudo_size;
