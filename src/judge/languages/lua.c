/* SPDX-License-Identifier: MIT */
#include "judge/problems/languages.h"

const struct fh_judge_language_info fh_judge_language_lua = {
	.name = "lua",
	.stub = { "end\n", "do end\n" },
	.version = "print(jit and jit.version or _VERSION)",
};
