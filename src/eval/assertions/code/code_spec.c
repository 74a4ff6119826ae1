/* SPDX-License-Identifier: MIT */
#include "eval/assertions/code/code_spec.h"

#include <stdio.h>
#include "base/text/nearest.h"
#include "base/text/parse.h"
#include "code/extract.h"
#include "eval/assertions/code/code_braces.h"
#include "eval/rendering/template_host.h"
#include "judge/comparing/value.h"
#include "sandbox/planning/language_words.h"

#define FH_CODE_DEPTH_MAX 100

/* Keys that every assertion may have; all others are fields of `code`. */
static const char *const common_keys[] = { "type",       "value",    "config",    "threshold",    "weight",
	                                       "metric",     "provider", "transform", "rubricPrompt", "contextTransform",
	                                       "description" };

enum place { PLACE_TOP = 1, PLACE_CASE = 2 };

static const struct {
	const char *name;
	int places;
} fields[] = {
	{ "language", PLACE_TOP },
	{ "function", PLACE_TOP },
	{ "call", PLACE_TOP | PLACE_CASE },
	{ "args", PLACE_CASE },
	{ "kwargs", PLACE_CASE },
	{ "expected", PLACE_TOP | PLACE_CASE },
	{ "expected_output", PLACE_TOP | PLACE_CASE },
	{ "expected_error", PLACE_TOP | PLACE_CASE },
	{ "stdin", PLACE_TOP | PLACE_CASE },
	{ "stdout", PLACE_TOP | PLACE_CASE },
	{ "cases", PLACE_TOP },
	{ "tests", PLACE_TOP },
	{ "declaration", PLACE_TOP },
	{ "canonical_solution", PLACE_TOP },
	{ "setup", PLACE_TOP },
	{ "tolerance", PLACE_TOP },
	{ "limits", PLACE_TOP },
	{ "packages", PLACE_TOP },
};

int fh_code_wrong(struct fh_error *err, const char *assertion, const char *format, ...)
{
	char text[500];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return fh_error_set(err, FH_E_CONFIG, "%s: %s", assertion, text);
}
#define wrong(err, ...) fh_code_wrong(err, "code", __VA_ARGS__)

const json_t *fh_code_fields(const json_t *assertion)
{
	const json_t *value = json_object_get(assertion, "value");
	return json_is_object(value) ? value : assertion;
}

bool fh_code_is_common_key(const char *key)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(common_keys); i++)
		if (fh_streq(key, common_keys[i]))
			return true;
	return false;
}

static bool is_field(const char *key, enum place place)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(fields); i++)
		if ((fields[i].places & place) && fh_streq(key, fields[i].name))
			return true;
	return false;
}

static int check_keys(const json_t *object, enum place place, bool common, struct fh_error *err)
{
	const char *key;
	json_t *value;
	json_object_foreach((json_t *)(uintptr_t)object, key, value)
	{
		if (is_field(key, place) || (common && fh_code_is_common_key(key)))
			continue;
		struct fh_nearest near = FH_NEAREST_INIT(key);
		for (size_t i = 0; i < FH_ARRAY_SIZE(fields); i++)
			if (fields[i].places & place)
				fh_nearest_offer(&near, fields[i].name);
		wrong(err, "unknown field \"%s\"%s", key, place == PLACE_CASE ? " in a case" : "");
		if (near.best)
			fh_error_hint(err, "did you mean \"%s\"?", near.best);
		return -FH_E_CONFIG;
	}
	return 0;
}

/* Refuses fields that have a meaning only beside `tests`. */
static int check_of_tests(const json_t *f, bool tests, struct fh_error *err)
{
	static const char *const only[] = { "declaration", "canonical_solution", "setup" };
	for (size_t i = 0; !tests && i < FH_ARRAY_SIZE(only); i++)
		if (json_object_get(f, only[i]))
			return wrong(err, "\"%s\" goes with \"tests\"", only[i]);
	return 0;
}

/* Checks that the fields ask for exactly one of the ways to check. */
static int check_form(const json_t *f, struct fh_error *err)
{
	bool call = json_object_get(f, "call"), cases = json_object_get(f, "cases");
	bool whole = json_object_get(f, "stdin") || json_object_get(f, "stdout");
	bool tests = json_object_get(f, "tests");
	int forms = call + cases + whole + tests;
	if (forms == 1)
		return check_of_tests(f, tests, err);
	wrong(err, forms ? "give one of \"call\", \"cases\", \"tests\" and \"stdin\"/\"stdout\""
	                 : "nothing to check: no \"call\", no \"cases\", no \"tests\", no \"stdout\"");
	fh_error_hint(err, "for example: {type: code, call: factorial(5), expected: 120}");
	return -FH_E_CONFIG;
}

const char *fh_code_language_of_word(const char *word, const char *assertion, struct fh_error *err)
{
	const char *language = fh_extract_language_of_tag(fh_str(word));
	if (language && *language)
		return language;
	struct fh_nearest near = FH_NEAREST_INIT(word);
	fh_auto_free char *names = fh_xstrdup(fh_language_names()), *rest = names;
	for (char *name; (name = strsep(&rest, ", "));)
		if (*name)
			fh_nearest_offer(&near, name);
	fh_code_wrong(err, assertion, "unknown language \"%s\"", word);
	if (near.best)
		fh_error_hint(err, "did you mean %s? languages are %s", near.best, fh_language_names());
	else
		fh_error_hint(err, "languages are %s", fh_language_names());
	return NULL;
}

int fh_code_language_check(const json_t *f, const char *assertion, struct fh_error *err)
{
	const char *word = fh_json_str(f, "language", NULL);
	return !word || strstr(word, "{{") || strstr(word, "{%") || fh_code_language_of_word(word, assertion, err)
	           ? 0
	           : -FH_E_CONFIG;
}

int fh_code_spec_validate(const json_t *assertion, struct fh_error *err)
{
	const json_t *f = fh_code_fields(assertion);
	const json_t *value = json_object_get(assertion, "value");
	/* A file that holds the fields is read when the assertion runs. */
	if (json_is_string(value) && fh_starts_with(json_string_value(value), "file://"))
		return 0;
	int code = check_keys(f, PLACE_TOP, f == assertion, err);
	if (!code)
		code = fh_code_language_check(f, "code", err);
	return code ? code : check_form(f, err);
}

/* -------------------------------------------------------------------------------------------------------- templates */

/* The value of the variable that a text consists of, as "{{ name }}" or "{{ name.member }}"; NULL when the text is
 * anything else. */
static const json_t *single_variable(const json_t *text, const json_t *vars)
{
	const char *s = json_string_value(text);
	size_t n = json_string_length(text);
	if (n < 4 || memcmp(s, "{{", 2) != 0 || memcmp(s + n - 2, "}}", 2) != 0)
		return NULL;
	fh_auto_free char *name = fh_xstrndup(s + 2, n - 4);
	char *p = name;
	const json_t *found = vars;
	while (*p == ' ')
		p++;
	for (size_t end = strlen(p); end && p[end - 1] == ' ';)
		p[--end] = 0;
	for (char *part = strsep(&p, "."); part; part = strsep(&p, "."))
		found = json_object_get(found, part);
	return found;
}

/* Whether a field holds a program's text. */
static bool is_program(const char *key)
{
	static const char *const keys[] = { "tests", "setup", "declaration", "canonical_solution", "call" };
	for (size_t i = 0; i < FH_ARRAY_SIZE(keys); i++)
		if (fh_streq(key, keys[i]))
			return true;
	return false;
}

static int render_text(const json_t *from, const json_t *vars, bool program, json_t **ret, struct fh_error *err)
{
	struct fh_str written = { json_string_value(from), json_string_length(from) };
	fh_auto_buf struct fh_buf braces = FH_BUF_INIT(0);
	fh_auto_free char *text = NULL;
	if (program && !fh_eval_templates_off())
		fh_code_braces(written, &braces);
	int r = fh_render_text(braces.n ? fh_buf_str(&braces) : written, vars, &text, err);
	if (r == 0)
		*ret = fh_json_bytes(fh_str(text));
	return r;
}

/* program: what is in `from` is a program's text. */
static int render(const json_t *from, const json_t *vars, bool program, int depth, json_t **ret, struct fh_error *err)
{
	if (depth > FH_CODE_DEPTH_MAX)
		return wrong(err, "fields nested deeper than %d", FH_CODE_DEPTH_MAX);
	const json_t *variable = json_is_string(from) ? single_variable(from, vars) : NULL;
	if (variable || (!json_is_string(from) && !json_is_object(from) && !json_is_array(from))) {
		*ret = json_incref((json_t *)(uintptr_t)(variable ? variable : from));
		return 0;
	}
	if (json_is_string(from))
		return render_text(from, vars, program, ret, err);
	fh_auto_json json_t *made = json_is_object(from) ? json_object() : json_array();
	const char *key;
	json_t *item, *rendered = NULL;
	size_t i;
	json_object_foreach((json_t *)(uintptr_t)from, key, item)
	{
		int code = render(item, vars, is_program(key), depth + 1, &rendered, err);
		if (code)
			return code;
		json_object_set_new(made, key, rendered);
	}
	json_array_foreach(from, i, item)
	{
		int code = render(item, vars, program, depth + 1, &rendered, err);
		if (code)
			return code;
		json_array_append_new(made, rendered);
	}
	*ret = FH_TAKE_PTR(made);
	return 0;
}

/* ----------------------------------------------------------------------------------------------------------- limits */

static int read_limit(enum fh_limit limit, const json_t *value, struct fh_limits *ret, struct fh_error *err)
{
	const struct fh_limit_info *info = &fh_limit_table[limit];
	bool ms = fh_streq(info->unit, "ms"), bytes = fh_streq(info->unit, "bytes");
	double scale = ms || fh_streq(info->unit, "milli-cpus") ? 1000 : 1;
	uint64_t n = 0;
	struct fh_error why = FH_ERROR_INIT;
	int code = 0;
	if (json_is_number(value) && json_number_value(value) >= 0 && json_number_value(value) < 1e15)
		n = (uint64_t)(json_number_value(value) * scale + 0.5);
	else if (json_is_string(value) && ms)
		code = fh_parse_duration(json_string_value(value), &n, &why);
	else if (json_is_string(value) && bytes)
		code = fh_parse_size(json_string_value(value), &n, &why);
	else if (json_is_string(value))
		code = fh_parse_u64(json_string_value(value), 0, UINT32_MAX, &n, &why);
	else
		return wrong(err, "limits.%s has to be a number", info->name);
	if (code)
		return wrong(err, "limits.%s: %s", info->name, why.message);
	if (n < info->minimum)
		return wrong(err, "limits.%s is too small: at least %llu %s", info->name, (unsigned long long)info->minimum,
		             info->unit);
	ret->value[limit] = n;
	return 0;
}

static int read_limits(const json_t *given, struct fh_limits *ret, struct fh_error *err)
{
	const char *key;
	json_t *value;
	fh_limits_init(ret);
	if (given && !json_is_object(given))
		return wrong(err, "limits has to be a mapping, for example {cpu_time: 1, memory: 64M}");
	json_object_foreach((json_t *)(uintptr_t)given, key, value)
	{
		int limit = 0;
		struct fh_nearest near = FH_NEAREST_INIT(key);
		while (limit < FH_LIMIT_COUNT_ && !fh_streq(key, fh_limit_table[limit].name))
			fh_nearest_offer(&near, fh_limit_table[limit++].name);
		if (limit == FH_LIMIT_COUNT_) {
			wrong(err, "unknown limit \"%s\"", key);
			fh_error_hint(err, "%s%s",
			              near.best ? "did you mean " : "limits are cpu_time, wall_time, memory, processes …",
			              near.best ? near.best : "");
			return -FH_E_CONFIG;
		}
		int code = read_limit((enum fh_limit)limit, value, ret, err);
		if (code)
			return code;
	}
	return 0;
}

/* ------------------------------------------------------------------------------------------------------------ cases */

/* A string field as text. YAML reads an unquoted 120 or True as a number or a boolean, which is taken as that text. */
static const char *text_field(struct fh_code_spec *spec, const json_t *from, const char *key)
{
	const json_t *value = json_object_get(from, key);
	if (!value || json_is_null(value) || json_is_string(value))
		return json_string_value(value);
	fh_auto_free char *text = fh_value_text(value, spec->language, SIZE_MAX - 1);
	json_t *kept = json_string(text);
	json_array_append_new(spec->owned, kept);
	return json_string_value(kept);
}

static int read_whole(struct fh_code_spec *spec, const json_t *from, struct fh_code_case *c, struct fh_error *err)
{
	const char *input = text_field(spec, from, "stdin"), *output = text_field(spec, from, "stdout");
	if (!output)
		return wrong(err, "\"stdout\" is missing: what the program has to print");
	c->input = fh_str(input ? input : "");
	c->output = fh_str(output);
	spec->whole = true;
	return 0;
}

/* The name by which an exception is known that has several in the language. */
static const char *own_name(const char *language, FH_NULLABLE const char *error)
{
	bool other = error && (fh_streq(error, "IOError") || fh_streq(error, "EnvironmentError"));
	return other && fh_streq(language, "python") ? "OSError" : error;
}

static int read_expected(struct fh_code_spec *spec, const json_t *from, struct fh_code_case *c, struct fh_error *err)
{
	c->expected = json_object_get(from, "expected");
	c->expected_output = text_field(spec, from, "expected_output");
	c->expected_error = own_name(spec->language, text_field(spec, from, "expected_error"));
	int given = !!c->expected + !!c->expected_output + !!c->expected_error;
	if (given == 1)
		return 0;
	return given ? wrong(err, "give one of \"expected\", \"expected_output\" and \"expected_error\"")
	             : wrong(err, "what is expected is missing: give \"expected\", \"expected_output\" or "
	                          "\"expected_error\"");
}

static int read_call(struct fh_code_spec *spec, const json_t *from, struct fh_code_case *c, struct fh_error *err)
{
	c->call = text_field(spec, from, "call");
	c->args = json_object_get(from, "args");
	c->kwargs = json_object_get(from, "kwargs");
	if (c->call && (c->args || c->kwargs))
		return wrong(err, "a case has either \"call\" or \"args\"");
	if (!c->call && !json_is_array(c->args))
		return wrong(err, "\"args\" has to be a list of arguments");
	if (!c->call && !spec->function)
		return wrong(err, "\"function\" is missing: which function the cases call");
	if (c->kwargs && !json_is_object(c->kwargs))
		return wrong(err, "\"kwargs\" has to be a mapping");
	if (c->call && !*c->call)
		return wrong(err, "\"call\" is empty");
	return read_expected(spec, from, c, err);
}

/* [argument, …, expected] */
static int read_short(struct fh_code_spec *spec, const json_t *from, struct fh_code_case *c, struct fh_error *err)
{
	size_t n = json_array_size(from);
	if (!n)
		return wrong(err, "a case is an empty list: give the arguments and, last, the expected value");
	if (!spec->function)
		return wrong(err, "\"function\" is missing: which function the cases call");
	json_t *args = json_array();
	for (size_t i = 0; i + 1 < n; i++)
		json_array_append(args, json_array_get(from, i));
	json_array_append_new(spec->owned, args);
	c->args = args;
	c->expected = json_array_get(from, n - 1);
	return 0;
}

static int read_case(struct fh_code_spec *spec, const json_t *from, struct fh_code_case *c, struct fh_error *err)
{
	if (json_is_array(from))
		return read_short(spec, from, c, err);
	if (!json_is_object(from))
		return wrong(err, "a case is a mapping or a list");
	int code = check_keys(from, PLACE_CASE, false, err);
	if (code)
		return code;
	bool whole = json_object_get(from, "stdin") || json_object_get(from, "stdout");
	return whole ? read_whole(spec, from, c, err) : read_call(spec, from, c, err);
}

static int read_cases(struct fh_code_spec *spec, const json_t *list, struct fh_error *err)
{
	size_t n = json_array_size(list), wholes = 0;
	if (!n)
		return wrong(err, "\"cases\" has to be a list of at least one case");
	if (n > FH_CODE_CASES_MAX)
		return wrong(err, "more than %d cases", FH_CODE_CASES_MAX);
	spec->cases = fh_xcalloc(n, sizeof(*spec->cases));
	for (; spec->n < n; spec->n++) {
		struct fh_code_case *c = &spec->cases[spec->n];
		int code = read_case(spec, json_array_get(list, spec->n), c, err);
		if (code)
			return fh_error_wrap(err, "case %zu", spec->n + 1);
		wholes += c->output.p != NULL;
	}
	return wholes && wholes < n ? wrong(err, "cases either all call something or all have \"stdout\"") : 0;
}

static int read_language(struct fh_code_spec *spec, const json_t *f, struct fh_error *err)
{
	spec->language = fh_code_language_of_word(fh_json_str(f, "language", "python"), "code", err);
	return spec->language ? 0 : -FH_E_CONFIG;
}

static int read_fields(struct fh_code_spec *spec, const json_t *f, struct fh_error *err)
{
	int code = read_language(spec, f, err);
	if (!code)
		code = check_form(f, err);
	if (!code)
		code = read_limits(json_object_get(f, "limits"), &spec->limits, err);
	if (code)
		return code;
	const json_t *tolerance = json_object_get(f, "tolerance");
	if (tolerance && (!json_is_number(tolerance) || json_number_value(tolerance) < 0))
		return wrong(err, "\"tolerance\" has to be a number of at least 0");
	spec->tolerance = json_number_value(tolerance);
	spec->packages = fh_json_bool(f, "packages", false);
	spec->function = text_field(spec, f, "function");
	if (spec->function && !*spec->function)
		spec->function = NULL;
	spec->tests = json_object_get(f, "tests") != NULL;
	if (spec->tests)
		return 0;
	if (json_object_get(f, "cases"))
		return read_cases(spec, json_object_get(f, "cases"), err);
	spec->cases = FH_NEW(struct fh_code_case);
	spec->n = 1;
	return json_object_get(f, "call") ? read_call(spec, f, spec->cases, err) : read_whole(spec, f, spec->cases, err);
}

int fh_code_spec_read(const struct fh_assertion_call *call, struct fh_code_spec *ret, struct fh_error *err)
{
	/* A value loaded from a file has its templates rendered already; an object written in the config has not, as only
	 * strings are rendered there. */
	const json_t *from = fh_code_fields(call->assertion);
	if (from == call->assertion && json_is_object(call->value))
		from = call->value;
	int code = check_keys(from, PLACE_TOP, from == call->assertion, err);
	if (code)
		return code;
	fh_auto_json json_t *written = json_object();
	const char *key;
	json_t *value;
	json_object_foreach((json_t *)(uintptr_t)from, key, value)
	{
		if (is_field(key, PLACE_TOP))
			json_object_set(written, key, value);
	}
	json_t *rendered;
	code = render(written, call->vars, false, 0, &rendered, err);
	return code ? code : fh_code_spec_of_fields(rendered, ret, err);
}

int fh_code_fields_render(const json_t *from, const json_t *vars, json_t **ret, struct fh_error *err)
{
	return render(from, vars, false, 0, ret, err);
}

int fh_code_spec_of_fields(json_t *rendered, struct fh_code_spec *ret, struct fh_error *err)
{
	struct fh_code_spec spec = { .fields = rendered, .owned = json_array() };
	int code = read_fields(&spec, spec.fields, err);
	if (code)
		fh_code_spec_release(&spec);
	else
		*ret = spec;
	return code;
}

void fh_code_spec_release(struct fh_code_spec *spec)
{
	json_decref(spec->fields);
	json_decref(spec->owned);
	free(spec->cases);
	*spec = (struct fh_code_spec){ 0 };
}
