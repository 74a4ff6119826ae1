/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include "base/fd.h"
#include "template/template.h"

/* ⏎ and → of the test file, as what they stand for. */
static void decode(struct fh_buf *out, struct fh_str s)
{
	static const struct {
		const char *sign, *text;
	} signs[] = { { "⏎", "\n" }, { "→", "\t" } };
	for (size_t i = 0; i < s.n;) {
		size_t k = 0;
		while (k < FH_ARRAY_SIZE(signs) && !(s.n - i >= 3 && memcmp(s.p + i, signs[k].sign, 3) == 0))
			k++;
		if (k < FH_ARRAY_SIZE(signs))
			fh_buf_adds(out, signs[k].text);
		else
			fh_buf_addc(out, s.p[i]);
		i += k < FH_ARRAY_SIZE(signs) ? 3 : 1;
	}
}

static int load(void *context, const char *name, struct fh_buf *out, struct fh_error *err)
{
	static const char *const files[][2] = {
		{ "inc.txt", "INC {{ a }}{% set leaked = 5 %}" },
		{ "./inc.txt", "INC {{ a }}" },
		{ "lib.njk", "{% macro m(x) %}M{{ x }}{% endmacro %}{% set v = 7 %}{% macro _p() %}p{% endmacro %}top{{ a }}" },
		{ "base.njk", "base [{% block one %}B1{% endblock %}][{% block two %}B2 {{ a }}{% endblock %}]" },
		{ "mid.njk", "{% extends \"base.njk\" %}{% block one %}mid {{ super() }}{% endblock %}" },
		{ "self.njk", "{% include \"self.njk\" %}" },
		{ "loop.njk", "{% extends \"loop.njk\" %}" },
		{ "push.njk", "{{ xs.push(3) }}" },
	};
	(void)context;
	for (size_t i = 0; i < FH_ARRAY_SIZE(files); i++)
		if (strcmp(files[i][0], name) == 0)
			return fh_buf_adds(out, files[i][1]);
	return fh_error_set(err, FH_E_NOT_FOUND, "there is no such file");
}

/* Finds the pattern as text. */
static int search(void *context, const char *pattern, const char *flags, struct fh_str subject, size_t from,
                  struct fh_text_template_match *ret, struct fh_error *err)
{
	(void)context, (void)flags, (void)err;
	const char *at = memmem(subject.p + from, subject.n - from, pattern, strlen(pattern));
	if (!at)
		return -FH_E_NOT_FOUND;
	*ret = (struct fh_text_template_match){ .from = { (size_t)(at - subject.p) },
		                                    .to = { (size_t)(at - subject.p) + strlen(pattern) },
		                                    .n = 1 };
	return 0;
}

static const struct fh_text_template_host host = { .load = load, .search = search };

/* Whether the render gave what the third line of a case wants; prints when not. */
static bool check(unsigned line, struct fh_str source, struct fh_str vars_text, struct fh_str expected)
{
	fh_auto_buf struct fh_buf template = FH_BUF_INIT(0), wanted = FH_BUF_INIT(0), out = FH_BUF_INIT(0);
	struct fh_error err = FH_ERROR_INIT;
	decode(&template, source);
	decode(&wanted, expected);
	fh_auto_json json_t *vars = fh_json_parse(vars_text, "vars", &err);
	if (!vars)
		fail_msg("templates.test:%u: %s", line + 1, err.message);
	int r = fh_text_template_render_text(fh_buf_str(&template), "t", vars, &host, &out, &err);
	if (wanted.n > 2 && memcmp(wanted.p, "! ", 2) == 0) {
		char place[32];
		int n = snprintf(place, sizeof(place), "! %u:%u ", err.line, err.column);
		bool same =
		    r < 0 && out.n == 0 && strncmp(wanted.p, place, (size_t)n) == 0 && strstr(err.message, wanted.p + n);
		if (!same)
			print_error("templates.test:%u: %s\n  gives %s%s\n  not   %s\n", line, template.p,
			            r < 0 ? place : fh_buf_cstr(&out), r < 0 ? err.message : "", wanted.p);
		return same;
	}
	bool same = r == 0 && out.n == wanted.n && strcmp(fh_buf_cstr(&out), fh_buf_cstr(&wanted)) == 0;
	if (!same)
		print_error("templates.test:%u: %s\n  gives %s\n  not   %s\n", line, fh_buf_cstr(&template),
		            r < 0 ? err.message : fh_buf_cstr(&out), fh_buf_cstr(&wanted));
	return same;
}

static struct fh_str next_line(struct fh_str *text)
{
	const char *end = memchr(text->p, '\n', text->n);
	struct fh_str line = { text->p, end ? (size_t)(end - text->p) : text->n };
	size_t used = line.n + (end != NULL);
	text->p += used, text->n -= used;
	return line;
}

static void renders_as_nunjucks_does(void **state)
{
	(void)state;
	fh_auto_buf struct fh_buf file = FH_BUF_INIT(0);
	struct fh_error err = FH_ERROR_INIT;
	if (fh_file_read(FH_TEST_DATA "/templates.test", &file, &err) < 0)
		fail_msg("%s", err.message);
	struct fh_str rest = fh_buf_str(&file);
	unsigned line = 0, cases = 0, failures = 0;
	while (rest.n > 0) {
		struct fh_str source = next_line(&rest);
		line++;
		if (source.n == 0 || (source.p[0] == '#' && source.n > 1))
			continue;
		struct fh_str vars = next_line(&rest), expected = next_line(&rest);
		failures += !check(line, source, vars, expected);
		cases++;
		line += 2;
	}
	assert_true(cases > 90);
	assert_int_equal(failures, 0);
}

static void expect_limit(const char *source)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_buf out = FH_BUF_INIT(1 << 20);
	fh_buf_adds(&out, "before");
	int r = fh_text_template_render_text(fh_str(source), "t", NULL, &host, &out, &err);
	if (r != -FH_E_LIMIT || err.code != FH_E_LIMIT)
		fail_msg("%s: %d %s", source, r, err.message);
	assert_string_equal(out.p, "before");
	fh_buf_release(&out);
}

static void stops_what_does_not_end(void **state)
{
	(void)state;
	expect_limit("{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}");
	expect_limit("{{ range(1000000000) }}");
	expect_limit("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}");
	expect_limit("{{ \"x\".repeat(10000000) }}");
	expect_limit("{% set s = \"xxxxxxxxxx\" %}{% for i in range(100) %}{% set s = s ~ s %}{% endfor %}");
	expect_limit("{{ \"a\".padStart(100000000000) }}");
	expect_limit("{% include \"self.njk\" %}");
	expect_limit("{% extends \"loop.njk\" %}");
	expect_limit("{% macro f() %}{{ caller() }}{% endmacro %}{% macro g() %}{% call f() %}{{ g() }}{% endcall %}{% "
	             "endmacro %}{{ g() }}");
}

static void bounds_nesting(void **state)
{
	(void)state;
	static const char *const pieces[][3] = { { "{{ ", "(", "1" },      { "{{ ", "[", "1" },
		                                     { "{{ ", "-", "1 }}" },   { "{{ ", "not ", "1 }}" },
		                                     { "", "{% if 1 %}", "" }, { "{{ ", "a[", "1" } };
	for (size_t i = 0; i < FH_ARRAY_SIZE(pieces); i++) {
		fh_auto_buf struct fh_buf text = FH_BUF_INIT(0), out = FH_BUF_INIT(0);
		struct fh_error err = FH_ERROR_INIT;
		fh_buf_adds(&text, pieces[i][0]);
		for (int k = 0; k < 100000; k++)
			fh_buf_adds(&text, pieces[i][1]);
		fh_buf_adds(&text, pieces[i][2]);
		assert_int_equal(fh_text_template_render_text(fh_buf_str(&text), "t", NULL, NULL, &out, &err), -FH_E_CONFIG);
	}
	fh_auto_buf struct fh_buf chain = FH_BUF_INIT(0), out = FH_BUF_INIT(0);
	fh_buf_adds(&chain, "{{ 1");
	for (int k = 0; k < 100000; k++)
		fh_buf_adds(&chain, " ~ 1");
	fh_buf_adds(&chain, " }}");
	assert_int_equal(fh_text_template_render_text(fh_buf_str(&chain), "t", NULL, NULL, &out, NULL), -FH_E_LIMIT);
}

static void leaves_the_variables_as_they_were(void **state)
{
	(void)state;
	struct fh_error err = FH_ERROR_INIT;
	fh_auto_json json_t *vars = fh_json_parse(fh_str("{\"xs\":[1,2],\"o\":{}}"), NULL, NULL);
	fh_auto_template struct fh_text_template *t = fh_text_template_compile(
	    fh_str("{% set _ = xs.push(xs) %}{{ xs | dump }}{% set o = 1 %}{{ xs | reverse | sort }}"), "t", &err);
	assert_non_null(t);
	for (int i = 0; i < 2; i++) {
		fh_auto_buf struct fh_buf out = FH_BUF_INIT(0);
		assert_int_equal(fh_text_template_render(t, vars, NULL, &out, &err), 0);
		assert_true(fh_starts_with(out.p, "[1,2,[1,2]]"));
	}
	fh_auto_free char *after = fh_json_text(vars, 0);
	assert_string_equal(after, "{\"xs\":[1,2],\"o\":{}}");
}

/* A template that is loaded changes lists of this render only, and needs a host. */
static void loads_templates_of_the_host_only(void **state)
{
	(void)state;
	struct fh_error err = FH_ERROR_INIT;
	fh_auto_json json_t *vars = fh_json_parse(fh_str("{\"xs\":[1,2]}"), NULL, NULL);
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(0);
	struct fh_str source = fh_str("{% include \"push.njk\" %}{{ xs }}");
	assert_int_equal(fh_text_template_render_text(source, "t", vars, &host, &out, &err), 0);
	assert_string_equal(fh_buf_cstr(&out), "31,2,3");
	fh_auto_free char *after = fh_json_text(vars, 0);
	assert_string_equal(after, "{\"xs\":[1,2]}");
	assert_int_equal(fh_text_template_render_text(source, "t", vars, NULL, &out, &err), -FH_E_CONFIG);
	assert_int_equal(fh_text_template_render_text(fh_str("{{ r/a/.test(1) }}"), "t", vars, NULL, &out, &err),
	                 -FH_E_CONFIG);
}

static void keeps_bytes_that_are_no_template(void **state)
{
	(void)state;
	assert_true(fh_text_template_has_tags(fh_str("a {{ b }}")));
	assert_true(fh_text_template_has_tags(fh_str("{% x")));
	assert_true(fh_text_template_has_tags(fh_str("{#")));
	assert_false(fh_text_template_has_tags(fh_str("{ {a} }} %} {")));
	assert_false(fh_text_template_has_tags(fh_str("")));
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(0);
	assert_int_equal(fh_text_template_render_text((struct fh_str){ "a\0\xff", 3 }, "t", NULL, NULL, &out, NULL), 0);
	assert_memory_equal(out.p, "a\0\xff", 3);
}

static void survives_any_prefix_of_a_template(void **state)
{
	(void)state;
	static const char text[] =
	    "{% macro m(a, b=1) %}{{ a ~ b }}{% endmacro %}{% for k, v in {a: [1, 'x']} -%} {{ m(v[0], b=k) | "
	    "default('d', true) | upper }}{# c #}{% else %}{% raw %}{{{% endraw %}{% endfor %}{% if not x is "
	    "defined and 1 in [1] %}{{ 'a' if x else \"b\" }}{% elif y.z(1) %}{% set q, r = -1 ** 2 // 3 %}{% endif %}";
	for (size_t n = 0; n <= strlen(text); n++) {
		/* A copy of that size, so that reading beyond it is seen. */
		fh_auto_free char *copy = n ? malloc(n) : NULL;
		if (n)
			memcpy(copy, text, n);
		fh_auto_buf struct fh_buf out = FH_BUF_INIT(0);
		struct fh_error err = FH_ERROR_INIT;
		int r = fh_text_template_render_text((struct fh_str){ copy ? copy : "", n }, "t", NULL, NULL, &out, &err);
		assert_true(r == 0 || (r == -FH_E_CONFIG && err.line == 1));
		if (n == strlen(text))
			assert_string_equal(out.p, "1Ab");
	}
}

static void add_name(void *context, const char *name)
{
	fh_buf_addf(context, "%s ", name);
}

static void the_names_of_a_template_are_those_of_variables(void **state)
{
	static const struct {
		const char *source, *names;
	} cases[] = {
		{ "{{ a }}{% if b is odd %}{{ c | upper }}{% endif %}", "a b c" },
		{ "{% for k, v in d %}{{ k }}{{ v }}{% endfor %}{% set e = 1 %}{{ e }}", "d" },
		{ "{% macro f(p, q=2) %}{{ p }}{{ q }}{% endmacro %}{{ f(1, q=g) }}", "g" },
		{ "{% block head %}{{ h }}{% endblock head %}", "h" },
		{ "{% from 'x.njk' import m as n %}{{ n(i) }}{% import 'x.njk' as o %}{{ o.m() }}", "i" },
	};
	for (size_t i = 0; i < FH_ARRAY_SIZE(cases); i++) {
		fh_auto_buf struct fh_buf names = FH_BUF_INIT(0);
		fh_auto_template struct fh_text_template *t = fh_text_template_compile(fh_str(cases[i].source), "t", NULL);
		assert_non_null(t);
		fh_text_template_each_name(t, add_name, &names);
		for (size_t from = 0, n; from < names.n; from += n + 1) { /* each is wanted, in any order */
			n = strcspn(names.p + from, " ");
			if (!memmem(cases[i].names, strlen(cases[i].names), names.p + from, n))
				fail_msg("%s has no variable %.*s", cases[i].source, (int)n, names.p + from);
		}
		assert_int_equal(strlen(cases[i].names) + 1, names.n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_names_of_a_template_are_those_of_variables),
		cmocka_unit_test(renders_as_nunjucks_does),
		cmocka_unit_test(stops_what_does_not_end),
		cmocka_unit_test(bounds_nesting),
		cmocka_unit_test(leaves_the_variables_as_they_were),
		cmocka_unit_test(loads_templates_of_the_host_only),
		cmocka_unit_test(keeps_bytes_that_are_no_template),
		cmocka_unit_test(survives_any_prefix_of_a_template),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
