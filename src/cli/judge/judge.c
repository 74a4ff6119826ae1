/* SPDX-License-Identifier: MIT */
/* Program fumehood-judge: `fumehood judge`. */
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/escape.h"
#include "base/fd.h"
#include "base/process/launcher.h"
#include "base/text/sha256.h"
#include "cli/judge/judge_keep.h"
#include "cli/judge/judge_options.h"
#include "cli/judge/judge_report.h"
#include "cli/judge/judge_report_file.h"
#include "cli/judge/judge_show.h"
#include "cli/shared/interrupt.h"
#include "cli/shared/options.h"
#include "cli/shared/print.h"
#include "cli/shared/progress.h"
#include "cli/shared/term.h"
#include "judge/batch.h"
#include "judge/formats/data_set.h"
#include "judge/problems/truth.h"

/* EXIT_HARNESS_ERRORS: some samples could not be judged. */
enum { EXIT_HARNESS_ERRORS = 3, EXIT_SELF_CHECK = 4 };

/* Adds the command that shows one sample, with all options that influence how it is judged. */
static void add_show_command(struct fh_buf *out, const struct fh_judge_options *o)
{
	fh_escape_shell(out, fh_str(fh_command_name()));
	fh_buf_adds(out, " judge --problems ");
	fh_escape_shell(out, fh_str(o->problems));
	fh_buf_addc(out, ' ');
	fh_escape_shell(out, fh_str(o->args.items[0]));
	fh_buf_adds(out, fh_streq(o->args.items[0], "-") ? " < SAMPLES -o " : " -o ");
	fh_escape_shell(out, fh_str(o->results));
	for (int i = 0; i < FH_LIMIT_COUNT_; i++)
		if (o->limit_given[i]) {
			bool time = fh_streq(fh_limit_table[i].unit, "ms");
			fh_buf_addf(out, " --%s %llu%s", fh_limit_table[i].option, (unsigned long long)o->limits[i],
			            time ? "ms" : "");
		}
	if (o->interpreter) {
		fh_buf_adds(out, " --interpreter ");
		fh_escape_shell(out, fh_str(o->interpreter));
	}
	if (o->packages)
		fh_buf_adds(out, " --packages");
	if (o->seed) {
		fh_buf_adds(out, " --seed ");
		fh_escape_shell(out, fh_str(o->seed));
	}
}

struct watch {
	struct fh_progress *bar;
	size_t passed, other;
};

/* Progress of the steps before the first sample; each has a bar. */
struct steps {
	bool shown; /* whether bars are shown */
	const char *step;
	size_t done, total; /* finished and all units of the current step */
	struct fh_progress *bar;
};

static void on_step(void *context, const char *step, size_t done, size_t total)
{
	struct steps *s = context;
	if (s->shown && (!s->step || !fh_streq(s->step, step))) {
		fh_progress_free(s->bar);
		s->bar = fh_progress_new(step, total, false);
	}
	s->step = step;
	s->done = done;
	s->total = total;
	fh_progress_step(s->bar, done, NULL);
}

static void steps_end(struct steps *s)
{
	fh_progress_free(s->bar);
	s->bar = NULL;
}

/* Reports an interrupt before the first sample: the results file is unchanged. */
static int say_interrupted_early(const struct steps *s)
{
	fprintf(stderr, "interrupted before the first sample was judged");
	if (s->step && fh_streq(s->step, "self-check"))
		fprintf(stderr, ": the self-check has finished %zu of %zu tasks, and remembers those that passed", s->done,
		        s->total);
	fprintf(stderr, "; the same command continues\n");
	return FH_EXIT_INTERRUPTED;
}

static void on_done(void *context, size_t done, enum fh_verdict verdict)
{
	struct watch *w = context;
	char note[64];
	*(verdict == FH_VERDICT_PASSED ? &w->passed : &w->other) += 1;
	snprintf(note, sizeof(note), "passed %zu not passed %zu", w->passed, w->other);
	if (w->bar)
		fh_progress_step(w->bar, done, note);
}

/* Begins to store the judgement, and returns the id of the store's entry. Without a store it runs nevertheless, with a
 * note. */
static FH_OWN char *begin_kept(const struct fh_judge_options *o, struct fh_judge_keep *keep, struct fh_sinks *sinks)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_sink sink;
	char text[1400], *id = NULL;
	if (!o->write)
		return NULL;
	if (fh_judge_keep_begin(keep, &sink, &id, &err) >= 0)
		fh_sinks_add(sinks, sink);
	else if (err.code != FH_E_UNAVAILABLE || err.retryable)
		fprintf(stderr, "warning: this judgement will not be in the store: %s\n",
		        fh_error_text(&err, text, sizeof(text)));
	return id;
}

static void say_resumed(const struct fh_judge_options *o, const struct fh_results *results)
{
	size_t kept = fh_results_kept(results), stale = fh_results_stale(results);
	if (o->quiet || kept + stale == 0)
		return;
	fprintf(stderr, "%zu results of %s are kept", kept, o->results);
	if (stale > 0)
		fprintf(stderr, "; %zu are of other samples, limits or versions and will be replaced", stale);
	fputc('\n', stderr);
}

/* Refuses a results file with results of other samples, which would be overwritten. */
static int check_ours(const struct fh_judge_options *o, const struct fh_results *results, struct fh_error *err)
{
	if (o->replace || !fh_results_strange(results))
		return 0;
	fh_error_set(err, FH_E_ARGUMENT, "%s holds %zu results, none of them of these samples", o->results,
	             fh_results_stale(results));
	fh_error_hint(err, "name another file with -o, or overwrite this one with --replace");
	return -FH_E_ARGUMENT;
}

/* Identifies a sample, whatever settings it is judged with. */
static void hash_sample(const struct fh_judge_problem *problem, const struct fh_judge_sample *sample,
                        char ret_hex[FH_SHA256_HEX])
{
	struct fh_sha256 h = FH_SHA256_INIT;
	fh_sha256_add_field(&h, fh_str(problem->task_id));
	fh_sha256_add_field(&h, (struct fh_str){ sample->completion, sample->size });
	fh_sha256_hex(&h, ret_hex);
}

static int judge_all(const struct fh_judge_options *o, const struct fh_judge_keep *what, const struct fh_sinks *sinks,
                     struct fh_error *err)
{
	const struct fh_judge_samples *samples = what->judgement->samples;
	struct watch watch = { 0 };
	struct fh_batch_options batch = {
		.repeat = (unsigned)o->repeat,
		.jobs = (unsigned)FH_MIN(o->jobs, UINT16_MAX),
		.on_done = on_done,
		.context = &watch,
	};
	for (size_t i = 0; i < samples->count; i++) {
		struct fh_results_row row = fh_results_row(what->results, i);
		if (row.present)
			*(row.verdict == FH_VERDICT_PASSED ? &watch.passed : &watch.other) += 1;
	}
	if (o->progress_bar && !o->quiet)
		watch.bar = fh_progress_new("judge", samples->count, false);
	int r = fh_batch_run(what->judgement, sinks, &batch, err);
	fh_progress_free(watch.bar);
	return r;
}

/* Judges with rows going to the results file and, after that, to the store. *ret_id: the id of the store's entry; NULL:
 * there is none. */
static int judge_kept(const struct fh_judge_options *o, struct fh_judge_keep *what, struct fh_results *results,
                      char **ret_id, struct fh_error *err)
{
	struct fh_error own = FH_ERROR_INIT;
	struct fh_sinks sinks = { 0 };
	int64_t begun_ns = fh_now_ns();
	fh_sinks_add(&sinks, fh_results_sink(results));
	*ret_id = begin_kept(o, what, &sinks);
	int r = judge_all(o, what, &sinks, err);
	const struct fh_sink_end how = { .complete = r >= 0, .duration_ms = (fh_now_ns() - begun_ns) / FH_NS_PER_MS };
	int ended = fh_sinks_end(&sinks, &how, &own);
	fh_sinks_close(&sinks);
	if (r < 0 || ended >= 0)
		return r;
	*err = own;
	return ended;
}

static int print_report(const struct fh_judge_options *o, const struct fh_judge_keep *what,
                        const struct fh_judge_report *report, struct fh_error *err)
{
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(0), command = FH_BUF_INIT(0);
	add_show_command(&command, o);
	if (o->json)
		fh_judge_report_json(report, &out);
	else if (!o->quiet)
		fh_judge_report_text(report, fh_buf_cstr(&command), fh_term_color(STDOUT_FILENO, FH_COLOR_AUTO),
		                     fh_term_width(STDOUT_FILENO), &out);
	fh_print(&out);
	return o->report ? fh_judge_report_file(report, what, fh_buf_cstr(&command), o->report, err) : 0;
}

static int say_interrupted(const struct fh_judge_options *o, const struct fh_results *results, size_t count)
{
	size_t done = 0;
	for (size_t i = 0; i < count; i++)
		done += fh_results_row(results, i).present;
	fprintf(stderr, "interrupted: %zu of %zu samples are judged and kept in %s; the same command continues\n", done,
	        count, o->results);
	return FH_EXIT_INTERRUPTED;
}

/* What each sample's row is found by when a judgement is resumed. */
static void make_keys(const struct fh_judge_session *session, const struct fh_judge_problems *problems,
                      const struct fh_judge_samples *samples, char (*keys)[FH_SHA256_HEX],
                      char (*hashes)[FH_SHA256_HEX])
{
	for (size_t i = 0; i < samples->count; i++) {
		const struct fh_judge_problem *problem = &problems->items[samples->items[i].problem];
		fh_judge_key(session, problem, &samples->items[i], keys[i]);
		hash_sample(problem, &samples->items[i], hashes[i]);
	}
}

/* Prints the report of a judgement that is complete. Returns the command's exit status. */
static int tell_outcome(const struct fh_judge_options *o, const struct fh_judge_keep *what,
                        struct fh_judge_report *report, const struct fh_self_check *check)
{
	struct fh_error err = FH_ERROR_INIT;
	report->self_check = o->self_check ? check : NULL;
	if (print_report(o, what, report, &err) < 0)
		return fh_command_failed(&err, FH_EXIT_FAILED);
	return report->verdicts[FH_VERDICT_ENGINE_ERROR] ? EXIT_HARNESS_ERRORS
	       : check->failure_count                    ? EXIT_SELF_CHECK
	                                                 : FH_EXIT_OK;
}

static int judge(const struct fh_judge_options *o, const struct fh_judge_settings *settings, struct steps *steps,
                 struct fh_judge_report *report, const struct fh_judge_problems *problems,
                 const struct fh_judge_samples *samples)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_judge_session *session = NULL;
	struct fh_results *results = NULL;
	fh_auto_free char *id = NULL;
	fh_auto_free char(*keys)[FH_SHA256_HEX] = fh_xcalloc(samples->count, sizeof(*keys));
	fh_auto_free char(*hashes)[FH_SHA256_HEX] = fh_xcalloc(samples->count, sizeof(*hashes));
	int64_t start = fh_now_ns();
	struct fh_self_check check = { 0 };
	struct fh_judgement judgement = { .problems = problems,
		                              .samples = samples,
		                              .keys = (const char(*)[FH_SHA256_HEX])keys,
		                              .hashes = (const char(*)[FH_SHA256_HEX])hashes };
	struct fh_judge_keep what = { .problems_path = o->problems,
		                          .samples_path = o->args.items[0],
		                          .results_path = o->results,
		                          .argv = o->argv,
		                          .judgement = &judgement,
		                          .allow_in_process = o->allow_in_process,
		                          .self_check = o->self_check ? &check : NULL };
	int status, r = fh_judge_session_open(settings, problems, samples, &session, &err);
	if (r >= 0 && o->self_check)
		r = fh_self_check_run(session, problems, samples, (unsigned)FH_MIN(o->jobs, UINT16_MAX), &check, &err);
	steps_end(steps);
	judgement.session = session;
	if (r >= 0) {
		make_keys(session, problems, samples, keys, hashes);
		r = fh_results_open(o->results, judgement.keys, judgement.hashes, samples->count, &results, &err);
	}
	if (r >= 0)
		r = check_ours(o, results, &err);
	if (r >= 0) {
		say_resumed(o, results);
		what.results = results;
		r = judge_kept(o, &what, results, &id, &err);
		report->stored = id;
	}
	if (r >= 0) {
		report->session = session;
		report->elapsed_ms = (fh_now_ns() - start) / FH_NS_PER_MS;
		fh_judge_report_count(report, problems, samples, results);
		status = tell_outcome(o, &what, report, &check);
	} else if (r == -FH_E_CANCELLED && results) {
		status = say_interrupted(o, results, samples->count);
	} else {
		status = r == -FH_E_CANCELLED ? say_interrupted_early(steps) : fh_command_failed(&err, FH_EXIT_FAILED);
	}
	fh_results_close(results);
	fh_self_check_release(&check);
	fh_judge_session_close(session);
	return status;
}

static void say_fault(const struct fh_judge_problem *p)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(0);
	fh_escape_terminal(&text, fh_str(p->task_id), false);
	fh_buf_adds(&text, " cannot be judged: ");
	fh_escape_terminal(&text, fh_str(p->fault), false);
	fprintf(stderr, "fumehood: problem %s\n", fh_buf_cstr(&text));
}

static int run_command(const struct fh_judge_options *o)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_judge_report report = { .results_path = o->results,
		                              .packages = o->packages,
		                              .allow_in_process = o->allow_in_process };
	struct fh_judge_settings settings;
	fh_auto_problems struct fh_judge_problems problems = { 0 };
	fh_auto_samples struct fh_judge_samples samples = { 0 };
	if (fh_judge_options_check(o, &report, &err) < 0)
		return fh_command_failed(&err, FH_EXIT_USAGE);
	if (o->report && fh_file_try(o->report, &err) < 0) /* rather now than when all samples are judged */
		return fh_command_failed(&err, FH_EXIT_FAILED);
	if (fh_judge_problems_read(o->problems, &problems, &err) < 0 ||
	    fh_judge_samples_read(o->args.items[0], &problems, &samples, &err) < 0)
		return fh_command_failed(&err, FH_EXIT_FAILED);
	struct steps steps = { .shown = o->progress_bar && !o->quiet };
	fh_judge_options_settings(o, &settings);
	settings.on_step = on_step;
	settings.context = &steps;
	fh_interrupt_catch();
	int made = fh_judge_truth_complete(&settings, &problems, &samples, &err);
	steps_end(&steps);
	if (made < 0)
		return fh_interrupted ? say_interrupted_early(&steps) : fh_command_failed(&err, FH_EXIT_FAILED);
	for (size_t i = 0; i < problems.count; i++) /* the other problems are judged */
		if (problems.items[i].fault)
			say_fault(&problems.items[i]);
	if (!o->show_given)
		return judge(o, &settings, &steps, &report, &problems, &samples);
	int r = fh_judge_show(&settings, &problems, &samples, o->results, o->show, &err);
	steps_end(&steps);
	if (r == -FH_E_CANCELLED)
		return FH_EXIT_INTERRUPTED;
	return r < 0 ? fh_command_failed(&err, FH_EXIT_FAILED) : FH_EXIT_OK;
}

int main(int argc, char **argv)
{
	struct fh_error err = FH_ERROR_INIT;
	const struct fh_judge_options *o = NULL;
	enum fh_help help = FH_HELP_NONE;
	int status = FH_EXIT_OK;
	fh_command_inherit_name();
	fh_command_tell_waits();
	if (fh_launcher_start(&err) < 0)
		return fh_command_failed(&err, FH_EXIT_FAILED);
	if (fh_judge_options_parse(argc, argv, &o, &help, &err) < 0)
		status = fh_command_failed(&err, FH_EXIT_USAGE);
	else if (!help)
		status = run_command(o);
	fh_judge_options_release();
	return fh_print_end(status, FH_EXIT_FAILED);
}
