/* SPDX-License-Identifier: MIT */
#include "eval/assertions/code/code_language.h"

#include "code/declaration.h"
#include "code/program_text.h"

#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

const struct fh_code_calling fh_code_calling_python = {
	.driver = { "guest/python/call.py" },
	.solution = "solution.py",
	.compared = { "test_cases.py", "compared.py" },
	.add_json = fh_python_of_json,
	.literals = WORDS("True", "False", "None"),
	.prefixes = WORDS("b", "B", "r", "R", "u", "U", "rb", "br"),
	.words = WORDS("and", "or", "not", "in", "is", "if", "else", "for", "lambda", "abs", "all", "any", "bin", "bool",
	               "bytes", "chr", "complex", "dict", "divmod", "enumerate", "filter", "float", "frozenset", "hex",
	               "int", "isinstance", "len", "list", "map", "max", "min", "oct", "ord", "pow", "range", "reversed",
	               "round", "set", "slice", "sorted", "sum", "tuple", "zip"),
	.members = WORDS(NULL),
	.others = WORDS("ascii", "bytearray", "callable", "dir", "eval", "format", "getattr", "hasattr", "hash", "id",
	                "issubclass", "iter", "next", "repr", "str", "type", "vars"),
	.has_keywords = true,
	.same_as = "same_as.py",
	.same_as_function = "same_as",
	.yes = "True",
	.no = "False",
	.add_string = fh_python_string,
	.last_function = fh_last_python_def,
};
