/* SPDX-License-Identifier: MIT */
#include "cli/judge/judge_report_file.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/path.h"
#include "cli/judge/judge_documents.h"
#include "report/report.h"

/* Gives the rows of the results file to a report. */
static int each_row(void *context, int (*take)(void *, const struct fh_store_cell *, struct fh_error *),
                    void *take_context, struct fh_error *err)
{
	const struct fh_judge_keep *what = context;
	struct fh_judge_rows *rows = fh_judge_rows_new(what->judgement);
	const struct fh_sink results = fh_results_sink(what->results);
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(0), data = FH_BUF_INIT(0);
	int r = 0;
	for (size_t i = 0; i < what->judgement->samples->count && r == 0; i++) {
		struct fh_judge_row row;
		if (!results.kind->recall(results.self, i, &text))
			continue;
		fh_judge_row_recall(rows, i, fh_buf_str(&text), &row);
		fh_buf_truncate(&data, 0);
		fh_row_add_whole(&row.row, &data);
		const struct fh_store_cell cell = { .row = row.row.row,
			                                .success = row.row.success,
			                                .failure = (int)row.row.failure,
			                                .score = row.row.score,
			                                .latency_ms = row.row.latency_ms,
			                                .status = (char *)(uintptr_t)row.row.status,
			                                .language = (char *)(uintptr_t)row.row.language,
			                                .data = data.p,
			                                .data_n = data.n };
		r = take(take_context, &cell, err);
		fh_judge_row_release(&row);
	}
	fh_judge_rows_free(rows);
	return r;
}

static int write_of_results(const struct fh_judge_report *r, const struct fh_judge_keep *what,
                            const struct fh_report_form *form, struct fh_buf *out, struct fh_error *err)
{
	static char id[] = "not in the store";
	fh_auto_judge_documents struct fh_judge_documents d = { 0 };
	fh_judge_documents_make(what, &d);
	size_t passed = r->verdicts[FH_VERDICT_PASSED], errors = r->verdicts[FH_VERDICT_ENGINE_ERROR];
	const struct fh_store_documents documents = { d.config, d.vars, d.options, d.columns, d.tags };
	const struct fh_store_eval eval = { .id = id,
		                                .kind = FH_STORE_JUDGE,
		                                .state = FH_STORE_COMPLETE,
		                                .description = d.description,
		                                .created_ms = fh_wall_ms() - r->elapsed_ms,
		                                .duration_ms = r->elapsed_ms,
		                                .total = r->samples,
		                                .rows = r->samples,
		                                .columns = 1,
		                                .passed = passed,
		                                .failed = r->samples - passed - errors,
		                                .errors = errors };
	const struct fh_report_source source = { &eval, &documents, each_row, (void *)(uintptr_t)what };
	return fh_report_write(&source, form, FH_REPORT_FAILURES, out, err);
}

static int write_of_store(const char *id, const struct fh_report_form *form, struct fh_buf *out, struct fh_error *err)
{
	fh_auto_store struct fh_store *s = NULL;
	struct fh_store_eval eval = { 0 };
	int r = fh_store_open(NULL, true, &s, err);
	if (r == 0)
		r = fh_store_find(s, id, &eval, err);
	if (r < 0)
		return r;
	r = fh_report_write_stored(s, &eval, form, FH_REPORT_FAILURES, out, err);
	fh_store_eval_release(&eval);
	return r;
}

int fh_judge_report_file(const struct fh_judge_report *r, const struct fh_judge_keep *what, const char *show_command,
                         const char *path, struct fh_error *err)
{
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(0);
	const struct fh_report_form *form = NULL;
	int code = 0;
	if (fh_streq(fh_path_ext(path), ".json"))
		fh_judge_report_json(r, &out);
	else if (fh_report_form_for(path, &form, NULL) < 0)
		fh_judge_report_text(r, show_command, false, 120, &out);
	else if (r->stored)
		code = write_of_store(r->stored, form, &out, err);
	else
		code = write_of_results(r, what, form, &out, err);
	return code == 0 ? fh_file_write_atomic(path, fh_buf_cstr(&out), out.n, 0644, err) : code;
}
