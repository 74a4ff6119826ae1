/* SPDX-License-Identifier: MIT */
#include "cli/judge/judge_options.h"

#include "base/text/parse.h"
#include "cli/shared/interrupt.h"

enum { REPEAT_MAX = 1000 };

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
                              "reason, integrity, usage; it is compressed when its name ends in .gz. An\n"
                              "interrupted run goes on where it stopped when the same command is given again:\n"
                              "rows whose sample, problem, limits, interpreter and judge are the same are kept,\n"
                              "the others are judged.\n"
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

/* What the rows below fill in. */
static struct fh_judge_options given;

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
	  .flags = FH_OPT_WRITES,
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
	  .help = "Judge each sample N times: it passes if it does so each time, and is flaky if the verdicts differ.",
	  .default_text = "1",
	  .least = 1,
	  .most = REPEAT_MAX },
	{ .name = "seed",
	  .kind = FH_OPT_STRING,
	  .target = &given.seed,
	  .argument = "TEXT",
	  .help = "Seed for tests with random inputs. Rows of such tests contain it as `seed`, so that the same inputs can "
	          "be drawn again.",
	  .default_words = "a new one" },
	{ .name = "self-check",
	  .kind = FH_OPT_FLAG,
	  .target = &given.self_check,
	  .flags = FH_OPT_NEGATABLE | FH_OPT_ON,
	  .help = "First check that the data set's references pass and that stubs fail; without this check the report says "
	          "so." },
	{ .name = "allow-in-process",
	  .kind = FH_OPT_FLAG,
	  .target = &given.allow_in_process,
	  .help = "Count samples whose test had to run in the candidate's own process, which can be deceived." },
	{ .name = "write",
	  .kind = FH_OPT_FLAG,
	  .target = &given.write,
	  .flags = FH_OPT_NEGATABLE | FH_OPT_ON,
	  .help = "Keep the judgement in the store, for list, show, report and view." },
	{ .name = "show",
	  .kind = FH_OPT_U64,
	  .target = &given.show,
	  .given = &given.show_given,
	  .argument = "INDEX",
	  .help = "Show one sample instead: its program, its result, and the result of a new run." },
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
	int r = fh_error_set(err, FH_E_ARGUMENT,
	                     "option -o: results cannot go to standard output, from which no run could be resumed");
	fh_error_hint(err, "results are added to their file one by one, and an interrupted run resumes from it: name one "
	                   "such as results.jsonl");
	return r;
}

static int check(const struct fh_judge_options *o, struct fh_error *err)
{
	int r = 0;
	if (!o->problems)
		r = fh_error_set(err, FH_E_ARGUMENT, "no problems are given: --problems is missing");
	else if (o->args.count != 1)
		r = fh_error_set(err, FH_E_ARGUMENT, "%s", o->args.count ? "more than one samples file" : "no samples file");
	else if (fh_streq(o->problems, "-") && fh_streq(o->args.items[0], "-"))
		r = fh_error_set(err, FH_E_ARGUMENT, "problems and samples cannot both come from standard input");
	else if (!o->results && !o->show_given)
		r = fh_error_set(err, FH_E_ARGUMENT, "no results file is given: -o is missing");
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

void fh_judge_options_settings(const struct fh_judge_options *o, struct fh_judge_settings *s)
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

static int check_limits(const struct fh_judge_options *o, struct fh_error *err)
{
	for (int i = 0; i < FH_LIMIT_COUNT_; i++)
		if (o->limit_given[i] && o->limits[i] < fh_limit_table[i].minimum)
			return fh_error_set(err, FH_E_ARGUMENT, "option --%s: at least %llu %s are needed",
			                    fh_limit_table[i].option, (unsigned long long)fh_limit_table[i].minimum,
			                    fh_limit_table[i].unit);
	return 0;
}

int fh_judge_options_parse(int argc, char **argv, const struct fh_judge_options **ret, enum fh_help *ret_help,
                           struct fh_error *err)
{
	given.argv = json_array();
	for (int i = 1; i < argc; i++)
		json_array_append_new(given.argv, fh_json_bytes(fh_str(argv[i])));
	int r = fh_options_parse(&command_line, argc, argv, false, &given.args, ret_help, err);
	if (r == 0 && *ret_help)
		fh_options_help(&command_line, *ret_help);
	*ret = &given;
	return r;
}

int fh_judge_options_check(const struct fh_judge_options *o, struct fh_judge_report *report, struct fh_error *err)
{
	int r = check(o, err);
	if (r == 0)
		r = check_limits(o, err);
	return r < 0 ? r : parse_ks(o->ks, report, err);
}

void fh_judge_options_release(void)
{
	fh_opt_list_release(&given.args);
	json_decref(FH_TAKE_PTR(given.argv));
}
