/* SPDX-License-Identifier: MIT */
#include "judge/formats/data_set.h"

#include <stdio.h>

#include "code/clean.h"
#include "code/extract.h"
#include "code/extract_fence.h"
#include "judge/formats/format.h"
#include "judge/formats/lines.h"

#define ITEMS_MAX ((size_t)10 << 20)
#define TASK_ID_MAX 512

/* --------------------------------------------------------------------------------------------------------- problems */

/* The id of a task is a string; in MBPP it is a number, which samples may write as either. */
struct task_id {
	char text[TASK_ID_MAX + 1];
	bool is_number;
};

static int task_id_of(const struct fh_lines *l, const json_t *row, struct task_id *ret, struct fh_error *err)
{
	const json_t *id = json_object_get(row, "task_id");
	if (json_is_integer(id)) {
		snprintf(ret->text, sizeof(ret->text), "%lld", (long long)json_integer_value(id));
		ret->is_number = true;
		return 0;
	}
	if (!json_is_string(id)) {
		fh_lines_error(l, err, id ? "task_id is not a string" : "no task_id");
		fh_error_hint(err, "each line needs a task_id such as \"HumanEval/0\"");
		return -FH_E_CONFIG;
	}
	if (json_string_length(id) > TASK_ID_MAX || strlen(json_string_value(id)) != json_string_length(id))
		return fh_lines_error(l, err, "task_id is longer than %d bytes or holds a NUL", TASK_ID_MAX);
	memcpy(ret->text, json_string_value(id), json_string_length(id) + 1);
	ret->is_number = false;
	return 0;
}

static const struct fh_judge_format *format_of(const json_t *row)
{
	for (size_t i = 0; fh_judge_formats[i]; i++)
		if (fh_judge_formats[i]->recognises(row))
			return fh_judge_formats[i];
	return NULL;
}

static int unknown_format(const struct fh_lines *l, const char *task_id, struct fh_error *err)
{
	fh_auto_buf struct fh_buf known = FH_BUF_INIT(1024);
	for (size_t i = 0; fh_judge_formats[i]; i++)
		fh_buf_addf(&known, "%s%s (%s)", i ? ", " : "", fh_judge_formats[i]->name, fh_judge_formats[i]->fields);
	fh_lines_error(l, err, "problem %.80s has the fields of no format that can be judged", task_id);
	fh_error_hint(err, "formats: %s; the fields are strings", fh_buf_cstr(&known));
	return -FH_E_CONFIG;
}

static int read_problem(const struct fh_lines *l, const json_t *row, struct fh_judge_problems *to, struct fh_error *err)
{
	struct task_id id;
	int r = task_id_of(l, row, &id, err);
	if (r < 0)
		return r;
	const struct fh_judge_format *format = format_of(row);
	if (!format)
		return unknown_format(l, id.text, err);
	if (fh_lines_not_finite(l) && !format->takes_not_finite) {
		fh_lines_error(l, err, "not JSON: it contains NaN or Infinity");
		fh_error_hint(err, "only EvalPlus's formats may contain them; in others write the test as code");
		return -FH_E_CONFIG;
	}
	if (to->count >= ITEMS_MAX)
		return fh_lines_error(l, err, "more than %zu problems", ITEMS_MAX);
	struct fh_judge_problem *p = &FH_PUSH(to->items, to->count, to->capacity);
	*p = (struct fh_judge_problem){
		.task_id = fh_xstrdup(id.text),
		.has_number = id.is_number,
		.format = format->name,
		.line = fh_lines_number(l),
		.head = FH_BUF_INIT(0),
		.tail = FH_BUF_INIT(0),
		.declaration = FH_BUF_INIT(0),
		.reference = FH_BUF_INIT(0),
	};
	struct fh_error inner = FH_ERROR_INIT;
	if (format->read(row, fh_lines_text(l), p, &inner) < 0) {
		fh_lines_error(l, err, "%s", inner.message);
		fh_error_hint(err, "%s", inner.hint);
		return -FH_E_CONFIG;
	}
	if (!p->entry_point)
		p->entry_point = fh_xstrdup("");
	if (p->head.n + p->tail.n > FH_JUDGE_PROBLEM_MAX)
		return fh_lines_error(l, err, "problem %.80s is larger than %zu MiB", id.text, FH_JUDGE_PROBLEM_MAX >> 20);
	return 0;
}

static int compare_tasks(const void *a, const void *b, void *problems)
{
	const struct fh_judge_problems *p = problems;
	size_t i = *(const size_t *)a, j = *(const size_t *)b;
	int c = strcmp(p->items[i].task_id, p->items[j].task_id);
	return c ? c : i < j ? -1 : i > j;
}

static int sort_problems(const char *path, struct fh_judge_problems *p, struct fh_error *err)
{
	p->by_task = fh_xcalloc(p->count, sizeof(*p->by_task));
	for (size_t i = 0; i < p->count; i++)
		p->by_task[i] = i;
	qsort_r(p->by_task, p->count, sizeof(*p->by_task), compare_tasks, p);
	for (size_t i = 1; i < p->count; i++) {
		const struct fh_judge_problem *a = &p->items[p->by_task[i - 1]], *b = &p->items[p->by_task[i]];
		if (fh_streq(a->task_id, b->task_id)) {
			fh_error_at(err, path, b->line, 0, "task_id %.80s is already in line %u", b->task_id, a->line);
			fh_error_hint(err, "give each problem a task_id of its own");
			return -FH_E_CONFIG;
		}
	}
	return 0;
}

int fh_judge_problems_read(const char *path, struct fh_judge_problems *ret, struct fh_error *err)
{
	fh_auto_lines struct fh_lines *lines = NULL;
	fh_auto_problems struct fh_judge_problems read = { 0 };
	int r = fh_lines_open(path, &lines, err);
	json_t *row;
	if (r >= 0)
		fh_lines_allow_not_finite(lines);
	while (r >= 0 && (r = fh_lines_next(lines, &row, err)) > 0) {
		r = read_problem(lines, row, &read, err);
		json_decref(row);
	}
	if (r >= 0 && read.count == 0)
		r = fh_error_at(err, path, 0, 0, "holds no problems");
	if (r >= 0)
		r = sort_problems(path, &read, err);
	if (r < 0)
		return r;
	*ret = read;
	read = (struct fh_judge_problems){ 0 };
	return 0;
}

/* ---------------------------------------------------------------------------------------------------------- samples */

/* Whether the text of a "solution" is a model's answer in Markdown rather than a program. */
static bool is_answer(struct fh_str text, const char *language)
{
	static const char mark[] = "\xef\xbb\xbf", thoughts[] = "<think>";
	if (fh_str_begins(text, mark))
		text = fh_str_from(text, strlen(mark));
	while (text.n > 0 && strchr(" \t\r\n", text.p[0]))
		text = fh_str_from(text, 1);
	return fh_str_begins(text, thoughts) || fh_has_free_fence(text, language);
}

void fh_judge_sample_make(const struct fh_judge_problems *problems, size_t at, struct fh_str text, bool is_whole,
                          struct fh_judge_sample *ret)
{
	const struct fh_judge_problem *problem = &problems->items[at];
	const char *language = fh_judge_language_name(problem->language);
	struct fh_buf code = FH_BUF_INIT(0);
	fh_auto_extraction struct fh_extraction answer = { 0 };
	if (is_whole && is_answer(text, language)) {
		struct fh_extract_options options = { .language = language, .entry_point = problem->entry_point };
		fh_extract(text, &options, &answer);
		if (answer.code)
			text = (struct fh_str){ answer.code, answer.size };
	}
	fh_clean_program(&code, text, language);
	*ret = (struct fh_judge_sample){ .problem = at, .is_whole = is_whole };
	ret->completion = fh_buf_take(&code, &ret->size);
}

/* A "completion" continues the problem's head; "solution" (EvalPlus) and "code" are complete programs, or answers that
 * hold one. */
static int text_of_sample(const struct fh_lines *l, const json_t *row, const char *task_id,
                          const struct fh_judge_problems *problems, size_t at, struct fh_judge_sample *ret,
                          struct fh_error *err)
{
	const json_t *completion = json_object_get(row, "completion"), *solution = json_object_get(row, "solution");
	if (!solution)
		solution = json_object_get(row, "code");
	const json_t *text = completion ? completion : solution;
	if (!json_is_string(text) || (completion && solution)) {
		fh_lines_error(l, err,
		               completion && solution ? "both completion and solution"
		               : completion           ? "completion is not a string"
		               : solution             ? "solution is not a string"
		                                      : "no completion");
		fh_error_hint(
		    err,
		    "a sample is {\"task_id\": \"%.80s\", \"completion\": \"…\"}, or has a complete program as \"solution\"",
		    task_id);
		return -FH_E_CONFIG;
	}
	fh_judge_sample_make(problems, at, (struct fh_str){ json_string_value(text), json_string_length(text) },
	                     !completion, ret);
	return 0;
}

static int read_sample(const struct fh_lines *l, const json_t *row, const struct fh_judge_problems *problems,
                       struct fh_judge_samples *to, struct fh_error *err)
{
	struct task_id id;
	int r = task_id_of(l, row, &id, err);
	if (r < 0)
		return r;
	const struct fh_judge_problem *problem = fh_judge_problem_find(problems, id.text);
	if (!problem) {
		fh_lines_error(l, err, "no problem has the task_id %.80s", id.text);
		fh_error_hint(err, "--problems has to name the data set that the samples were made for");
		return -FH_E_CONFIG;
	}
	if (to->count >= ITEMS_MAX)
		return fh_lines_error(l, err, "more than %zu samples", ITEMS_MAX);
	struct fh_judge_sample *s = &FH_PUSH(to->items, to->count, to->capacity);
	return text_of_sample(l, row, id.text, problems, (size_t)(problem - problems->items), s, err);
}

int fh_judge_samples_read(const char *path, const struct fh_judge_problems *problems, struct fh_judge_samples *ret,
                          struct fh_error *err)
{
	fh_auto_lines struct fh_lines *lines = NULL;
	fh_auto_samples struct fh_judge_samples read = { 0 };
	int r = fh_lines_open(path, &lines, err);
	json_t *row;
	while (r >= 0 && (r = fh_lines_next(lines, &row, err)) > 0) {
		r = read_sample(lines, row, problems, &read, err);
		json_decref(row);
	}
	if (r >= 0 && read.count == 0)
		r = fh_error_at(err, path, 0, 0, "holds no samples");
	if (r < 0)
		return r;
	*ret = read;
	read = (struct fh_judge_samples){ 0 };
	return 0;
}
