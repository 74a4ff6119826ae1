/* SPDX-License-Identifier: MIT */
#include "cli/judge/judge_report.h"

#include <stdio.h>

#include "base/escape.h"
#include "cli/shared/term.h"
#include "judge/session/session.h"

void fh_judge_report_count(struct fh_judge_report *r, const struct fh_judge_problems *problems,
                           const struct fh_judge_samples *samples, const struct fh_results *results)
{
	fh_auto_free struct fh_task_count *tasks = fh_xcalloc(problems->count, sizeof(*tasks));
	fh_auto_free bool *sampled = fh_xcalloc(problems->count, sizeof(*sampled));
	r->samples = samples->count;
	r->kept = fh_results_kept(results);
	r->first_failure = SIZE_MAX;
	for (size_t i = 0; i < samples->count; i++) {
		struct fh_results_row row = fh_results_row(results, i);
		sampled[samples->items[i].problem] = true;
		if (!row.present)
			continue;
		bool passed = row.verdict == FH_VERDICT_PASSED;
		r->flaky += row.flaky;
		r->in_process += row.in_process;
		r->in_process_passed += row.in_process && passed;
		if (!row.in_process || r->allow_in_process) {
			tasks[samples->items[i].problem].samples++;
			tasks[samples->items[i].problem].passed += passed;
		}
		r->verdicts[row.verdict]++;
		if (!passed && r->first_failure == SIZE_MAX)
			r->first_failure = i;
	}
	for (size_t i = 0; i < problems->count; i++) {
		r->counted_tasks += tasks[i].samples > 0;
		r->tasks += sampled[i];
		r->without_samples += !sampled[i];
	}
	for (size_t i = 0; i < r->k_count; i++) {
		fh_estimate_pass_at_k(tasks, problems->count, r->ks[i], &r->estimates[i]);
		fh_estimate_pass_hat_k(tasks, problems->count, r->ks[i], &r->all[i]);
	}
}

/* ------------------------------------------------------------------------------------------------------------- text */

static void add_verdicts(const struct fh_judge_report *r, bool color, unsigned width, struct fh_buf *out)
{
	static const char *const heads[] = { "verdict", "samples", "share" };
	struct fh_table *t = fh_table_headed(FH_STYLE_NONE, heads, FH_ARRAY_SIZE(heads));
	for (enum fh_verdict v = 0; v < FH_VERDICT_COUNT_; v++) {
		char number[32], share[32];
		if (r->verdicts[v] == 0)
			continue;
		snprintf(number, sizeof(number), "%zu", r->verdicts[v]);
		snprintf(share, sizeof(share), "%.1f %%", 100.0 * (double)r->verdicts[v] / (double)r->samples);
		fh_table_text(t,
		              v == FH_VERDICT_PASSED         ? FH_STYLE_GOOD
		              : v == FH_VERDICT_ENGINE_ERROR ? FH_STYLE_WARN
		                                             : FH_STYLE_BAD,
		              fh_verdict_name(v));
		fh_table_text(t, FH_STYLE_NONE, number);
		fh_table_text(t, FH_STYLE_NONE, share);
		fh_table_row_end(t);
	}
	fh_table_print(t, out, width, color);
	fh_table_free(t);
}

static void add_estimate(const struct fh_judge_report *r, size_t i, char sign, struct fh_buf *out)
{
	const struct fh_estimate *e = sign == '@' ? &r->estimates[i] : &r->all[i];
	char name[32];
	snprintf(name, sizeof(name), "pass%c%llu", sign, (unsigned long long)r->ks[i]);
	if (e->tasks == 0) {
		fh_buf_addf(out, "%-9s no task has %llu samples\n", name, (unsigned long long)r->ks[i]);
		return;
	}
	fh_buf_addf(out, "%-9s %.4f", name, e->value);
	if (e->has_interval)
		fh_buf_addf(out, "  (95 %% interval over tasks %.4f to %.4f)", e->low, e->high);
	if (e->tasks < r->counted_tasks)
		fh_buf_addf(out, "  from the %zu of %zu tasks with enough samples", e->tasks, r->counted_tasks);
	fh_buf_addc(out, '\n');
}

static const char *plural(size_t n)
{
	return n == 1 ? "" : "s";
}

/* Whether to show pass@k. When the self-check failed, tests do not work on this host, and pass@k means nothing. */
static bool has_figures(const struct fh_judge_report *r)
{
	return !r->self_check || r->self_check->failure_count == 0;
}

static void add_raised(const struct fh_self_check *c, const char *before, struct fh_buf *out)
{
	if (c->raised)
		fh_buf_addf(out, "%stime limits raised for %zu task%s, as %s\n", before, c->raised, plural(c->raised),
		            c->raised == 1 ? "its reference needs" : "their references need");
}

/* Whether a test may have failed because packages are hidden from it. */
static bool lacks_package(const struct fh_self_check *c)
{
	static const char *const said[] = { "No module named", "Cannot find module", "Cannot find package" };
	for (size_t i = 0; i < c->failure_count; i++)
		for (size_t k = 0; k < FH_ARRAY_SIZE(said); k++)
			if (strstr(c->failures[i].reason, said[k]))
				return true;
	return false;
}

static void add_self_check(const struct fh_judge_report *r, struct fh_buf *out)
{
	enum { SHOWN = 10 };
	const struct fh_self_check *c = r->self_check;
	if (!c) {
		fh_buf_adds(out, "self-check: left out, so whether references pass and stubs fail here is unknown\n");
		return;
	}
	if (c->failure_count == 0) {
		fh_buf_addf(out, "self-check: %zu reference%s and %zu stub%s%s\n", c->references,
		            c->references == 1 ? " passes" : "s pass", c->tasks, c->tasks == 1 ? " fails" : "s fail",
		            c->references < c->tasks ? "; the other tasks have no reference" : "");
		add_raised(c, "self-check: ", out);
		return;
	}
	fh_buf_addf(out,
	            "self-check: failed for %zu of %zu tasks, so that no figure is given (--no-self-check gives one)\n",
	            c->failed, c->tasks);
	for (size_t i = 0; i < FH_MIN(c->failure_count, (size_t)SHOWN); i++) {
		const struct fh_self_check_failure *f = &c->failures[i];
		fh_buf_adds(out, "  ");
		fh_escape_terminal(out, fh_str(f->problem->task_id), false);
		fh_buf_addf(out, ": the %s gets %s", f->stub ? "stub" : "reference", fh_verdict_name(f->verdict));
		fh_buf_adds(out, f->reason[0] ? ": " : "");
		fh_escape_terminal(out, fh_str(f->reason), false);
		fh_buf_addc(out, '\n');
	}
	if (c->failure_count > SHOWN)
		fh_buf_addf(out, "  and %zu more\n", c->failure_count - SHOWN);
	if (!r->packages && lacks_package(c))
		fh_buf_adds(out,
		            "  only the standard library is there: --packages shows programs and tests what is installed\n");
}

void fh_judge_report_text(const struct fh_judge_report *r, const char *show_command, bool color, unsigned width,
                          struct fh_buf *out)
{
	size_t errors = r->verdicts[FH_VERDICT_ENGINE_ERROR];
	add_verdicts(r, color, width, out);
	fh_buf_addc(out, '\n');
	for (size_t i = 0; has_figures(r) && i < r->k_count; i++)
		add_estimate(r, i, '@', out);
	/* With one sample pass@1 and pass^1 are equal. */
	for (size_t i = 0; has_figures(r) && i < r->k_count; i++)
		if (r->ks[i] > 1 && r->all[i].tasks > 0)
			add_estimate(r, i, '^', out);
	fh_buf_addf(out, "\n%zu sample%s of %zu task%s in %.1f s", r->samples, plural(r->samples), r->tasks,
	            plural(r->tasks), (double)r->elapsed_ms / 1000);
	if (r->kept > 0)
		fh_buf_addf(out, ", %zu of them judged before", r->kept);
	fh_buf_adds(out, "; results in ");
	fh_escape_terminal(out, fh_str(r->results_path), false);
	if (r->stored)
		fh_buf_addf(out, ", and in the store as %s", r->stored);
	fh_buf_addc(out, '\n');
	if (r->without_samples > 0)
		fh_buf_addf(out, "without a sample: %zu task%s of the problems; no figure counts them\n", r->without_samples,
		            plural(r->without_samples));
	if (r->in_process < r->samples)
		fh_buf_addf(
		    out,
		    "integrity: split or outside for %zu sample%s: what the test expects was out of the candidate's reach\n",
		    r->samples - r->in_process, plural(r->samples - r->in_process));
	if (r->in_process > 0)
		fh_buf_addf(out,
		            "integrity: in-process for %zu sample%s (%zu passed): who means to forge a pass there can; %s\n",
		            r->in_process, plural(r->in_process), r->in_process_passed,
		            r->allow_in_process ? "they count above" : "not counted in pass@k without --allow-in-process");
	add_self_check(r, out);
	if (r->flaky > 0)
		fh_buf_addf(out, "flaky: %zu sample%s got different verdicts when judged again\n", r->flaky, plural(r->flaky));
	if (errors > 0)
		fh_buf_addf(out, "harness errors: %zu, counted as not passed; the same command tries them again\n", errors);
	if (r->first_failure != SIZE_MAX)
		fh_buf_addf(out, "\nto see one that did not pass:\n  %s --show %zu\n", show_command, r->first_failure);
}

/* ------------------------------------------------------------------------------------------------------------- JSON */

static json_t *estimate_json(const struct fh_estimate *e)
{
	json_t *o = json_object();
	bool known = e->tasks > 0;
	json_object_set_new(o, "value", known ? json_real(e->value) : json_null());
	json_object_set_new(o, "standard_error", e->has_interval ? json_real(e->standard_error) : json_null());
	json_object_set_new(o, "low", e->has_interval ? json_real(e->low) : json_null());
	json_object_set_new(o, "high", e->has_interval ? json_real(e->high) : json_null());
	json_object_set_new(o, "tasks", json_integer(e->tasks));
	return o;
}

json_t *fh_judge_self_check_json(const struct fh_self_check *c)
{
	json_t *o = json_object(), *failures = json_array();
	json_object_set_new(o, "tasks", json_integer((json_int_t)c->tasks));
	json_object_set_new(o, "references", json_integer((json_int_t)c->references));
	json_object_set_new(o, "remembered", json_integer((json_int_t)c->remembered));
	json_object_set_new(o, "arguments_come_back", json_integer((json_int_t)c->changes));
	json_object_set_new(o, "in-process", json_integer((json_int_t)c->in_process));
	json_object_set_new(o, "raised_limits", json_integer((json_int_t)c->raised));
	for (size_t i = 0; i < c->failure_count; i++) {
		const struct fh_self_check_failure *f = &c->failures[i];
		json_array_append_new(failures,
		                      json_pack("{s:o, s:s, s:s, s:o}", "task_id", fh_json_bytes(fh_str(f->problem->task_id)),
		                                "what", f->stub ? "stub" : "reference", "verdict", fh_verdict_name(f->verdict),
		                                "reason", fh_json_bytes(fh_str(f->reason))));
	}
	json_object_set_new(o, "failures", failures);
	return o;
}

json_t *fh_judge_tools_json(const struct fh_judge_session *s)
{
	json_t *o = json_object();
	for (enum fh_judge_language l = 0; l < FH_JUDGE_LANGUAGE_COUNT_; l++) {
		const char *version = fh_judge_tool_version(s, l);
		if (version)
			json_object_set_new(o, fh_judge_language_name(l), fh_json_bytes(fh_str(version)));
	}
	return o;
}

void fh_judge_report_json(const struct fh_judge_report *r, struct fh_buf *out)
{
	fh_auto_json json_t *o = json_object();
	json_t *verdicts = json_object(), *estimates = json_object(), *all = json_object();
	for (enum fh_verdict v = 0; v < FH_VERDICT_COUNT_; v++)
		if (r->verdicts[v] > 0)
			json_object_set_new(verdicts, fh_verdict_name(v), json_integer(r->verdicts[v]));
	for (size_t i = 0; i < r->k_count; i++) {
		char k[32];
		snprintf(k, sizeof(k), "%llu", (unsigned long long)r->ks[i]);
		json_object_set_new(estimates, k, has_figures(r) ? estimate_json(&r->estimates[i]) : json_null());
		json_object_set_new(all, k, has_figures(r) ? estimate_json(&r->all[i]) : json_null());
	}
	json_object_set_new(o, "samples", json_integer(r->samples));
	json_object_set_new(o, "tasks", json_integer(r->tasks));
	json_object_set_new(o, "tasks_without_samples", json_integer((json_int_t)r->without_samples));
	json_object_set_new(o, "passed", json_integer(r->verdicts[FH_VERDICT_PASSED]));
	json_object_set_new(o, "verdicts", verdicts);
	json_object_set_new(o, "harness_errors", json_integer(r->verdicts[FH_VERDICT_ENGINE_ERROR]));
	json_object_set_new(o, "pass_at_k", estimates);
	json_object_set_new(o, "pass_hat_k", all);
	json_object_set_new(o, "integrity",
	                    json_pack("{s:I, s:I, s:I, s:b}", "apart", (json_int_t)(r->samples - r->in_process),
	                              "in-process", (json_int_t)r->in_process, "in-process_passed",
	                              (json_int_t)r->in_process_passed, "in-process_counted", r->allow_in_process));
	json_object_set_new(o, "self_check", r->self_check ? fh_judge_self_check_json(r->self_check) : json_null());
	json_object_set_new(o, "tools", r->session ? fh_judge_tools_json(r->session) : json_object());
	json_object_set_new(o, "flaky", json_integer((json_int_t)r->flaky));
	json_object_set_new(o, "kept", json_integer(r->kept));
	json_object_set_new(o, "elapsed_ms", json_integer(r->elapsed_ms));
	json_object_set_new(o, "results", fh_json_bytes(fh_str(r->results_path)));
	json_object_set_new(o, "id", r->stored ? fh_json_bytes(fh_str(r->stored)) : json_null());
	fh_json_write(out, o, 2);
	fh_buf_addc(out, '\n');
}
