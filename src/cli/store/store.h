/* SPDX-License-Identifier: MIT */
/* Program fumehood-store: the commands that read and change the store, each in a file of its own name. */
#pragma once
#include "store/store.h"

/* Each takes argv with the command's own name as argv[0], and returns the exit status. */
int fh_store_command_list(int argc, char **argv);
int fh_store_command_show(int argc, char **argv);
int fh_store_command_export(int argc, char **argv);
int fh_store_command_import(int argc, char **argv);
int fh_store_command_delete(int argc, char **argv);
int fh_store_command_compare(int argc, char **argv);
/* An internal command, for `fumehood run --keep` (cli/run/run_keep.h). */
int fh_store_command_keep(int argc, char **argv);

/* ---- functions that the commands share ---- */

/* A time in local time, as "2026-11-21 09:28". */
const char *fh_store_when(int64_t wall_ms, char buf[32]);
/* An eval in the form of --json. New reference. */
FH_OWN json_t *fh_store_eval_json(const struct fh_store_eval *e);
/* Prints v to stdout, indented if that is a terminal. */
void fh_store_print_json(const json_t *v);
