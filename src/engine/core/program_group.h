/* SPDX-License-Identifier: MIT */
/*
 * The control group of one program of a session, below the sandbox's: so that limits and signals reach that program
 * alone, and all that it starts. The program of a run needs none, and a helper of init's starts nothing.
 *
 * What a program leaves in the background keeps its group busy after its end: such groups are the sandbox's
 * (left_groups), and are removed when the next program starts or the sandbox goes.
 */
#pragma once
#include "engine/core/sandbox.h"

/* 0 where the program needs none, or can do without: its process group stands for it then. */
int fh_program_group_make(struct fh_process *p, const struct fh_spawn *s, struct fh_error *err);
void fh_program_group_drop(struct fh_process *p);
bool fh_program_groups_remove(struct fh_sandbox *b); /* of programs that ended; false: some are busy */
