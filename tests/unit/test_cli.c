/* SPDX-License-Identifier: MIT */
/* Command lines, tables on the terminal, and the small things of base that serve them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/text/base64.h"
#include "base/text/nearest.h"
#include "cli/shared/options.h"
#include "cli/shared/term.h"

/* ---------------------------------------------------------------------------------------------------------- options */

static struct {
	bool flag, other, given, keep_given;
	const char *text, *keep;
	struct fh_opt_list list, several;
	uint64_t number, size, duration;
	double fraction;
	bool on;
	const char *word;
	uint64_t limit, port, cpus;
} v;

static const struct fh_opt table[] = {
	{ "", .help = "Heading" },
	{ "flag", 'f', FH_OPT_FLAG, &v.flag, NULL, "A flag.", FH_OPT_NEGATABLE },
	{ "other", 'o', FH_OPT_FLAG, &v.other, NULL, "A flag that cannot be switched off." },
	{ "text", 't', FH_OPT_STRING, &v.text, "TEXT", "A text.", .given = &v.given },
	{ "keep", 0, FH_OPT_STRING, &v.keep, "NAME", "A text or none.", FH_OPT_OPTIONAL, &v.keep_given },
	{ "list", 'l', FH_OPT_LIST, &v.list, "ITEM", "Items." },
	{ "several", 's', FH_OPT_LIST, &v.several, "ITEM", "Items.", FH_OPT_VARIADIC },
	{ "number", 'n', FH_OPT_U64, &v.number, "N", "A number.", FH_OPT_UNLIMITED },
	{ "fraction", 0, FH_OPT_DOUBLE, &v.fraction, "X", "A fraction." },
	{ "memory", 0, FH_OPT_SIZE, &v.size, "SIZE", "A size.", FH_OPT_UNLIMITED },
	{ "cpu-time", 0, FH_OPT_DURATION, &v.duration, "SECONDS", "A duration." },
	{ "on", 0, FH_OPT_FLAG, &v.on, NULL, "A flag that is on.", FH_OPT_NEGATABLE | FH_OPT_ON },
	{ "word", 0, FH_OPT_STRING, &v.word, "WORD", "A word.", .default_text = "usual" },
	{ "limit", 0, FH_OPT_SIZE, &v.limit, "SIZE", "A limit.", .default_number = FH_OPT_NUMBER(3 << 20) },
	{ "port", 'p', FH_OPT_U64, &v.port, "N", "A port.", .default_text = "80", .least = 1, .most = 65535 },
	{ "cpus", 0, FH_OPT_MILLI, &v.cpus, "N", "Processors.", .default_words = "all", .least = 10 },
	{ "secret", 0, FH_OPT_FLAG, &v.other, NULL, "Not shown.", FH_OPT_HIDDEN },
	{ 0 },
};
static const struct fh_command_line line = { "prog", "[OPTIONS]", "About.", NULL, table };

static struct fh_opt_list args;
static struct fh_error err;
static enum fh_help help;

static int parse_all(bool stop, const char *const *words)
{
	char *argv[16] = { 0 };
	static char store[1024];
	size_t at = 0;
	int n = 0;
	for (; words[n]; n++) {
		argv[n] = store + at;
		at += (size_t)snprintf(store + at, sizeof(store) - at, "%s", words[n]) + 1;
	}
	fh_opt_list_release(&v.list);
	fh_opt_list_release(&v.several);
	fh_opt_list_release(&args);
	memset(&v, 0, sizeof(v));
	err = (struct fh_error)FH_ERROR_INIT;
	return fh_options_parse(&line, n, argv, stop, &args, &help, &err);
}
#define PARSE(...) parse_all(false, (const char *const[]){ "prog", __VA_ARGS__, NULL })

static void options_are_taken_in_every_form(void **state)
{
	assert_int_equal(PARSE("-f", "--text", "a", "--number=7", "-l1", "-l", "2", "--list=3", "x", "-"), 0);
	assert_true(v.flag);
	assert_true(v.given);
	assert_string_equal(v.text, "a");
	assert_int_equal(v.number, 7);
	assert_int_equal(v.list.count, 3);
	assert_string_equal(v.list.items[2], "3");
	assert_null(v.list.items[3]);
	assert_int_equal(args.count, 2);
	assert_string_equal(args.items[1], "-");
	assert_int_equal(PARSE("-fot", "x"), 0);
	assert_true(v.flag && v.other);
	assert_string_equal(v.text, "x");
	assert_int_equal(PARSE("--text="), 0);
	assert_string_equal(v.text, "");
	assert_int_equal(PARSE("-f", "--no-flag"), 0);
	assert_false(v.flag);
}

static void a_variadic_option_takes_the_words_up_to_the_next(void **state)
{
	assert_int_equal(PARSE("-s", "a", "b", "-f", "x", "--several", "c", "d", "--several=e", "y"), 0);
	assert_int_equal(v.several.count, 5);
	assert_string_equal(v.several.items[4], "e");
	assert_true(v.flag);
	assert_int_equal(args.count, 2); /* x and y: a value in the option's own word takes no more */
	assert_int_equal(PARSE("-sa", "x", "-s", "b", "--", "y"), 0);
	assert_int_equal(v.several.count, 2);
	assert_int_equal(args.count, 2);
	assert_int_equal(PARSE("-l", "a", "x"), 0); /* any other list takes one */
	assert_int_equal(args.count, 1);
}

static void values_have_units(void **state)
{
	assert_int_equal(PARSE("--memory", "2M", "--cpu-time", "0.5", "--fraction", "1.5"), 0);
	assert_int_equal(v.size, 2 << 20);
	assert_int_equal(v.duration, 500);
	assert_true(v.fraction == 1.5);
	assert_int_equal(PARSE("--memory", "unlimited", "-n", "unlimited"), 0);
	assert_true(v.size == UINT64_MAX && v.number == UINT64_MAX);
	assert_int_equal(PARSE("--cpu-time", "unlimited"), -FH_E_ARGUMENT);
}

static void a_default_is_in_force_until_the_option_is_given(void **state)
{
	assert_int_equal(PARSE("x"), 0);
	assert_true(v.on);
	assert_string_equal(v.word, "usual");
	assert_int_equal(v.limit, 3 << 20);
	assert_int_equal(v.port, 80);
	assert_int_equal(PARSE("--no-on", "--word", "other", "--limit=1K", "-p", "81", "--cpus", "1.5"), 0);
	assert_false(v.on);
	assert_string_equal(v.word, "other");
	assert_int_equal(v.limit, 1024);
	assert_int_equal(v.port, 81);
	assert_int_equal(v.cpus, 1500);
}

static void a_number_out_of_its_bounds_is_refused(void **state)
{
	assert_int_equal(PARSE("-p", "0"), -FH_E_ARGUMENT);
	assert_string_equal(err.message, "option --port: from 1 to 65535");
	assert_int_equal(PARSE("--port=65536"), -FH_E_ARGUMENT);
	assert_int_equal(PARSE("--cpus", "0.001"), -FH_E_ARGUMENT);
	assert_string_equal(err.message, "option --cpus: at least 0.01");
	assert_int_equal(PARSE("--port=65535", "--cpus=0.01"), 0);
}

static void an_optional_value_never_takes_the_next_word(void **state)
{
	assert_int_equal(PARSE("--keep", "program.py"), 0);
	assert_true(v.keep_given);
	assert_string_equal(v.keep, "");
	assert_int_equal(args.count, 1);
	assert_int_equal(PARSE("--keep=a name", "program.py"), 0);
	assert_string_equal(v.keep, "a name");
	assert_int_equal(args.count, 1);
}

static void two_dashes_end_the_options(void **state)
{
	assert_int_equal(PARSE("-f", "--", "--text", "-o", "--"), 0);
	assert_int_equal(args.count, 3);
	assert_string_equal(args.items[0], "--text");
	assert_string_equal(args.items[2], "--");
	assert_null(v.text);
}

static void a_command_takes_the_rest(void **state)
{
	assert_int_equal(parse_all(true, (const char *const[]){ "prog", "-f", "run", "--text", "x", NULL }), 0);
	assert_true(v.flag);
	assert_null(v.text);
	assert_int_equal(args.count, 3);
	assert_string_equal(args.items[1], "--text");
}

static void mistakes_are_named(void **state)
{
	static const struct {
		const char *words[3];
		const char *message, *hint;
	} cases[] = {
		{ { "--cpu-tiem", "1" }, "unknown option --cpu-tiem", "did you mean --cpu-time?" },
		{ { "--mem", "1" }, "unknown option --mem", "did you mean --memory?" },
		{ { "--memory-limit", "1" }, "unknown option --memory-limit", "did you mean --memory?" },
		{ { "--zzzzzz" }, "unknown option --zzzzzz", "prog --help lists the options" },
		{ { "--secre" }, "unknown option --secre", "prog --help lists the options" },
		{ { "-z" }, "unknown option -z", "prog --help lists the options" },
		{ { "-P" }, "unknown option -P", "did you mean -p (--port)?" },
		{ { "- " }, "unknown option - ", "prog --help lists the options" },
		{ { "--text" }, "option --text needs a value: --text TEXT", "" },
		{ { "-t" }, "option -t needs a value: -t TEXT", "" },
		{ { "--flag=1" }, "option --flag takes no value", "" },
		{ { "--no-other" }, "unknown option --no-other", NULL },
		{ { "--no-text" }, "unknown option --no-text", NULL },
	};
	for (size_t i = 0; i < FH_ARRAY_SIZE(cases); i++) {
		assert_int_equal(PARSE(cases[i].words[0], cases[i].words[1]), -FH_E_ARGUMENT);
		assert_int_equal(err.code, FH_E_ARGUMENT);
		assert_string_equal(err.message, cases[i].message);
		if (cases[i].hint)
			assert_string_equal(err.hint, cases[i].hint);
	}
	assert_int_equal(PARSE("--number", "x1"), -FH_E_ARGUMENT);
	assert_non_null(strstr(err.message, "option --number"));
}

static void help_ends_the_reading(void **state)
{
	assert_int_equal(PARSE("--help", "--nonsense"), 0);
	assert_true(help);
	assert_int_equal(PARSE("-fh"), 0);
	assert_true(help);
	assert_int_equal(PARSE("--help=json"), 0);
	assert_int_equal(help, FH_HELP_JSON);
	assert_int_equal(PARSE("--help=xml"), -FH_E_ARGUMENT);
	assert_int_equal(PARSE("-f"), 0);
	assert_false(help);
}

/* -------------------------------------------------------------------------------------------------------- nearest */

static const char *nearest(const char *word)
{
	static const char *const names[] = { "run", "eval", "judge", "memory", "cpu_time", "wall_time" };
	struct fh_nearest n = FH_NEAREST_INIT(word);
	for (size_t i = 0; i < FH_ARRAY_SIZE(names); i++)
		fh_nearest_offer(&n, names[i]);
	return n.best;
}

static void typing_errors_are_understood(void **state)
{
	assert_string_equal(nearest("jugde"), "judge");
	assert_string_equal(nearest("rum"), "run");
	assert_string_equal(nearest("cpu-time"), "cpu_time");
	assert_string_equal(nearest("MEMORY"), "memory");
	assert_string_equal(nearest("mem"), "memory");
	assert_string_equal(nearest("waltime"), "wall_time");
	assert_null(nearest("zebra"));
	assert_null(nearest(""));
	assert_null(nearest("a-word-of-more-than-sixty-four-letters-is-near-to-nothing-at-all-in-here"));
}

/* --------------------------------------------------------------------------------------------------------- base64 */

static void base64_is_strict(void **state)
{
	static const char *const pairs[][2] = { { "", "" },        { "f", "Zg==" },        { "fo", "Zm8=" },
		                                    { "foo", "Zm9v" }, { "foob", "Zm9vYg==" }, { "fooba", "Zm9vYmE=" } };
	for (size_t i = 0; i < FH_ARRAY_SIZE(pairs); i++) {
		fh_auto_buf struct fh_buf out = FH_BUF_INIT(0);
		fh_base64_encode(&out, fh_str(pairs[i][0]));
		assert_string_equal(fh_buf_cstr(&out), pairs[i][1]);
		fh_buf_truncate(&out, 0);
		assert_int_equal(fh_base64_decode(&out, fh_str(pairs[i][1])), 0);
		assert_string_equal(fh_buf_cstr(&out), pairs[i][0]);
	}
	static const char *const bad[] = { "Zg",   "Zg=",  "Zh==",     "Zm9=",  "Z===",
		                               "====", "Zm 8", "Zg==Zg==", "Zm8\n", "Zm9v\xff===" };
	for (size_t i = 0; i < FH_ARRAY_SIZE(bad); i++) {
		fh_auto_buf struct fh_buf out = FH_BUF_INIT(0);
		fh_buf_adds(&out, "kept");
		assert_int_equal(fh_base64_decode(&out, fh_str(bad[i])), -FH_E_ARGUMENT);
		assert_string_equal(out.p, "kept");
	}
}

static void base64_keeps_every_byte(void **state)
{
	char all[256];
	for (int i = 0; i < 256; i++)
		all[i] = (char)i;
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(0);
	fh_auto_buf struct fh_buf back = FH_BUF_INIT(0);
	fh_base64_encode(&text, (struct fh_str){ all, 256 });
	assert_int_equal(fh_base64_decode(&back, fh_buf_str(&text)), 0);
	assert_int_equal(back.n, 256);
	assert_memory_equal(back.p, all, 256);
}

/* ------------------------------------------------------------------------------------------------------- terminal */

static void text_width_counts_columns(void **state)
{
	assert_int_equal(fh_term_text_width(fh_str("abc")), 3);
	assert_int_equal(fh_term_text_width(fh_str("é")), 1);
	assert_int_equal(fh_term_text_width(fh_str("e\xcc\x81")), 1);
	assert_int_equal(fh_term_text_width(fh_str("漢字")), 4);
	assert_int_equal(fh_term_text_width(fh_str("🎉")), 2);
	assert_int_equal(fh_term_text_width(fh_str("\xff")), 1);
	assert_int_equal(fh_term_text_width(fh_str("")), 0);
}

static char *table_text(const char *const *cells, unsigned columns, unsigned width, bool color)
{
	struct fh_table *t = fh_table_new(columns);
	struct fh_buf out = FH_BUF_INIT(0);
	for (size_t i = 0; cells[i]; i++) {
		fh_table_cell(t, FH_STYLE_GOOD, NULL, fh_str(cells[i]));
		if ((i + 1) % columns == 0)
			fh_table_row_end(t);
	}
	fh_table_print(t, &out, width, color);
	fh_table_free(t);
	return fh_buf_take(&out, NULL);
}

static void a_table_fits_its_content(void **state)
{
	fh_auto_free char *text = table_text((const char *const[]){ "a", "bb", "漢", "x\ny", NULL }, 2, 80, false);
	assert_string_equal(text, "┌────┬────┐\n"
	                          "│ a  │ bb │\n"
	                          "├────┼────┤\n"
	                          "│ 漢 │ x  │\n"
	                          "│    │ y  │\n"
	                          "└────┴────┘\n");
}

static void long_cells_wrap(void **state)
{
	fh_auto_free char *text =
	    table_text((const char *const[]){ "h", "head", "id", "one two three abcdefghij", NULL }, 2, 20, false);
	assert_string_equal(text, "┌────┬─────────────┐\n"
	                          "│ h  │ head        │\n"
	                          "├────┼─────────────┤\n"
	                          "│ id │ one two     │\n"
	                          "│    │ three       │\n"
	                          "│    │ abcdefghij  │\n"
	                          "└────┴─────────────┘\n");
}

static void cells_cannot_steer_the_terminal(void **state)
{
	fh_auto_free char *text = table_text((const char *const[]){ "\x1b[2Jx\ry", NULL }, 1, 80, false);
	assert_null(strchr(text, '\x1b'));
	assert_null(strchr(text, '\r'));
}

static void only_the_first_word_is_coloured(void **state)
{
	struct fh_table *t = fh_table_new(1);
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(0);
	fh_table_cell(t, FH_STYLE_NONE, NULL, fh_str("head"));
	fh_table_row_end(t);
	fh_table_cell(t, FH_STYLE_GOOD, "[PASS]", fh_str("it is"));
	fh_table_row_end(t);
	fh_table_print(t, &out, 80, true);
	fh_table_free(t);
	assert_non_null(strstr(out.p, "\x1b[32m[PASS]\x1b[0m it is"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_are_taken_in_every_form),
		cmocka_unit_test(a_variadic_option_takes_the_words_up_to_the_next),
		cmocka_unit_test(values_have_units),
		cmocka_unit_test(a_default_is_in_force_until_the_option_is_given),
		cmocka_unit_test(a_number_out_of_its_bounds_is_refused),
		cmocka_unit_test(an_optional_value_never_takes_the_next_word),
		cmocka_unit_test(two_dashes_end_the_options),
		cmocka_unit_test(a_command_takes_the_rest),
		cmocka_unit_test(mistakes_are_named),
		cmocka_unit_test(help_ends_the_reading),
		cmocka_unit_test(typing_errors_are_understood),
		cmocka_unit_test(base64_is_strict),
		cmocka_unit_test(base64_keeps_every_byte),
		cmocka_unit_test(text_width_counts_columns),
		cmocka_unit_test(a_table_fits_its_content),
		cmocka_unit_test(long_cells_wrap),
		cmocka_unit_test(cells_cannot_steer_the_terminal),
		cmocka_unit_test(only_the_first_word_is_coloured),
	};
	int r = cmocka_run_group_tests(tests, NULL, NULL);
	fh_opt_list_release(&v.list);
	fh_opt_list_release(&v.several);
	fh_opt_list_release(&args);
	return r;
}
