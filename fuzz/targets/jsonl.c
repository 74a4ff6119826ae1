/* SPDX-License-Identifier: MIT */
/* JSONL files, plain or compressed: objects in the order of their lines, then the end or an error at a line. */
#include "fuzz.h"
#include "judge/formats/lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_lines *l = NULL;
	json_t *object = NULL;
	uint32_t before = 0;
	int r = fh_lines_open(fh_fuzz_file(data, size), &l, &err);
	FH_FUZZ_CHECK(r == 0 || err.message[0]);
	if (r < 0)
		return 0;
	while ((r = fh_lines_next(l, &object, &err)) == 1) {
		FH_FUZZ_CHECK(json_is_object(object));
		FH_FUZZ_CHECK(fh_lines_number(l) >= before); /* equal: items of an array in one line */
		before = fh_lines_number(l);
		json_decref(object);
	}
	FH_FUZZ_CHECK(r == 0 || err.message[0]);
	fh_lines_close(l);
	return 0;
}
