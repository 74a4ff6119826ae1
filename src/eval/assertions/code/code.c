/* SPDX-License-Identifier: MIT */
/*
 * The `code` assertion: the program in the output runs in a sandbox, and what it does is compared with what was
 * expected (the fields: code_spec.h).
 *
 * A driver (guest/NAME/call.*) loads the program, calls it, and writes the outcome to a file whose name holds a random
 * token; no expectation enters the sandbox. Without that file nothing passes, however the program ended. As driver
 * and program share a process, a program that looks for the token can forge what a call gives; code_integrity.c says
 * what that is worth. Output of a program that runs as a whole is compared outside.
 */
#include "eval/assertions/code/code.h"

#include <stdio.h>
#include <sys/random.h>
#include "base/host/data.h"
#include "base/fd.h"
#include "code/extract.h"
#include "eval/assertions/code/code_apart.h"
#include "eval/assertions/code/code_integrity.h"
#include "eval/assertions/code/code_language.h"
#include "eval/assertions/code/code_proof.h"
#include "eval/assertions/code/code_tests.h"
#include "eval/assertions/kinds.h"
#include "eval/services/services.h"
#include "judge/comparing/value.h"
#include "judge/rows/evidence.h"
#include "judge/common/seed.h"
#include "sandbox/planning/result_json.h"

#define CODE_DRIVER_MAX ((size_t)1 << 20)
#define CODE_RESULTS_MAX ((size_t)64 << 20)
#define CODE_SHOWN_MAX 200   /* maximum bytes of a value that a reason shows */
#define CODE_STREAM_MAX 4096 /* maximum bytes of stdout and stderr in the metadata */
#define CODE_TOKEN_BYTES 16

/* Sets the verdict and its reason. Always returns 0. */
static int conclude(struct fh_judge_outcome *o, enum fh_verdict verdict, const char *format, ...) FH_PRINTF(3, 4);

static int conclude(struct fh_judge_outcome *o, enum fh_verdict verdict, const char *format, ...)
{
	struct fh_buf text = FH_BUF_INIT(0);
	va_list args;
	va_start(args, format);
	fh_buf_vaddf(&text, format, args);
	va_end(args);
	free(o->reason);
	o->reason = fh_buf_take(&text, NULL);
	o->verdict = verdict;
	return 0;
}

/* The first CODE_SHOWN_MAX bytes of a text, cut between characters. free() it. */
static char *shown(const char *text)
{
	size_t n = strlen(text), max = CODE_SHOWN_MAX;
	if (n <= max)
		return fh_xstrdup(text);
	while (max && ((unsigned char)text[max] & 0xC0) == 0x80)
		max--;
	return fh_xasprintf("%.*s…", (int)max, text);
}

/* ---------------------------------------------------------------------------------------------------------- one run */

struct run {
	const struct fh_assertion_call *call;
	const struct fh_code_spec *spec;
	struct fh_client *client;
	struct fh_str code;
};

static int run_request(const struct run *r, struct fh_request *request, struct fh_judge_outcome *o,
                       struct fh_error *err)
{
	request->language = r->spec->language;
	request->limits = r->spec->limits;
	request->image = r->spec->image;
	request->standard_library_only = !r->spec->packages;
	request->hash_secret = fh_judge_hash_secret(0); /* a fixed secret: verdicts do not depend on the time */
	struct fh_plan *plan = NULL;
	struct fh_run_options options = FH_RUN_OPTIONS_INIT;
	options.cancel = fh_services_cancel(r->call->services);
	int code = fh_plan_build(request, &plan, err);
	if (code)
		return code;
	fh_result_free(o->run);
	o->run = NULL;
	code = fh_run(r->client, plan, &options, &o->run, err);
	fh_plan_free(plan);
	if (!code && o->run->status == FH_STATUS_ENGINE_ERROR) {
		if (err)
			*err = o->run->error;
		code = -(int)(o->run->error.code ? o->run->error.code : FH_E_BUG);
	}
	return code;
}

static void limit_reached(struct fh_judge_outcome *o, const struct fh_limits *limits)
{
	const struct fh_result *r = o->run;
	const char *name = fh_status_name(r->status);
	enum fh_verdict verdict = fh_verdict_of_name(name); /* each status that ends a run has a verdict of its name */
	for (int l = 0; l < FH_LIMIT_COUNT_; l++) {
		const struct fh_limit_info *info = &fh_limit_table[l];
		if (info->status != r->status)
			continue;
		double value = (double)limits->value[l];
		if (fh_streq(info->unit, "ms"))
			conclude(o, verdict, "%s after %.1f s", name, value / 1000);
		else if (fh_streq(info->unit, "bytes"))
			conclude(o, verdict, "%s at %.4g MB", name, value / (1 << 20));
		else
			conclude(o, verdict, "%s at %.0f %s", name, value, info->unit);
		return;
	}
	conclude(o, verdict, "%s", name);
}

/* The last line that is not empty: of a traceback, it is the exception. */
static struct fh_str last_line(const struct fh_result *r)
{
	struct fh_str s = { (const char *)r->stream_data[FH_STDERR], r->stream_size[FH_STDERR] };
	while (s.n && strchr(" \t\r\n", s.p[s.n - 1]))
		s.n--;
	const char *nl = s.n ? memrchr(s.p, '\n', s.n) : NULL;
	if (nl)
		s = (struct fh_str){ nl + 1, s.n - (size_t)(nl + 1 - s.p) };
	s.n = FH_MIN(s.n, (size_t)CODE_SHOWN_MAX);
	return s;
}

/* Whether the program ended by itself; otherwise `f` says what ended it. */
static bool came_to_an_end(struct fh_judge_outcome *o, const struct fh_limits *limits)
{
	const struct fh_result *r = o->run;
	struct fh_str line = last_line(r);
	const char *colon = line.n ? ": " : "";
	if (r->status == FH_STATUS_OK)
		return true;
	if (r->status == FH_STATUS_COMPILE_ERROR)
		conclude(o, FH_VERDICT_COMPILE_ERROR, "the program does not compile%s%.*s", colon, FH_STR_ARGS(line));
	else if (r->status != FH_STATUS_RUNTIME_ERROR)
		limit_reached(o, limits);
	else if (r->signal)
		conclude(o, FH_VERDICT_RUNTIME_ERROR, "the program was ended by signal %d (%s)", r->signal,
		         strsignal(r->signal));
	else
		conclude(o, FH_VERDICT_RUNTIME_ERROR, "the program ended with exit code %d%s%.*s", r->exit_code, colon,
		         FH_STR_ARGS(line));
	return false;
}

/* ---------------------------------------------------------------------------------------------- calling functions */

static json_t *calls_json(const struct fh_code_spec *spec)
{
	json_t *list = json_array();
	for (size_t i = 0; i < spec->n; i++) {
		const struct fh_code_case *c = &spec->cases[i];
		json_t *one = json_object();
		if (c->call) {
			json_object_set_new(one, "call", json_string(c->call));
		} else {
			json_object_set_new(one, "function", json_string(spec->function));
			json_object_set(one, "args", (json_t *)(uintptr_t)c->args);
			if (c->kwargs)
				json_object_set(one, "kwargs", (json_t *)(uintptr_t)c->kwargs);
		}
		json_array_append_new(list, one);
	}
	return list;
}

/* The call as the reason shows it, such as "factorial(5)": as written, or put together of name and arguments. free()
 * it. */
static char *case_text(const struct fh_code_spec *spec, const struct fh_code_case *c)
{
	if (c->call)
		return shown(c->call);
	struct fh_buf text = FH_BUF_INIT(0);
	const char *key, *comma = "";
	json_t *value;
	size_t i;
	fh_buf_addf(&text, "%s(", spec->function);
	json_array_foreach(c->args, i, value)
	{
		fh_auto_free char *arg = fh_value_text(value, spec->language, CODE_SHOWN_MAX / 2);
		fh_buf_addf(&text, "%s%s", comma, arg);
		comma = ", ";
	}
	json_object_foreach((json_t *)(uintptr_t)c->kwargs, key, value)
	{
		fh_auto_free char *arg = fh_value_text(value, spec->language, CODE_SHOWN_MAX / 2);
		fh_buf_addf(&text, "%s%s=%s", comma, key, arg);
		comma = ", ";
	}
	fh_buf_addc(&text, ')');
	fh_auto_free char *whole = fh_buf_take(&text, NULL);
	return shown(whole);
}

/* A problem that the driver reported, such as "NameError: name 'x' is not defined". free() it. */
static char *problem_text(const json_t *got)
{
	const char *name = fh_json_str(got, "name", ""), *message = fh_json_str(got, "message", "");
	fh_auto_free char *text = fh_xasprintf("%s%s%s", name, *name && *message ? ": " : "", message);
	return shown(text);
}

/* Why a case failed; NULL when it passed. free() it. */
static char *case_failure(const struct fh_code_spec *spec, const struct fh_code_case *c, const json_t *got)
{
	bool raised = json_object_get(got, "stage");
	fh_auto_free char *problem = raised ? problem_text(got) : NULL;
	if (c->expected_error) {
		/* The error of a call of what the program does not define is not raised by the program. */
		if (raised && fh_streq(fh_json_str(got, "name", ""), c->expected_error) &&
		    !fh_json_bool(got, "undefined", false))
			return NULL;
		fh_auto_free char *returned = shown(fh_json_str(got, "repr", "nothing"));
		return raised ? fh_xasprintf("expected %s, raised %s", c->expected_error, problem)
		              : fh_xasprintf("expected %s, got %s", c->expected_error, returned);
	}
	if (raised)
		return fh_xasprintf("raised %s", problem);
	if (c->expected_output) {
		const json_t *given = json_object_get(got, "text");
		struct fh_str text = { json_is_string(given) ? json_string_value(given) : "", json_string_length(given) };
		if (fh_output_equal(text, fh_str(c->expected_output)))
			return NULL;
		fh_auto_free char *want = shown(c->expected_output), *have = shown(text.p);
		return fh_xasprintf("expected output %s, got %s", want, have);
	}
	const json_t *value = json_object_get(got, "value");
	if (fh_value_equal(value, c->expected, spec->tolerance))
		return NULL;
	fh_auto_free char *want = fh_value_text(c->expected, spec->language, CODE_SHOWN_MAX);
	fh_auto_free char *have = shown(fh_json_str(got, "repr", ""));
	/* The config may expect the string "120" where the program returns the number 120: the note then names the field
	 * that compares printed text. */
	const char *note = json_is_string(c->expected) != json_is_string(value) &&
	                           fh_streq(fh_json_str(got, "text", ""), json_string_value(c->expected))
	                       ? " (to compare what is printed, use expected_output)"
	                       : "";
	return fh_xasprintf("expected %s, got %s%s", want, have, note);
}

static int compare_cases(const struct fh_code_spec *spec, const json_t *results, struct fh_judge_outcome *o)
{
	size_t failures = 0;
	fh_auto_free char *first = NULL;
	for (size_t i = 0; i < spec->n; i++) {
		fh_auto_free char *why = case_failure(spec, &spec->cases[i], json_array_get(results, i));
		if (!why || failures++)
			continue;
		fh_auto_free char *what = case_text(spec, &spec->cases[i]);
		first = spec->n == 1 ? fh_xasprintf("call %s: %s", what, why)
		                     : fh_xasprintf("case %zu of %zu, call %s: %s", i + 1, spec->n, what, why);
	}
	if (!failures)
		return 0;
	if (failures == 1)
		return conclude(o, FH_VERDICT_FAILED, "%s", first);
	return conclude(o, FH_VERDICT_FAILED, "%s (%zu cases fail)", first, failures);
}

/* Compares the results that the driver wrote with the expectations. */
static int judge_results(const struct run *r, const json_t *results, struct fh_judge_outcome *o, struct fh_error *err)
{
	const json_t *first = json_array_get(results, 0);
	const char *stage = fh_json_str(first, "stage", "");
	fh_auto_free char *problem = problem_text(first);
	if (!json_is_array(results) || json_array_size(results) != r->spec->n)
		return conclude(o, FH_VERDICT_FAILED, "the program wrote its own results");
	/* An expression is compiled before the program is loaded: an error here is a mistake of the config, not of the
	 * program. */
	if (fh_streq(stage, "call")) {
		fh_error_set(err, FH_E_CONFIG, "code: a \"call\" is not an expression of %s: %s", r->spec->language, problem);
		return -FH_E_CONFIG;
	}
	if (fh_streq(stage, "load"))
		return conclude(o, FH_VERDICT_FAILED, "the program does not load: %s", problem);
	if (fh_streq(stage, "missing"))
		return conclude(o, FH_VERDICT_FAILED, "the program defines no function %s", fh_json_str(first, "message", ""));
	return compare_cases(r->spec, results, o);
}

static int read_results(const struct run *r, struct fh_judge_outcome *o, struct fh_error *err)
{
	const struct fh_result *result = o->run;
	const struct fh_out_file *out = result->out_count ? &result->outs[0] : NULL;
	if (!out || !out->data)
		return conclude(o, FH_VERDICT_EARLY_EXIT, "early exit: the program ended before its results were there");
	struct fh_error why = FH_ERROR_INIT;
	fh_auto_json json_t *results = fh_json_parse((struct fh_str){ (const char *)out->data, out->size }, NULL, &why);
	if (!results)
		return conclude(o, FH_VERDICT_FAILED, "the program's results cannot be read: %s", why.message);
	return judge_results(r, results, o, err);
}

static int new_token(char hex[2 * CODE_TOKEN_BYTES + 1], struct fh_error *err)
{
	unsigned char bytes[CODE_TOKEN_BYTES];
	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return fh_error_set(err, FH_E_SYSTEM, "cannot get random bytes");
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

static int read_driver(const struct fh_code_calling *l, struct fh_buf *to, struct fh_error *err)
{
	int r = 0;
	for (size_t i = 0; r >= 0 && i < FH_CODE_FILES_MAX && l->driver[i]; i++) {
		fh_auto_free char *path = NULL;
		r = fh_data_path(l->driver[i], &path, err);
		if (r >= 0)
			r = fh_file_read(path, to, err);
	}
	return r;
}

static int run_calls(const struct run *r, const struct fh_code_calling *l, struct fh_judge_outcome *o,
                     struct fh_error *err)
{
	char token[2 * CODE_TOKEN_BYTES + 1];
	fh_auto_buf struct fh_buf driver = FH_BUF_INIT(CODE_DRIVER_MAX), input = FH_BUF_INIT(0);
	int code = new_token(token, err);
	if (!code)
		code = read_driver(l, &driver, err);
	if (code)
		return code;
	fh_auto_json json_t *message = json_object();
	json_object_set_new(message, "token", json_string(token));
	json_object_set_new(message, "calls", calls_json(r->spec));
	fh_json_write(&input, message, 0);
	fh_auto_free char *name = fh_xasprintf(".result-%s", token);
	const char *const outs[] = { name };
	struct fh_file solution = { .name = l->solution, .content = { r->code.p, r->code.n } };
	struct fh_request request;
	fh_request_init(&request);
	request.code = (struct fh_bytes){ driver.p, driver.n };
	request.stdin_data = (struct fh_bytes){ input.p, input.n };
	request.files = &solution;
	request.file_count = 1;
	request.outs = outs;
	request.out_count = 1;
	request.out_max_bytes = CODE_RESULTS_MAX;
	code = run_request(r, &request, o, err);
	if (code)
		return code;
	if (o->run->status == FH_STATUS_RUNTIME_ERROR && !o->run->signal)
		return conclude(o, FH_VERDICT_EARLY_EXIT,
		                "early exit: the program ended (exit code %d) before its results were there",
		                o->run->exit_code);
	return came_to_an_end(o, &r->spec->limits) ? read_results(r, o, err) : 0;
}

/* -------------------------------------------------------------------------------------------- programs as a whole */

/* The program without an end tag in its end: lines that follow are to be a part of it. */
static struct fh_str open_ended(struct fh_str code, const char *language)
{
	const struct fh_code_language *l = fh_code_language_find(language);
	size_t n = l && l->end_tag ? strlen(l->end_tag) : 0;
	struct fh_str s = code;
	while (s.n > 0 && strchr(" \t\r\n", s.p[s.n - 1]))
		s.n--;
	bool closed = n > 0 && s.n >= n && memcmp(s.p + s.n - n, l->end_tag, n) == 0;
	return closed ? (struct fh_str){ s.p, s.n - n } : code;
}

/* The tag with which a program has to go on: it ends in text that it prints, as a page does. "" where it does not. A
 * quote behind the last end tag means that the tag may be a string's. */
static const char *tag_to_go_on(struct fh_str code, const char *language)
{
	const struct fh_code_language *l = fh_code_language_find(language);
	const char *tag = NULL, *end = code.p + code.n;
	if (!l || !l->end_tag)
		return "";
	for (const char *p = code.p; (p = memmem(p, (size_t)(end - p), l->end_tag, strlen(l->end_tag))); p++)
		tag = p;
	for (const char *p = tag ? tag + strlen(l->end_tag) : end; p < end; p++)
		if (strchr("\"'`;", *p) || (p + 1 < end && memcmp(p, l->start_tag, 2) == 0)) /* short tags begin so, too */
			return "";
	return tag ? l->start_tag : "";
}

/* One run of a program; lines of the spec's `behind`, and `proof` if it is given, are appended to it. */
static int run_program(const struct run *r, struct fh_str input, const struct fh_code_proof *proof,
                       struct fh_judge_outcome *o, struct fh_error *err)
{
	fh_auto_buf struct fh_buf program = FH_BUF_INIT(0);
	struct fh_request request;
	struct fh_str code = r->spec->behind ? open_ended(r->code, r->spec->language) : r->code;
	fh_buf_add_str(&program, code);
	if (r->spec->behind)
		fh_buf_addf(&program, "\n%s%s\n", tag_to_go_on(code, r->spec->language), r->spec->behind);
	if (proof)
		fh_code_proof_add(proof, r->spec->language, &program);
	fh_request_init(&request);
	request.code = (struct fh_bytes){ program.p, program.n };
	request.stdin_data = (struct fh_bytes){ input.p, input.n };
	return run_request(r, &request, o, err);
}

/* An engine that ends takes the runs with it that were under way; with the next engine they are begun again, once. */
static bool try_again(unsigned tries, const struct fh_client *client)
{
	return tries == 0 && client && fh_services_client_ended(client);
}

static void again(struct fh_judge_outcome *o, const char *integrity)
{
	fh_judge_outcome_release(o);
	*o = (struct fh_judge_outcome){ .verdict = FH_VERDICT_PASSED, .integrity = integrity };
}

int fh_code_output_of(const struct fh_assertion_call *call, const struct fh_code_spec *spec, struct fh_str program,
                      struct fh_str input, struct fh_buf *ret, char **ret_why, struct fh_error *err)
{
	FH_CLEANUP(fh_judge_outcome_release) struct fh_judge_outcome o = { .verdict = FH_VERDICT_PASSED };
	struct run r = { .call = call, .spec = spec, .code = program };
	int code;
	for (unsigned tries = 0;; tries++) {
		code = fh_services_client(call->services, &r.client, err);
		if (!code)
			code = run_program(&r, input, NULL, &o, err);
		if (!code || !try_again(tries, r.client))
			break;
		again(&o, NULL);
	}
	if (code)
		return code;
	if (came_to_an_end(&o, &spec->limits))
		fh_buf_add(ret, o.run->stream_data[FH_STDOUT], o.run->stream_size[FH_STDOUT]);
	else
		*ret_why = FH_TAKE_PTR(o.reason);
	return 0;
}

static int run_whole(const struct run *r, struct fh_judge_outcome *o, struct fh_error *err)
{
	const struct fh_code_spec *spec = r->spec;
	for (size_t i = 0; i < spec->n; i++) {
		const struct fh_code_case *c = &spec->cases[i];
		struct fh_code_proof proof;
		int code = spec->proof ? fh_code_proof_make(&proof, err) : 0;
		if (!code)
			code = run_program(r, c->input, spec->proof ? &proof : NULL, o, err);
		if (code)
			return code;
		bool ended =
		    !spec->proof || fh_code_proof_take(&proof, o->run->stream_data[FH_STDOUT], &o->run->stream_size[FH_STDOUT]);
		fh_auto_free char *where = spec->n > 1 ? fh_xasprintf("case %zu of %zu, ", i + 1, spec->n) : fh_xstrdup("");
		if (!came_to_an_end(o, &spec->limits)) {
			fh_auto_free char *why = FH_TAKE_PTR(o->reason);
			return conclude(o, o->verdict, "%s%s", where, why);
		}
		if (!ended)
			return conclude(o, FH_VERDICT_EARLY_EXIT,
			                "%searly exit: the program ended before what stands behind it had run", where);
		struct fh_str got = { (const char *)o->run->stream_data[FH_STDOUT], o->run->stream_size[FH_STDOUT] };
		if (!c->output.p || fh_output_equal(got, c->output))
			continue;
		fh_auto_free char *text = fh_xstrndup(got.p ? got.p : "", got.n), *have = shown(text);
		fh_auto_free char *whole = fh_xstrndup(c->output.p, c->output.n), *want = shown(whole);
		return conclude(o, FH_VERDICT_FAILED, "%sexpected output %s, got %s", where, want, *have ? have : "none");
	}
	return 0;
}

/* ------------------------------------------------------------------------------------------------------------ tests */

static int run_tests(const struct run *r, struct fh_judge_outcome *o, struct fh_error *err)
{
	int code = fh_code_tests_run(r->call, r->spec, r->code, r->client, o, err);
	if (code == 0 && o->verdict != FH_VERDICT_PASSED && !o->reason[0])
		conclude(o, o->verdict, "%s", fh_verdict_name(o->verdict));
	return code;
}

/* Expressions over calls of a function, as a test that is judged apart from the program. An expression that is none is
 * the config's mistake, which the program's driver finds before it loads the program. */
static int run_apart(const struct run *r, const char *function, const struct fh_code_calling *l,
                     struct fh_judge_outcome *o, struct fh_error *err)
{
	fh_auto_code_spec struct fh_code_spec tests = { 0 };
	FH_CLEANUP(fh_judge_outcome_release) struct fh_judge_outcome in_process = { .verdict = FH_VERDICT_PASSED };
	struct run apart = *r;
	int code = fh_code_apart_tests(r->spec, function, &tests, err);
	apart.spec = &tests;
	if (!code)
		code = run_tests(&apart, o, err);
	if (!code && o->verdict == FH_VERDICT_FAILED && strstr(o->reason, "SyntaxError"))
		code = run_calls(r, l, &in_process, err);
	return code;
}

/* ------------------------------------------------------------------------------------------------------ the whole */

static void stream_json(json_t *metadata, const char *name, const struct fh_result *r, enum fh_stream stream)
{
	size_t n = FH_MIN(r->stream_size[stream], (size_t)CODE_STREAM_MAX);
	if (n)
		json_object_set_new(metadata, name, fh_json_bytes((struct fh_str){ (const char *)r->stream_data[stream], n }));
}

static json_t *metadata_json(const struct fh_code_spec *spec, const struct fh_extraction *e,
                             const struct fh_judge_outcome *o)
{
	json_t *m = json_object();
	json_object_set_new(m, "verdict", json_string(fh_verdict_name(o->verdict)));
	json_object_set_new(m, "integrity", json_string(o->integrity));
	json_object_set_new(m, "language", json_string(spec->language));
	if (e->code)
		json_object_set_new(m, "code", fh_json_bytes((struct fh_str){ e->code, e->size }));
	if (!o->run)
		return m;
	json_object_set_new(m, "status", json_string(fh_status_name(o->run->status)));
	fh_judge_evidence_add(m, o);
	json_object_set_new(m, "limits", fh_limits_json(o->run));
	json_object_set_new(m, "fired", fh_fired_json(o->run->fired));
	json_object_set_new(m, "isolation", fh_isolation_json(o->run));
	stream_json(m, "stdout", o->run, FH_STDOUT);
	stream_json(m, "stderr", o->run, FH_STDERR);
	return m;
}

static int examine(const struct fh_assertion_call *call, const struct fh_code_spec *spec, const struct fh_extraction *e,
                   struct fh_judge_outcome *o, struct fh_error *err)
{
	const struct fh_code_calling *l = fh_code_calling_find(spec->language);
	if (!spec->tests && !spec->whole && !l) {
		fh_error_set(err, FH_E_CONFIG, "code: functions of %s cannot be called", spec->language);
		fh_error_hint(
		    err, "\"call\" and \"args\" are for python and javascript: give \"tests\", or \"stdin\" and \"stdout\"");
		return -FH_E_CONFIG;
	}
	if (!e->code)
		return conclude(o, FH_VERDICT_NO_CODE, "%s", e->reason);
	struct run r = { .call = call, .spec = spec, .code = { e->code, e->size } };
	fh_auto_free char *function = fh_code_apart_function(spec);
	for (unsigned tries = 0;; tries++) {
		int code = fh_services_client(call->services, &r.client, err);
		if (code)
			return code;
		code = spec->tests   ? run_tests(&r, o, err)
		       : function    ? run_apart(&r, function, l, o, err)
		       : spec->whole ? run_whole(&r, o, err)
		                     : run_calls(&r, l, o, err);
		if (!code || !try_again(tries, r.client))
			return code;
		again(o, fh_code_integrity(spec));
	}
}

/* The function that the program has to define, by which it is found in the answer: `function`, or the name that the
 * first call begins with; NULL when neither tells it. */
static char *entry_point(const struct fh_code_spec *spec)
{
	if (spec->function || spec->whole || spec->tests)
		return spec->function ? fh_xstrdup(spec->function) : NULL;
	const char *call = spec->cases[0].call ? spec->cases[0].call : "";
	size_t n = strspn(call, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_$0123456789");
	return n && call[n] == '(' ? fh_xstrndup(call, n) : NULL;
}

int fh_code_grade(const struct fh_assertion_call *call, const struct fh_code_spec *spec, struct fh_grade *ret,
                  struct fh_error *err)
{
	fh_auto_free char *entry = entry_point(spec);
	struct fh_extract_options options = { .language = spec->language, .entry_point = entry };
	fh_auto_extraction struct fh_extraction e = { 0 };
	fh_extract(call->output_text, &options, &e);
	FH_CLEANUP(fh_judge_outcome_release)
	struct fh_judge_outcome o = { .verdict = FH_VERDICT_PASSED, .integrity = fh_code_integrity(spec) };
	int code = examine(call, spec, &e, &o, err);
	if (code)
		return code;
	bool passed = o.verdict == FH_VERDICT_PASSED;
	code = fh_grade_set(ret, call, passed, "%s", passed ? "the program does what was expected" : o.reason);
	ret->metadata = metadata_json(spec, &e, &o);
	return code;
}

static int check(const struct fh_assertion_call *call, struct fh_grade *ret, struct fh_error *err)
{
	fh_auto_code_spec struct fh_code_spec spec = { 0 };
	int code = fh_code_spec_read(call, &spec, err);
	return code ? code : fh_code_grade(call, &spec, ret, err);
}

const struct fh_assertion fh_assertion_code = {
	.name = "code",
	.check = check,
	.validate = fh_code_spec_validate,
	.own_keys = true,
};
