/* SPDX-License-Identifier: MIT */
#include "survey/survey_answer.h"

#include <errno.h>
#include <unistd.h>

#include "base/fd.h"
#include "proto/frame.h"
#include "proto/wire.h"
#include "survey/survey_host.h"
#include "survey/survey_wire.h"

enum { MALFORMED = 1, TOO_LONG = 2 };

static void answer_one(struct fh_survey *s, struct fh_survey_question *q, struct fh_buf *out)
{
	fh_auto_survey_answer struct fh_survey_answer a = { 0 };
	q->max = FH_MIN(q->max, (size_t)FH_FRAME_PAYLOAD_MAX);
	if (q->kind >= FH_SURVEY_KIND_COUNT_)
		a.error = ENOSYS; /* a question of a newer client */
	else if (q->kind == FH_SURVEY_CACHE)
		a.error = ENOENT; /* the client's caches are not on this machine */
	else
		s->answer(s, q, &a);
	fh_survey_answer_write(out, &a);
}

int fh_survey_answer_main(void)
{
	fh_auto_survey_host struct fh_survey_host host;
	fh_auto_buf struct fh_buf questions = FH_BUF_INIT(FH_SURVEY_QUESTIONS_BYTES);
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(FH_FRAME_PAYLOAD_MAX);
	uint64_t count = 0;
	fh_survey_host_init(&host);
	if (fh_read_all(STDIN_FILENO, &questions) < 0)
		return MALFORMED;
	struct fh_wire_reader r = fh_wire_reader(fh_buf_str(&questions));
	for (struct fh_wire_field x; fh_wire_next(&r, &x);) {
		fh_auto_survey_asked struct fh_survey_asked asked = { 0 };
		if (x.tag != F_QUESTION)
			continue;
		if (++count > FH_SURVEY_QUESTIONS_MAX || !fh_survey_question_read(x.value, &asked))
			return MALFORMED;
		answer_one(&host.survey, &asked.question, &out);
	}
	fh_wire_u64(&out, F_COUNT, count);
	if (r.malformed)
		return MALFORMED;
	if (out.overflowed)
		return TOO_LONG;
	return fh_write_all(STDOUT_FILENO, out.p, out.n) < 0;
}
