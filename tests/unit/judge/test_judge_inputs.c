/* SPDX-License-Identifier: MIT */
/* The key of a judgement: no member of what goes in is forgotten, and each changes it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "judge/problems/output.h"
#include "judge/problems/truth.h"
#include "judge/session/inputs.h"

/* What goes into one judgement, each member with a value of its own. */
struct all {
	struct fh_judge_inputs inputs;
	struct fh_judge_problem problem;
	struct fh_judge_sample sample;
	struct fh_judge_output output;
	struct fh_judge_truth truth;
};

static const char *const some_flags[] = { "-a", "-b", NULL };
static const char *const other_flags[] = { "-a", "-c", NULL };

static void fill(struct all *a)
{
	static char head[] = "head", tail[] = "tail", reference[] = "reference", name[] = "name", inputs[] = "[[1]]";
	*a = (struct all){ 0 };
	a->problem = (struct fh_judge_problem){
		.task_id = name,
		.language = FH_JUDGE_CPP,
		.head = { .p = head, .n = 4 },
		.tail = { .p = tail, .n = 4 },
		.declaration = { .p = head, .n = 4 },
		.entry_point = name,
		.reference = { .p = reference, .n = 9 },
		.output = &a->output,
		.truth = &a->truth,
		.fault = name,
		.format = "generic",
		.line = 7,
	};
	a->truth = (struct fh_judge_truth){ .inputs = { .p = inputs, .n = 5 }, .count = 1, .oracle = "" };
	a->sample = (struct fh_judge_sample){ .problem = 3, .completion = name, .size = 4 };
	a->inputs = (struct fh_judge_inputs){
		.problem = &a->problem,
		.sample = &a->sample,
		.mode = "split",
		.interpreter = "a",
		.seed = "b",
		.flags = some_flags,
		.repeat = 2,
		.version = "c",
		.driver = "d",
		.split_drivers = "e",
		.language_data = "f",
		.tool = "g",
		.checker_tool = "h",
	};
}

static void *struct_of(struct all *a, enum fh_input_struct which)
{
	void *const structs[] = { &a->inputs, &a->problem, &a->sample };
	return structs[which];
}

static void change_text(void *at)
{
	*(const char **)at = "another";
}
static void change_buf(void *at)
{
	((struct fh_buf *)at)->n--;
}
static void change_bool(void *at)
{
	*(bool *)at = !*(bool *)at;
}
static void change_number(void *at)
{
	++*(unsigned *)at;
}
static void change_list(void *at)
{
	*(const char *const **)at = other_flags;
}
static void change_limits(void *at)
{
	((struct fh_limits *)at)->value[FH_LIMIT_COUNT_ - 1]++;
}
static void change_output(void *at)
{
	(*(struct fh_judge_output **)at)->tolerance = 0.5;
}
static void change_truth(void *at)
{
	(*(struct fh_judge_truth **)at)->atol = 0.5;
}
static void change_problem(void *at)
{
	static struct fh_judge_problem other;
	other = **(struct fh_judge_problem **)at;
	other.tail.n--;
	*(struct fh_judge_problem **)at = &other;
}
static void change_sample(void *at)
{
	static struct fh_judge_sample other;
	other = **(struct fh_judge_sample **)at;
	other.size--;
	*(struct fh_judge_sample **)at = &other;
}
static void change_bytes(void *at)
{
	*(const char **)at = "NAME";
}
static void (*const change[])(void *at) = {
	[FH_INPUT_TEXT] = change_text,       [FH_INPUT_BUF] = change_buf,       [FH_INPUT_BOOL] = change_bool,
	[FH_INPUT_NUMBER] = change_number,   [FH_INPUT_REPEAT] = change_number, [FH_INPUT_LIST] = change_list,
	[FH_INPUT_LIMITS] = change_limits,   [FH_INPUT_OUTPUT] = change_output, [FH_INPUT_TRUTH] = change_truth,
	[FH_INPUT_PROBLEM] = change_problem, [FH_INPUT_SAMPLE] = change_sample, [FH_INPUT_BYTES] = change_bytes,
	[FH_INPUT_NONE] = change_number,
};

static void every_member_changes_the_key(void **state)
{
	struct all a;
	char before[FH_SHA256_HEX], after[FH_SHA256_HEX];
	fill(&a);
	fh_judge_inputs_key(&a.inputs, before);
	for (enum fh_input_struct which = 0; which < FH_INPUT_STRUCT_COUNT_; which++)
		for (const struct fh_input_field *f = fh_input_tables[which].fields; f->name; f++) {
			fill(&a);
			change[f->kind]((char *)struct_of(&a, which) + f->offset);
			fh_judge_inputs_key(&a.inputs, after);
			if ((f->kind == FH_INPUT_NONE) != (strcmp(before, after) == 0))
				fail_msg("%s.%s: the key is %s", fh_input_tables[which].name, f->name,
				         f->kind == FH_INPUT_NONE ? "another" : "the same");
		}
	fill(&a);
	fh_judge_inputs_key(&a.inputs, after);
	assert_string_equal(before, after);
}

/* What stands between two fields of a table is padding: less than the second one's alignment, which is no more than its
 * size and a pointer's. */
static void every_member_stands_in_a_table(void **state)
{
	for (enum fh_input_struct which = 0; which < FH_INPUT_STRUCT_COUNT_; which++) {
		const struct fh_input_table *t = &fh_input_tables[which];
		size_t end = 0;
		for (const struct fh_input_field *f = t->fields; f->name; f++) {
			size_t most = f->size < sizeof(void *) ? f->size : sizeof(void *);
			if (f->offset < end || f->offset - end >= most)
				fail_msg("%s: in front of %s there is a member that stands in no row of src/judge/session/inputs.c",
				         t->name, f->name);
			end = f->offset + f->size;
		}
		if (t->size < end || t->size - end >= sizeof(void *))
			fail_msg("%s: the last member stands in no row of src/judge/session/inputs.c", t->name);
	}
}

static void nothing_and_an_empty_text_are_two_things(void **state)
{
	struct all a;
	char nothing[FH_SHA256_HEX], empty[FH_SHA256_HEX];
	fill(&a);
	a.inputs.tool = NULL;
	fh_judge_inputs_key(&a.inputs, nothing);
	a.inputs.tool = "";
	fh_judge_inputs_key(&a.inputs, empty);
	assert_string_not_equal(nothing, empty);
}

static void to_judge_once_is_to_judge_no_more_than_once(void **state)
{
	struct all a;
	char unset[FH_SHA256_HEX], once[FH_SHA256_HEX];
	fill(&a);
	a.inputs.repeat = 0;
	fh_judge_inputs_key(&a.inputs, unset);
	a.inputs.repeat = 1;
	fh_judge_inputs_key(&a.inputs, once);
	assert_string_equal(unset, once);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_member_changes_the_key),
		cmocka_unit_test(every_member_stands_in_a_table),
		cmocka_unit_test(nothing_and_an_empty_text_are_two_things),
		cmocka_unit_test(to_judge_once_is_to_judge_no_more_than_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
