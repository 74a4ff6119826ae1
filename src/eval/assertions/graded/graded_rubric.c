/* SPDX-License-Identifier: MIT */
/* Assertions for which a model gives the verdict: llm-rubric (search-rubric, agent-rubric), factuality,
 * model-graded-closedqa, g-eval. When the grader's answer holds no verdict, the row is an error. */
#include <ctype.h>
#include <math.h>
#include <strings.h>
#include "eval/assertions/graded/graded.h"
#include "eval/common/text.h"

struct fh_rubric_call fh_graded_call(const struct fh_assertion_call *call, const json_t *vars)
{
	return (struct fh_rubric_call){ .what = call->kind->name,
		                            .assertion = call->assertion,
		                            .test = call->test,
		                            .vars = vars,
		                            .graders = call->graders,
		                            .services = call->services,
		                            .config_dir = call->config_dir };
}

json_t *fh_graded_vars(const struct fh_assertion_call *call)
{
	return json_copy((json_t *)(uintptr_t)call->vars);
}

int fh_graded_no_verdict(const struct fh_assertion_call *call, const char *answer, struct fh_error *err)
{
	return fh_error_set(err, FH_E_ARGUMENT, "the grader of \"%s\" gave no verdict: %.300s", call->kind->name, answer);
}

void fh_graded_set(struct fh_grade *ret, bool pass, double score, char *reason, json_t *tokens)
{
	ret->pass = pass;
	ret->score = score;
	free(ret->reason);
	ret->reason = reason;
	ret->tokens_used = json_incref(tokens);
}

/* A verdict, which may be a boolean or a word such as "yes": 1 or 0; -1 when the value is no verdict. */
static int truth_of(const json_t *v)
{
	static const char *const yes[] = { "true", "yes", "pass", "y" };
	if (!v || json_is_null(v))
		return -1;
	if (json_is_boolean(v))
		return json_is_true(v);
	fh_auto_free char *text = fh_text_of_json(v);
	for (size_t i = 0; i < FH_ARRAY_SIZE(yes); i++)
		if (strcasecmp(text, yes[i]) == 0)
			return 1;
	return 0;
}

static bool number_of(const json_t *v, double *ret)
{
	const char *text = json_string_value(v);
	char *end;
	if (json_is_number(v)) {
		*ret = json_number_value(v);
		return true;
	}
	if (!text || !*text)
		return false;
	*ret = strtod(text, &end);
	return !*end && isfinite(*ret);
}

int fh_graded_rubric(const struct fh_assertion_call *call, const json_t *vars, const char *prompt, struct fh_grade *ret,
                     struct fh_error *err)
{
	fh_auto_json json_t *tokens = json_object();
	fh_auto_json json_t *about = json_object();
	fh_auto_free char *answer = NULL;
	struct fh_rubric_call c = fh_graded_call(call, vars);
	c.about = about;
	int r = fh_rubric_ask(&c, prompt, &answer, tokens, err);
	if (r < 0)
		return r;
	fh_auto_json json_t *verdict = fh_rubric_object(answer);
	int truth = truth_of(json_object_get(verdict, "pass"));
	double score = 0;
	bool scored = number_of(json_object_get(verdict, "score"), &score);
	if (!verdict || (truth < 0 && !scored))
		return fh_graded_no_verdict(call, answer, err);
	bool pass = truth != 0;
	score = scored ? score : pass;
	if (call->has_threshold)
		pass = pass && score >= call->threshold;
	const char *reason = fh_json_str(verdict, "reason", pass ? "Grading passed" : "Grading failed");
	if (call->inverse) {
		pass = !pass;
		score = FH_MIN(1, FH_MAX(0, 1 - score));
	}
	fh_graded_set(ret, pass, score, fh_xstrdup(reason), tokens);
	ret->metadata = FH_TAKE_PTR(about);
	return 0;
}

static int check_rubric(const struct fh_assertion_call *call, struct fh_grade *ret, struct fh_error *err)
{
	fh_auto_json json_t *vars = fh_graded_vars(call);
	fh_auto_json json_t *text = json_stringn(call->output_text.p, call->output_text.n);
	json_object_set_new(vars, "output", fh_rubric_parsed(text ? text : call->output));
	json_object_set_new(vars, "rubric", call->value ? json_incref((json_t *)(uintptr_t)call->value) : json_string(""));
	const char *prompt = call->kind->name[0] == 's'   ? fh_rubric_prompt_search
	                     : call->kind->name[0] == 'a' ? fh_rubric_prompt_agent
	                                                  : fh_rubric_prompt_rubric;
	return fh_graded_rubric(call, vars, prompt, ret, err);
}

static int needs_text(const struct fh_assertion_call *call, struct fh_error *err)
{
	return json_is_string(call->value)
	           ? 0
	           : fh_error_set(err, FH_E_ARGUMENT, "%s assertion type must have a string value", call->kind->name);
}

/* The category (a letter) that an answer names, as a JSON object or as "(A) …"; 0 when it names none. */
static char category_of(const char *answer, char **ret_reason)
{
	fh_auto_json json_t *object = strchr(answer, '{') ? fh_rubric_object(answer) : NULL;
	const char *said = fh_json_str(object, "category", NULL);
	if (said) {
		struct fh_str letter = fh_text_trim(fh_str(said));
		char c = letter.n == 1 ? (char)toupper((unsigned char)*letter.p) : 0;
		*ret_reason = fh_xstrdup(fh_json_str(object, "reason", ""));
		return c >= 'A' && c <= 'E' ? c : 0;
	}
	for (const char *p = answer; *p; p++) {
		char c = (char)toupper((unsigned char)*p);
		if (c >= 'A' && c <= 'E' && p[1] == ')' && (p == answer || !isalnum((unsigned char)p[-1]))) {
			*ret_reason = fh_xstrdup(p + 2 + strspn(p + 2, " "));
			return c;
		}
	}
	*ret_reason = fh_xstrdup("");
	return 0;
}

/* Shows the model the prompt, the answer, and the assertion's value under the name that the rubric has for it. */
static int ask_beside(const struct fh_assertion_call *call, const char *name, const char *prompt, char **ret_answer,
                      json_t *tokens, struct fh_error *err)
{
	int r = needs_text(call, err);
	if (r < 0)
		return r;
	fh_auto_json json_t *vars = fh_graded_vars(call);
	json_object_set_new(vars, "input", json_string(call->prompt));
	json_object_set(vars, name, (json_t *)(uintptr_t)call->value);
	json_object_set_new(vars, "completion", fh_rubric_parsed(call->output));
	struct fh_rubric_call c = fh_graded_call(call, vars);
	return fh_rubric_ask(&c, prompt, ret_answer, tokens, err);
}

static int check_factuality(const struct fh_assertion_call *call, struct fh_grade *ret, struct fh_error *err)
{
	static const struct {
		const char *option;
		double score;
	} categories[] = {
		{ "subset", 1 }, { "superset", 1 }, { "agree", 1 }, { "disagree", 0 }, { "differButFactual", 1 }
	};
	fh_auto_json json_t *tokens = json_object();
	fh_auto_free char *answer = NULL;
	fh_auto_free char *reason = NULL;
	int r = ask_beside(call, "ideal", fh_rubric_prompt_factuality, &answer, tokens, err);
	if (r < 0)
		return r;
	char category = category_of(answer, &reason);
	if (!category)
		return fh_graded_no_verdict(call, answer, err);
	const json_t *own = json_object_get(json_object_get(call->test, "options"), "factuality");
	double score = fh_json_num(own, categories[category - 'A'].option, categories[category - 'A'].score);
	fh_graded_set(ret, score > 0, score, FH_TAKE_PTR(reason), tokens);
	return 0;
}

static int check_closed_qa(const struct fh_assertion_call *call, struct fh_grade *ret, struct fh_error *err)
{
	fh_auto_json json_t *tokens = json_object();
	fh_auto_free char *answer = NULL;
	int r = ask_beside(call, "criteria", fh_rubric_prompt_closed_qa, &answer, tokens, err);
	if (r < 0)
		return r;
	struct fh_str text = fh_text_trim(fh_str(answer));
	char last = text.n ? text.p[text.n - 1] : 0;
	if (last != 'Y' && last != 'N')
		return fh_graded_no_verdict(call, answer, err);
	bool pass = last == 'Y';
	fh_graded_set(ret, pass, pass,
	              fh_xasprintf("The submission %s the criterion:\n%s", pass ? "meets" : "does not meet", answer),
	              tokens);
	return 0;
}

/* ---------------------------------------------------------------------------------------------------------- g-eval */

static const json_t *part_of_prompt(const struct fh_rubric_call *c, const char *part)
{
	const json_t *prompt = fh_rubric_prompt(c);
	return json_is_object(prompt) ? json_object_get(prompt, part) : NULL;
}

/* g-eval: asks for evaluation steps, then for a score from 0 to 10 by these steps. */
static int evaluate(const struct fh_assertion_call *call, const char *criteria, double *ret_score, char **ret_reason,
                    json_t *tokens, struct fh_error *err)
{
	fh_auto_json json_t *vars = json_pack("{s:s}", "criteria", criteria);
	struct fh_rubric_call c = fh_graded_call(call, vars);
	fh_auto_free char *steps_text = NULL;
	fh_auto_free char *answer = NULL;
	int r = fh_rubric_ask_with(&c, part_of_prompt(&c, "steps"), fh_rubric_prompt_steps, &steps_text, tokens, err);
	if (r < 0)
		return r;
	fh_auto_json json_t *object = fh_rubric_object(steps_text);
	const json_t *steps = json_object_get(object, "steps");
	struct fh_buf joined = FH_BUF_INIT(0);
	for (size_t i = 0; i < json_array_size(steps); i++)
		fh_buf_addf(&joined, "%s%s", i ? "\n- " : "", json_string_value(json_array_get(steps, i)));
	bool none = joined.n == 0;
	json_object_set_new(vars, "steps", fh_json_bytes(fh_buf_str(&joined)));
	fh_buf_release(&joined);
	if (none)
		return fh_graded_no_verdict(call, steps_text, err);
	fh_auto_json json_t *prompt = json_string(call->prompt);
	json_object_set_new(vars, "maxScore", json_string("10"));
	json_object_set_new(vars, "input", fh_rubric_parsed(prompt));
	json_object_set_new(vars, "output", fh_rubric_parsed(call->output));
	r = fh_rubric_ask_with(&c, part_of_prompt(&c, "evaluate"), fh_rubric_prompt_evaluate, &answer, tokens, err);
	if (r < 0)
		return r;
	fh_auto_json json_t *verdict = fh_rubric_object(answer);
	double score = -1;
	if (!number_of(json_object_get(verdict, "score"), &score) || score < 0 || score > 10)
		return fh_graded_no_verdict(call, answer, err);
	*ret_score = score / 10;
	*ret_reason = fh_xstrdup(fh_json_str(verdict, "reason", ""));
	return 0;
}

static int check_g_eval(const struct fh_assertion_call *call, struct fh_grade *ret, struct fh_error *err)
{
	fh_auto_json json_t *tokens = json_object();
	fh_auto_json json_t *list =
	    json_is_string(call->value) ? json_pack("[O]", call->value) : json_incref((json_t *)(uintptr_t)call->value);
	size_t n = json_array_size(list);
	double total = 0, threshold = call->has_threshold ? call->threshold : .7;
	struct fh_buf reasons = FH_BUF_INIT(0);
	int r =
	    n ? 0 : fh_error_set(err, FH_E_ARGUMENT, "g-eval must have a criterion, or a list of criteria, as its value");
	for (size_t i = 0; i < n && r == 0; i++) {
		double score = 0;
		fh_auto_free char *reason = NULL;
		const char *criteria = json_string_value(json_array_get(list, i));
		r = evaluate(call, criteria ? criteria : "", &score, &reason, tokens, err);
		total += score;
		fh_buf_addf(&reasons, "%s%s", i ? "\n\n" : "", reason ? reason : "");
	}
	if (r < 0) {
		fh_buf_release(&reasons);
		return r;
	}
	double mean = total / (double)n;
	fh_graded_set(ret, (mean >= threshold) != call->inverse, call->inverse ? 1 - mean : mean,
	              fh_buf_take(&reasons, NULL), tokens);
	return 0;
}

const struct fh_assertion fh_assertion_llm_rubric = {
	.name = "llm-rubric", .check = check_rubric, .graded = true, .asks = 1 << FH_PROVIDER_ANSWER
};
const struct fh_assertion fh_assertion_search_rubric = {
	.name = "search-rubric", .check = check_rubric, .graded = true, .asks = 1 << FH_PROVIDER_ANSWER
};
const struct fh_assertion fh_assertion_agent_rubric = {
	.name = "agent-rubric", .check = check_rubric, .graded = true, .asks = 1 << FH_PROVIDER_ANSWER
};
const struct fh_assertion fh_assertion_factuality = {
	.name = "factuality", .check = check_factuality, .graded = true, .asks = 1 << FH_PROVIDER_ANSWER
};
const struct fh_assertion fh_assertion_model_graded_factuality = {
	.name = "model-graded-factuality", .check = check_factuality, .graded = true, .asks = 1 << FH_PROVIDER_ANSWER
};
const struct fh_assertion fh_assertion_closed_qa = {
	.name = "model-graded-closedqa", .check = check_closed_qa, .graded = true, .asks = 1 << FH_PROVIDER_ANSWER
};
const struct fh_assertion fh_assertion_g_eval = {
	.name = "g-eval", .check = check_g_eval, .graded = true, .asks = 1 << FH_PROVIDER_ANSWER
};
