/* SPDX-License-Identifier: MIT */
/* A CSV file of tests: rows of strings, which the escaper writes so that the same rows are read; and tests of them. */
#include "base/escape.h"
#include "eval/common/csv.h"
#include "eval/config/tests/csv_tests.h"
#include "fuzz.h"

/* A formula gets a ' in front, which stays. */
static bool is_field(const json_t *read, struct fh_str written)
{
	struct fh_str s = { json_string_value(read), json_string_length(read) };
	if (s.n == written.n + 1 && s.p[0] == '\'')
		s.p++, s.n--;
	return s.n == written.n && memcmp(s.p, written.p, s.n) == 0;
}

static void survives_escaping(json_t *row)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(0);
	struct fh_error err = FH_ERROR_INIT;
	json_t *field;
	size_t i;
	fh_buf_adds(&text, "x"); /* so that no line is blank and none begins with a byte order mark */
	json_array_foreach(row, i, field)
	{
		fh_buf_addc(&text, ',');
		fh_escape_csv(&text, (struct fh_str){ json_string_value(field), json_string_length(field) });
	}
	fh_auto_json json_t *again = fh_csv_parse(fh_buf_str(&text), ',', "again.csv", &err);
	FH_FUZZ_CHECK(json_array_size(again) == 1);
	json_t *fields = json_array_get(again, 0);
	FH_FUZZ_CHECK(json_array_size(fields) == json_array_size(row) + 1);
	json_array_foreach(row, i, field) FH_FUZZ_CHECK(is_field(
	    json_array_get(fields, i + 1), (struct fh_str){ json_string_value(field), json_string_length(field) }));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_fuzz_input in = { data, size };
	char delimiter = (char)fh_fuzz_number(&in, 1);
	char *copy = fh_fuzz_copy(in.p, in.n);
	if (!strchr(",;\t|", delimiter) || !delimiter)
		delimiter = ',';
	fh_auto_json json_t *rows = fh_csv_parse((struct fh_str){ copy, in.n }, delimiter, "x.csv", &err);
	free(copy);
	FH_FUZZ_CHECK(rows || err.message[0]);
	json_t *row, *tests = NULL;
	size_t i;
	json_array_foreach(rows, i, row) survives_escaping(row);
	if (rows && fh_csv_tests(rows, "x.csv", &tests, &err) == 0)
		FH_FUZZ_CHECK(json_is_array(tests));
	json_decref(tests);
	return 0;
}
