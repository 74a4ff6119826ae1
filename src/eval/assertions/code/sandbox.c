/* SPDX-License-Identifier: MIT */
/*
 * The `sandbox` assertion compares the behaviour of the program in the output with that of a canonical solution. Its
 * fields are those that users of promptfoo asked for (its issue 3499); the `code` assertion does the work:
 *
 *     canonical_solution  a correct program
 *     unit_test_type      output_equality   calls of a function give equal values
 *                         raise_same        they raise the same exception
 *                         std_out_equality  both programs print the same
 *                         pass              the answer's program, and the calls, run to their end without an error
 *     sandbox             a directory that holds a root file system; or the name of a container image, of which only
 *                         the language is used
 *     call                an expression, or a list of them, that is evaluated, or appended to both programs. Without
 *                         it the canonical solution's last function is called without arguments, if functions are
 *                         compared or the canonical solution prints nothing by itself
 *     stdin               the programs' input, or a list: they run once for each input
 *     language, function, tolerance, limits, packages: as in `code`
 *
 * Calls become a test (guest/NAME/same_as.*) that contains the canonical solution and is judged apart from the
 * answer's program, as `tests` of `code` are. Output is compared outside of all sandboxes. Thus the canonical solution
 * is never in a sandbox with the answer's program.
 */
#include "eval/assertions/kinds.h"

#include <ctype.h>
#include <stdio.h>
#include "base/host/data.h"
#include "base/fd.h"
#include "base/text/nearest.h"
#include "base/path.h"
#include "code/declaration.h"
#include "code/extract.h"
#include "code/outline.h"
#include "code/program_text.h"
#include "eval/assertions/code/code.h"
#include "eval/assertions/code/code_language.h"
#include "eval/assertions/code/code_proof.h"
#include "judge/formats/format.h"
#include "judge/problems/languages.h"

enum form { FORM_VALUES, FORM_ERRORS, FORM_OUTPUT, FORM_PASS, FORM_COUNT_ };
static const char *const forms[FORM_COUNT_] = {
	[FORM_VALUES] = "output_equality",
	[FORM_ERRORS] = "raise_same",
	[FORM_OUTPUT] = "std_out_equality",
	[FORM_PASS] = "pass",
};

/* Names of the fields; those with a `code` name are passed on to the `code` assertion. */
static const struct {
	const char *name;
	bool is_of_code;
} fields[] = {
	{ "canonical_solution", false },
	{ "unit_test_type", false },
	{ "sandbox", false },
	{ "call", false },
	{ "stdin", false },
	{ "language", true },
	{ "function", true },
	{ "tolerance", true },
	{ "limits", true },
	{ "packages", true },
};

/* An error whose message also holds the advice: the results show no hint of an error. */
#define wrong(err, ...) fh_code_wrong(err, "sandbox", __VA_ARGS__)

/* ----------------------------------------------------------------------------------------------------------- fields */

static bool is_field(const char *key)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(fields); i++)
		if (fh_streq(fields[i].name, key))
			return true;
	return false;
}

static int check_keys(const json_t *f, bool common, struct fh_error *err)
{
	const char *key;
	json_t *value;
	json_object_foreach((json_t *)(uintptr_t)f, key, value)
	{
		if (is_field(key) || (common && fh_code_is_common_key(key)))
			continue;
		struct fh_nearest near = FH_NEAREST_INIT(key);
		for (size_t i = 0; i < FH_ARRAY_SIZE(fields); i++)
			fh_nearest_offer(&near, fields[i].name);
		wrong(err, "unknown field \"%s\"", key);
		if (near.best)
			fh_error_hint(err, "did you mean \"%s\"?", near.best);
		return -FH_E_CONFIG;
	}
	return 0;
}

static int read_form(const json_t *f, enum form *ret, struct fh_error *err)
{
	const char *name = fh_json_str(f, "unit_test_type", "");
	for (*ret = 0; *ret < FORM_COUNT_ && !fh_streq(forms[*ret], name);)
		++*ret;
	if (*ret < FORM_COUNT_)
		return 0;
	wrong(err, *name ? "there is no unit_test_type \"%s\"%s" : "\"unit_test_type\" is missing%s%s", name, "");
	fh_error_hint(err, "output_equality, raise_same, std_out_equality or pass");
	return -FH_E_CONFIG;
}

static int check_solution(const json_t *f, enum form form, struct fh_error *err)
{
	const json_t *solution = json_object_get(f, "canonical_solution");
	if (form == FORM_PASS || (json_is_string(solution) && json_string_length(solution) > 0))
		return 0;
	return wrong(err, "\"canonical_solution\" is missing: the text of a program that is right");
}

static int validate(const json_t *assertion, struct fh_error *err)
{
	const json_t *f = fh_code_fields(assertion);
	const char *type = fh_json_str(f, "unit_test_type", ""), *file = fh_json_str(assertion, "value", "");
	enum form form;
	if (fh_starts_with(file, "file://")) /* the file is read when the assertion runs */
		return 0;
	int r = check_keys(f, f == assertion, err);
	if (!r)
		r = fh_code_language_check(f, "sandbox", err);
	if (r || strstr(type, "{{"))
		return r;
	r = read_form(f, &form, err);
	return r ? r : check_solution(f, form, err);
}

/* ---------------------------------------------------------------------------------------------- what is asked for */

struct asked {
	const struct fh_assertion_call *call;
	json_t *fields; /* the assertion's fields, with templates rendered */
	enum form form;
	struct fh_str canonical;
	const char *language;
	const char *container;  /* name of a container image, which only tells the language; NULL: no such name was given */
	char *image;            /* directory with a root file system */
	char *function;         /* function to call; NULL: neither the fields nor the canonical solution name one */
	json_t *calls, *inputs; /* lists of strings; calls may be empty */
	struct fh_buf *outputs; /* what the canonical solution printed, for each input; NULL before it ran */
};

static void asked_release(struct asked *a)
{
	for (size_t i = 0; a->outputs && i < json_array_size(a->inputs); i++)
		fh_buf_release(&a->outputs[i]);
	free(a->outputs);
	free(a->function);
	free(a->image);
	json_decref(a->calls);
	json_decref(a->inputs);
	json_decref(a->fields);
}

/* A field that is a string or a list of strings, as a list; an empty list when the field is missing. */
static int read_list(const json_t *f, const char *key, json_t **ret, struct fh_error *err)
{
	json_t *value = json_object_get(f, key), *item;
	size_t i;
	if (!value || json_is_string(value)) {
		*ret = value ? json_pack("[O]", value) : json_array();
		return 0;
	}
	if (!json_is_array(value) || json_array_size(value) == 0 || json_array_size(value) > FH_CODE_CASES_MAX)
		return wrong(err, "\"%s\" has to be a text, or a list of 1 to %d texts", key, FH_CODE_CASES_MAX);
	json_array_foreach(value, i, item)
	{
		if (!json_is_string(item))
			return wrong(err, "item %zu of \"%s\" is not text", i + 1, key);
	}
	*ret = json_incref(value);
	return 0;
}

/* The language that the name of a container image means: "docker.io/library/python:3.12-alpine" means python. */
static const char *language_of_image(const char *name)
{
	const char *slash = strrchr(name, '/'), *last = slash ? slash + 1 : name;
	return fh_code_language_of_image((struct fh_str){ last, strcspn(last, ":@") });
}

static int read_image(struct asked *a, struct fh_error *err)
{
	const char *name = fh_json_str(a->fields, "sandbox", ""), *language = fh_json_str(a->fields, "language", NULL);
	if (*name == '/' || *name == '.') {
		a->image = *name == '/' ? fh_xstrdup(name) : fh_xasprintf("%s/%s", a->call->config_dir, name);
		if (!fh_path_is_dir(a->image))
			return wrong(err, "sandbox: there is no directory %s", a->image);
	} else if (*name) {
		a->container = name;
		language = language ? language : language_of_image(name);
		if (!language)
			return wrong(err, "no language is known of the image \"%s\": give \"language\"", name);
	}
	language = language ? language : "python";
	a->language = fh_code_language_of_word(language, "sandbox", err);
	return a->language ? 0 : -FH_E_CONFIG;
}

static int read_asked(struct asked *a, struct fh_error *err)
{
	const json_t *from = fh_code_fields(a->call->assertion);
	if (from == a->call->assertion && json_is_object(a->call->value)) /* the value was loaded from a file */
		from = a->call->value;
	int r = check_keys(from, from == a->call->assertion, err);
	fh_auto_json json_t *own = json_object();
	for (size_t i = 0; i < FH_ARRAY_SIZE(fields); i++)
		if (json_object_get(from, fields[i].name))
			json_object_set(own, fields[i].name, json_object_get(from, fields[i].name));
	r = r ? r : fh_code_fields_render(own, a->call->vars, &a->fields, err);
	r = r ? r : read_form(a->fields, &a->form, err);
	r = r ? r : check_solution(a->fields, a->form, err);
	r = r ? r : read_image(a, err);
	r = r ? r : read_list(a->fields, "call", &a->calls, err);
	r = r ? r : read_list(a->fields, "stdin", &a->inputs, err);
	if (r)
		return r;
	if (json_array_size(a->inputs) == 0)
		json_array_append_new(a->inputs, json_string(""));
	a->canonical = fh_str(fh_json_str(a->fields, "canonical_solution", ""));
	const struct fh_code_calling *c = fh_code_calling_find(a->language);
	struct fh_str last = c ? c->last_function(a->canonical) : (struct fh_str){ "", 0 };
	const char *given = fh_json_str(a->fields, "function", "");
	if (*given && !fh_judge_is_name(fh_str(given))) /* the name becomes part of a program's text */
		return wrong(err, "function \"%.60s\" is not a name of a function", given);
	if (*given || last.n > 0)
		a->function = *given ? fh_xstrdup(given) : fh_xstrndup(last.p, last.n);
	return 0;
}

/* Used when no `call` is given: calls the function without arguments. */
static void call_the_function(struct asked *a)
{
	if (json_array_size(a->calls) == 0 && a->function)
		json_array_append_new(a->calls, json_sprintf("%s()", a->function));
}

/* The fields that the `code` assertion has too. */
static json_t *fields_for_code(const struct asked *a)
{
	json_t *made = json_object();
	for (size_t i = 0; i < FH_ARRAY_SIZE(fields); i++)
		if (fields[i].is_of_code && json_object_get(a->fields, fields[i].name))
			json_object_set(made, fields[i].name, json_object_get(a->fields, fields[i].name));
	json_object_set_new(made, "language", json_string(a->language));
	return made;
}

/* ------------------------------------------------------------------------------------------------- calls, compared */

static int add_test(const struct asked *a, const struct fh_code_calling *c, struct fh_buf *test, struct fh_error *err)
{
	fh_auto_free char *path = NULL;
	fh_auto_buf struct fh_buf helper = FH_BUF_INIT(FH_JUDGE_GUEST_MAX);
	int r = fh_judge_guest_path(fh_judge_language_of_name(a->language), c->same_as, &path, err);
	if (r >= 0)
		r = fh_file_read(path, &helper, err);
	if (r < 0)
		return r;
	fh_buf_add_str(test, fh_buf_str(&helper));
	fh_buf_addf(test, "%s(%s, ", c->same_as_function, a->form == FORM_ERRORS ? c->yes : c->no);
	c->add_string(test, a->canonical);
	fh_buf_adds(test, ", ");
	c->add_string(test, fh_str(a->function));
	fh_buf_addf(test, ", %s, [", a->function);
	size_t i;
	json_t *call;
	json_array_foreach(a->calls, i, call)
	{
		fh_buf_adds(test, i ? ", " : "");
		c->add_string(test, fh_str(json_string_value(call)));
	}
	fh_buf_addf(test, "], %.17g)\n", fh_json_num(a->fields, "tolerance", 0));
	return 0;
}

static int grade_calls(struct asked *a, struct fh_grade *ret, struct fh_error *err)
{
	const struct fh_code_calling *c = fh_code_calling_find(a->language);
	fh_auto_buf struct fh_buf test = FH_BUF_INIT(0);
	if (!c)
		return wrong(err, "%s calls functions of python or javascript: for %s take std_out_equality", forms[a->form],
		             a->language);
	if (a->image)
		return wrong(err, "a directory as \"sandbox\" goes with std_out_equality and pass");
	call_the_function(a);
	if (json_array_size(a->calls) == 0)
		return wrong(err, "\"canonical_solution\" defines no function: give \"function\" and \"call\", or compare what "
		                  "is printed (std_out_equality)");
	int r = add_test(a, c, &test, err);
	if (r < 0)
		return r;
	json_t *f = fields_for_code(a);
	json_object_set_new(f, "function", json_string(a->function));
	json_object_set_new(f, "tests", fh_json_bytes(fh_buf_str(&test)));
	fh_auto_code_spec struct fh_code_spec spec = { 0 };
	r = fh_code_spec_of_fields(f, &spec, err);
	if (r < 0)
		return r;
	spec.reference = a->canonical.p;
	return fh_code_grade(a->call, &spec, ret, err);
}

/* ------------------------------------------------------------------------------------------------ output, compared */

/* Puts the calls, one on each line, into the lines that are appended to both programs. */
static void put_behind(struct asked *a, struct fh_code_spec *spec)
{
	fh_auto_buf struct fh_buf lines = FH_BUF_INIT(0);
	const char *between = a->form == FORM_PASS ? fh_code_proof_between(a->language) : "";
	size_t i;
	json_t *call;
	if (a->form == FORM_PASS && json_array_size(a->calls) > 0)
		fh_buf_adds(&lines, fh_code_proof_checks_hold(a->language));
	json_array_foreach(a->calls, i, call)
	{
		if (i)
			fh_buf_addf(&lines, "\n%s", between);
		fh_buf_adds(&lines, json_string_value(call));
	}
	if (lines.n == 0)
		return;
	json_array_append_new(spec->owned, json_string(fh_buf_cstr(&lines)));
	spec->behind = json_string_value(json_array_get(spec->owned, json_array_size(spec->owned) - 1));
}

/* Runs the canonical solution on each input; *ret_any tells whether it printed anything. */
static int run_canonical(struct asked *a, const struct fh_code_spec *spec, bool *ret_any, struct fh_error *err)
{
	size_t n = json_array_size(a->inputs);
	*ret_any = false;
	if (!a->outputs)
		a->outputs = fh_xcalloc(n, sizeof(*a->outputs));
	for (size_t i = 0; i < n; i++) {
		fh_auto_free char *why = NULL;
		fh_buf_release(&a->outputs[i]);
		a->outputs[i] = (struct fh_buf)FH_BUF_INIT(0);
		int r = fh_code_output_of(a->call, spec, a->canonical, fh_str(json_string_value(json_array_get(a->inputs, i))),
		                          &a->outputs[i], &why, err);
		if (r < 0)
			return r;
		if (why)
			return wrong(err, "\"canonical_solution\" does not run through: %s", why);
		*ret_any = *ret_any || a->outputs[i].n > 0;
	}
	return 0;
}

static int compare_outputs(struct asked *a, struct fh_code_spec *spec, struct fh_error *err)
{
	bool any;
	int r = run_canonical(a, spec, &any, err);
	if (r >= 0 && !any && json_array_size(a->calls) == 0 && a->function) {
		call_the_function(a);
		put_behind(a, spec);
		r = run_canonical(a, spec, &any, err);
	}
	if (r >= 0 && !any) /* else a program that prints nothing would pass every check */
		r = wrong(err, "\"canonical_solution\" prints nothing to compare with: give \"call\", or take output_equality");
	for (size_t i = 0; r >= 0 && i < spec->n; i++)
		spec->cases[i].output = (struct fh_str){ fh_buf_cstr(&a->outputs[i]), a->outputs[i].n };
	return r;
}

static int grade_output(struct asked *a, struct fh_grade *ret, struct fh_error *err)
{
	json_t *f = fields_for_code(a), *cases = json_array(), *input;
	size_t i;
	json_array_foreach(a->inputs, i, input)
	    json_array_append_new(cases, json_pack("{s:O, s:s}", "stdin", input, "stdout", ""));
	json_object_set_new(f, "cases", cases);
	fh_auto_code_spec struct fh_code_spec spec = { 0 };
	int r = fh_code_spec_of_fields(f, &spec, err);
	if (r < 0)
		return r;
	spec.image = a->image;
	put_behind(a, &spec);
	for (i = 0; i < spec.n; i++)
		spec.cases[i].output = (struct fh_str){ NULL, 0 };
	spec.proof = a->form == FORM_PASS && json_array_size(a->calls) > 0;
	if (a->form == FORM_OUTPUT)
		r = compare_outputs(a, &spec, err);
	return r < 0 ? r : fh_code_grade(a->call, &spec, ret, err);
}

/* --------------------------------------------------------------------------------------------------- running through */

/* Whether the program gives a value to the name, or defines a function of it, anywhere: also where its outline does not
 * see it, as in "const a = f, name = g;", "exports.name = f" or behind another function on a line. */
static bool gives_value(struct fh_str code, struct fh_str name)
{
	fh_auto_free char *assigned = fh_xasprintf("%.*s =", FH_STR_ARGS(name));
	fh_auto_free char *defined = fh_xasprintf("function %.*s", FH_STR_ARGS(name));
	return fh_mentions(code, fh_str(assigned), " ") || fh_mentions(code, fh_str(defined), " (");
}

/* Whether the calls call a further function of the program's. */
static bool call_another(struct fh_str calls, struct fh_str code, struct fh_str one)
{
	for (size_t at = 0, end; at < calls.n; at = end + 1) {
		for (end = at; end < calls.n && (isalnum((unsigned char)calls.p[end]) || calls.p[end] == '_');)
			end++;
		struct fh_str name = { calls.p + at, end - at };
		bool called = name.n > 0 && end < calls.n && calls.p[end] == '(' && !fh_str_same(name, one);
		if (called && gives_value(code, name))
			return true;
	}
	return false;
}

/* The only name of the answer's program that the calls mention, if it is a function's; else NULL. free() it. */
static char *the_called_one(const struct asked *a, struct fh_str calls)
{
	struct fh_extract_options options = { .language = a->language };
	fh_auto_extraction struct fh_extraction e = { 0 };
	fh_auto_outline struct fh_outline o = { 0 };
	struct fh_str one = { NULL, 0 };
	fh_extract(a->call->output_text, &options, &e);
	if (!e.code)
		return NULL;
	struct fh_str code = { e.code, e.size };
	fh_outline_make(&o, code, fh_outline_syntax(a->language));
	for (size_t i = 0; i < o.name_count; i++) {
		if (!fh_mentions(calls, o.names[i], NULL) || (one.p && fh_str_same(one, o.names[i])))
			continue;
		if (one.p)
			return NULL;
		one = o.names[i];
	}
	if (!one.p || !fh_mentions(calls, one, "(") || call_another(calls, code, one))
		return NULL;
	fh_auto_free char *class = fh_xasprintf("class %.*s", FH_STR_ARGS(one));
	return fh_mentions(code, fh_str(class), NULL) ? NULL : fh_xstrndup(one.p, one.n);
}

/* Whether calls use what does not cross between sandboxes: members of a result, a result that is called, a function as
 * an argument. The text of the calls decides, never what a program gives. */
static bool need_one_process(struct fh_str calls)
{
	static const char *const words[] = { "lambda", "function" };
	for (size_t i = 0; i < FH_ARRAY_SIZE(words); i++)
		if (fh_mentions(calls, fh_str(words[i]), NULL))
			return true;
	for (size_t i = 1; i < calls.n; i++) {
		char before = calls.p[i - 1], c = calls.p[i];
		bool name = isalpha((unsigned char)before) || strchr("_)]", before);
		if ((c == '.' && name) || (before == ')' && c == '(') || (before == '=' && c == '>'))
			return true;
	}
	return false;
}

/* The calls as a test of `function`, which is judged apart from the program. */
static int grade_as_tests(struct asked *a, const char *function, struct fh_grade *ret, struct fh_error *err)
{
	json_t *f = fields_for_code(a);
	json_object_set_new(f, "function", json_string(function));
	json_object_set(f, "tests", a->calls);
	fh_auto_code_spec struct fh_code_spec spec = { 0 };
	int r = fh_code_spec_of_fields(f, &spec, err);
	if (r < 0)
		return r;
	spec.reference = a->canonical.n > 0 ? a->canonical.p : NULL;
	return fh_code_grade(a->call, &spec, ret, err);
}

/* Without calls, a program passes that ends by itself with status 0: nothing else is asked for. With calls, these have
 * to run to their end. They are judged apart from the program if they are about one function of it. If they fail there
 * and use what cannot cross, the program has to prove in its own process that it came to its end; but not if there is a
 * canonical solution, by which the judge knows whether they can be judged apart. */
static int grade_pass(struct asked *a, struct fh_grade *ret, struct fh_error *err)
{
	fh_auto_buf struct fh_buf calls = FH_BUF_INIT(0);
	size_t i;
	json_t *call;
	json_array_foreach(a->calls, i, call) fh_buf_addf(&calls, "%s\n", json_string_value(call));
	if (calls.n == 0)
		return grade_output(a, ret, err);
	if (!fh_code_proof_can(a->language))
		return wrong(err, "\"call\" with pass is not for %s: take \"tests\" of the code assertion", a->language);
	bool apart = fh_code_calling_find(a->language) && !a->image && !json_object_get(a->fields, "stdin");
	fh_auto_free char *found = apart && !a->function ? the_called_one(a, fh_buf_str(&calls)) : NULL;
	const char *function = a->function ? a->function : found;
	if (apart && function) {
		int r = grade_as_tests(a, function, ret, err);
		bool failed = r >= 0 && fh_streq(fh_json_str(ret->metadata, "verdict", ""), "failed");
		if (!failed || a->canonical.n > 0 || !need_one_process(fh_buf_str(&calls)))
			return r;
		fh_grade_release(ret);
		*ret = (struct fh_grade){ 0 };
	}
	return grade_output(a, ret, err);
}

static int check(const struct fh_assertion_call *call, struct fh_grade *ret, struct fh_error *err)
{
	FH_CLEANUP(asked_release) struct asked a = { .call = call };
	int (*const grade[])(struct asked * asked, struct fh_grade * ret, struct fh_error * err) = {
		[FORM_VALUES] = grade_calls,
		[FORM_ERRORS] = grade_calls,
		[FORM_OUTPUT] = grade_output,
		[FORM_PASS] = grade_pass,
	};
	int r = read_asked(&a, err);
	r = r ? r : grade[a.form](&a, ret, err);
	if (r)
		return r;
	json_object_set_new(ret->metadata, "unit_test_type", json_string(forms[a.form]));
	if (a.container || a.image)
		json_object_set_new(ret->metadata, "image",
		                    json_pack("{s:s, s:b}", "name", a.container ? a.container : a.image, "used", !a.container));
	return 0;
}

const struct fh_assertion fh_assertion_sandbox = {
	.name = "sandbox",
	.check = check,
	.validate = validate,
	.own_keys = true,
};
