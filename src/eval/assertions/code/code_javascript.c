/* SPDX-License-Identifier: MIT */
#include "eval/assertions/code/code_language.h"

#include "code/declaration.h"
#include "code/program_text.h"

#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* As text that is parsed, since in a literal `__proto__` has a special meaning. */
static void add_json(struct fh_buf *out, struct fh_str json)
{
	fh_buf_adds(out, "JSON.parse(");
	fh_javascript_string(out, json);
	fh_buf_addc(out, ')');
}

static struct fh_str last_function(struct fh_str source)
{
	size_t at;
	return fh_last_javascript_name(source, &at);
}

const struct fh_code_calling fh_code_calling_javascript = {
	.driver = { "guest/javascript/program.js", "guest/javascript/call.js" },
	.solution = "solution.js",
	.compared = { "test_cases.js", "compared.js" },
	.add_json = add_json,
	.literals = WORDS("true", "false", "null", "undefined", "NaN", "Infinity"),
	.prefixes = WORDS(NULL),
	.words = WORDS("typeof", "new", "instanceof", "Array", "BigInt", "Boolean", "Map", "Set", "isFinite", "isNaN",
	               "parseFloat", "parseInt", "Math."),
	.members = WORDS("length", "size"),
	.others = WORDS("Number", "Object", "String", "encodeURIComponent", "decodeURIComponent", "encodeURI", "decodeURI"),
	.same_as = "same_as.js",
	.same_as_function = "sameAs",
	.yes = "true",
	.no = "false",
	.add_string = fh_javascript_string,
	.last_function = last_function,
};
