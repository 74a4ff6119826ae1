/* SPDX-License-Identifier: MIT */
/* A template: an error with a line, or one that renders the same twice and leaves the output alone when it fails. */
#include "template/template.h"
#include "fuzz.h"

static const char vars_text[] = "{\"a\":1,\"b\":-2.5,\"yes\":true,\"no\":null,\"s\":\"<b> \\u00e9 \\ud83d\\ude00\","
                                "\"list\":[3,1,2],\"o\":{\"k\":\"v\",\"list\":[{\"x\":1},{\"x\":2}]}}";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fh_error err = FH_ERROR_INIT;
	char *copy = fh_fuzz_copy(data, size);
	fh_auto_template struct fh_text_template *t = fh_text_template_compile((struct fh_str){ copy, size }, "x", &err);
	free(copy);
	FH_FUZZ_CHECK(t || (err.message[0] && err.line > 0));
	if (!t)
		return 0;
	fh_auto_json json_t *vars = fh_json_parse(fh_str(vars_text), NULL, &err);
	fh_auto_free char *before = fh_json_text(vars, 0);
	fh_auto_buf struct fh_buf one = FH_BUF_INIT(0), two = FH_BUF_INIT(0);
	fh_buf_adds(&one, "kept");
	int r = fh_text_template_render(t, vars, NULL, &one, &err);
	FH_FUZZ_CHECK(r == 0 || (err.message[0] && one.n == 4));
	fh_auto_free char *after = fh_json_text(vars, 0);
	FH_FUZZ_CHECK(fh_streq(before, after));
	if (r == 0) {
		fh_buf_adds(&two, "kept");
		FH_FUZZ_CHECK(fh_text_template_render(t, vars, NULL, &two, &err) == 0);
		FH_FUZZ_CHECK(one.n == two.n && memcmp(one.p, two.p, one.n) == 0);
	}
	return 0;
}
