/* SPDX-License-Identifier: MIT */
#include "judge/split/split.h"

#include <string.h>

#include "base/text/parse.h"
#include "judge/common/finite.h"

static bool number(struct fh_str *rest, char end, uint64_t *ret)
{
	char digits[24];
	size_t n = 0;
	while (n < rest->n && n < sizeof(digits) - 1 && rest->p[n] >= '0' && rest->p[n] <= '9') {
		digits[n] = rest->p[n];
		n++;
	}
	digits[n] = '\0';
	if (n == 0 || n == rest->n || rest->p[n] != end || fh_parse_u64(digits, 0, UINT64_MAX, ret, NULL) < 0)
		return false;
	*rest = (struct fh_str){ rest->p + n + 1, rest->n - n - 1 };
	return true;
}

bool fh_split_message_read(struct fh_str stream, struct fh_split_message *ret)
{
	const char *space = stream.n ? memchr(stream.p, ' ', FH_MIN(stream.n, (size_t)32)) : NULL;
	uint64_t calls, size;
	if (!space)
		return false;
	struct fh_str rest = { space + 1, stream.n - (size_t)(space + 1 - stream.p) };
	if (!number(&rest, ' ', &calls) || !number(&rest, '\n', &size) || size != rest.n)
		return false;
	*ret = (struct fh_split_message){ { stream.p, (size_t)(space - stream.p) }, rest, calls };
	return true;
}

/* ------------------------------------------------------------------------------------------------------- verdicts */

/* Limits that end a run, in order of precedence; those of the candidate come first. */
static const struct {
	enum fh_status status;
	enum fh_verdict verdict;
} limits[] = {
	{ FH_STATUS_OUTPUT_LIMIT, FH_VERDICT_OUTPUT_LIMIT },
	{ FH_STATUS_MEMORY_LIMIT, FH_VERDICT_MEMORY_LIMIT },
	{ FH_STATUS_CPU_TIME_LIMIT, FH_VERDICT_CPU_TIME_LIMIT },
	{ FH_STATUS_WALL_TIME_LIMIT, FH_VERDICT_WALL_TIME_LIMIT },
};

static bool by_limit(const struct fh_split_outcome *o, enum fh_verdict *ret, struct fh_buf *why)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(limits); i++)
		for (int judge = 0; judge < 2; judge++) {
			const struct fh_result *r = judge ? o->judge : o->candidate;
			if (r->status != limits[i].status)
				continue;
			*ret = limits[i].verdict;
			fh_verdict_explain_limit(r, why);
			if (judge)
				fh_buf_adds(why, " in the judge's process, by what the candidate gave it");
			return true;
		}
	return false;
}

/* The verdict for a candidate that ended without an answer. */
static enum fh_verdict ended(const struct fh_result *c, struct fh_buf *why)
{
	struct fh_str err = { (const char *)c->stream_data[FH_STDERR], c->stream_size[FH_STDERR] };
	if (c->stopped) {
		/* which of these two ends is seen first is a race between two pipes */
		fh_buf_adds(why, "gave no answer: it closed its pipes to the judge, or killed itself");
		return FH_VERDICT_RUNTIME_ERROR;
	}
	if (c->signal != 0) {
		const char *name = sigabbrev_np(c->signal);
		fh_buf_addf(why, "ended by signal %d (SIG%s)", c->signal, name ? name : "?");
	} else {
		fh_buf_addf(why, "left before the test ended: exit status %d", c->exit_code);
	}
	fh_verdict_add_line(why, ": ", fh_verdict_telling_line(err, NULL));
	return c->signal != 0 ? FH_VERDICT_RUNTIME_ERROR : FH_VERDICT_EARLY_EXIT;
}

static const struct {
	const char *word;
	enum fh_verdict verdict;
	const char *before; /* beginning of the reason in the verdict */
} words[] = {
	{ "failed", FH_VERDICT_FAILED, "" },
	{ "lacks", FH_VERDICT_FAILED, "" },
	{ "tampered", FH_VERDICT_TAMPERED, "" },
	{ "exited", FH_VERDICT_EARLY_EXIT, "left before the test ended: " },
	{ "unfit", FH_VERDICT_ENGINE_ERROR, "the test cannot be split: " },
	{ "broken", FH_VERDICT_ENGINE_ERROR, "the test: " },
};

static enum fh_verdict by_message(struct fh_split_outcome *o, const struct fh_split_message *m, struct fh_buf *why)
{
	const struct fh_result *j = o->judge, *c = o->candidate;
	if (fh_str_eq(m->word, "passed") && j->exit_code == 0 && j->signal == 0 && m->calls > 0) {
		o->not_finite = fh_str_eq(m->reason, FH_NOT_FINITE);
		return FH_VERDICT_PASSED;
	}
	if (fh_str_eq(m->word, "gone"))
		return ended(c, why);
	for (size_t i = 0; i < FH_ARRAY_SIZE(words); i++)
		if (fh_str_eq(m->word, words[i].word)) {
			fh_buf_adds(why, words[i].before);
			fh_buf_add(why, m->reason.p, m->reason.n);
			o->unfit = fh_str_eq(m->word, "unfit");
			o->unfit_after_answers = o->unfit && m->calls > 0;
			o->lacks = fh_str_eq(m->word, "lacks");
			return words[i].verdict;
		}
	fh_buf_addf(why, "the judge's process said that it had ended and then ended with status %d, signal %d",
	            j->exit_code, j->signal);
	o->retry = true;
	return FH_VERDICT_RUNTIME_ERROR;
}

static enum fh_verdict decide(struct fh_split_outcome *o, struct fh_buf *why)
{
	static const char unfit_message[] = "another member of the group failed";
	const struct fh_result *const both[] = { o->judge, o->candidate };
	struct fh_split_message m;
	enum fh_verdict verdict;
	for (size_t i = 0; i < 2; i++) { /* skips the member that failed only because the other one did */
		const struct fh_result *r = both[i]->status == FH_STATUS_ENGINE_ERROR ? both[i] : NULL;
		if (!r || (i == 0 && both[1]->status == FH_STATUS_ENGINE_ERROR && fh_streq(r->error.message, unfit_message)))
			continue;
		fh_buf_addf(why, "%s: %s", fh_phase_name(r->error.phase), r->error.message);
		return FH_VERDICT_ENGINE_ERROR;
	}
	bool said = fh_split_message_read(
	    (struct fh_str){ (const char *)o->judge->stream_data[FH_DRIVER], o->judge->stream_size[FH_DRIVER] }, &m);
	if (said && fh_str_eq(m.word, "tampered"))
		return by_message(o, &m, why);
	if (by_limit(o, &verdict, why))
		return verdict;
	if (said) {
		verdict = by_message(o, &m, why);
		if (!fh_str_eq(m.word,
		               "gone")) { /* the candidate was killed because the judge had ended: its exit says nothing */
			o->candidate->exit_code = -1;
			o->candidate->signal = 0;
		}
		/* If the candidate failed, and a limit had made some of its calls fail before, that limit becomes the
		 * verdict. */
		enum fh_verdict limit = o->candidate->fired & 1u << FH_LIMIT_PROCESSES ? FH_VERDICT_PROCESS_LIMIT
		                        : o->candidate->fired & (1u << FH_LIMIT_DISK | 1u << FH_LIMIT_FILE_SIZE)
		                            ? FH_VERDICT_DISK_LIMIT
		                            : verdict;
		if (verdict == FH_VERDICT_PASSED || verdict == FH_VERDICT_ENGINE_ERROR || limit == verdict)
			return verdict;
		fh_buf_addf(why, " (after the %s)", fh_verdict_name(limit));
		return limit;
	}
	/* If the candidate caused this, it is its own failure. If not, the next try and the self-check will show that. */
	o->retry = true;
	fh_buf_addf(why, "the judge's process ended without a word: exit status %d, signal %d", o->judge->exit_code,
	            o->judge->signal);
	return FH_VERDICT_RUNTIME_ERROR;
}

void fh_split_decide(struct fh_split_outcome *o)
{
	fh_auto_buf struct fh_buf why = FH_BUF_INIT(64 << 10);
	o->verdict = decide(o, &why);
	if (o->verdict == FH_VERDICT_PASSED)
		fh_buf_truncate(&why, 0);
	o->reason = fh_verdict_finish(&why);
}
