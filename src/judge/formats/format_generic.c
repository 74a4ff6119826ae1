/* SPDX-License-Identifier: MIT */
/*
 * Generic rows:
 *
 *     task_id, language      the default language is python
 *     code                   the reference
 *     prompt                 if it defines the function, the completion continues it; otherwise it is only for the
 *                            model
 *     prefix, suffix         text put in front of the completion and, when judging by output, behind it
 *     entry_point, function  the function under test; by default the last one defined in code, or else in prompt
 *     tests                  a program text, or a list of lines. In java and rust the prompt has to declare the
 *                            function, as HumanEvalPack's declaration does; in go it should
 *     cases                  [argument, …, expected], {args, kwargs, expected} or {stdin, stdout, exit_code}; all of
 *                            one kind
 *     stdin, stdout          a single case of the last kind
 *     compare, tolerance     the rule for comparing output (compare.h); the tolerance for numbers
 *     checker                a program that decides instead of a rule: its text (python), or {language, code}
 */
#include "judge/formats/format.h"

#include "base/fd.h"
#include "code/declaration.h"
#include "code/outline.h"
#include "code/program_text.h"
#include "code/signature.h"
#include "json/span.h"
#include "judge/problems/output.h"
#include "judge/problems/languages.h"

static bool recognises(const json_t *row)
{
	return json_object_get(row, "tests") || json_object_get(row, "cases") ||
	       json_is_string(json_object_get(row, "stdout"));
}

/* Reads an optional field that must be a string if it is present. */
static int optional(const json_t *row, const char *key, struct fh_str *ret, struct fh_error *err)
{
	const json_t *value = json_object_get(row, key);
	*ret = (struct fh_str){ "", 0 };
	if (!value || json_is_null(value) || fh_judge_field(row, key, ret))
		return 0;
	return fh_judge_wrong(err, "write it as a JSON string", "%s is not a string", key);
}

/* --------------------------------------------------------------------------------------------------------- language */

static int no_language(const char *name, struct fh_error *err)
{
	fh_auto_buf struct fh_buf known = FH_BUF_INIT(0);
	for (enum fh_judge_language l = 0; l < FH_JUDGE_LANGUAGE_COUNT_; l++)
		fh_buf_addf(&known, "%s%s", known.n ? ", " : "these can: ", fh_judge_language_name(l));
	return fh_judge_wrong(err, fh_buf_cstr(&known), "language %.40s cannot be judged", name);
}

static int read_language(const json_t *row, enum fh_judge_language *ret, struct fh_error *err)
{
	struct fh_str name;
	int r = optional(row, "language", &name, err);
	if (r < 0)
		return r;
	*ret = FH_JUDGE_PYTHON;
	if (name.n == 0)
		return 0;
	fh_auto_free char *word = fh_xstrndup(name.p, name.n);
	*ret = fh_judge_language_of_name(word);
	return *ret < FH_JUDGE_LANGUAGE_COUNT_ ? 0 : no_language(word, err);
}

/* ------------------------------------------------------------------------------------------------------ the program */

static bool defines(struct fh_str text, enum fh_judge_language language, struct fh_str name)
{
	fh_auto_outline struct fh_outline o = { 0 };
	if (text.n == 0 || name.n == 0)
		return false;
	fh_outline_make(&o, text, fh_outline_syntax(fh_judge_language_name(language)));
	return fh_outline_defines(&o, name);
}

/* The name that the code defines last; empty if it defines none. */
static struct fh_str last_name(struct fh_str code, enum fh_judge_language language)
{
	fh_auto_outline struct fh_outline o = { 0 };
	fh_outline_make(&o, code, fh_outline_syntax(fh_judge_language_name(language)));
	for (size_t i = o.n; i-- > 0;)
		if (!o.items[i].is_import && o.items[i].count > 0)
			return o.names[o.items[i].first];
	return (struct fh_str){ "", 0 };
}

/* The row's entry_point, or else its function; empty: it has neither. */
static int read_entry(const json_t *row, struct fh_str *ret, struct fh_error *err)
{
	struct fh_str entry, function;
	if (optional(row, "entry_point", &entry, err) < 0 || optional(row, "function", &function, err) < 0)
		return -FH_E_CONFIG;
	if (entry.n == 0)
		entry = function;
	if (entry.n > 0 && !fh_judge_is_name(entry))
		return fh_judge_wrong(err, "write the name that the program defines",
		                      "entry_point \"%.*s\" is not a name of a function", (int)FH_MIN(entry.n, 60), entry.p);
	*ret = entry;
	return 0;
}

/* Reads the program of a problem whose language requires the function to be declared. */
static int read_declared(const json_t *row, const struct fh_judge_declared *d, struct fh_judge_problem *p,
                         struct fh_error *err)
{
	struct fh_str code, prompt, prefix, entry;
	if (optional(row, "code", &code, err) < 0 || optional(row, "prompt", &prompt, err) < 0 ||
	    optional(row, "prefix", &prefix, err) < 0 || read_entry(row, &entry, err) < 0)
		return -FH_E_CONFIG;
	const struct fh_judge_language_info *l = fh_judge_languages[p->language];
	fh_buf_add(&p->head, prefix.p, prefix.n);
	if (!l->class_of || l->class_of(prompt).n > 0) /* otherwise it is only for the model */
		fh_judge_add_lines(&p->head, prompt);
	struct fh_str name = l->entry_point(fh_buf_str(&p->head));
	if (name.n == 0 && (!d->by_itself || p->head.n + code.n + entry.n == 0))
		return fh_judge_wrong(
		    err, "end the prompt with the function's head and its {, as a completion goes on from there",
		    "tests: the prompt declares no function of %s to call", fh_judge_language_name(p->language));
	const char *form = name.n ? d->whole : d->by_itself, *mark = strstr(form, "%s");
	if (name.n == 0)
		name = entry.n ? entry : last_name(code, p->language);
	p->entry_point = fh_xstrndup(name.p, name.n);
	fh_buf_add(&p->reference, code.p, code.n);
	size_t n = mark ? (size_t)(mark - form) : strlen(form);
	struct fh_str word = !mark ? (struct fh_str){ "", 0 } : l->class_of ? l->class_of(fh_buf_str(&p->head)) : name;
	fh_auto_free char *whole = fh_xasprintf("%.*s%.*s", (int)n, form, FH_STR_ARGS(word));
	p->reference_is_whole = code.n > 0 && (p->head.n == 0 || memmem(code.p, code.n, whole, strlen(whole)));
	return 0;
}

static int read_program(const json_t *row, struct fh_judge_problem *p, struct fh_error *err)
{
	struct fh_str code, prompt, prefix, entry;
	if (optional(row, "code", &code, err) < 0 || optional(row, "prompt", &prompt, err) < 0 ||
	    optional(row, "prefix", &prefix, err) < 0 || read_entry(row, &entry, err) < 0)
		return -FH_E_CONFIG;
	if (entry.n == 0)
		entry = last_name(code, p->language);
	if (entry.n == 0)
		entry = last_name(prompt, p->language);
	p->entry_point = fh_xstrndup(entry.p, entry.n);
	fh_buf_add(&p->head, prefix.p, prefix.n);
	bool continued = defines(prompt, p->language, entry);
	if (continued)
		fh_buf_add(&p->head, prompt.p, prompt.n);
	fh_buf_add(&p->reference, code.p, code.n);
	p->reference_is_whole = continued && defines(code, p->language, entry);
	return 0;
}

/* The name of the method or the variable that a statement of Go defines; empty: it defines none. */
static struct fh_str go_method(struct fh_str text)
{
	if (fh_str_begins(text, "var "))
		return fh_identifier(fh_str_from(text, strlen("var ")));
	size_t close = fh_str_begins(text, "func (") ? fh_signature_closing(text, strlen("func ")) : text.n;
	return fh_identifier(fh_str_from(text, FH_MIN(close + 2, text.n)));
}

/* Whether a statement defines a type without functions, or a constant: these are the same in every program. */
static bool is_the_same(struct fh_str text)
{
	static const char *const words[] = { "const ", "constexpr ", "static const", "struct ",  "enum ",
		                                 "class ", "typedef ",   "using ",       "#define ", "type " };
	while (text.n > 0 && fh_signature_space(text.p[0]))
		text = fh_str_from(text, 1);
	for (size_t i = 0; i < FH_ARRAY_SIZE(words); i++)
		if (fh_str_begins(text, words[i]))
			return fh_str_begins(text, "const (") || !memchr(text.p, '(', text.n);
	return false;
}

/* Whether the test names something else of the reference than its function, which it would find there and not in the
 * program, if the reference's text were the declaration. */
static bool asks_for_more(struct fh_str code, struct fh_str test, const struct fh_judge_problem *p)
{
	fh_auto_outline struct fh_outline o = { 0 };
	fh_auto_buf struct fh_buf blank = FH_BUF_INIT(0), blank_code = FH_BUF_INIT(0);
	bool more = false;
	fh_signature_blank(&blank, test);
	fh_signature_blank(&blank_code, code);
	fh_outline_make(&o, fh_buf_str(&blank_code), fh_outline_syntax(fh_judge_language_name(p->language)));
	for (size_t i = 0; i < o.n; i++) {
		const struct fh_outline_item *item = &o.items[i];
		struct fh_str method = p->language == FH_JUDGE_GO ? go_method(item->text) : (struct fh_str){ "", 0 };
		more = more || (method.n > 0 && fh_mentions(fh_buf_str(&blank), method, NULL));
		for (size_t k = 0; k < item->count && !item->is_import && !is_the_same(item->text); k++) {
			struct fh_str name = o.names[item->first + k];
			more = more || (!fh_str_eq(name, p->entry_point) && !fh_str_eq(name, "main") &&
			                fh_mentions(fh_buf_str(&blank), name, NULL));
		}
	}
	return more;
}

/* The last function of a program in Go that the test calls; empty: it calls none. */
static struct fh_str go_called(struct fh_str code, struct fh_str test)
{
	struct fh_str found = { "", 0 };
	for (struct fh_str line; fh_next_line(&code, &line);) {
		if (!fh_str_begins(line, "func "))
			continue;
		struct fh_str name = fh_identifier(fh_str_from(line, strlen("func ")));
		if (name.n > 0 && fh_mentions(test, name, "("))
			found = name;
	}
	return found;
}

/* The reference's text up to its function's body, where the prompt declares no function. */
static int declare_by_reference(const json_t *row, struct fh_judge_problem *p, struct fh_error *err)
{
	const struct fh_judge_language_info *l = fh_judge_languages[p->language];
	struct fh_str code = fh_buf_str(&p->reference), entry = fh_str(p->entry_point), prefix;
	if (p->language == FH_JUDGE_GO && entry.n == 0) {
		entry = go_called(code, fh_buf_str(&p->tail));
		free(p->entry_point);
		p->entry_point = fh_xstrndup(entry.p, entry.n);
	}
	if (!l->declaration_of || l->entry_point(fh_buf_str(&p->head)).n > 0)
		return 0;
	if (optional(row, "prefix", &prefix, err) < 0)
		return -FH_E_CONFIG;
	struct fh_str declaration = l->declaration_of(code, entry);
	if (declaration.n > 0 && !asks_for_more(code, fh_buf_str(&p->tail), p)) {
		fh_buf_add_str(&p->declaration, prefix);
		fh_buf_add_str(&p->declaration, declaration);
	}
	return 0;
}

/* ------------------------------------------------------------------------------------------------------------ tests */

/* Adds the text of a helper: what compares results, before the calls; what runs the cases of a test, behind it. */
static int add_helper(struct fh_buf *out, enum fh_judge_language language, const char *name, struct fh_error *err)
{
	fh_auto_free char *path = NULL;
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(FH_JUDGE_GUEST_MAX);
	int r = fh_judge_guest_path(language, name, &path, err);
	if (r >= 0)
		r = fh_file_read(path, &text, err);
	if (r >= 0)
		fh_buf_add(out, text.p, text.n);
	return r;
}

/* A test that only defines its cases gets what runs them; in front of a guard at its end, which may exit. */
static int add_run(struct fh_judge_problem *p, struct fh_error *err)
{
	fh_auto_buf struct fh_buf call = FH_BUF_INIT(0), guard = FH_BUF_INIT(0);
	if (p->language != FH_JUDGE_PYTHON)
		return 0;
	size_t end = fh_judge_python_cases(fh_buf_str(&p->tail), &call);
	if (!call.n)
		return 0;
	fh_buf_add_str(&guard, fh_str_from(fh_buf_str(&p->tail), end));
	fh_buf_truncate(&p->tail, end);
	fh_buf_addc(&p->tail, '\n');
	int r = add_helper(&p->tail, p->language, "run_cases.py", err);
	fh_buf_add_str(&p->tail, fh_buf_str(&call));
	fh_buf_add_str(&p->tail, fh_buf_str(&guard));
	return r;
}

static int add_tests(const json_t *row, struct fh_judge_problem *p, struct fh_error *err)
{
	const json_t *tests = json_object_get(row, "tests"), *line;
	size_t i;
	if (json_is_string(tests))
		fh_judge_add_lines(&p->tail, (struct fh_str){ json_string_value(tests), json_string_length(tests) });
	else if (!json_is_array(tests))
		return fh_judge_wrong(err, "write them as a string, or as a list of strings",
		                      "tests is neither a string nor a list");
	json_array_foreach(tests, i, line)
	{
		if (!json_is_string(line))
			return fh_judge_wrong(err, "a test is a statement of the language", "item %zu of tests is not a string",
			                      i + 1);
		fh_judge_add_lines(&p->tail, (struct fh_str){ json_string_value(line), json_string_length(line) });
	}
	if (p->tail.n == 0)
		return fh_judge_wrong(err, "a task without tests cannot be judged: remove it", "tests is empty");
	const struct fh_judge_language_info *l = fh_judge_languages[p->language];
	for (const char *const *word = l->shared; word && *word && p->reference.n == 0; word++)
		p->may_share_process = p->may_share_process || memmem(p->tail.p, p->tail.n, *word, strlen(*word));
	int r = l->test_file ? l->test_file(&p->tail, err) : 0;
	if (r >= 0)
		r = declare_by_reference(row, p, err);
	return r < 0 ? r : add_run(p, err);
}

static const char case_hint[] = "a case is [argument, …, expected], {\"args\": […], \"expected\": …} or {\"stdin\": "
                                "\"…\", \"stdout\": \"…\"}";

/* Splits [argument, …, expected], whose last item is the expected value. */
static bool call_of_list(struct fh_str list, struct fh_judge_call *ret)
{
	struct fh_str rest = fh_json_span_items(list), start = rest, item;
	*ret = (struct fh_judge_call){ .args = { start.p, 0 }, .kwargs = { "{}", 2 } };
	while (fh_json_span_item(&rest, &item)) {
		ret->args.n = ret->expected.p ? ret->expected.p + ret->expected.n - start.p : 0;
		ret->expected = item;
	}
	return ret->expected.p != NULL;
}

static int call_of_case(const json_t *c, struct fh_str text, size_t number, struct fh_judge_call *ret,
                        struct fh_error *err)
{
	if (json_is_array(c))
		return call_of_list(text, ret) ? 0 : fh_judge_wrong(err, case_hint, "case %zu is empty", number);
	const json_t *args = json_object_get(c, "args"), *kwargs = json_object_get(c, "kwargs");
	*ret = (struct fh_judge_call){ .args = { "", 0 }, .kwargs = { "{}", 2 } };
	if (!fh_json_span_member(text, "expected", &ret->expected))
		return fh_judge_wrong(err, case_hint, "case %zu says nothing of what is expected", number);
	if ((args && !json_is_array(args)) || (kwargs && !json_is_object(kwargs)) || (!args && !kwargs))
		return fh_judge_wrong(err, case_hint, "case %zu: args is a list, kwargs an object", number);
	if (args && fh_json_span_member(text, "args", &ret->args))
		ret->args = (struct fh_str){ ret->args.p + 1, ret->args.n - 2 };
	if (kwargs)
		fh_json_span_member(text, "kwargs", &ret->kwargs);
	return 0;
}

static int read_calls(const json_t *row, struct fh_str text, double tolerance, struct fh_judge_problem *p,
                      struct fh_error *err)
{
	const struct fh_judge_caller *caller = fh_judge_languages[p->language]->caller;
	const json_t *cases = json_object_get(row, "cases"), *c;
	struct fh_str list, rest, item;
	fh_auto_buf struct fh_buf calls = FH_BUF_INIT(FH_JUDGE_PROBLEM_MAX);
	size_t i;
	if (!caller)
		return fh_judge_wrong(err, "give {\"stdin\", \"stdout\"} cases",
		                      "cases with arguments: functions of %s cannot be called",
		                      fh_judge_language_name(p->language));
	if (!p->entry_point[0])
		return fh_judge_wrong(err, "name it with \"entry_point\"", "which function do the cases call?");
	if (!fh_json_span_member(text, "cases", &list) || add_helper(&p->tail, p->language, caller->helper, err) < 0)
		return -FH_E_CONFIG;
	rest = fh_json_span_items(list);
	json_array_foreach(cases, i, c)
	{
		struct fh_judge_call call;
		if (!fh_json_span_item(&rest, &item) || call_of_case(c, item, i + 1, &call, err) < 0 ||
		    caller->call(&calls, &call, i + 1, err) < 0)
			return -FH_E_CONFIG;
	}
	fh_buf_addf(&p->tail, "%s(%s, %s", caller->function, p->entry_point, caller->open);
	if (caller->as_string) {
		fh_buf_addc(&calls, ']');
		fh_javascript_string(&p->tail, fh_buf_str(&calls));
	} else {
		fh_buf_add(&p->tail, calls.p, calls.n);
	}
	fh_buf_addf(&p->tail, "%s, %.17g);\n", caller->close, tolerance);
	return 0;
}

/* ----------------------------------------------------------------------------------------------------------- output */

static int read_checker(const json_t *row, struct fh_judge_output *o, struct fh_error *err)
{
	const json_t *checker = json_object_get(row, "checker"), *code = checker;
	const char *language = "python";
	if (!checker || json_is_null(checker))
		return 0;
	if (json_is_object(checker)) {
		code = json_object_get(checker, "code");
		language = fh_json_str(checker, "language", language);
	}
	if (!json_is_string(code))
		return fh_judge_wrong(err, "it reads the files input, output and expected, and exits with 0 to accept",
		                      "checker holds no program text");
	o->checker_size = json_string_length(code);
	o->checker = fh_xmemdup(json_string_value(code), o->checker_size);
	o->checker_language = fh_xstrdup(language);
	return 0;
}

static int add_case(struct fh_judge_output *o, const json_t *c, size_t number, struct fh_error *err)
{
	struct fh_str input = { "", 0 }, expected;
	const json_t *exit_code = json_object_get(c, "exit_code");
	if (json_object_get(c, "stdin") && !fh_judge_field(c, "stdin", &input))
		return fh_judge_wrong(err, "write it as a JSON string", "case %zu: stdin is not a string", number);
	if (!fh_judge_field(c, "stdout", &expected))
		return fh_judge_wrong(err, "all cases of a task are of one kind", "case %zu has no stdout that is a string",
		                      number);
	if (exit_code && !json_is_integer(exit_code))
		return fh_judge_wrong(err, "a number from 0 to 255", "case %zu: exit_code is not an integer", number);
	if (json_integer_value(exit_code) < 0 || json_integer_value(exit_code) > 255)
		return fh_judge_wrong(err, "a number from 0 to 255", "case %zu: no program ends with exit_code %lld", number,
		                      (long long)json_integer_value(exit_code));
	if (o->count == FH_OUTPUT_CASES_MAX)
		return fh_judge_wrong(err, "split the task", "more than %d cases", FH_OUTPUT_CASES_MAX);
	struct fh_output_case *to = &FH_PUSH(o->cases, o->count, o->capacity);
	*to = (struct fh_output_case){ FH_BUF_INIT(0), FH_BUF_INIT(0), (int)fh_json_int(c, "exit_code", 0) };
	fh_buf_add(&to->input, input.p, input.n);
	fh_buf_add(&to->expected, expected.p, expected.n);
	return 0;
}

static int read_rule(const json_t *row, double tolerance, struct fh_judge_output *o, struct fh_error *err)
{
	struct fh_str compare;
	if (optional(row, "compare", &compare, err) < 0)
		return -FH_E_CONFIG;
	fh_auto_free char *rule = fh_xstrndup(compare.p, compare.n);
	o->tolerance = tolerance;
	o->rule = tolerance > 0 ? FH_COMPARE_NUMBERS : FH_COMPARE_TRIMMED;
	if (compare.n > 0)
		o->rule = fh_compare_of_name(rule);
	if (o->rule == FH_COMPARE_COUNT_)
		return fh_judge_wrong(err, "trimmed, exact, tokens, numbers or unordered", "compare: there is no rule %.40s",
		                      rule);
	return 0;
}

static int read_output(const json_t *row, double tolerance, struct fh_judge_problem *p, struct fh_error *err)
{
	struct fh_judge_output *o = p->output = FH_NEW(struct fh_judge_output);
	const json_t *cases = json_object_get(row, "cases"), *c;
	struct fh_str suffix;
	size_t i;
	if (read_rule(row, tolerance, o, err) < 0 || optional(row, "suffix", &suffix, err) < 0 ||
	    read_checker(row, o, err) < 0)
		return -FH_E_CONFIG;
	fh_buf_add(&p->tail, suffix.p, suffix.n);
	if (!cases)
		return add_case(o, row, 1, err);
	json_array_foreach(cases, i, c)
	{
		if (add_case(o, c, i + 1, err) < 0)
			return -FH_E_CONFIG;
	}
	return 0;
}

/* ------------------------------------------------------------------------------------------------------------ a row */

static int read_tolerance(const json_t *row, double *ret, struct fh_error *err)
{
	const json_t *given = json_object_get(row, "tolerance");
	*ret = json_is_number(given) ? json_number_value(given) : 0;
	if ((given && !json_is_number(given)) || *ret < 0)
		return fh_judge_wrong(err, "such as 1e-6", "tolerance is not a number of 0 or more");
	return 0;
}

static int read_row(const json_t *row, struct fh_str text, struct fh_judge_problem *p, struct fh_error *err)
{
	const json_t *cases = json_object_get(row, "cases"), *tests = json_object_get(row, "tests");
	double tolerance;
	if (read_language(row, &p->language, err) < 0)
		return -FH_E_CONFIG;
	const struct fh_judge_declared *d = tests ? fh_judge_languages[p->language]->declared : NULL;
	if ((d ? read_declared(row, d, p, err) : read_program(row, p, err)) < 0 || read_tolerance(row, &tolerance, err) < 0)
		return -FH_E_CONFIG;
	if (cases && json_array_size(cases) == 0)
		return fh_judge_wrong(err, "a task without cases cannot be judged: remove it",
		                      "cases is not a list that holds something");
	bool is_output = cases ? json_object_get(json_array_get(cases, 0), "stdout") != NULL : !tests;
	if (is_output && tests)
		return fh_judge_wrong(err, "make two tasks of it", "both tests and a stdout");
	if (is_output)
		return read_output(row, tolerance, p, err);
	if (tests && !fh_judge_has_tests(p->language))
		return fh_judge_wrong(err, "give {\"stdin\", \"stdout\"} cases", "tests: functions of %s cannot be called",
		                      fh_judge_language_name(p->language));
	if (tests && add_tests(row, p, err) < 0)
		return -FH_E_CONFIG;
	return cases ? read_calls(row, text, tolerance, p, err) : 0;
}

const struct fh_judge_format fh_judge_generic = {
	.name = "generic",
	.fields = "task_id, code, language, and tests, cases or stdin and stdout",
	.recognises = recognises,
	.read = read_row,
};
