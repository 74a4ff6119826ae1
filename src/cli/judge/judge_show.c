/* SPDX-License-Identifier: MIT */
#include "cli/judge/judge_show.h"

#include "base/escape.h"
#include "cli/shared/print.h"
#include "judge/problems/languages.h"
#include "judge/rows/results.h"
#include "judge/self_check.h"

/* Bytes of each output stream that are shown. */
#define SHOWN_MAX ((size_t)16 << 10)

static void add_numbered(struct fh_buf *out, struct fh_str text)
{
	unsigned number = 0;
	while (text.n > 0) {
		const char *end = memchr(text.p, '\n', text.n);
		struct fh_str line = { text.p, end ? (size_t)(end - text.p) : text.n };
		size_t n = line.n + (end != NULL);
		text = (struct fh_str){ text.p + n, text.n - n };
		fh_buf_addf(out, "%5u  ", ++number);
		fh_escape_terminal(out, line, true);
		fh_buf_addc(out, '\n');
	}
}

static void add_stream(struct fh_buf *out, const char *name, const struct fh_result *run, enum fh_stream stream)
{
	size_t size = run->stream_size[stream];
	if (size == 0) {
		fh_buf_addf(out, "%s: empty\n", name);
		return;
	}
	fh_buf_addf(out, "%s:\n", name);
	struct fh_str text = { (const char *)run->stream_data[stream], FH_MIN(size, SHOWN_MAX) };
	fh_escape_terminal(out, text, true);
	if (text.p[text.n - 1] != '\n')
		fh_buf_addc(out, '\n');
	if (size > SHOWN_MAX)
		fh_buf_addf(out, "(%zu bytes more)\n", size - SHOWN_MAX);
}

static void add_verdict(struct fh_buf *out, const char *when, const char *verdict, const char *reason)
{
	fh_buf_addf(out, "%s: ", when);
	fh_escape_terminal(out, fh_str(verdict), false);
	fh_buf_addc(out, '\n');
	if (*reason) {
		fh_buf_adds(out, "  reason: ");
		fh_escape_terminal(out, fh_str(reason), false);
		fh_buf_addc(out, '\n');
	}
}

static void add_usage(struct fh_buf *out, double cpu_ms, double wall_ms, double memory)
{
	fh_buf_addf(out, "  usage: %.1f ms of CPU, %.1f ms of wall time, %.1f MiB at most\n", cpu_ms, wall_ms,
	            memory / (1 << 20));
}

/* Adds the recorded result. *ret_seed: the seed with which the row was judged, or NULL. */
static int add_recorded(struct fh_buf *out, const char *path, size_t index, const char *task_id, char **ret_seed,
                        struct fh_error *err)
{
	fh_auto_json json_t *row = NULL;
	int r = fh_results_find(path, index, &row, err);
	if (r < 0)
		return r;
	const json_t *id = json_object_get(row, "task_id");
	fh_auto_free char *number = fh_json_text(id, 0);
	const char *recorded = json_is_integer(id) ? number : fh_json_str(row, "task_id", "");
	if (!fh_streq(recorded, task_id)) {
		fh_error_set(err, FH_E_ARGUMENT, "in %s, index %zu is a sample of %.80s, in the samples file of %.80s", path,
		             index, recorded, task_id);
		fh_error_hint(err, "name the samples that the results were made from");
		return -FH_E_ARGUMENT;
	}
	add_verdict(out, "recorded", fh_json_str(row, "verdict", ""), fh_json_str(row, "reason", ""));
	const json_t *usage = json_object_get(row, "usage");
	add_usage(out, fh_json_num(usage, "cpu_ms", 0), fh_json_num(usage, "wall_ms", 0),
	          fh_json_num(usage, "memory_peak_bytes", 0));
	const char *seed = fh_json_str(row, "seed", "");
	if (seed[0] && strlen(seed) <= FH_SEED_MAX)
		*ret_seed = fh_xstrdup(seed);
	return 0;
}

static void add_run(struct fh_buf *out, const struct fh_judge_outcome *o)
{
	add_verdict(out, "run again", fh_verdict_name(o->verdict), o->reason);
	if (!o->run) {
		fh_buf_adds(out, "  nothing ran\n");
		return;
	}
	const struct fh_usage *u = &o->run->usage;
	add_usage(out, (double)(u->cpu_user_us + u->cpu_sys_us) / 1000, (double)u->wall_us / 1000,
	          (double)u->memory_peak_bytes);
	fh_buf_addc(out, '\n');
	add_stream(out, "stdout", o->run, FH_STDOUT);
	add_stream(out, "stderr", o->run, FH_STDERR);
}

int fh_judge_show(const struct fh_judge_settings *settings, const struct fh_judge_problems *problems,
                  const struct fh_judge_samples *samples, const char *results_path, size_t index, struct fh_error *err)
{
	if (index >= samples->count) {
		fh_error_set(err, FH_E_ARGUMENT, "there is no sample %zu", index);
		fh_error_hint(err, "--show takes 0 to %zu here", samples->count - 1);
		return -FH_E_ARGUMENT;
	}
	const struct fh_judge_sample *sample = &samples->items[index];
	const struct fh_judge_problem *problem = &problems->items[sample->problem];
	struct fh_judge_samples one = { .items = &samples->items[index], .count = 1 };
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(0), program = FH_BUF_INIT(0);

	fh_judge_program(problem, sample, &program);
	fh_buf_addf(&out, "sample %zu, task ", index);
	fh_escape_terminal(&out, fh_str(problem->task_id), false);
	fh_buf_addf(&out, " (%s, %s)\n\n", problem->format, fh_judge_language_name(problem->language));
	add_numbered(&out, fh_buf_str(&program));
	fh_buf_addc(&out, '\n');
	fh_auto_free char *seed = NULL;
	struct fh_judge_settings again = *settings;
	int r = results_path ? add_recorded(&out, results_path, index, problem->task_id, &seed, err) : 0;
	if (r < 0)
		return r;

	struct fh_judge_session *session = NULL;
	struct fh_judge_outcome outcome = { 0 };
	if (seed && !again.seed) /* judge with the same inputs as before */
		again.seed = seed;
	r = fh_judge_session_open(&again, problems, &one, &session, err);
	struct fh_self_check check = { 0 };
	if (r >= 0) /* finds out how this task is judged */
		r = fh_self_check_run(session, problems, &one, 1, &check, err);
	fh_self_check_release(&check);
	if (r >= 0)
		r = fh_judge_one(session, problem, sample, &outcome, err);
	if (r >= 0) {
		add_run(&out, &outcome);
		fh_print(&out);
	}
	fh_judge_outcome_release(&outcome);
	fh_judge_session_close(session);
	return r;
}
