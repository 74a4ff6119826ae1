/* SPDX-License-Identifier: MIT */
#include "judge/session/inputs.h"

#include <stddef.h>
#include <stdio.h>

#include "judge/problems/output.h"
#include "judge/problems/truth.h"

#define FIELD(type, member, kind_)                                                                                     \
	{                                                                                                                  \
		.name = #member, .offset = offsetof(struct type, member), .size = sizeof(((struct type *)NULL)->member),       \
		.kind = kind_                                                                                                  \
	}

static const struct fh_input_field of_judgement[] = {
	FIELD(fh_judge_inputs, problem, FH_INPUT_PROBLEM),    FIELD(fh_judge_inputs, sample, FH_INPUT_SAMPLE),
	FIELD(fh_judge_inputs, limits, FH_INPUT_LIMITS),      FIELD(fh_judge_inputs, mode, FH_INPUT_TEXT),
	FIELD(fh_judge_inputs, interpreter, FH_INPUT_TEXT),   FIELD(fh_judge_inputs, seed, FH_INPUT_TEXT),
	FIELD(fh_judge_inputs, flags, FH_INPUT_LIST),         FIELD(fh_judge_inputs, repeat, FH_INPUT_REPEAT),
	FIELD(fh_judge_inputs, packages, FH_INPUT_BOOL),      FIELD(fh_judge_inputs, version, FH_INPUT_TEXT),
	FIELD(fh_judge_inputs, driver, FH_INPUT_TEXT),        FIELD(fh_judge_inputs, split_drivers, FH_INPUT_TEXT),
	FIELD(fh_judge_inputs, language_data, FH_INPUT_TEXT), FIELD(fh_judge_inputs, tool, FH_INPUT_TEXT),
	FIELD(fh_judge_inputs, checker_tool, FH_INPUT_TEXT),  { 0 },
};

/* Not `line`: it changes when another problem is removed from the file. */
static const struct fh_input_field of_problem[] = {
	FIELD(fh_judge_problem, task_id, FH_INPUT_TEXT),
	FIELD(fh_judge_problem, has_number, FH_INPUT_BOOL),
	FIELD(fh_judge_problem, language, FH_INPUT_NUMBER),
	FIELD(fh_judge_problem, head, FH_INPUT_BUF),
	FIELD(fh_judge_problem, tail, FH_INPUT_BUF),
	FIELD(fh_judge_problem, declaration, FH_INPUT_BUF),
	FIELD(fh_judge_problem, entry_point, FH_INPUT_TEXT),
	FIELD(fh_judge_problem, reference, FH_INPUT_BUF),
	FIELD(fh_judge_problem, reference_is_whole, FH_INPUT_BOOL),
	FIELD(fh_judge_problem, shares_process, FH_INPUT_BOOL),
	FIELD(fh_judge_problem, may_share_process, FH_INPUT_BOOL),
	FIELD(fh_judge_problem, head_is_shared, FH_INPUT_BOOL),
	FIELD(fh_judge_problem, output, FH_INPUT_OUTPUT),
	FIELD(fh_judge_problem, truth, FH_INPUT_TRUTH),
	FIELD(fh_judge_problem, fault, FH_INPUT_TEXT),
	FIELD(fh_judge_problem, format, FH_INPUT_TEXT),
	FIELD(fh_judge_problem, line, FH_INPUT_NONE),
	{ 0 },
};

/* Not the position in its file: the problem itself is part of the key. */
static const struct fh_input_field of_sample[] = {
	FIELD(fh_judge_sample, problem, FH_INPUT_NONE),
	{ "completion", offsetof(struct fh_judge_sample, completion), sizeof(char *) + sizeof(size_t), FH_INPUT_BYTES },
	FIELD(fh_judge_sample, is_whole, FH_INPUT_BOOL),
	{ 0 },
};
_Static_assert(offsetof(struct fh_judge_sample, size) == offsetof(struct fh_judge_sample, completion) + sizeof(char *),
               "FH_INPUT_BYTES");

const struct fh_input_table fh_input_tables[] = {
	[FH_INPUT_OF_JUDGEMENT] = { "judgement", of_judgement, sizeof(struct fh_judge_inputs) },
	[FH_INPUT_OF_PROBLEM] = { "problem", of_problem, sizeof(struct fh_judge_problem) },
	[FH_INPUT_OF_SAMPLE] = { "sample", of_sample, sizeof(struct fh_judge_sample) },
};

/* ---------------------------------------------------------------------------------------------------------- writing */

static void add_number(struct fh_sha256 *h, uint64_t value)
{
	char digits[32];
	snprintf(digits, sizeof(digits), "%llu", (unsigned long long)value);
	fh_sha256_add_field(h, fh_str(digits));
}

/* Adds whether p is not NULL; if so, the caller adds the value next. */
static bool add_presence(struct fh_sha256 *h, const void *p)
{
	add_number(h, p != NULL);
	return p != NULL;
}

static void add_text(struct fh_sha256 *h, const void *at)
{
	const char *text = *(const char *const *)at;
	if (add_presence(h, text))
		fh_sha256_add_field(h, fh_str(text));
}

static void add_buf(struct fh_sha256 *h, const void *at)
{
	fh_sha256_add_field(h, fh_buf_str(at));
}

static void add_bool(struct fh_sha256 *h, const void *at)
{
	add_number(h, *(const bool *)at);
}

static void add_unsigned(struct fh_sha256 *h, const void *at)
{
	add_number(h, *(const unsigned *)at);
}

static void add_repeat(struct fh_sha256 *h, const void *at)
{
	add_number(h, FH_MAX(*(const unsigned *)at, 1U));
}

static void add_list(struct fh_sha256 *h, const void *at)
{
	const char *const *list = *(const char *const *const *)at;
	size_t n = 0;
	while (list && list[n])
		n++;
	add_number(h, n);
	for (size_t i = 0; i < n; i++)
		fh_sha256_add_field(h, fh_str(list[i]));
}

static void add_limits(struct fh_sha256 *h, const void *at)
{
	const struct fh_limits *limits = at;
	for (int i = 0; i < FH_LIMIT_COUNT_; i++)
		add_number(h, limits->value[i]);
}

static void add_output(struct fh_sha256 *h, const void *at)
{
	const struct fh_judge_output *output = *(const struct fh_judge_output *const *)at;
	if (add_presence(h, output))
		fh_judge_output_hash(output, h);
}

static void add_truth(struct fh_sha256 *h, const void *at)
{
	const struct fh_judge_truth *truth = *(const struct fh_judge_truth *const *)at;
	if (add_presence(h, truth))
		fh_judge_truth_hash(truth, h);
}

static void add_struct(struct fh_sha256 *h, const void *p, enum fh_input_struct which);

static void add_problem(struct fh_sha256 *h, const void *at)
{
	add_struct(h, *(const void *const *)at, FH_INPUT_OF_PROBLEM);
}

static void add_sample(struct fh_sha256 *h, const void *at)
{
	add_struct(h, *(const void *const *)at, FH_INPUT_OF_SAMPLE);
}

static void add_bytes(struct fh_sha256 *h, const void *at)
{
	size_t n = *(const size_t *)((const char *)at + sizeof(char *));
	fh_sha256_add_field(h, (struct fh_str){ *(const char *const *)at, n });
}

static void (*const add[])(struct fh_sha256 *h, const void *at) = {
	[FH_INPUT_TEXT] = add_text,       [FH_INPUT_BUF] = add_buf,       [FH_INPUT_BOOL] = add_bool,
	[FH_INPUT_NUMBER] = add_unsigned, [FH_INPUT_REPEAT] = add_repeat, [FH_INPUT_LIST] = add_list,
	[FH_INPUT_LIMITS] = add_limits,   [FH_INPUT_OUTPUT] = add_output, [FH_INPUT_TRUTH] = add_truth,
	[FH_INPUT_PROBLEM] = add_problem, [FH_INPUT_SAMPLE] = add_sample, [FH_INPUT_BYTES] = add_bytes,
};

static void add_struct(struct fh_sha256 *h, const void *p, enum fh_input_struct which)
{
	for (const struct fh_input_field *f = fh_input_tables[which].fields; f->name; f++) {
		if (f->kind == FH_INPUT_NONE)
			continue;
		fh_sha256_add_field(h, fh_str(f->name));
		add[f->kind](h, (const char *)p + f->offset);
	}
}

void fh_judge_inputs_key(const struct fh_judge_inputs *in, char ret_hex[FH_SHA256_HEX])
{
	struct fh_sha256 h = FH_SHA256_INIT;
	fh_sha256_add_field(&h, fh_str("fumehood judge"));
	add_struct(&h, in, FH_INPUT_OF_JUDGEMENT);
	fh_sha256_hex(&h, ret_hex);
}
