/* SPDX-License-Identifier: MIT */
#include "judge/problems/output.h"

#include <stdio.h>

#include "base/utf8.h"
#include "proto/plan.h"
#include "sandbox/compile.h"

#define SHOWN_MAX 160 /* maximum bytes of output quoted in a reason */

void fh_judge_output_free(struct fh_judge_output *o)
{
	if (!o)
		return;
	for (size_t i = 0; i < o->count; i++) {
		fh_buf_release(&o->cases[i].input);
		fh_buf_release(&o->cases[i].expected);
	}
	free(o->cases);
	free(o->checker);
	free(o->checker_language);
	free(o);
}

void fh_judge_output_hash(const struct fh_judge_output *o, struct fh_sha256 *h)
{
	char number[64];
	fh_sha256_add_field(h, fh_str(fh_compare_name(o->rule)));
	snprintf(number, sizeof(number), "%.17g %zu", o->tolerance, o->count);
	fh_sha256_add_field(h, fh_str(number));
	fh_sha256_add_field(h, fh_str(o->checker_language ? o->checker_language : ""));
	fh_sha256_add_field(h, (struct fh_str){ o->checker ? o->checker : "", o->checker_size });
	for (size_t i = 0; i < o->count; i++) {
		snprintf(number, sizeof(number), "%d", o->cases[i].exit_code);
		fh_sha256_add_field(h, fh_str(number));
		fh_sha256_add_field(h, fh_buf_str(&o->cases[i].input));
		fh_sha256_add_field(h, fh_buf_str(&o->cases[i].expected));
	}
}

/* ---------------------------------------------------------------------------------------------------------- running */

struct program {
	struct fh_client *client;
	const struct fh_judge_settings *settings;
	struct fh_run_options options;
	struct fh_plan *plan;       /* the program's */
	struct fh_plan_file *files; /* the plan's files, then the compiled program */
	struct fh_result *compiled; /* owns the compiled program */
};

static void program_release(struct program *p)
{
	fh_plan_free(p->plan);
	free(p->files);
	fh_result_free(p->compiled);
}

static int build_program(struct program *p, const char *language, const char *interpreter, struct fh_str code,
                         unsigned turn, struct fh_error *err)
{
	struct fh_request request;
	fh_request_init(&request);
	request.language = language;
	request.code = (struct fh_bytes){ code.p, code.n };
	request.limits = p->settings->limits;
	request.interpreter = interpreter;
	request.hash_secret = fh_judge_hash_secret(turn);
	request.standard_library_only = !p->settings->packages;
	p->options = (struct fh_run_options)FH_RUN_OPTIONS_INIT;
	p->options.cancel = p->settings->cancel;
	int r = fh_plan_build(&request, &p->plan, err);
	if (r < 0)
		err->phase = FH_PHASE_PLAN;
	return r;
}

/* Runs plan with the given input and files; both are borrowed. */
static int run_plan(struct program *p, const struct fh_plan *plan, struct fh_str input, struct fh_result **ret,
                    struct fh_error *err)
{
	struct fh_plan with = *plan;
	with.stdin_data.data = (uint8_t *)(uintptr_t)input.p;
	with.stdin_data.size = input.n;
	return fh_run(p->client, &with, &p->options, ret, err);
}

/* Compiles the program once, if its language is compiled. If the compiler makes no artifact the plan is not changed, so
 * that the first run reports the compile error. */
static int compile(struct program *p, struct fh_error *err)
{
	struct fh_plan *plan = p->plan;
	if (!plan->compile)
		return 0;
	int r = fh_compile(p->client, plan, &p->options, &p->compiled, err);
	const struct fh_out_file *made = r < 0 ? NULL : fh_compile_artifact(p->compiled, plan->artifact);
	if (r < 0 || p->compiled->status != FH_STATUS_OK || !made)
		return r;
	struct fh_plan_file file = {
		.name = plan->artifact,
		.content = { made->data, made->size },
		.mode = 0755,
	};
	p->files = fh_xcalloc(plan->file_count + 1, sizeof(*p->files));
	if (plan->file_count)
		memcpy(p->files, plan->files, plan->file_count * sizeof(*p->files));
	p->files[plan->file_count] = file;
	return 0;
}

static int run_case(struct program *p, struct fh_str input, struct fh_result **ret, struct fh_error *err)
{
	struct fh_plan with = *p->plan;
	if (p->files) {
		with.files = p->files;
		with.file_count++;
		with.compile = NULL;
		with.artifact = NULL;
	}
	return run_plan(p, &with, input, ret, err);
}

/* --------------------------------------------------------------------------------------------------------- deciding */

static struct fh_str output_of(const struct fh_result *r)
{
	return (struct fh_str){ r->stream_data[FH_STDOUT] ? (const char *)r->stream_data[FH_STDOUT] : "",
		                    r->stream_size[FH_STDOUT] };
}

/* Appends the beginning of an output as one readable line. */
static void add_shown(struct fh_buf *out, struct fh_str text)
{
	size_t n = FH_MIN(text.n, (size_t)SHOWN_MAX);
	fh_buf_addc(out, '"');
	for (size_t i = 0; i < n; i++) {
		if (text.p[i] == '\n')
			fh_buf_adds(out, "\\n");
		else
			fh_buf_addc(out, text.p[i]);
	}
	fh_buf_adds(out, n < text.n ? "…\"" : "\"");
}

static void explain_difference(struct fh_buf *why, struct fh_str got, struct fh_str expected)
{
	fh_buf_adds(why, "expected output ");
	add_shown(why, expected);
	fh_buf_adds(why, ", got ");
	add_shown(why, got);
}

static struct fh_str last_line(struct fh_str text)
{
	while (text.n > 0 && (text.p[text.n - 1] == '\n' || text.p[text.n - 1] == '\r'))
		text.n--;
	const char *before = text.n > 0 ? memrchr(text.p, '\n', text.n) : NULL;
	size_t skip = before ? before + 1 - text.p : 0;
	return (struct fh_str){ text.p + skip, text.n - skip };
}

/* Raises a checker's limits by the size of the files that it is given, so that it can read any output that the program
 * was allowed to print. */
static void make_room(struct fh_limits *limits, size_t bytes)
{
	static const enum fh_limit in[] = { FH_LIMIT_DISK, FH_LIMIT_MEMORY, FH_LIMIT_FILE_SIZE };
	enum { PAGES_AND_FOLDERS = 1 << 20 };
	for (size_t i = 0; i < FH_ARRAY_SIZE(in); i++)
		if (limits->value[in[i]] < FH_UNLIMITED - bytes - PAGES_AND_FOLDERS)
			limits->value[in[i]] += bytes + PAGES_AND_FOLDERS;
}

/* Runs the checker. 0 with *ret_accepts, which is false too if the checker crashes on the output; a negative code for
 * an error that is not the program's. */
static int ask_checker(struct program *p, const struct fh_judge_output *o, const struct fh_output_case *c,
                       struct fh_str got, bool *ret_accepts, struct fh_buf *why, struct fh_error *err)
{
	static const char *const args[] = { "input", "output", "expected", NULL };
	struct fh_str input = fh_buf_str(&c->input), expected = fh_buf_str(&c->expected);
	const struct fh_file files[] = {
		{ .name = "input", .content = { input.p, input.n } },
		{ .name = "output", .content = { got.p, got.n } },
		{ .name = "expected", .content = { expected.p, expected.n } },
	};
	struct fh_request request;
	struct fh_plan *plan = NULL;
	struct fh_result *result = NULL;
	fh_request_init(&request);
	request.language = o->checker_language;
	request.code = (struct fh_bytes){ o->checker, o->checker_size };
	request.args = args;
	request.files = files;
	request.file_count = FH_ARRAY_SIZE(files);
	request.limits = p->settings->limits;
	request.hash_secret = fh_judge_hash_secret(0);
	make_room(&request.limits, o->checker_size + input.n + got.n + expected.n);
	request.standard_library_only = !p->settings->packages;
	int r = fh_plan_build(&request, &plan, err);
	if (r < 0) {
		err->phase = FH_PHASE_PLAN;
		return r;
	}
	r = fh_run(p->client, plan, &p->options, &result, err);
	fh_plan_free(plan);
	if (r < 0)
		return r;
	if (result->status == FH_STATUS_ENGINE_ERROR || result->status == FH_STATUS_COMPILE_ERROR) {
		r = fh_error_set(err, FH_E_CONFIG, "the checker did not run: %s%s%.200s", fh_status_name(result->status),
		                 result->error.message[0] ? ": " : "", result->error.message);
		err->phase = FH_PHASE_PLAN; /* tells the caller that the connection to the engine is intact */
	} else {
		*ret_accepts = result->status == FH_STATUS_OK && result->exit_code == 0;
		fh_buf_addf(why, "the checker rejects (%s, exit status %d)%s", fh_status_name(result->status),
		            result->exit_code, result->stream_size[FH_STDERR] + result->stream_size[FH_STDOUT] ? ": " : "");
		enum fh_stream s = result->stream_size[FH_STDERR] ? FH_STDERR : FH_STDOUT;
		struct fh_str line = last_line((struct fh_str){ (const char *)result->stream_data[s], result->stream_size[s] });
		fh_buf_add(why, line.p, FH_MIN(line.n, (size_t)SHOWN_MAX));
	}
	fh_result_free(result);
	return r;
}

/* Decides the verdict for one case of input and expected output. */
static int decide(struct program *p, const struct fh_judge_output *o, const struct fh_output_case *c,
                  const struct fh_result *run, enum fh_verdict *ret, struct fh_buf *why, struct fh_error *err)
{
	fh_auto_free char *reason = NULL;
	*ret = fh_verdict_of_program(run, c->exit_code, &reason);
	if (*ret != FH_VERDICT_PASSED) {
		fh_buf_adds(why, reason);
		return 0;
	}
	struct fh_str got = output_of(run), expected = fh_buf_str(&c->expected);
	bool accepts = false;
	if (o->checker) {
		int r = ask_checker(p, o, c, got, &accepts, why, err);
		if (r < 0)
			return r;
	} else {
		accepts = fh_compare_output(o->rule, got, expected, o->tolerance);
		if (!accepts)
			explain_difference(why, got, expected);
	}
	*ret = accepts ? FH_VERDICT_PASSED : FH_VERDICT_FAILED;
	return 0;
}

static void add_usage(struct fh_usage *total, const struct fh_usage *u)
{
	total->cpu_user_us += u->cpu_user_us;
	total->cpu_sys_us += u->cpu_sys_us;
	total->wall_us += u->wall_us;
	total->memory_peak_bytes = FH_MAX(total->memory_peak_bytes, u->memory_peak_bytes);
	total->processes_peak = FH_MAX(total->processes_peak, u->processes_peak);
}

static char *finish(const struct fh_judge_output *o, size_t at, const struct fh_buf *why)
{
	fh_auto_buf struct fh_buf raw = FH_BUF_INIT(0), text = FH_BUF_INIT(0);
	if (o->count > 1)
		fh_buf_addf(&raw, "case %zu of %zu: ", at + 1, o->count);
	fh_buf_add(&raw, fh_buf_cstr(why), FH_MIN(why->n, (size_t)FH_REASON_MAX - 64));
	fh_utf8_sanitize(&text, fh_buf_str(&raw));
	return fh_buf_take(&text, NULL);
}

static int judge_cases(struct program *p, const struct fh_judge_output *o, struct fh_judge_outcome *ret,
                       struct fh_error *err)
{
	struct fh_usage total = { 0 };
	enum fh_verdict verdict = FH_VERDICT_PASSED;
	struct fh_result *run = NULL;
	for (size_t i = 0; i < o->count; i++) {
		fh_auto_buf struct fh_buf why = FH_BUF_INIT(64 << 10);
		fh_result_free(FH_TAKE_PTR(run));
		int r = run_case(p, fh_buf_str(&o->cases[i].input), &run, err);
		if (r >= 0)
			r = decide(p, o, &o->cases[i], run, &verdict, &why, err);
		if (r < 0) {
			fh_result_free(run);
			return r;
		}
		add_usage(&total, &run->usage);
		if (verdict == FH_VERDICT_PASSED)
			continue;
		ret->reason = finish(o, i, &why);
		break;
	}
	if (run)
		run->usage = total;
	if (!ret->reason)
		ret->reason = fh_xstrdup("");
	ret->verdict = verdict;
	ret->run = run;
	return 0;
}

int fh_judge_by_output(struct fh_client *client, const struct fh_judge_settings *settings, const char *language,
                       const struct fh_judge_output *o, struct fh_str program, unsigned turn,
                       struct fh_judge_outcome *ret, struct fh_error *err)
{
	struct program p = { .client = client, .settings = settings };
	int r = build_program(&p, language, settings->interpreter, program, turn, err);
	if (r >= 0)
		r = compile(&p, err);
	if (r >= 0)
		r = judge_cases(&p, o, ret, err);
	program_release(&p);
	return r;
}
