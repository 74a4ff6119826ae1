/* SPDX-License-Identifier: MIT */
#include "judge/problems/languages.h"

const struct fh_judge_language_info fh_judge_language_bash = {
	.name = "bash",
	.stub = { ":\n", ":\n" },
	.version = "echo \"$BASH_VERSION\"",
};
