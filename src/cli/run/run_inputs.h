/* SPDX-License-Identifier: MIT */
/* The inputs and outputs of `fumehood run`: parses the options --file, --mount and --out, and reads the files. */
#pragma once
#include "base/buf.h"
#include "cli/shared/options.h"
#include "fumehood/sandbox.h"

#define FH_RUN_FILE_MAX (1u << 30) /* maximum bytes of a --file, and of a plan */

struct fh_run_inputs {
	struct fh_file *files;
	struct fh_buf *contents;
	struct fh_mount *mounts;
	const char **outs;
	char **texts; /* copies of the parts of options, which other members point to */
	size_t file_count, mount_count, text_count;
};

/* Errors name the option. Release `in` even after an error. */
int fh_run_inputs_read(const struct fh_opt_list *files, const struct fh_opt_list *mounts,
                       const struct fh_opt_list *outs, struct fh_run_inputs *in, struct fh_error *err);
void fh_run_inputs_release(struct fh_run_inputs *in);
