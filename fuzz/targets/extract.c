/* SPDX-License-Identifier: MIT */
/* The program in a model's answer, and the outline of any text as a program. */
#include "code/extract.h"
#include "code/outline.h"
#include "fuzz.h"

static const char *const languages[] = { "python", "javascript", "bash", "c", "cpp", NULL, "cobol" };
static const char *const entry_points[] = { NULL, "f", "add", "Solution.run", "" };

static void check_outline(struct fh_str text, enum fh_syntax syntax)
{
	fh_auto_outline struct fh_outline o;
	fh_outline_make(&o, text, syntax);
	const char *at = text.p;
	for (size_t i = 0; i < o.n; i++) { /* in order, within the text, and of names that are there */
		FH_FUZZ_CHECK(o.items[i].text.p >= at && o.items[i].text.p + o.items[i].text.n <= text.p + text.n);
		FH_FUZZ_CHECK(o.items[i].first + o.items[i].count <= o.name_count);
		at = o.items[i].text.p + o.items[i].text.n;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fh_fuzz_input in = { data, size };
	uint64_t choice = fh_fuzz_number(&in, 1);
	char *copy = fh_fuzz_copy(in.p, in.n);
	struct fh_str answer = { copy, in.n };
	struct fh_extract_options o = {
		.language = languages[choice % 8 % FH_ARRAY_SIZE(languages)],
		.entry_point = entry_points[choice / 8 % FH_ARRAY_SIZE(entry_points)],
	};
	fh_auto_extraction struct fh_extraction e;
	fh_extract(answer, &o, &e);
	FH_FUZZ_CHECK(!e.code == !!e.reason);
	if (e.code) {
		FH_FUZZ_CHECK(e.size > 0 && e.code[e.size - 1] == '\n' && e.code[e.size] == 0);
		FH_FUZZ_CHECK(e.size <= 2 * in.n + 2);
	}
	check_outline(answer, fh_outline_syntax(o.language));
	(void)fh_extract_language_of_tag(answer);
	free(copy);
	return 0;
}
