/* SPDX-License-Identifier: MIT */
/*
 * Plans for an engine that is on another machine: the same planning, over a survey that the engine's side answers.
 *
 * A plan asks a few hundred questions, one after another. Those of the last plan of the same kind are kept on disk and
 * sent together, ahead of planning, so that the plans after the first cost one round trip. Only the questions are used
 * again: each answer is a new one.
 */
#include <errno.h>

#include "base/fd.h"
#include "proto/wire.h"
#include "sandbox/connection/client.h"
#include "sandbox/planning/plan_build.h"
#include "sandbox/survey/survey_record.h"
#include "survey/cache_folder.h"
#include "survey/survey_wire.h"

enum { KEPT_BYTES_MAX = 4 << 20 };

struct remote {
	struct fh_survey survey;
	struct fh_client *client;
	struct fh_error error; /* of the connection or the engine; its code is FH_OK while all is well */
};

/* Reads the answers to n questions, in their order. False: there are not as many, or one is malformed. */
static bool read_answers(struct fh_str payload, const struct fh_survey_question *questions, size_t n,
                         struct fh_survey_answer *ret)
{
	struct fh_wire_reader r = fh_wire_reader(payload);
	uint64_t count = UINT64_MAX;
	size_t got = 0;
	for (struct fh_wire_field x; fh_wire_next(&r, &x);) {
		if (x.tag == F_COUNT)
			count = fh_wire_get_u64(&r, &x);
		else if (x.tag == F_ANSWER && (got == n || !fh_survey_answer_read(x.value, questions[got].kind, &ret[got])))
			return false;
		else if (x.tag == F_ANSWER)
			got++;
	}
	return !r.malformed && got == n && count == n;
}

/* Asks several questions at once. The answers are to be released in any case. */
static int ask(struct fh_client *client, const struct fh_survey_question *questions, size_t n,
               struct fh_survey_answer *ret, struct fh_error *err)
{
	struct fh_answer a;
	fh_auto_buf struct fh_buf frame = FH_BUF_INIT(0);
	fh_answer_begin(client->connection, &a, FH_FRAME_REPLY);
	size_t mark = fh_frame_begin(&frame, FH_FRAME_SURVEY, 0, a.call.request, (struct fh_id){ { 0 } });
	for (size_t i = 0; i < n; i++)
		fh_survey_question_write(&frame, &questions[i]);
	fh_frame_end(&frame, mark);
	int r = fh_answer_wait(&a, &frame, err);
	if (r == 0 && !read_answers(fh_buf_str(&a.payload), questions, n, ret))
		r = fh_error_set(err, FH_E_PROTOCOL, "the engine's answer to a survey is malformed");
	fh_buf_release(&a.payload);
	return r;
}

static void answer(struct fh_survey *s, const struct fh_survey_question *q, struct fh_survey_answer *ret)
{
	struct remote *remote = (struct remote *)s;
	if (remote->error.code == FH_OK && ask(remote->client, q, 1, ret, &remote->error) == 0)
		return;
	fh_survey_answer_release(ret);
	ret->error = ENODATA;
	if (!s->unanswered)
		s->unanswered = fh_xstrdup(remote->error.message);
}

/* ------------------------------------------------------------------------------------------- questions that are kept */

/* The file that keeps the questions of requests of this kind; NULL: there is no cache. */
static char *kept_file(const struct fh_request *r)
{
	struct fh_sha256 h = FH_SHA256_INIT;
	char hex[FH_SHA256_HEX];
	const char *const texts[] = { r->language, r->image, r->interpreter, r->venv };
	fh_auto_free char *folder = fh_cache_folder("survey");
	if (!folder)
		return NULL;
	for (size_t i = 0; i < FH_ARRAY_SIZE(texts); i++)
		fh_sha256_add_field(&h, fh_str(texts[i] ? texts[i] : ""));
	fh_sha256_hex(&h, hex);
	return fh_xasprintf("%s/%s.json", folder, hex);
}

/* Asks the questions of the file again, and adds them to the record. What fails here is asked for later, by itself. */
static void ask_again(struct fh_client *client, const char *file, struct fh_survey_record *to)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(KEPT_BYTES_MAX);
	fh_auto_survey_record struct fh_survey_record kept;
	fh_survey_record_init(&kept, NULL);
	if (fh_file_read(file, &text, NULL) < 0 || fh_survey_record_read(&kept, fh_buf_str(&text), file, NULL) < 0 ||
	    kept.count == 0)
		return;
	fh_auto_free struct fh_survey_question *questions = fh_xcalloc(kept.count, sizeof(*questions));
	fh_auto_free struct fh_survey_answer *answers = fh_xcalloc(kept.count, sizeof(*answers));
	for (size_t i = 0; i < kept.count; i++)
		questions[i] = fh_survey_record_question(&kept, i);
	bool good = ask(client, questions, kept.count, answers, NULL) == 0;
	for (size_t i = 0; i < kept.count; i++)
		if (good)
			fh_survey_record_add(to, &questions[i], &answers[i]);
		else
			fh_survey_answer_release(&answers[i]);
}

static void keep(const char *file, const struct fh_survey_record *record)
{
	fh_auto_json json_t *json = fh_survey_record_json(record);
	fh_auto_free char *text = fh_json_text(json, 0);
	if (strlen(text) <= KEPT_BYTES_MAX)
		(void)fh_file_replace(file, text, strlen(text), 0600, NULL);
}

/* ------------------------------------------------------------------------------------------------------------ whole */

int fh_plan_build_for(struct fh_client *client, const struct fh_request *request, struct fh_plan **ret,
                      struct fh_error *err)
{
	if (!client->placement->tool)
		return fh_plan_build(request, ret, err);
	struct remote remote = { .survey = { .answer = answer }, .client = client, .error = FH_ERROR_INIT };
	fh_auto_survey_record struct fh_survey_record record;
	fh_survey_record_init(&record, &remote.survey);
	int r = fh_connection_await_greeting(client->connection, err);
	if (r == 0 && !fh_connection_peer_can(client->connection, FH_CAPABILITY_SURVEY)) {
		r = fh_error_set(err, FH_E_UNAVAILABLE, "the engine is of an older version, which answers no surveys");
		fh_error_hint(err, "install this version there, or make the plan there by `fumehood run --explain`");
	}
	if (r < 0)
		return r;
	fh_auto_free char *file = kept_file(request);
	if (file)
		ask_again(client, file, &record);
	size_t known = record.count;
	r = fh_plan_build_from(request, &record.survey, ret, err);
	free(remote.survey.unanswered);
	if (remote.error.code != FH_OK && err)
		*err = remote.error;
	if (r == 0 && file && record.count != known)
		keep(file, &record);
	return r;
}
