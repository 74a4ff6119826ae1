/* SPDX-License-Identifier: MIT */
#include "judge/problems/languages.h"

const struct fh_judge_language_info fh_judge_language_ruby = {
	.name = "ruby",
	.stub = { "end\n", ";\n" },
	.version = "puts RUBY_DESCRIPTION",
};
