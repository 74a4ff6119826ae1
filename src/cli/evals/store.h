/* SPDX-License-Identifier: MIT */
/* Program fumehood-store: the commands that read and change the store, each in a file of its own name. */
#pragma once
#include "store/store.h"

/* argv[0] is the command's own name. Returns the exit status. */
int fh_store_command_list(int argc, char **argv);
int fh_store_command_show(int argc, char **argv);
int fh_store_command_export(int argc, char **argv);
int fh_store_command_import(int argc, char **argv);
int fh_store_command_delete(int argc, char **argv);
int fh_store_command_compare(int argc, char **argv);
/* No command of a user's: for `fumehood run --keep` (cli/run_keep.h). */
int fh_store_command_keep(int argc, char **argv);

/* ---- what they share ---- */

/* 2026-11-21 09:28 of the local time. */
const char *fh_store_when(int64_t wall_ms, char buf[32]);
/* An eval as --json shows it. New reference. */
FH_OWN json_t *fh_store_eval_json(const struct fh_store_eval *e);
/* To stdout, indented on a terminal. */
void fh_store_print_json(const json_t *v);
