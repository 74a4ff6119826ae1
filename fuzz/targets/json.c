/* SPDX-License-Identifier: MIT */
/* JSON text: an error with a line, or a value that is the same after writing and reading. */
#include "fuzz.h"
#include "json/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const int indents[] = { 0, 2 };
	struct fh_error err = FH_ERROR_INIT;
	char *copy = fh_fuzz_copy(data, size);
	fh_auto_json json_t *value = fh_json_parse((struct fh_str){ copy, size }, "x.json", &err);
	free(copy);
	FH_FUZZ_CHECK(value || (err.message[0] && err.line > 0));
	for (size_t i = 0; value && i < FH_ARRAY_SIZE(indents); i++) {
		fh_auto_free char *text = fh_json_text(value, indents[i]);
		fh_auto_json json_t *again = fh_json_parse(fh_str(text), "x.json", &err);
		fh_auto_free char *twice = again ? fh_json_text(again, indents[i]) : NULL;
		FH_FUZZ_CHECK(again);
		FH_FUZZ_CHECK(fh_streq(text, twice));
	}
	return 0;
}
