/* SPDX-License-Identifier: MIT */
/* Assertions on answers that are made of retrieved text: context-recall, context-relevance, context-faithfulness; and
 * conversation-relevance. The context is the variable `context` (text, or a list of chunks) or what contextTransform
 * takes out of the answer. */
#include <ctype.h>
#include <float.h>
#include "eval/assertions/graded/graded.h"
#include "eval/common/text.h"
#include "eval/rendering/transform.h"

#define WINDOW 5

static double threshold_of(const struct fh_assertion_call *call)
{
	return call->has_threshold ? call->threshold : .5;
}

static void set(const struct fh_assertion_call *call, struct fh_grade *ret, const char *what, double score,
                json_t *tokens, FH_OWN json_t *metadata)
{
	bool pass = score >= threshold_of(call) - DBL_EPSILON;
	fh_graded_set(ret, pass != call->inverse, call->inverse ? 1 - score : score,
	              fh_xasprintf("%s %.2f is %s %g", what, score, pass ? ">=" : "<", threshold_of(call)), tokens);
	ret->metadata = metadata;
}

/* The context of an assertion: a text, or a list of texts. New reference. */
static int context_of(const struct fh_assertion_call *call, bool or_prompt, json_t **ret, struct fh_error *err)
{
	json_t *context = json_object_get(call->vars, "context");
	const char *code = fh_json_str(call->assertion, "contextTransform", NULL);
	*ret = context ? json_incref(context) : or_prompt ? json_string(call->prompt) : NULL;
	if (code && *code) {
		fh_auto_json json_t *about = json_pack("{s:O, s:{s:s}, s:O*}", "vars", call->vars, "prompt", "label",
		                                       call->prompt, "metadata", json_object_get(call->response, "metadata"));
		json_decref(*ret);
		*ret = NULL;
		int r = fh_transform(fh_services_scripts(call->services), call->config_dir, code, "output",
		                     call->provider_output, about, ret, err);
		if (r < 0)
			return r;
	}
	bool fine = json_is_string(*ret) ? json_string_length(*ret) > 0 : json_array_size(*ret) > 0;
	for (size_t i = 0; i < json_array_size(*ret); i++)
		fine = fine && json_is_string(json_array_get(*ret, i));
	if (fine)
		return 0;
	json_decref(*ret);
	*ret = NULL;
	return fh_error_set(err, FH_E_ARGUMENT,
	                    "\"%s\" needs a context: the variable \"context\" (text, or a list of texts), "
	                    "or contextTransform",
	                    call->kind->name);
}

static json_t *joined(const json_t *context)
{
	struct fh_buf b = FH_BUF_INIT(0);
	if (json_is_string(context))
		return json_incref((json_t *)(uintptr_t)context);
	for (size_t i = 0; i < json_array_size(context); i++)
		fh_buf_addf(&b, "%s%s", i ? "\n\n" : "", json_string_value(json_array_get(context, i)));
	json_t *text = fh_json_bytes(fh_buf_str(&b));
	fh_buf_release(&b);
	return text;
}

static int query_of(const struct fh_assertion_call *call, json_t **ret, struct fh_error *err)
{
	*ret = json_object_get(call->vars, "query");
	return json_is_string(*ret) ? 0
	                            : fh_error_set(err, FH_E_ARGUMENT, "\"%s\" needs the variable \"query\", the question",
	                                           call->kind->name);
}

static int ask(const struct fh_assertion_call *call, const json_t *vars, const char *prompt, char **ret, json_t *tokens,
               struct fh_error *err)
{
	struct fh_rubric_call c = fh_graded_call(call, vars);
	return fh_rubric_ask(&c, prompt, ret, tokens, err);
}

/* The lines of a text that are not blank. */
static json_t *lines_of(const char *text)
{
	json_t *list = json_array();
	while (*text) {
		size_t n = strcspn(text, "\n");
		if (fh_text_trim((struct fh_str){ text, n }).n > 0)
			json_array_append_new(list, fh_json_bytes((struct fh_str){ text, n }));
		text += n + (text[n] == '\n');
	}
	return list;
}

/* The sentences of one paragraph, or its lines when it has several. A list mark ("1.") is no sentence. */
static json_t *sentences_of(const char *text)
{
	fh_auto_json json_t *lines = lines_of(text);
	json_t *list = json_array();
	bool many = json_array_size(lines) > 1;
	for (const char *s = text; *s;) {
		size_t n = 0;
		while (s[n] && !(many ? s[n] == '\n' : n > 0 && strchr(".!?", s[n - 1]) && isspace((unsigned char)s[n])))
			n++;
		struct fh_str one = fh_text_trim((struct fh_str){ s, n });
		size_t digits = 0;
		while (digits < one.n && isdigit((unsigned char)one.p[digits]))
			digits++;
		bool mark = digits > 0 && digits + 1 == one.n && (one.p[digits] == '.' || one.p[digits] == ')');
		if (one.n > 0 && !mark)
			json_array_append_new(list, fh_json_bytes(one));
		s += n + (s[n] != '\0');
	}
	return list;
}

static int check_recall(const struct fh_assertion_call *call, struct fh_grade *ret, struct fh_error *err)
{
	json_t *context = NULL;
	if (!json_is_string(call->value))
		return fh_error_set(err, FH_E_ARGUMENT, "context-recall must have a string value: the expected answer");
	int r = context_of(call, true, &context, err);
	if (r < 0)
		return r;
	fh_auto_json json_t *vars = fh_graded_vars(call), *tokens = json_object(), *parts = json_array();
	json_object_set_new(vars, "context", joined(context));
	json_object_set(vars, "groundTruth", (json_t *)(uintptr_t)call->value);
	fh_auto_free char *answer = NULL;
	r = ask(call, vars, fh_rubric_prompt_recall, &answer, tokens, err);
	fh_auto_json json_t *lines = r == 0 ? lines_of(answer) : NULL;
	size_t all = 0, attributed = 0;
	for (size_t i = 0; i < json_array_size(lines); i++) {
		const char *line = json_string_value(json_array_get(lines, i)), *text = line;
		bool not = strcasestr(line, "[Not Attributed]"), yes = strcasestr(line, "[Attributed]");
		size_t digits = strspn(text, "0123456789");
		if (!not &&!yes)
			continue;
		if (digits > 0 && text[digits] == '.')
			text += digits + 1 + strspn(text + digits + 1, " ");
		size_t n = strcspn(text, ".");
		bool numbered = text != line;
		struct fh_str sentence = fh_text_trim((struct fh_str){ text, n + (numbered && text[n] == '.') });
		json_array_append_new(parts,
		                      json_pack("{s:o, s:b}", "sentence", fh_json_bytes(sentence), "attributed", yes && !not ));
		all++;
		attributed += yes && !not ;
	}
	if (r == 0 && all == 0)
		r = fh_graded_no_verdict(call, answer, err);
	if (r == 0)
		set(call, ret, "Recall", (double)attributed / (double)all, tokens,
		    json_pack("{s:O, s:O, s:I, s:I, s:f}", "context", context, "sentenceAttributions", parts, "totalSentences",
		              (json_int_t)all, "attributedSentences", (json_int_t)attributed, "score",
		              (double)attributed / (double)all));
	json_decref(context);
	return r;
}

static char *plain(const char *text)
{
	fh_auto_free char *lower = fh_text_lower(fh_str(text));
	struct fh_buf b = FH_BUF_INIT(0);
	for (const char *p = lower; *p; p++)
		if (!isspace((unsigned char)*p))
			fh_buf_addc(&b, *p);
		else if (b.n && b.p[b.n - 1] != ' ')
			fh_buf_addc(&b, ' ');
	return fh_buf_take(&b, NULL);
}

static json_t *distinct(const json_t *list)
{
	json_t *once = json_array();
	for (size_t i = 0; i < json_array_size(list); i++) {
		bool seen = false;
		for (size_t j = 0; j < json_array_size(once) && !seen; j++)
			seen = json_equal(json_array_get(once, j), json_array_get(list, i));
		if (!seen)
			json_array_append(once, json_array_get(list, i));
	}
	return once;
}

static bool quotes_context(const json_t *sentences, const char *context)
{
	fh_auto_free char *whole = plain(context);
	for (size_t i = 0; i < json_array_size(sentences); i++) {
		const char *s = json_string_value(json_array_get(sentences, i));
		s += strspn(s, " \t0123456789.)*-");
		fh_auto_free char *one = plain(s);
		if (*one && strstr(whole, one))
			return true;
	}
	return false;
}

static int check_relevance(const struct fh_assertion_call *call, struct fh_grade *ret, struct fh_error *err)
{
	json_t *context = NULL, *query = NULL;
	int r = query_of(call, &query, err);
	if (r == 0)
		r = context_of(call, false, &context, err);
	if (r < 0)
		return r;
	fh_auto_json json_t *vars = json_object(), *tokens = json_object(), *text = joined(context);
	json_object_set(vars, "context", text);
	json_object_set(vars, "query", query);
	fh_auto_free char *answer = NULL;
	r = ask(call, vars, fh_rubric_prompt_relevance, &answer, tokens, err);
	if (r < 0) {
		json_decref(context);
		return r;
	}
	fh_auto_json json_t *lines = lines_of(json_string_value(text));
	bool segmented = json_is_array(context) || json_array_size(lines) > 1,
	     none = strstr(answer, "Insufficient Information");
	fh_auto_json json_t *units = json_is_array(context) ? json_incref(context) : sentences_of(json_string_value(text));
	fh_auto_json json_t *said = none ? json_array() : segmented ? lines_of(answer) : sentences_of(answer);
	fh_auto_json json_t *sentences = distinct(said);
	size_t n = FH_MIN(json_array_size(sentences), json_array_size(units));
	double score = json_array_size(units) ? (double)n / (double)json_array_size(units) : 0;
	if (!none && !quotes_context(sentences, json_string_value(text)))
		r = fh_graded_no_verdict(call, answer, err);
	else
		set(call, ret, "Context relevance", score, tokens,
		    json_pack("{s:O, s:{s:s}, s:O, s:I, s:I, s:O, s:I, s:b, s:f}", "context", context, "graderOutputs", "final",
		              answer, "extractedSentences", sentences, "totalContextUnits", (json_int_t)json_array_size(units),
		              "totalContextSentences", (json_int_t)json_array_size(units), "contextUnits", units,
		              "relevantSentenceCount", (json_int_t)n, "insufficientInformation", none, "score", score));
	json_decref(context);
	return r;
}

static size_t count_of(const char *text, const char *what)
{
	size_t n = 0;
	for (; (text = strstr(text, what)); text += strlen(what))
		n++;
	return n;
}

/* The share of statements that the grader found supported by the context; -1 when its answer holds no verdict. */
static double faithful_share(const char *answer, size_t statements)
{
	static const char final[] = "final verdict for each statement in order:";
	fh_auto_free char *lower = fh_text_lower(fh_str(answer));
	const char *at = strstr(lower, final);
	size_t yes = 0, all = 0;
	if (!at) {
		yes = count_of(lower, "verdict: yes");
		all = yes + count_of(lower, "verdict: no");
	}
	for (const char *s = at ? at + strlen(final) : ""; *s; s += strcspn(s, ".") + (s[strcspn(s, ".")] == '.')) {
		fh_auto_free char *one = fh_xstrndup(s, strcspn(s, "."));
		if (fh_text_trim(fh_str(one)).n == 0)
			continue;
		if (!strstr(one, "yes") && !strstr(one, "no"))
			return -1;
		yes += strstr(one, "yes") != NULL;
		all++;
	}
	if (all == 0)
		return -1;
	size_t missing = statements > all ? statements - all : 0;
	double share = 1 - ((double)(all - yes) + (double)missing) / (double)statements;
	return FH_MIN(1, FH_MAX(0, share));
}

static int check_faithfulness(const struct fh_assertion_call *call, struct fh_grade *ret, struct fh_error *err)
{
	json_t *context = NULL, *query = NULL;
	int r = query_of(call, &query, err);
	if (r == 0)
		r = context_of(call, false, &context, err);
	if (r < 0)
		return r;
	fh_auto_json json_t *vars = fh_graded_vars(call), *tokens = json_object();
	struct fh_rubric_call c = fh_graded_call(call, vars);
	const json_t *prompts = fh_rubric_prompt(&c);
	fh_auto_free char *listed = NULL;
	fh_auto_free char *answer = NULL;
	json_object_set(vars, "question", query);
	json_object_set_new(vars, "answer", fh_rubric_parsed(call->output));
	r = fh_rubric_ask_with(&c, json_array_get(prompts, 0), fh_rubric_prompt_statements, &listed, tokens, err);
	fh_auto_json json_t *statements = r == 0 ? lines_of(listed) : NULL;
	json_object_del(vars, "question");
	json_object_del(vars, "answer");
	if (r == 0 && json_array_size(statements) == 0)
		r = fh_graded_no_verdict(call, listed, err);
	json_object_set_new(vars, "context", joined(context));
	json_object_set(vars, "statements", statements);
	if (r == 0)
		r = fh_rubric_ask_with(&c, json_array_get(prompts, 1), fh_rubric_prompt_verdicts, &answer, tokens, err);
	double share = r == 0 ? faithful_share(answer, json_array_size(statements)) : -1;
	if (r == 0 && share < 0)
		r = fh_graded_no_verdict(call, answer, err);
	if (r == 0)
		set(call, ret, "Faithfulness", share, tokens, json_pack("{s:O}", "context", context));
	json_decref(context);
	return r;
}

static int ask_window(const struct fh_assertion_call *call, const json_t *messages, size_t from, size_t to, bool *ret,
                      json_t *tokens, struct fh_error *err)
{
	fh_auto_json json_t *vars = fh_graded_vars(call), *window = json_array();
	for (size_t i = from; i <= to; i++)
		json_array_append(window, json_array_get(messages, i));
	json_object_set(vars, "messages", window);
	fh_auto_free char *answer = NULL;
	int r = ask(call, vars, fh_rubric_prompt_conversation, &answer, tokens, err);
	if (r < 0)
		return r;
	fh_auto_json json_t *object = fh_rubric_object(answer);
	const char *verdict = fh_json_str(object, "verdict", "");
	*ret = strcmp(verdict, "yes") == 0;
	return *ret || strcmp(verdict, "no") == 0 ? 0 : fh_graded_no_verdict(call, answer, err);
}

/* Grades each turn together with those before it; the score is the share of relevant turns. */
static int check_conversation(const struct fh_assertion_call *call, struct fh_grade *ret, struct fh_error *err)
{
	const json_t *turns = json_object_get(call->vars, "_conversation");
	fh_auto_json json_t *messages = json_array_size(turns)
	                                    ? json_incref((json_t *)(uintptr_t)turns)
	                                    : json_pack("[{s:s, s:O}]", "input", call->prompt, "output", call->output);
	fh_auto_json json_t *tokens = json_object();
	size_t n = json_array_size(messages), relevant = 0,
	       window = (size_t)fh_json_num(call->config, "windowSize", WINDOW);
	for (size_t i = 0; i < n; i++) {
		bool yes = false;
		int r = ask_window(call, messages, i + 1 > window ? i + 1 - window : 0, i, &yes, tokens, err);
		if (r < 0)
			return r;
		relevant += yes;
	}
	double score = (double)relevant / (double)n;
	bool pass = score >= threshold_of(call) - DBL_EPSILON;
	fh_graded_set(ret, pass != call->inverse, call->inverse ? 1 - score : score,
	              fh_xasprintf("%zu out of %zu conversation windows were relevant", relevant, n), tokens);
	return 0;
}

const struct fh_assertion fh_assertion_context_recall = {
	.name = "context-recall", .check = check_recall, .graded = true, .asks = 1 << FH_PROVIDER_ANSWER
};
const struct fh_assertion fh_assertion_context_relevance = {
	.name = "context-relevance", .check = check_relevance, .graded = true, .asks = 1 << FH_PROVIDER_ANSWER
};
const struct fh_assertion fh_assertion_context_faithfulness = {
	.name = "context-faithfulness", .check = check_faithfulness, .graded = true, .asks = 1 << FH_PROVIDER_ANSWER
};
const struct fh_assertion fh_assertion_conversation = {
	.name = "conversation-relevance", .check = check_conversation, .graded = true, .asks = 1 << FH_PROVIDER_ANSWER
};
