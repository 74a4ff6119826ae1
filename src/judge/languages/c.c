/* SPDX-License-Identifier: MIT */
#include "judge/problems/languages.h"

const struct fh_judge_language_info fh_judge_language_c = {
	.name = "c",
	.stub = { "    return 0;\n}\n", "int main(void) { return 0; }\n" },
	.version = "#include <stdio.h>\nint main(void) { printf(\"%s %ld\\n\", __VERSION__, __STDC_VERSION__); }",
};
