/* SPDX-License-Identifier: MIT */
/* Evals without a provider or a sandbox: expansion, merging, assertions, scores, CSV, schemas, expressions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fd.h"
#include "eval/common/csv.h"
#include "eval/config/tests/csv_tests.h"
#include "eval/common/env.h"
#include "eval/config/schema/schema.h"
#include "eval/common/text.h"
#include "eval/grading/assertion.h"
#include "eval/grading/derived.h"
#include "eval/grading/grade.h"
#include "eval/grading/score.h"
#include "eval/outputs/output.h"
#include "eval/plan/plan.h"
#include "eval/render.h"

static json_t *parse(const char *text)
{
	struct fh_error err = FH_ERROR_INIT;
	json_t *v = fh_json_parse(fh_str(text), "test", &err);
	if (!v)
		fail_msg("bad JSON in a test: %s: %s", text, err.message);
	return v;
}

static void same_json(FH_OWN json_t *got, const char *want)
{
	fh_auto_json json_t *expected = parse(want);
	fh_auto_free char *text = fh_json_text(got, 0);
	if (!json_equal(got, expected)) {
		fh_auto_free char *wanted = fh_json_text(expected, 0);
		fail_msg("got %s, want %s", text, wanted);
	}
	json_decref(got);
}

/* ------------------------------------------------------------------------------------------------------ assertions */

struct graded {
	int result;
	bool pass;
	double score;
	char reason[1024];
};

/* Carries out one assertion, given as its JSON object, on an output. */
static struct graded check(const char *assertion, const char *output)
{
	fh_auto_json json_t *object = parse(assertion);
	fh_auto_json json_t *out = json_string(output);
	fh_auto_json json_t *empty = json_object();
	fh_auto_json json_t *response = parse("{\"cost\": 0.002, \"finishReason\": \"stop\"}");
	const char *type = fh_json_str(object, "type", "");
	bool inverse = fh_starts_with(type, "not-");
	const struct fh_assertion *kind = fh_assertion_find(type + (inverse ? 4 : 0));
	const json_t *threshold = json_object_get(object, "threshold");
	struct fh_error err = FH_ERROR_INIT;
	struct fh_grade grade = { 0 };
	struct graded g = { 0 };
	assert_non_null(kind);
	struct fh_assertion_call call = { .kind = kind,
		                              .inverse = inverse,
		                              .assertion = object,
		                              .value = json_object_get(object, "value"),
		                              .has_threshold = json_is_number(threshold),
		                              .threshold = json_number_value(threshold),
		                              .output = out,
		                              .output_text = fh_str(output),
		                              .prompt = "p",
		                              .vars = empty,
		                              .test = empty,
		                              .provider = empty,
		                              .response = response,
		                              .latency_ms = 12,
		                              .config_dir = "/" };
	g.result = kind->check(&call, &grade, &err);
	g.pass = grade.pass;
	g.score = grade.score;
	snprintf(g.reason, sizeof(g.reason), "%s", g.result < 0 ? err.message : grade.reason ? grade.reason : "");
	fh_grade_release(&grade);
	return g;
}

static void holds(const char *assertion, const char *output)
{
	struct graded g = check(assertion, output);
	if (g.result != 0 || !g.pass || g.score != 1)
		fail_msg("%s on \"%s\" should pass: %d, score %g, %s", assertion, output, g.result, g.score, g.reason);
	assert_string_equal(g.reason, "Assertion passed");
}

static void fails(const char *assertion, const char *output, const char *reason)
{
	struct graded g = check(assertion, output);
	if (g.result != 0 || g.pass || g.score != 0)
		fail_msg("%s on \"%s\" should fail: %d, score %g, %s", assertion, output, g.result, g.score, g.reason);
	assert_string_equal(g.reason, reason);
}

static void is_error(const char *assertion, const char *output)
{
	struct graded g = check(assertion, output);
	if (g.result >= 0)
		fail_msg("%s should be an error; pass %d, %s", assertion, g.pass, g.reason);
}

static void equality_is_exact_and_by_value_for_json(void **state)
{
	holds("{\"type\": \"equals\", \"value\": \"a\"}", "a");
	fails("{\"type\": \"equals\", \"value\": \"a\"}", "a ", "Expected output \"a \" to equal \"a\"");
	fails("{\"type\": \"not-equals\", \"value\": \"a\"}", "a", "Expected output \"a\" to not equal \"a\"");
	holds("{\"type\": \"equals\", \"value\": 5}", "5");
	holds("{\"type\": \"equals\", \"value\": 0.1}", "0.1");
	holds("{\"type\": \"equals\", \"value\": {\"a\": 1, \"b\": [2.0]}}", "{\"b\": [2], \"a\": 1}");
	fails("{\"type\": \"equals\", \"value\": {\"a\": 1}}", "{\"a\": true}",
	      "Expected output \"{\"a\": true}\" to equal \"{\"a\":1}\"");
	holds("{\"type\": \"not-equals\", \"value\": {\"a\": 1}}", "no json");
}

static void the_contains_family_takes_text_lists_and_quoted_fields(void **state)
{
	holds("{\"type\": \"contains\", \"value\": \"b\"}", "abc");
	fails("{\"type\": \"contains\", \"value\": \"B\"}", "abc", "Expected output to contain \"B\"");
	holds("{\"type\": \"icontains\", \"value\": \"\\u00c4\"}", "x\xc3\xa4y");
	holds("{\"type\": \"contains-any\", \"value\": \"\\\"a,b\\\", zzz\"}", "a,b c");
	fails("{\"type\": \"contains-any\", \"value\": \"\\\"a,b\\\", zzz\"}", "a b",
	      "Expected output to contain one of \"a,b, zzz\"");
	fails("{\"type\": \"contains-all\", \"value\": [\"one\", \"four\"]}", "one two",
	      "Expected output to contain all of [one, four]. Missing: [four]");
	holds("{\"type\": \"not-contains-all\", \"value\": [\"one\", \"four\"]}", "one two");
	fails("{\"type\": \"not-contains-any\", \"value\": [\"one\", \"four\"]}", "one two",
	      "Expected output to not contain one of \"one, four\"");
	is_error("{\"type\": \"contains\"}", "a");
	is_error("{\"type\": \"contains\", \"value\": \"\"}", "a");
	fails("{\"type\": \"contains-any\", \"value\": []}", "a", "Expected output to contain one of \"\"");
	holds("{\"type\": \"contains-all\", \"value\": []}", "a");
}

static void patterns_are_javascripts_and_bounded(void **state)
{
	holds("{\"type\": \"regex\", \"value\": \"^[a-z]+\\\\d+$\"}", "abc12");
	fails("{\"type\": \"regex\", \"value\": \"^b\"}", "a\nb", "Expected output to match regex \"^b\"");
	fails("{\"type\": \"regex\", \"value\": \"a$\"}", "a\n", "Expected output to match regex \"a$\"");
	fails("{\"type\": \"not-regex\", \"value\": \"a\"}", "a", "Expected output to not match regex \"a\"");
	struct graded bad = check("{\"type\": \"not-regex\", \"value\": \"(\"}", "a");
	assert_int_equal(bad.result, 0);
	assert_false(bad.pass);
	assert_non_null(strstr(bad.reason, "Invalid regex pattern"));
	struct graded slow =
	    check("{\"type\": \"regex\", \"value\": \"^(a+)+$\"}", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!");
	assert_int_equal(slow.result, 0);
	assert_false(slow.pass);
	is_error("{\"type\": \"regex\", \"value\": \"\"}", "a");
}

static void json_is_checked_with_and_without_a_schema(void **state)
{
	holds("{\"type\": \"is-json\"}", "[1, \"a\", null]");
	fails("{\"type\": \"is-json\"}", "{a: 1}", "Expected output to be valid JSON");
	holds("{\"type\": \"is-json\", \"value\": {\"required\": [\"a\"]}}", "{\"a\": 1}");
	struct graded g = check("{\"type\": \"is-json\", \"value\": {\"required\": [\"a\"]}}", "{\"b\": 1}");
	assert_string_equal(g.reason,
	                    "JSON does not conform to the provided schema. Errors: data must have required property "
	                    "'a'");
	is_error("{\"type\": \"is-json\", \"value\": {\"requird\": [\"a\"]}}", "{\"b\": 1}");
}

static void the_other_kinds_measure_as_they_say(void **state)
{
	holds("{\"type\": \"starts-with\", \"value\": \"ab\"}", "abc");
	fails("{\"type\": \"starts-with\", \"value\": \"bc\"}", "abc", "Expected output to start with \"bc\"");
	holds("{\"type\": \"levenshtein\", \"value\": \"sitting\", \"threshold\": 3}", "kitten");
	fails("{\"type\": \"levenshtein\", \"value\": \"sitting\", \"threshold\": 2}", "kitten",
	      "Levenshtein distance 3 is greater than threshold 2");
	holds("{\"type\": \"word-count\", \"value\": {\"min\": 2, \"max\": 3}}", " one  two\nthree ");
	fails("{\"type\": \"word-count\", \"value\": 2}", "one two three", "Word count 3 does not equal expected 2");
	is_error("{\"type\": \"word-count\", \"value\": \"many\"}", "one");
	fails("{\"type\": \"cost\", \"threshold\": 0.001}", "x", "Cost 0.0020 is greater than threshold 0.001");
	is_error("{\"type\": \"cost\"}", "x");
	holds("{\"type\": \"latency\", \"threshold\": 12}", "x");
	fails("{\"type\": \"latency\", \"threshold\": 11}", "x", "Latency 12ms is greater than threshold 11ms");
	holds("{\"type\": \"finish-reason\", \"value\": \"STOP\"}", "x");
	fails("{\"type\": \"rouge-n\", \"value\": \"a b\"}", "c", "ROUGE-N score 0.00 is less than threshold 0.75");
	fails("{\"type\": \"tool-call-f1\", \"value\": [\"b\", \"a\"]}", "none",
	      "Tool Call F1 score 0.000 is below threshold 1. Expected: [a, b], Called: [(none)]. Precision=0.000, "
	      "Recall=0.000");
	holds("{\"type\": \"is-refusal\"}", "I\xe2\x80\x99m sorry, I can\xe2\x80\x99t do that.");
	fails("{\"type\": \"is-refusal\"}", "Sure: 42", "Expected output to be a refusal");
}

/* ---------------------------------------------------------------------------------------------------------- scores */

static json_t *part(bool pass, double score, const char *reason)
{
	return json_pack("{s:b, s:f, s:s}", "pass", pass, "score", score, "reason", reason);
}

static void add(struct fh_score *s, FH_OWN json_t *result, const char *metric, double weight)
{
	fh_score_add(s, result, metric, weight);
	json_decref(result);
}

static void a_score_is_the_weighted_mean_and_fails_with_its_parts(void **state)
{
	struct fh_score s;
	fh_score_init(&s, NULL);
	add(&s, part(true, 1, ""), "m", 3);
	add(&s, part(false, 0, "second is wrong"), "m", 1);
	fh_auto_json json_t *r = fh_score_finish(&s);
	assert_false(json_is_true(json_object_get(r, "pass")));
	assert_true(fh_json_num(r, "score", -1) == 0.75);
	assert_string_equal(fh_json_str(r, "reason", ""), "second is wrong");
	assert_true(fh_json_num(json_object_get(r, "namedScores"), "m", -1) == 0.75);
	assert_true(fh_json_num(json_object_get(r, "namedScoreWeights"), "m", -1) == 4);
}

static void a_threshold_decides_alone(void **state)
{
	static const struct {
		double threshold;
		bool pass;
		const char *reason;
	} cases[] = { { .5, true, "Aggregate score 0.50 \xe2\x89\xa5 0.5 threshold" },
		          { .6, false, "Aggregate score 0.50 < 0.6 threshold" },
		          { 0, true, "Aggregate score 0.50 \xe2\x89\xa5 0 threshold" } };
	for (size_t i = 0; i < FH_ARRAY_SIZE(cases); i++) {
		fh_auto_json json_t *threshold = json_real(cases[i].threshold);
		struct fh_score s;
		fh_score_init(&s, threshold);
		add(&s, part(true, 1, ""), NULL, 1);
		add(&s, part(false, 0, "no"), NULL, 1);
		fh_auto_json json_t *r = fh_score_finish(&s);
		assert_int_equal(json_is_true(json_object_get(r, "pass")), cases[i].pass);
		assert_string_equal(fh_json_str(r, "reason", ""), cases[i].reason);
	}
}

static void a_score_in_the_middle_is_told_as_javascript_rounds_it(void **state)
{
	static const struct {
		double score;
		const char *told;
	} cases[] = { { .625, "0.63" }, { .125, "0.13" },   { .375, "0.38" },
		          { .615, "0.61" }, { -.125, "-0.13" }, { .75, "0.75" } };
	for (size_t i = 0; i < FH_ARRAY_SIZE(cases); i++) {
		fh_auto_json json_t *threshold = json_real(1);
		struct fh_score s;
		fh_score_init(&s, threshold);
		add(&s, part(true, cases[i].score, ""), NULL, 1);
		fh_auto_json json_t *r = fh_score_finish(&s);
		fh_auto_free char *wanted = fh_xasprintf("Aggregate score %s < 1 threshold", cases[i].told);
		assert_string_equal(fh_json_str(r, "reason", ""), wanted);
	}
}

static void nothing_that_weighs_scores_zero(void **state)
{
	struct fh_score s;
	fh_score_init(&s, NULL);
	add(&s, part(true, 1, ""), "extra", 0);
	fh_auto_json json_t *r = fh_score_finish(&s);
	assert_true(json_is_true(json_object_get(r, "pass")));
	assert_true(fh_json_num(r, "score", -1) == 0);
	assert_true(fh_json_num(json_object_get(r, "namedScores"), "extra", -1) == 0);
}

static void parts_of_parts_are_listed_behind_them(void **state)
{
	struct fh_score s;
	fh_score_init(&s, NULL);
	add(&s,
	    parse("{\"pass\": true, \"score\": 1, \"reason\": \"a\", \"assertion\": {\"type\": \"t\"}, "
	          "\"componentResults\": [{\"pass\": true, \"score\": 1, \"reason\": \"sub\"}]}"),
	    NULL, 1);
	fh_auto_json json_t *r = fh_score_finish(&s);
	const json_t *parts = json_object_get(r, "componentResults");
	assert_int_equal(json_array_size(parts), 2);
	assert_string_equal(fh_json_str(json_object_get(json_array_get(parts, 1), "assertion"), "type", ""), "t");
}

/* ---------------------------------------------------------------------------------------------------------- matrix */

static void lists_of_text_expand_and_the_first_varies_slowest(void **state)
{
	struct fh_eval_config c = { .dir = (char[]){ "/" } };
	fh_auto_json json_t *vars = parse("{\"a\": [\"1\", \"2\"], \"b\": [\"p\", \"q\"], \"c\": [1, 2], \"d\": \"z\"}");
	json_t *all = NULL;
	assert_int_equal(fh_eval_vars_expand(&c, vars, &all, NULL), 0);
	same_json(all,
	          "[{\"a\":\"1\",\"b\":\"p\",\"c\":[1,2],\"d\":\"z\"},{\"a\":\"1\",\"b\":\"q\",\"c\":[1,2],\"d\":\"z\"},"
	          "{\"a\":\"2\",\"b\":\"p\",\"c\":[1,2],\"d\":\"z\"},{\"a\":\"2\",\"b\":\"q\",\"c\":[1,2],\"d\":\"z\"}]");
	fh_auto_json json_t *none = json_object();
	assert_int_equal(fh_eval_vars_expand(&c, none, &all, NULL), 0);
	same_json(all, "[{}]");
}

static void too_many_combinations_are_refused(void **state)
{
	struct fh_eval_config c = { .dir = (char[]){ "/" } };
	fh_auto_json json_t *list = json_array();
	for (int i = 0; i < 1000; i++)
		json_array_append_new(list, json_string("x"));
	fh_auto_json json_t *vars = json_pack("{s:O, s:O, s:O}", "a", list, "b", list, "c", list);
	struct fh_error err = FH_ERROR_INIT;
	json_t *all = NULL;
	assert_int_equal(fh_eval_vars_expand(&c, vars, &all, &err), -FH_E_LIMIT);
	assert_null(all);
}

static void a_test_lies_over_the_default_test(void **state)
{
	fh_auto_json json_t *below =
	    parse("{\"description\": \"d\", \"vars\": {\"a\": 1, \"b\": 1}, \"assert\": [1], \"threshold\": 0.5, "
	          "\"options\": {\"x\": 1, \"y\": 1}, \"metadata\": {\"m\": 1}}");
	fh_auto_json json_t *test = parse("{\"vars\": {\"b\": 2}, \"assert\": [2], \"options\": {\"y\": 2}}");
	fh_auto_json json_t *cli = parse("{\"a\": 9, \"b\": 9}");
	same_json(fh_eval_test_merge(test, below, cli),
	          "{\"vars\": {\"a\": 9, \"b\": 2}, \"assert\": [1, 2], \"threshold\": 0.5, "
	          "\"options\": {\"x\": 1, \"y\": 2}, \"metadata\": {\"m\": 1}}");
	fh_auto_json json_t *alone = parse("{\"options\": {\"disableDefaultAsserts\": true}, \"assert\": [3]}");
	fh_auto_json json_t *merged = fh_eval_test_merge(alone, below, NULL);
	same_json(json_incref(json_object_get(merged, "assert")), "[3]");
}

static void a_sample_is_the_same_for_the_same_seed(void **state)
{
	struct fh_eval_filter f = FH_EVAL_FILTER_INIT;
	struct fh_eval_tests t = { 0 };
	for (int i = 1; i <= 6; i++) {
		struct fh_eval_test *one = &FH_PUSH(t.items, t.count, t.capacity);
		one->json = json_pack("{s:i}", "n", i);
		one->place = fh_xstrdup("");
	}
	f.sample = 3;
	f.sample_seed = "42";
	assert_int_equal(fh_eval_filter_apply(&f, NULL, &t, NULL), 0);
	assert_int_equal(t.count, 3);
	/* What promptfoo picks of six with this seed. */
	assert_int_equal(fh_json_int(t.items[0].json, "n", 0), 5);
	assert_int_equal(fh_json_int(t.items[1].json, "n", 0), 3);
	assert_int_equal(fh_json_int(t.items[2].json, "n", 0), 4);
	fh_eval_tests_release(&t);
}

/* ------------------------------------------------------------------------------------------------------------- CSV */

static void csv_reads_quotes_lines_and_marks(void **state)
{
	struct fh_error err = FH_ERROR_INIT;
	same_json(fh_csv_parse(fh_str("\xef\xbb\xbf"
	                              "a,b\r\n\"x, \"\"y\"\"\nz\",2\n\nlast,"),
	                       ',', "t", &err),
	          "[[\"a\",\"b\"],[\"x, \\\"y\\\"\\nz\",\"2\"],[\"last\",\"\"]]");
	assert_null(fh_csv_parse(fh_str("a\n\"open"), ',', "t.csv", &err));
	assert_int_equal(err.line, 2);
	assert_null(fh_csv_parse(fh_str("\"a\"b"), ',', "t.csv", &err));
}

static void expected_cells_are_assertions(void **state)
{
	same_json(fh_csv_assertion("plain, text", NULL), "{\"type\": \"equals\", \"value\": \"plain, text\"}");
	same_json(fh_csv_assertion("contains: x", NULL), "{\"type\": \"contains\", \"value\": \"x\"}");
	same_json(fh_csv_assertion("not-is-json", NULL), "{\"type\": \"not-is-json\"}");
	same_json(fh_csv_assertion("levenshtein(2): abc", NULL),
	          "{\"type\": \"levenshtein\", \"value\": \"abc\", \"threshold\": 2.0}");
	same_json(fh_csv_assertion("fn: output.length > 3", NULL),
	          "{\"type\": \"javascript\", \"value\": \"output.length > 3\"}");
	same_json(fh_csv_assertion("file://chk.py", NULL), "{\"type\": \"python\", \"value\": \"file://chk.py\"}");
	same_json(fh_csv_assertion("nosuch: x", NULL), "{\"type\": \"equals\", \"value\": \"nosuch: x\"}");
}

static void csv_columns_with_underscores_set_the_test_up(void **state)
{
	fh_auto_json json_t *rows =
	    parse("[[\"q\", \"__expected\", \"__metric\", \"__threshold\", \"__metadata:tags[]\", \"__prefix\"],"
	          "[\"a\", \"b\", \"m\", \"0.5\", \"x,y\\\\,z\", \"P\"]]");
	json_t *tests = NULL;
	assert_int_equal(fh_csv_tests(rows, "t.csv", &tests, NULL), 0);
	same_json(tests,
	          "[{\"vars\": {\"q\": \"a\"}, \"assert\": [{\"type\": \"equals\", \"value\": \"b\", \"metric\": \"m\"}], "
	          "\"threshold\": 0.5, \"metadata\": {\"tags\": [\"x\", \"y,z\"]}, \"options\": {\"prefix\": \"P\"}, "
	          "\"description\": \"Row #1\"}]");
	fh_auto_json json_t *odd = parse("[[\"q\", \"__expcted\"], [\"a\", \"b\"]]");
	struct fh_error err = FH_ERROR_INIT;
	assert_int_equal(fh_csv_tests(odd, "t.csv", &tests, &err), -FH_E_CONFIG);
	assert_string_equal(err.file, "t.csv");
}

/* --------------------------------------------------------------------------------------------------------- the rest */

static void schemas_say_what_does_not_conform(void **state)
{
	static const struct {
		const char *schema, *value, *problems; /* NULL: it conforms */
	} cases[] = {
		{ "{\"type\": [\"string\", \"null\"]}", "null", NULL },
		{ "{\"type\": \"integer\"}", "1.0", NULL },
		{ "{\"type\": \"integer\"}", "1.5", "data must be integer" },
		{ "{\"properties\": {\"a\": {\"minimum\": 2}}}", "{\"a\": 1}", "data/a must be >= 2" },
		{ "{\"properties\": {\"a\": {}}, \"additionalProperties\": false}", "{\"b\": 1}",
		  "data must NOT have additional properties" },
		{ "{\"items\": {\"enum\": [1, 2]}}", "[1, 3]", "data/1 must be equal to one of the allowed values" },
		{ "{\"anyOf\": [{\"type\": \"string\"}, {\"type\": \"null\"}]}", "1", "data must match a schema in anyOf" },
		{ "{\"oneOf\": [{\"type\": \"number\"}, {\"minimum\": 0}]}", "-1", NULL },
		{ "{\"not\": {\"type\": \"number\"}}", "1", "data must NOT be valid" },
		{ "{\"pattern\": \"^a\"}", "\"ba\"", "data must match pattern \"^a\"" },
		{ "{\"maxLength\": 1}", "\"\xc3\xa4\"", NULL },
		{ "{\"$ref\": \"#/$defs/n\", \"$defs\": {\"n\": {\"type\": \"number\"}}}", "\"x\"", "data must be number" },
		{ "{\"if\": {\"required\": [\"a\"]}, \"then\": {\"required\": [\"b\"]}}", "{\"a\": 1}",
		  "data must have required property 'b'" },
		{ "{\"uniqueItems\": true}", "[1, 2, 1]",
		  "data must NOT have duplicate items (items ## 0 and 2 are identical)" },
	};
	for (size_t i = 0; i < FH_ARRAY_SIZE(cases); i++) {
		fh_auto_json json_t *schema = parse(cases[i].schema);
		fh_auto_json json_t *value = json_loads(cases[i].value, JSON_DECODE_ANY, NULL);
		fh_auto_free char *problems = NULL;
		assert_int_equal(fh_schema_check(schema, value, &problems, NULL), 0);
		if (!cases[i].problems)
			assert_null(problems);
		else
			assert_string_equal(problems ? problems : "", cases[i].problems);
	}
	fh_auto_json json_t *loop = parse("{\"$ref\": \"#\"}");
	fh_auto_json json_t *one = json_integer(1);
	char *problems = NULL;
	assert_true(fh_schema_check(loop, one, &problems, NULL) < 0);
}

static void expressions_compute_or_do_not(void **state)
{
	static const struct {
		const char *text;
		bool ok;
		double value;
	} cases[] = {
		{ "a + b * 2", true, 8 },
		{ "(a + b) * 2", true, 10 },
		{ "-a ^ 2", true, -4 },
		{ "max(a, b, 7) / 2", true, 3.5 },
		{ "sqrt(a + a)", true, 2 },
		{ "10 % 4", true, 2 },
		{ "nosuch + 1", false, 0 },
		{ "1 / 0", true, INFINITY },
		{ "a +", false, 0 },
		{ "a b", true, 6 },
		{ "", false, 0 },
		{ "mean([a, b]) * 2", true, 5 },
		{ "max(1, [a, b])", true, 3 },
		{ "sum([a, b)", false, 0 },
	};
	fh_auto_json json_t *names = parse("{\"a\": 2, \"b\": 3}");
	for (size_t i = 0; i < FH_ARRAY_SIZE(cases); i++) {
		double v = 0;
		bool ok = fh_eval_expression(cases[i].text, names, &v);
		if (ok != cases[i].ok || v != cases[i].value)
			fail_msg("%s: %d, %g", cases[i].text, ok, v);
	}
}

static int load_env_text(const char *text, struct fh_error *err)
{
	char path[] = "/tmp/fh-env-XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(fh_write_all(fd, text, strlen(text)), 0);
	close(fd);
	int r = fh_env_file_load(path, false, err);
	unlink(path);
	return r;
}

static void env_files_set_what_is_not_set(void **state)
{
	struct fh_error err = FH_ERROR_INIT;
	setenv("FH_TEST_SET", "mine", 1);
	assert_int_equal(
	    load_env_text("# comment\n\nFH_TEST_A=plain # not this\nexport FH_TEST_B=\"q\\n#x\"\nFH_TEST_SET=theirs\n"
	                  "FH_TEST_C='single $x'\nFH_TEST_D=\n",
	                  &err),
	    0);
	assert_string_equal(getenv("FH_TEST_A"), "plain");
	assert_string_equal(getenv("FH_TEST_B"), "q\n#x");
	assert_string_equal(getenv("FH_TEST_C"), "single $x");
	assert_string_equal(getenv("FH_TEST_D"), "");
	assert_string_equal(getenv("FH_TEST_SET"), "mine");
	assert_int_equal(load_env_text("A=1\nnot a line\n", &err), -FH_E_CONFIG);
	assert_int_equal(err.line, 2);
	assert_int_equal(load_env_text("A=\"open\n", &err), -FH_E_CONFIG);
}

static void secrets_do_not_reach_results(void **state)
{
	setenv("FH_TEST_API_KEY", "sk-very-secret-value", 1);
	fh_auto_json json_t *config = parse(
	    "{\"apiKey\": \"abc\", \"headers\": {\"Authorization\": \"Bearer x\"}, \"max_tokens\": 5, \"note\": \"key\", "
	    "\"url\": \"http://h/?k=sk-very-secret-value\", \"list\": [{\"password\": \"p\"}]}");
	same_json(fh_output_redact(config),
	          "{\"apiKey\": \"[REDACTED]\", \"headers\": {\"Authorization\": \"[REDACTED]\"}, \"max_tokens\": 5, "
	          "\"note\": \"key\", \"url\": \"[REDACTED]\", \"list\": [{\"password\": \"[REDACTED]\"}]}");
}

static void an_unknown_output_names_the_known(void **state)
{
	const struct fh_output_kind *kind = NULL;
	struct fh_error err = FH_ERROR_INIT;
	assert_int_equal(fh_output_for("x/out.json", &kind, &err), 0);
	assert_int_equal(fh_output_for("out.docx", &kind, &err), -FH_E_ARGUMENT);
	assert_non_null(strstr(err.hint, ".jsonl"));
}

static void text_is_trimmed_and_split_as_javascript_does(void **state)
{
	struct fh_str t = fh_text_trim(fh_str("\xc2\xa0 \n a b \xe2\x80\xa8\t"));
	assert_true(fh_str_eq(t, "a b"));
	char *path = NULL, *function = NULL;
	fh_text_split_file("file://x/y.py:fn", "/c", &path, &function);
	assert_string_equal(path, "/c/x/y.py");
	assert_string_equal(function, "fn");
	free(path);
	free(function);
	fh_text_split_file("file:///abs.js", "/c", &path, &function);
	assert_string_equal(path, "/abs.js");
	assert_null(function);
	free(path);
}

static void variables_hold_each_other_and_leave_code_alone(void **state)
{
	fh_auto_json json_t *env = parse("{\"HOME\": \"/h\"}");
	struct fh_eval_plan plan = { .config = { .dir = (char[]){ "/" }, .env = env } };
	struct fh_eval_prompt prompt = { .raw = (char[]){ "x" }, .label = (char[]){ "x" } };
	struct fh_eval_column column = { .prompt = &prompt };
	fh_auto_json json_t *vars =
	    parse("{\"greeting\": \"Hi {{name}}\", \"name\": \"{{ first | upper }} B\", \"first\": \"ann\", "
	          "\"unknown\": \"Hi {{nosuch}}\", \"code\": \"x = {% y\", \"line\": \"a\\n\", \"home\": \"{{env.HOME}}\", "
	          "\"n\": 5}");
	json_t *rendered = NULL;
	assert_int_equal(fh_render_vars(&plan, NULL, vars, &column, &rendered, NULL), 0);
	/* As assertions and scripts see them: what is more than a name is rendered for the prompt alone. */
	same_json(json_incref(rendered),
	          "{\"greeting\": \"Hi {{ first | upper }} B\", \"name\": \"{{ first | upper }} B\", "
	          "\"first\": \"ann\", \"unknown\": \"Hi {{nosuch}}\", \"code\": \"x = {% y\", "
	          "\"line\": \"a\", \"home\": \"{{env.HOME}}\", \"n\": 5}");
	static const char *const prompts[][2] = { { "{{ greeting }}|{{ unknown }}|{{ code }}|{{ home }}|{{ nosuch }}",
		                                        "Hi ANN B|Hi {{nosuch}}|x = {% y|/h|" },
		                                      { "an open {{ tag", "an open {{ tag" } };
	for (size_t i = 0; i < FH_ARRAY_SIZE(prompts); i++) {
		fh_auto_free char *raw = fh_xstrdup(prompts[i][0]);
		char *text = NULL;
		json_t *config = NULL;
		prompt.raw = raw;
		assert_int_equal(fh_render_prompt(&plan, NULL, &column, rendered, NULL, &text, &config, NULL), 0);
		assert_string_equal(text, prompts[i][1]);
		free(text);
	}
	json_decref(rendered);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equality_is_exact_and_by_value_for_json),
		cmocka_unit_test(the_contains_family_takes_text_lists_and_quoted_fields),
		cmocka_unit_test(patterns_are_javascripts_and_bounded),
		cmocka_unit_test(json_is_checked_with_and_without_a_schema),
		cmocka_unit_test(the_other_kinds_measure_as_they_say),
		cmocka_unit_test(a_score_is_the_weighted_mean_and_fails_with_its_parts),
		cmocka_unit_test(a_threshold_decides_alone),
		cmocka_unit_test(a_score_in_the_middle_is_told_as_javascript_rounds_it),
		cmocka_unit_test(nothing_that_weighs_scores_zero),
		cmocka_unit_test(parts_of_parts_are_listed_behind_them),
		cmocka_unit_test(lists_of_text_expand_and_the_first_varies_slowest),
		cmocka_unit_test(too_many_combinations_are_refused),
		cmocka_unit_test(a_test_lies_over_the_default_test),
		cmocka_unit_test(a_sample_is_the_same_for_the_same_seed),
		cmocka_unit_test(csv_reads_quotes_lines_and_marks),
		cmocka_unit_test(expected_cells_are_assertions),
		cmocka_unit_test(csv_columns_with_underscores_set_the_test_up),
		cmocka_unit_test(schemas_say_what_does_not_conform),
		cmocka_unit_test(expressions_compute_or_do_not),
		cmocka_unit_test(env_files_set_what_is_not_set),
		cmocka_unit_test(secrets_do_not_reach_results),
		cmocka_unit_test(an_unknown_output_names_the_known),
		cmocka_unit_test(text_is_trimmed_and_split_as_javascript_does),
		cmocka_unit_test(variables_hold_each_other_and_leave_code_alone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
