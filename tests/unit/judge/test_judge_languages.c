/* SPDX-License-Identifier: MIT */
/* Every language that is judged has all that a language has to have; and every one that runs is found in answers. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/path.h"
#include "code/extract.h"
#include "code/syntax.h"
#include "judge/problems/languages.h"
#include "judge/split/split.h"
#include "sandbox/planning/language.h"
#include "sandbox/planning/language_words.h"

static void assert_guest_file(enum fh_judge_language l, const char *file)
{
	fh_auto_free char *path = NULL;
	if (fh_judge_guest_path(l, file, &path, NULL) < 0)
		fail_msg("guest/%s/%s is not there", fh_judge_language_name(l), file);
}

static void assert_guest_files(enum fh_judge_language l, const char *const *files)
{
	for (size_t i = 0; i < FH_SPLIT_DRIVERS_MAX && files[i]; i++)
		assert_guest_file(l, files[i]);
}

static void every_language_has_a_data_file_a_stub_and_a_version(void **state)
{
	for (enum fh_judge_language l = 0; l < FH_JUDGE_LANGUAGE_COUNT_; l++) {
		const struct fh_judge_language_info *info = fh_judge_languages[l];
		fh_auto_language struct fh_language *data = NULL;
		struct fh_error err = FH_ERROR_INIT;
		if (fh_language_load(info->name, &data, &err) < 0)
			fail_msg("%s: %s", info->name, err.message);
		assert_string_equal(info->name, data->name);
		assert_true(info->stub.body[0] && info->stub.program[0] && info->version[0]);
		if (info->version_argument)
			assert_non_null(data->compile[0]);
		assert_int_equal(l, fh_judge_language_of_name(info->name));
		for (char **alias = data->aliases; *alias; alias++)
			assert_int_equal(l, fh_judge_language_of_name(*alias));
	}
}

/* A program that prints a word of its own as its version says nothing: no key of a result would know the tool. */
static void no_version_is_a_literal_alone(void **state)
{
	for (enum fh_judge_language l = 0; l < FH_JUDGE_LANGUAGE_COUNT_; l++) {
		const struct fh_judge_language_info *info = fh_judge_languages[l];
		fh_auto_free char *word = fh_xasprintf("\"%s\")", info->name);
		if (strstr(info->version, word))
			assert_non_null(info->version_argument);
	}
}

static void every_file_that_a_language_names_is_in_its_folder(void **state)
{
	for (enum fh_judge_language l = 0; l < FH_JUDGE_LANGUAGE_COUNT_; l++) {
		const struct fh_judge_language_info *info = fh_judge_languages[l];
		if (info->in_process) {
			assert_guest_file(l, info->in_process->driver);
			assert_true(info->in_process->probe && info->in_process->probe_test);
			if (info->in_process->libraries[0])
				assert_guest_file(l, info->in_process->libraries[0]);
		}
		if (info->split) {
			assert_true(info->split->judge_side && info->split->candidate_side);
			assert_non_null(info->split->judge[0]);
			assert_true(!info->split->probe == !info->split->probe_test &&
			            !info->split->probe == !info->split->probe_name);
			assert_guest_files(l, info->split->judge);
			assert_guest_files(l, info->split->candidate);
			assert_guest_files(l, info->split->others);
		}
		if (info->caller)
			assert_guest_file(l, info->caller->helper);
		if (info->pack_prefix || info->declared)
			assert_true(info->entry_point && fh_judge_has_tests(l));
	}
}

static void a_word_means_one_language(void **state)
{
	struct fh_language **all = NULL;
	size_t n;
	assert_int_equal(0, fh_language_all(&all, &n, NULL));
	assert_true(n >= FH_JUDGE_LANGUAGE_COUNT_);
	for (size_t i = 0; i < n; i++) {
		char **lists[] = { all[i]->aliases, all[i]->tags };
		assert_string_equal(all[i]->name, fh_language_of_word(fh_str(all[i]->name), FH_WORD_TAG));
		assert_non_null(strstr(fh_language_names(), all[i]->name));
		for (size_t k = 0; k < FH_ARRAY_SIZE(lists); k++)
			for (char **word = lists[k]; *word; word++)
				assert_string_equal(all[i]->name, fh_language_of_word(fh_str(*word), FH_WORD_TAG));
		for (char **tag = all[i]->tags; *tag; tag++)
			assert_null(fh_language_of_word(fh_str(*tag), FH_WORD_NAME));
		fh_language_free(all[i]);
	}
	free(all);
	assert_null(fh_language_of_word(fh_str("cobol"), FH_WORD_TAG));
}

/* A language without a row would be read as Python without anybody having thought of it. */
static void how_a_language_is_read_is_said_of_each(void **state)
{
	struct fh_language **all = NULL;
	size_t n;
	assert_int_equal(0, fh_language_all(&all, &n, NULL));
	for (size_t i = 0; i < n; i++) {
		const struct fh_syntax_row *row = fh_syntax_row(all[i]->name);
		if (!fh_streq(row->language, all[i]->name))
			fail_msg("src/code/syntax.c has no row for %s", all[i]->name);
		if (row->includes)
			assert_string_equal(row->includes, fh_syntax_row(row->includes)->language);
		fh_language_free(all[i]);
	}
	free(all);
}

static void an_answer_with_a_block_of_any_language_has_a_program(void **state)
{
	struct fh_language **all = NULL;
	size_t n;
	assert_int_equal(0, fh_language_all(&all, &n, NULL));
	for (size_t i = 0; i < n; i++) {
		fh_auto_free char *answer =
		    fh_xasprintf("Here:\n```json\n{\"a\": [1, 2, 3, 4, 5, 6, 7, 8, 9]}\n```\nand\n```%s\n%s\n```\n",
		                 all[i]->name, all[i]->hello);
		fh_auto_free char *wanted = fh_xasprintf("%s\n", all[i]->hello);
		struct fh_extract_options options = { .language = all[i]->name };
		fh_auto_extraction struct fh_extraction e = { 0 };
		fh_extract(fh_str(answer), &options, &e);
		if (!e.code)
			fail_msg("%s: %s", all[i]->name, e.reason);
		assert_string_equal(wanted, e.code);
		fh_language_free(all[i]);
	}
	free(all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_language_has_a_data_file_a_stub_and_a_version),
		cmocka_unit_test(no_version_is_a_literal_alone),
		cmocka_unit_test(every_file_that_a_language_names_is_in_its_folder),
		cmocka_unit_test(a_word_means_one_language),
		cmocka_unit_test(how_a_language_is_read_is_said_of_each),
		cmocka_unit_test(an_answer_with_a_block_of_any_language_has_a_program),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
