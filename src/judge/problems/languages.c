/* SPDX-License-Identifier: MIT */
#include "judge/problems/languages.h"

#include "base/host/data.h"
#include "sandbox/planning/language_words.h"

const struct fh_judge_language_info *const fh_judge_languages[FH_JUDGE_LANGUAGE_COUNT_] = {
#define FH_JUDGE_LANGUAGE(ENUMERATOR, name) [FH_JUDGE_##ENUMERATOR] = &fh_judge_language_##name,
#include "judge/problems/language_list.h"
#undef FH_JUDGE_LANGUAGE
};

const char *fh_judge_language_name(enum fh_judge_language l)
{
	return fh_judge_languages[l]->name;
}

enum fh_judge_language fh_judge_language_of_name(const char *name)
{
	const char *known = fh_language_of_word(fh_str(name), FH_WORD_NAME);
	enum fh_judge_language l = 0;
	while (l < FH_JUDGE_LANGUAGE_COUNT_ && !fh_streq(fh_judge_languages[l]->name, known ? known : name))
		l++;
	return l;
}

int fh_judge_guest_path(enum fh_judge_language l, const char *file, char **ret, struct fh_error *err)
{
	fh_auto_free char *name = fh_xasprintf("guest/%s/%s", fh_judge_languages[l]->name, file);
	return fh_data_path(name, ret, err);
}

bool fh_judge_has_tests(enum fh_judge_language l)
{
	return fh_judge_languages[l]->split || fh_judge_languages[l]->in_process;
}

/* ------------------------------------------------------------------------------------------------ program and test */

struct fh_judge_parts fh_judge_parts_of(const struct fh_judge_problem *problem, const struct fh_judge_sample *sample)
{
	static const char first[] = "from __future__ ";
	struct fh_str nothing = { "", 0 }, program = { sample->completion, sample->size };
	bool alone =
	    problem->head_is_shared ? memmem(program.p, program.n, first, strlen(first)) != NULL : sample->is_whole;
	return (struct fh_judge_parts){ problem, alone ? nothing : fh_buf_str(&problem->head), program, 0 };
}

void fh_judge_add_program(struct fh_buf *out, const struct fh_judge_parts *p)
{
	fh_buf_add_str(out, p->head);
	fh_buf_add_str(out, p->completion);
}

void fh_judge_script(struct fh_buf *out, const struct fh_judge_parts *p)
{
	fh_judge_add_program(out, p);
	fh_buf_addc(out, '\n');
	fh_buf_add_str(out, fh_buf_str(&p->problem->tail));
}

void fh_judge_parts_for_output(struct fh_buf *out, const struct fh_judge_parts *p)
{
	fh_judge_add_program(out, p);
	if (p->problem->tail.n > 0)
		fh_buf_addc(out, '\n');
	fh_buf_add_str(out, fh_buf_str(&p->problem->tail));
}

void fh_judge_program(const struct fh_judge_problem *problem, const struct fh_judge_sample *sample, struct fh_buf *out)
{
	struct fh_judge_parts p = fh_judge_parts_of(problem, sample);
	const struct fh_judge_in_process *how = fh_judge_languages[problem->language]->in_process;
	if (problem->output)
		fh_judge_parts_for_output(out, &p);
	else
		(how && how->whole ? how->whole : fh_judge_script)(out, &p);
}

void fh_judge_unit_release(struct fh_judge_unit *u)
{
	fh_buf_release(&u->code);
	for (size_t i = 0; i < u->count; i++)
		fh_buf_release(&u->files[i].text);
	*u = (struct fh_judge_unit){ .count = 0 };
}

void fh_judge_unit_add_file(struct fh_judge_unit *u, const char *name, struct fh_str text)
{
	u->files[u->count].name = name;
	fh_buf_add_str(&u->files[u->count++].text, text);
}
