/* SPDX-License-Identifier: MIT */
/* A survey's messages, a question as the engine's side reads it and an answer as the client does: what is read and
 * written again is the same. */
#include "base/buf.h"
#include "fuzz.h"
#include "proto/frame.h"
#include "proto/wire.h"
#include "survey/survey_wire.h"

/* The value of the one field that a writer of messages has written. */
static struct fh_str inner(const struct fh_buf *message)
{
	struct fh_wire_reader r = fh_wire_reader(fh_buf_str(message));
	struct fh_wire_field x = { 0 };
	FH_FUZZ_CHECK(fh_wire_next(&r, &x) && r.rest.n == 0);
	return x.value;
}

static void a_question(struct fh_str message)
{
	fh_auto_survey_asked struct fh_survey_asked first = { 0 }, second = { 0 };
	fh_auto_buf struct fh_buf once = FH_BUF_INIT(0);
	fh_auto_buf struct fh_buf again = FH_BUF_INIT(0);
	if (!fh_survey_question_read(message, &first))
		return;
	fh_survey_question_write(&once, &first.question);
	FH_FUZZ_CHECK(fh_survey_question_read(inner(&once), &second));
	fh_survey_question_write(&again, &second.question);
	FH_FUZZ_CHECK(once.n == again.n && memcmp(once.p, again.p, once.n) == 0);
}

static void an_answer(struct fh_str message, enum fh_survey_kind kind)
{
	fh_auto_survey_answer struct fh_survey_answer first = { 0 }, second = { 0 };
	fh_auto_buf struct fh_buf once = FH_BUF_INIT(0);
	if (!fh_survey_answer_read(message, kind, &first))
		return;
	bool facts = kind == FH_SURVEY_FACTS || kind == FH_SURVEY_OWN_FACTS;
	bool list = kind == FH_SURVEY_GLOB || kind == FH_SURVEY_NAMES;
	FH_FUZZ_CHECK(first.error || facts || kind == FH_SURVEY_PROGRAM ||
	              (list ? first.list != NULL : first.text != NULL));
	fh_survey_answer_write(&once, &first);
	if (facts && !first.facts.mode) /* no file has the mode 0, and its facts are not written */
		return;
	FH_FUZZ_CHECK(fh_survey_answer_read(inner(&once), kind, &second));
	FH_FUZZ_CHECK(first.error == second.error && (first.error || !facts || first.facts.inode == second.facts.inode));
	for (size_t i = 0; first.list && first.list[i]; i++)
		FH_FUZZ_CHECK(fh_streq(first.list[i], second.list[i]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fh_fuzz_input in = { data, size };
	enum fh_survey_kind kind = (enum fh_survey_kind)(fh_fuzz_number(&in, 1) % FH_SURVEY_KIND_COUNT_);
	char *copy = fh_fuzz_copy(in.p, in.n);
	a_question((struct fh_str){ copy, in.n });
	an_answer((struct fh_str){ copy, in.n }, kind);
	free(copy);
	return 0;
}
