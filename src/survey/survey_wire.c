/* SPDX-License-Identifier: MIT */
#include "survey/survey_wire.h"

#include <errno.h>

#include "proto/frame.h"
#include "proto/wire.h"

enum { FACTS = sizeof(struct fh_survey_facts) / sizeof(uint64_t) };

/* The facts as numbers, in the order in which they are sent. */
static void fact_places(struct fh_survey_facts *f, uint64_t *ret[FACTS])
{
	uint64_t *const places[FACTS] = { &f->device,     &f->inode,       &f->size,      &f->mode,
		                              &f->modified_s, &f->modified_ns, &f->changed_s, &f->changed_ns };
	memcpy(ret, places, sizeof(places));
}

/* ------------------------------------------------------------------------------------------------------- questions */

void fh_survey_asked_release(struct fh_survey_asked *a)
{
	free(a->root);
	free(a->path);
	for (size_t i = 0; a->args[i]; i++)
		free(a->args[i]);
	*a = (struct fh_survey_asked){ 0 };
}

void fh_survey_question_write(struct fh_buf *out, const struct fh_survey_question *q)
{
	size_t mark = fh_wire_begin(out, F_QUESTION);
	fh_wire_u64(out, F_KIND, q->kind);
	fh_wire_text(out, F_ROOT, q->root);
	fh_wire_text(out, F_PATH, q->path);
	for (size_t i = 0; q->args && q->args[i]; i++)
		fh_wire_text(out, F_ARGV, q->args[i]);
	fh_wire_u64(out, F_MAX_BYTES, q->max);
	fh_wire_end(out, mark);
}

static void take_text(struct fh_wire_reader *r, const struct fh_wire_field *x, char **to)
{
	free(*to);
	*to = fh_wire_get_text(r, x);
}

bool fh_survey_question_read(struct fh_str message, struct fh_survey_asked *ret)
{
	struct fh_wire_reader r = fh_wire_reader(message);
	struct fh_wire_field x;
	uint64_t kind = FH_SURVEY_KIND_COUNT_, max = 0;
	size_t n = 0;
	*ret = (struct fh_survey_asked){ .root = fh_xstrdup(""), .path = fh_xstrdup("") };
	while (fh_wire_next(&r, &x)) {
		if (x.tag == F_KIND)
			kind = FH_MIN(fh_wire_get_u64(&r, &x), (uint64_t)FH_SURVEY_KIND_COUNT_);
		else if (x.tag == F_ROOT)
			take_text(&r, &x, &ret->root);
		else if (x.tag == F_PATH)
			take_text(&r, &x, &ret->path);
		else if (x.tag == F_MAX_BYTES)
			max = fh_wire_get_u64(&r, &x);
		else if (x.tag == F_ARGV && n == FH_SURVEY_ARGS_MAX)
			return false;
		else if (x.tag == F_ARGV)
			ret->args[n++] = fh_wire_get_text(&r, &x);
	}
	ret->question = (struct fh_survey_question){ .kind = (enum fh_survey_kind)kind,
		                                         .root = ret->root,
		                                         .path = ret->path,
		                                         .args = (const char *const *)ret->args,
		                                         .max = (size_t)FH_MIN(max, (uint64_t)SIZE_MAX) };
	return !r.malformed;
}

/* --------------------------------------------------------------------------------------------------------- answers */

static bool has_facts(enum fh_survey_kind kind)
{
	return kind == FH_SURVEY_FACTS || kind == FH_SURVEY_OWN_FACTS;
}

static bool has_list(enum fh_survey_kind kind)
{
	return kind == FH_SURVEY_GLOB || kind == FH_SURVEY_NAMES;
}

void fh_survey_answer_write(struct fh_buf *out, const struct fh_survey_answer *a)
{
	struct fh_survey_facts facts = a->facts;
	uint64_t *places[FACTS];
	size_t mark = fh_wire_begin(out, F_ANSWER);
	fact_places(&facts, places);
	fh_wire_u64(out, F_SYS, (uint64_t)a->error);
	for (size_t i = 0; !a->error && facts.mode && i < FACTS; i++)
		fh_wire_u64(out, F_FACT, *places[i]);
	if (a->text)
		fh_wire_bytes(out, F_CONTENT, a->text, a->size);
	for (size_t i = 0; a->list && a->list[i]; i++)
		fh_wire_text(out, F_NAME, a->list[i]);
	fh_wire_end(out, mark);
}

static void take_content(const struct fh_wire_field *x, struct fh_survey_answer *ret)
{
	free(ret->text);
	ret->size = x->value.n;
	ret->text = fh_xcalloc(x->value.n + 1, 1);
	memcpy(ret->text, x->value.p, x->value.n);
}

bool fh_survey_answer_read(struct fh_str message, enum fh_survey_kind kind, struct fh_survey_answer *ret)
{
	struct fh_wire_reader r = fh_wire_reader(message);
	struct fh_wire_field x;
	uint64_t *places[FACTS];
	size_t facts = 0, names = 0, capacity = 0;
	*ret = (struct fh_survey_answer){ 0 };
	fact_places(&ret->facts, places);
	while (fh_wire_next(&r, &x)) {
		if (x.tag == F_SYS)
			ret->error = (int)FH_MIN(fh_wire_get_u64(&r, &x), (uint64_t)INT32_MAX);
		else if (x.tag == F_FACT && facts < FACTS)
			*places[facts++] = fh_wire_get_u64(&r, &x);
		else if (x.tag == F_CONTENT)
			take_content(&x, ret);
		else if (x.tag == F_NAME)
			FH_PUSH(ret->list, names, capacity) = fh_wire_get_text(&r, &x);
	}
	if (has_list(kind) && !ret->error)
		FH_PUSH(ret->list, names, capacity) = NULL;
	else if (ret->list)
		FH_PUSH(ret->list, names, capacity) = NULL;
	bool whole =
	    ret->error || kind == FH_SURVEY_PROGRAM || (has_facts(kind) ? facts == FACTS : has_list(kind) || ret->text);
	return !r.malformed && whole;
}
