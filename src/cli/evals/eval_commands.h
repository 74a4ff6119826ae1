/* SPDX-License-Identifier: MIT */
/* The commands of the program fumehood-eval other than eval itself, each in a file of its own name. argv[0] is the
 * command's name. Returns the exit status. */
#pragma once

int fh_command_init(int argc, char **argv);
int fh_command_schema(int argc, char **argv);
int fh_command_validate(int argc, char **argv);
int fh_command_cache(int argc, char **argv);
