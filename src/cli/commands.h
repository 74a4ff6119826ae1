/* SPDX-License-Identifier: MIT */
/* The commands that are part of the program fumehood itself; each has a file of its own name. */
#pragma once

/* argv[0] is the command's own name. Returns the exit status. */
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
