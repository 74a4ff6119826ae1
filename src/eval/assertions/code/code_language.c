/* SPDX-License-Identifier: MIT */
#include "eval/assertions/code/code_language.h"

/* A proof prints a newline, both halves and a newline. In JavaScript it does so when nothing is left to be done, which
 * process.exit() prevents; in bash when the command before it had status 0, because there a command that fails ends
 * nothing. proof_between leaves for that reason behind each call but the last. */
#define CHANGED "the program has changed what a check means"
#define PROOF(begin, middle, end) .proof_begin = begin, .proof_middle = middle, .proof_end = end

static const struct fh_code_language languages[] = {
	{ "python",
	  { "python", "pypy" },
	  PROOF("__import__(\"os\").write(1, b\"\\n\" + b\"", "\" + b\"", "\\n\")"),
	  .calling = &fh_code_calling_python },
	{ "javascript",
	  { "node" },
	  PROOF(";process.once(\"beforeExit\", () => process.stdout.write(\"\\n\" + \"", "\" + \"", "\\n\"));"),
	  .checks_hold = ";console.assert = (holds, ...said) => {\n"
	                 "\tif (!holds) throw new Error([\"Assertion failed\", ...said].join(\": \"));\n};\n",
	  .calling = &fh_code_calling_javascript },
	{ "bash",
	  { "bash" },
	  PROOF("case $? in 0) printf '\\n%s%s\\n' ", " ", ";; *) exit;; esac"),
	  .proof_between = "case $? in 0) ;; *) exit;; esac\n",
	  .checks_hold = "if [ a = b ]\nthen : \"${fh_none?" CHANGED "}\"\nfi\n"
	                 "if test a = b\nthen : \"${fh_none?" CHANGED "}\"\nfi\n" },
	{ "ruby",
	  { "ruby" },
	  PROOF("$stdout.print(\"\\n\", \"", "\", \"", "\\n\")"),
	  .checks_hold =
	      "(warn(\"" CHANGED "\"); Process.exit!(1)) if\n"
	      "  begin; raise(\"x\"); true; rescue StandardError; false; end ||\n"
	      "  [[1, 2], [1.5, 2.5], [\"a\", \"b\"], [:a, :b], [[1], [2]], [{ 1 => 1 }, { 1 => 2 }], [nil, 1], [true, "
	      "false]].any? { |a, b| a == b || !(a != b) }\n" },
	{ "perl",
	  { "perl" },
	  PROOF(";print STDOUT \"\\n\", \"", "\", \"", "\\n\";"),
	  .checks_hold =
	      ";{ local $SIG{__DIE__}; local $@;\nif (eval { die \"x\\n\"; 1 } || 1 == 2 || !(1 != 2) || \"a\" eq \"b\" || "
	      "!(\"a\" ne \"b\")) {\nprint STDERR \"" CHANGED "\"; CORE::exit(1) } }\n" },
	{ "php",
	  { "php" },
	  PROOF(";echo \"\\n\", \"", "\", \"", "\\n\";"),
	  .checks_hold = "foreach (['zend.assertions', 'assert.active', 'assert.exception'] as $fh_name) "
	                 "@\\ini_set($fh_name, '1');\n",
	  .start_tag = "<?php\n",
	  .end_tag = "?>" },
	{ "lua",
	  { NULL },
	  PROOF("io.stdout:write(\"\\n\", \"", "\", \"", "\\n\")"),
	  .checks_hold = "if pcall(assert, false) or pcall(error, \"x\") then\n"
	                 "  io.stderr:write(\"" CHANGED "\") os.exit(1)\nend\n" },
	{ "r",
	  { "r-base" },
	  PROOF("cat(\"\\n\", \"", "\", \"", "\\n\", sep = \"\")"),
	  .checks_hold =
	      "if (tryCatch({ stopifnot(FALSE); TRUE }, error = function(e) FALSE) ||\n"
	      "    tryCatch({ stop(\"x\"); TRUE }, error = function(e) FALSE) || 1 == 2 || !(1 != 2) || \"a\" == \"b\" ||\n"
	      "    identical(1, 2) || isTRUE(all.equal(1, 2))) { message(\"" CHANGED "\"); quit(status = 1) }\n" },
	{ "c", { NULL } }, /* images of gcc are taken for C++ */
	{ "cpp", { "gcc" } },
	{ "go", { "golang" } },
	{ "rust", { "rust" } },
	{ "java", { "eclipse-temurin", "openjdk" } },
};

const struct fh_code_language *fh_code_language_find(const char *name)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(languages); i++)
		if (fh_streq(languages[i].name, name))
			return &languages[i];
	return NULL;
}

const struct fh_code_calling *fh_code_calling_find(const char *name)
{
	const struct fh_code_language *l = fh_code_language_find(name);
	return l ? l->calling : NULL;
}

const char *fh_code_language_of_image(struct fh_str image)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(languages); i++)
		for (size_t k = 0; k < FH_CODE_IMAGES_MAX && languages[i].images[k]; k++)
			if (fh_str_eq(image, languages[i].images[k]))
				return languages[i].name;
	return NULL;
}
