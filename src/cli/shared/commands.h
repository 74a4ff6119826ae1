/* SPDX-License-Identifier: MIT */
/* The commands that are part of the program fumehood itself; each has a file of its own name. */
#pragma once
#include <stddef.h>

#include "base/base.h"

/* Each takes argv with the command's own name as argv[0], and returns the exit status. */
int fh_command_run(int argc, char **argv);
int fh_command_session(int argc, char **argv);
int fh_command_ps(int argc, char **argv);
int fh_command_kill(int argc, char **argv);
int fh_command_gc(int argc, char **argv);
int fh_command_engine(int argc, char **argv);
int fh_command_doctor(int argc, char **argv);
int fh_command_mcp(int argc, char **argv);
int fh_command_env(int argc, char **argv);
int fh_command_with(int argc, char **argv);

/* Name of the n-th program, from 0, that holds commands apart: "eval" for fumehood-eval; NULL: there are no more. */
FH_NULLABLE const char *fh_command_apart(size_t n);
/* The commands that such a program holds: "list, show, …". free() it. */
FH_OWN char *fh_command_names_in(const char *program);
/* Path of that program; NULL: this installation lacks it. free() it. */
FH_OWN FH_NULLABLE char *fh_command_program(const char *name);
