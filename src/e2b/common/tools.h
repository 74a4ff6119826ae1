/* SPDX-License-Identifier: MIT */
/* Commands that E2B's images have and a host may lack, in a folder of their own that leads the PATH of a sandbox. */
#pragma once
#include "proto/plan.h"

#define FH_E2B_TOOLS "/opt/fumehood/bin"

/* Adds sudo; and what the host lacks of python (by python3) and setfattr. */
void fh_e2b_add_tools(struct fh_plan *plan);

/* guest/tools/sudo and setfattr, embedded by the build. */
extern const unsigned char fh_e2b_sudo[];
extern const unsigned long fh_e2b_sudo_size;
extern const unsigned char fh_e2b_setfattr[];
extern const unsigned long fh_e2b_setfattr_size;
