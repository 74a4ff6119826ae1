/* SPDX-License-Identifier: MIT */
#include "cli/evals/eval_run.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/escape.h"
#include "base/path.h"
#include "base/process/launcher.h"
#include "cli/evals/eval_report.h"
#include "cli/shared/interrupt.h"
#include "cli/shared/print.h"
#include "cli/shared/progress.h"
#include "cli/shared/term.h"
#include "eval/results/kept.h"
#include "eval/outputs/output_sink.h"
#include "eval/outputs/source.h"
#include "eval/run.h"

/* promptfoo's exit status when too few tests passed; PROMPTFOO_FAILED_TEST_EXIT_CODE overrides it. */
enum { EXIT_TESTS_FAILED = 100 };
#define NOTE_EVERY_NS (FH_NS_PER_S / 20)
#define TABLE_ROWS_MAX 25
#define TABLE_TESTS_MAX 500 /* no grid for as many tests or more */

/* One run of a plan. The eval's threads deliver rows, one call at a time; the store's thread updates `durable`. */
struct run {
	const struct fh_eval_session *session;
	struct fh_progress *progress;
	struct fh_eval_kept *kept; /* borrowed from its sink; NULL: the eval is not stored */
	json_t *config;            /* the config as the store and the output files show it */
	struct fh_output_sink output;
	struct fh_sinks sinks;      /* the store, when the eval is stored, and the output files */
	int64_t begun_ns, noted_ns; /* when the run began; when `note` was made */
	size_t before;              /* number of cells that an earlier run finished */
	pthread_mutex_t lock;
	char note[160];      /* text beside the progress bar; guarded by `lock` */
	volatile int pause;  /* another terminal asked for a pause */
	volatile int cancel; /* another terminal asked to cancel; Ctrl-C sets fh_stop_asked instead */
};

/* -------------------------------------------------------------------------------------------------------- progress */

static void make_note(struct run *run, const struct fh_eval_results *r)
{
	double seconds = (double)(fh_now_ns() - run->begun_ns) / FH_NS_PER_S;
	char tokens[48] = "", cost[32] = "";
	if (r->tokens.total > 0)
		snprintf(tokens, sizeof(tokens), "  %lld tokens", (long long)r->tokens.total);
	if (r->cost > 0)
		snprintf(cost, sizeof(cost), "  $%.4f", r->cost);
	pthread_mutex_lock(&run->lock);
	snprintf(run->note, sizeof(run->note), "passed %zu failed %zu errors %zu  %.1f/s%s%s%s", r->successes, r->failures,
	         r->errors, seconds > 0 ? (double)(r->done - run->before) / seconds : 0, tokens, cost,
	         run->pause ? "  PAUSED" : "");
	pthread_mutex_unlock(&run->lock);
}

static void step(struct run *run, uint64_t done)
{
	char note[sizeof(run->note)];
	pthread_mutex_lock(&run->lock);
	memcpy(note, run->note, sizeof(note));
	pthread_mutex_unlock(&run->lock);
	fh_progress_step(run->progress, done, note);
}

static void on_progress(void *context, const struct fh_eval_results *r)
{
	struct run *run = context;
	int64_t now = fh_now_ns();
	if (!run->session->options->progress_bar)
		return;
	if (now - run->noted_ns >= NOTE_EVERY_NS || r->done == r->count) {
		make_note(run, r);
		run->noted_ns = now;
	}
	if (!run->kept)
		step(run, r->done);
}

/* With a store, progress counts the rows that are on the disk. */
static void on_durable(void *context, uint64_t done)
{
	struct run *run = context;
	step(run, run->before + done);
}

static void on_wish(void *context, enum fh_store_wish wish)
{
	struct run *run = context;
	run->pause = wish == FH_STORE_PAUSE;
	run->cancel = wish == FH_STORE_CANCEL;
	if (run->cancel)
		fh_stop_asked = 1;
}

/* ----------------------------------------------------------------------------------------------------------- sinks */

/* Those of the config, over them those that it has for the command line, over them those that were given there. */
static json_t *tags_of(const struct fh_eval_session *s)
{
	json_t *tags = json_object();
	const json_t *config = s->plan->config.root;
	json_t *own[] = { json_object_get(config, "tags"),
		              json_object_get(json_object_get(config, "commandLineOptions"), "tags") };
	for (size_t i = 0; i < FH_ARRAY_SIZE(own); i++)
		if (json_is_object(own[i]))
			json_object_update(tags, own[i]);
	for (size_t i = 0; i < s->options->tags.count; i++) {
		const char *tag = s->options->tags.items[i], *equals = strchr(tag, '=');
		fh_auto_free char *name = fh_xstrndup(tag, equals ? (size_t)(equals - tag) : strlen(tag));
		json_object_set_new(tags, name, fh_json_bytes(fh_str(equals ? equals + 1 : "")));
	}
	if (s->cell)
		json_object_set_new(tags, "cell-of",
		                    json_sprintf("%s/%d.%d", fh_json_str(s->cell, "eval", ""),
		                                 (int)fh_json_int(s->cell, "row", 0), (int)fh_json_int(s->cell, "column", 0)));
	return tags;
}

static json_t *options_json(const struct fh_eval_session *s)
{
	char cwd[4096];
	const struct fh_eval_plan *p = s->plan;
	json_t *o = json_pack("{s:O, s:s, s:{s:s, s:I, s:I, s:b}}", "argv", s->argv, "cwd",
	                      getcwd(cwd, sizeof(cwd)) ? cwd : "", "runtime", "eventSource", "cli", "repeat",
	                      (json_int_t)p->repeat, "maxConcurrency", (json_int_t)p->concurrency, "cache", 0);
	if (s->cell)
		json_object_set(o, "cell", (json_t *)(uintptr_t)s->cell);
	return o;
}

/* Begins to store the eval. Without a store a new eval runs nevertheless, with a note; a resumed one cannot. */
static int begin_kept(struct run *run, const char *id, int64_t created_ms, struct fh_error *err)
{
	const struct fh_eval_session *s = run->session;
	if (!s->options->write)
		return 0;
	const char *description = s->options->description;
	fh_auto_json json_t *options = options_json(s), *columns = fh_output_columns(s->plan, NULL),
	                    *vars = fh_output_vars(s->plan, NULL), *tags = tags_of(s);
	const struct fh_eval_keep keep = { .id = id,
		                               .created_ms = created_ms,
		                               .description =
		                                   description ? description : fh_json_str(run->config, "description", NULL),
		                               .config = run->config,
		                               .options = options,
		                               .columns = columns,
		                               .vars = vars,
		                               .tags = tags,
		                               .resume = s->resume != NULL,
		                               .again = s->again,
		                               .on_done = on_durable,
		                               .on_wish = on_wish,
		                               .context = run };
	struct fh_error own = FH_ERROR_INIT;
	int r = fh_eval_kept_begin(s->plan, &keep, &run->kept, &own);
	run->before = r == 0 ? fh_eval_kept_count(run->kept) : 0;
	if (r == 0)
		return 0;
	if (s->resume) {
		*err = own;
		return r;
	}
	char text[1400];
	if (own.code != FH_E_UNAVAILABLE || own.retryable) /* no warning in a build without a store */
		fprintf(stderr, "warning: this eval will not be in the store: %s\n", fh_error_text(&own, text, sizeof(text)));
	return 0;
}

/* Begins the files before the store, so that a path that cannot be written leaves no eval in the store; but rows go to
 * the store first. */
static int begin_sinks(struct run *run, const char *id, int64_t created_ms, struct fh_error *err)
{
	const struct fh_eval_session *s = run->session;
	run->config = fh_output_config(s->plan, s->options->description, s->paths->items);
	run->output = (struct fh_output_sink){ .plan = s->plan, .config = run->config };
	int r = fh_output_files_open(s->paths->items, &run->output.files, err);
	if (r < 0)
		return r;
	r = begin_kept(run, id, created_ms, err);
	if (run->kept) {
		fh_eval_report_id(s->report, id);
		fh_sinks_add(&run->sinks, fh_eval_kept_sink(run->kept));
	}
	fh_sinks_add(&run->sinks, fh_output_sink(&run->output));
	return r;
}

/* ------------------------------------------------------------------------------------------------------- reporting */

static void suggest(const char *before_id, const char *id, const char *why)
{
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(0);
	fh_buf_adds(&out, why);
	fh_escape_shell(&out, fh_str(fh_command_name()));
	fh_buf_addf(&out, " %s ", before_id);
	fh_escape_shell(&out, fh_str(id));
	fh_buf_addc(&out, '\n');
	fh_print(&out);
}

/* Says how many results are kept, where an error ended the eval: the last ones may not have reached the store. */
static void print_kept(const char *id)
{
	fh_auto_store struct fh_store *store = NULL;
	struct fh_store_eval e = { 0 };
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(0);
	if (fh_store_open(NULL, true, &store, NULL) < 0 || fh_store_find(store, id, &e, NULL) < 0)
		return;
	fh_buf_addf(&out, "In the store: %llu results; the others are asked for again.\n",
	            (unsigned long long)(e.passed + e.failed + e.errors));
	fh_print(&out);
	fh_store_eval_release(&e);
}

/* Prints the command that shows the first result that did not pass, for the first .json file that was written. */
static void suggest_show(const struct fh_eval_results *results, const struct fh_opt_list *paths)
{
	uint64_t index = 0;
	size_t i = 0, file = 0;
	char command[64];
	for (; i < results->count && (!results->marks[i].done || results->marks[i].success); i++)
		index += results->marks[i].done;
	while (file < paths->count && !fh_streq(fh_path_ext(paths->items[file]), ".json"))
		file++;
	if (i == results->count || file == paths->count)
		return;
	snprintf(command, sizeof(command), "eval --show %llu", (unsigned long long)index);
	suggest(command, paths->items[file], "The first that did not pass: ");
}

static void report(const struct fh_eval_session *s, struct fh_eval_results *results)
{
	const struct fh_eval_options *o = s->options;
	enum fh_color_mode mode = !o->color_given ? FH_COLOR_AUTO : o->color ? FH_COLOR_ALWAYS : FH_COLOR_NEVER;
	struct fh_report_options options = { .width = fh_term_width(STDOUT_FILENO),
		                                 .color = fh_term_color(STDOUT_FILENO, mode),
		                                 .rows_max = TABLE_ROWS_MAX,
		                                 .cell_max = o->cell_max };
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(0);
	bool table = o->table && s->plan->row_count < TABLE_TESTS_MAX;
	if (table)
		fh_report_table(s->plan, results, &options, &out);
	if (!table || s->plan->row_count > options.rows_max)
		fh_report_reasons(results, &options, &out);
	fh_report_summary(s->plan, results, &options, &out);
	fh_print(&out);
}

/* Repeats warnings about config keys without effect below the results: the grid may have scrolled them away. */
static void print_notes(const struct fh_eval_config *c)
{
	char text[1400];
	size_t n = 0;
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(0);
	for (size_t i = 0; i < c->warning_count; i++) {
		if (!c->warnings[i].with_results)
			continue;
		fh_buf_adds(&out, n++ ? "  " : "Not as the config says:\n  ");
		fh_escape_terminal(&out, fh_str(fh_error_text(&c->warnings[i].error, text, sizeof(text))), false);
		fh_buf_addc(&out, '\n');
	}
	if (n)
		fh_print(&out);
}

static void print_hook_problems(const struct fh_eval_results *r)
{
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(0);
	if (r->hook_problems == 0)
		return;
	fh_buf_addf(&out, "afterEach failed in %zu row%s, kept without it: ", r->hook_problems,
	            r->hook_problems == 1 ? "" : "s");
	fh_escape_terminal(&out, fh_str(r->hook_problem), false);
	fh_buf_addc(&out, '\n');
	fh_print(&out);
}

static void print_derived_problem(const struct fh_eval_results *r)
{
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(0);
	if (!r->derived_problem)
		return;
	fh_buf_adds(&out, "A derived metric is 0, as in promptfoo, since it failed: ");
	fh_escape_terminal(&out, fh_str(r->derived_problem), false);
	fh_buf_addc(&out, '\n');
	fh_print(&out);
}

/* The exit status. Errors count as not passed; an eval without tests succeeds. */
static int exit_status(const struct fh_eval_results *r)
{
	const char *wanted = getenv("PROMPTFOO_PASS_RATE_THRESHOLD"), *code = getenv("PROMPTFOO_FAILED_TEST_EXIT_CODE");
	double threshold = wanted && *wanted ? strtod(wanted, NULL) : 100;
	if (r->interrupted)
		return FH_EXIT_INTERRUPTED;
	if (r->done == 0 || 100.0 * (double)r->successes / (double)r->done >= threshold)
		return FH_EXIT_OK;
	return code && *code ? atoi(code) : EXIT_TESTS_FAILED;
}

/* Ends the run: first brings the rows to their places, then prints the report. */
static int end(struct run *run, struct fh_eval_results *results, struct fh_error *err)
{
	const struct fh_eval_session *s = run->session;
	fh_auto_json json_t *vars = results->hook_vars ? fh_output_vars(s->plan, results) : NULL;
	const struct fh_sink_end how = { .complete = !results->interrupted,
		                             .duration_ms = (int64_t)results->duration_ms,
		                             .metrics = results->metrics,
		                             .vars = vars };
	bool stored = run->kept != NULL;
	run->output.results = results;
	int r = fh_sinks_end(&run->sinks, &how, err);
	report(s, results);
	print_notes(&s->plan->config);
	print_hook_problems(results);
	print_derived_problem(results);
	if (r == 0)
		suggest_show(results, s->paths);
	/* Rows are on their way to the store for a while: an error there may come when the last result is in. */
	bool lost = r < 0 || results->sink_error.code != FH_OK;
	if (lost && stored)
		print_kept(results->id);
	if ((lost || results->interrupted) && stored)
		suggest("eval --resume", results->id, "Go on with: ");
	if (r == 0 && results->sink_error.code != FH_OK) {
		*err = results->sink_error;
		r = -(int)err->code;
	}
	if (r == 0 && results->hook_error.code != FH_OK) {
		*err = results->hook_error;
		r = -(int)err->code;
	}
	return r;
}

/* ------------------------------------------------------------------------------------------------------------- run */

static int run_it(struct run *run, const char *id, int64_t created_ms, int *ret_status, struct fh_error *err)
{
	const struct fh_eval_session *s = run->session;
	struct fh_eval_run eval = { .plan = s->plan,
		                        .id = id,
		                        .started_wall_ms = created_ms,
		                        .services = s->services,
		                        .cancel = &fh_interrupted,
		                        .stop = &fh_stop_asked,
		                        .pause = &run->pause,
		                        .sinks = &run->sinks,
		                        .on_progress = on_progress,
		                        .context = run };
	struct fh_eval_results results = { 0 };
	run->begun_ns = fh_now_ns();
	run->progress = fh_progress_new("eval", s->plan->cell_count, !s->options->progress_bar);
	if (run->before)
		fh_progress_step(run->progress, run->before, "");
	fh_interrupt_gently("\nfumehood: finishing what is under way; press Ctrl-C again to stop at once\n");
	int r = fh_eval_run(&eval, &results, err);
	fh_interrupt_gently(NULL);
	if (r == 0)
		r = end(run, &results, err);
	*ret_status = r == 0 || results.count ? exit_status(&results) : FH_EXIT_FAILED;
	fh_progress_free(run->progress);
	if (FH_FREE_AT_END)
		fh_eval_results_release(&results);
	return r;
}

int fh_eval_session_run(const struct fh_eval_session *s, int *ret_status, struct fh_error *err)
{
	struct run run = { .session = s };
	char id[64];
	int64_t created_ms = s->resume ? s->created_ms : fh_wall_ms();
	if (s->resume)
		snprintf(id, sizeof(id), "%s", s->resume);
	else
		fh_store_id_make(FH_STORE_EVAL, created_ms, id);
	pthread_mutex_init(&run.lock, NULL);
	int r = begin_sinks(&run, id, created_ms, err);
	if (r == 0)
		r = run_it(&run, id, created_ms, ret_status, err);
	fh_launcher_end_unused(); /* it ends while the store's last rows are brought to the disk */
	fh_sinks_close(&run.sinks);
	json_decref(run.config);
	pthread_mutex_destroy(&run.lock);
	return r;
}
