/* SPDX-License-Identifier: MIT */
/* The commands around evals that are part of the program fumehood-eval; each has a file of its own name. argv[0] is the
 * command's own name. Returns the exit status. */
#pragma once

int fh_command_init(int argc, char **argv);
int fh_command_schema(int argc, char **argv);
int fh_command_validate(int argc, char **argv);
int fh_command_cache(int argc, char **argv);
