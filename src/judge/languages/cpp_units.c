/* SPDX-License-Identifier: MIT */
#include "judge/languages/cpp_units.h"

#include "base/error.h"
#include "code/outline.h"
#include "code/signature.h"

/* Options for compiling and linking the glue and the judge. The candidate's unit and the glue both contain the
 * declaration's helpers; the linker uses the first definition. */
const char *const fh_cpp_glue_flags[] = { "-w", "-O0", "-c", NULL };
const char *const fh_cpp_judge_flags[] = { "-w",
	                                       "-O0",
	                                       FH_CPP_OBJECT,
	                                       "-Wl,--wrap=main,--wrap=__assert_fail,-z,muldefs",
	                                       "-Wl,--wrap=srand,--wrap=srandom,--wrap=srand48",
	                                       NULL };
/* Visibility is hidden because gold, unlike ld, would let shared libraries call a variable that has the name of a libc
 * function. */
const char *const fh_cpp_candidate_flags[] = {
	"-w", "-O0", "-fvisibility=hidden", FH_CPP_OBJECT, "-Wl,--wrap=main,-z,muldefs", NULL
};

void fh_cpp_add_name(struct fh_buf *out, const struct fh_signature *s, size_t i)
{
	if (s->parameters[i].name.n > 0)
		fh_buf_add_str(out, s->parameters[i].name);
	else
		fh_buf_addf(out, "fh_split_%zu", i);
}

static void add_head(struct fh_buf *out, const struct fh_signature *s, struct fh_str name, size_t lvalue)
{
	fh_buf_add_str(out, s->result);
	fh_buf_addc(out, ' ');
	fh_buf_add_str(out, name);
	fh_buf_addc(out, '(');
	for (size_t i = 0; i < s->parameter_count; i++) {
		struct fh_str type = s->parameters[i].type;
		fh_buf_adds(out, i ? ", " : "");
		if (i == lvalue)
			fh_buf_addf(out, "fh_split_lvalue<%.*s>::type", (int)(type.n - s->parameters[i].name.n), type.p);
		else
			fh_buf_add_str(out, type);
		if (i != lvalue && s->parameters[i].name.n == 0) {
			fh_buf_addc(out, ' ');
			fh_cpp_add_name(out, s, i);
		}
	}
	fh_buf_addc(out, ')');
}

void fh_cpp_add_head(struct fh_buf *out, const struct fh_signature *s, struct fh_str name)
{
	add_head(out, s, name, SIZE_MAX);
}

bool fh_cpp_lvalue_unit(struct fh_str declaration, struct fh_str test, size_t i, struct fh_buf *out)
{
	fh_auto_signature struct fh_signature s = { 0 };
	if (fh_cpp_signature(declaration, &s, NULL) < 0 || i >= s.parameter_count)
		return false;
	fh_buf_add_str(out, (struct fh_str){ declaration.p, s.start });
	fh_buf_adds(out, "\ntemplate <class T> struct fh_split_lvalue { typedef T &type; };\n"
	                 "template <class T> struct fh_split_lvalue<const T> { typedef T &type; };\n"
	                 "template <class T> struct fh_split_lvalue<T &> : fh_split_lvalue<T> {};\n"
	                 "template <class T> struct fh_split_lvalue<T &&> {};\n");
	add_head(out, &s, s.name, i);
	fh_buf_adds(out, ";\n");
	fh_buf_add_str(out, test);
	fh_buf_addc(out, '\n');
	return true;
}

void fh_cpp_add_preamble(struct fh_buf *out, struct fh_str before, bool namespaces)
{
	for (struct fh_str line; fh_next_line(&before, &line);) {
		while (line.n > 0 && (line.p[0] == ' ' || line.p[0] == '\t'))
			line = fh_str_from(line, 1);
		if (!fh_str_begins(line, "#include") && !(namespaces && fh_str_begins(line, "using namespace ")))
			continue;
		fh_buf_add_str(out, line);
		fh_buf_addc(out, '\n');
	}
}

void fh_cpp_add_headers(struct fh_buf *out, struct fh_str declaration)
{
	fh_buf_adds(out, "#include <" FH_CPP_ALL_HEADERS ">\n");
	fh_cpp_add_preamble(out, declaration, true);
	fh_buf_adds(out, "#line 1 \"main.cpp\"\n");
}

static void add_stand_in(struct fh_buf *out, const struct fh_signature *s)
{
	fh_buf_adds(out, "\n#line 1 \"stand-in.cpp\"\n");
	fh_cpp_add_head(out, s, fh_str("fh_split_prototype"));
	fh_buf_adds(out, ";\n__attribute__((weak)) ");
	fh_cpp_add_head(out, s, s->name);
	fh_buf_adds(out, "\n{\n\tif (fh_split::serving())\n\t\tfh_split::undefined();\n"
	                 "\treturn fh_split::call(static_cast<decltype(&fh_split_prototype)>(nullptr)");
	for (size_t i = 0; i < s->parameter_count; i++) {
		fh_buf_adds(out, ", ");
		fh_cpp_add_name(out, s, i);
	}
	fh_buf_adds(out, ");\n}\nextern \"C\" void fh_split_misfit()\n{\n\tfh_split::misfit();\n}\n"
	                 "namespace fh_split_adapter {\n__attribute__((weak)) ");
	fh_cpp_add_head(out, s, fh_str("fh_split_function"));
	fh_buf_adds(out, ";\n}\nextern \"C\" signed fh_split_serve()\n{\n"
	                 "\tdecltype(&fh_split_prototype) adapter = &fh_split_adapter::fh_split_function, function = &");
	fh_buf_add_str(out, s->name);
	fh_buf_adds(out, ";\n\treturn fh_split::serve(adapter ? adapter : function);\n}\n");
}

/* Whether the text names an engine of <random>. */
static bool names_engine(struct fh_str text)
{
	static const char *const engines[] = { "mt19937", "minstd_rand", "ranlux", "knuth_b", "default_random_engine" };
	for (size_t i = 0; i < FH_ARRAY_SIZE(engines); i++)
		if (memmem(text.p, text.n, engines[i], strlen(engines[i])))
			return true;
	return false;
}

int fh_cpp_units(const struct fh_cpp_texts *texts, struct fh_str declaration, struct fh_str test, struct fh_buf *glue,
                 struct fh_buf *ret_test, struct fh_error *err)
{
	fh_auto_signature struct fh_signature s = { 0 };
	int r = fh_cpp_signature(declaration, &s, err);
	if (r < 0)
		return r;
	struct fh_str before = { declaration.p, s.start };
	fh_buf_add_str(glue, texts->codec);
	fh_buf_add_str(glue, texts->sides);
	fh_buf_adds(glue, "\n#line 1 \"declaration.cpp\"\n");
	fh_buf_add_str(glue, before);
	fh_buf_addc(glue, '\n');
	if (memmem(s.text.p, s.start, "<any>", 5) || memmem(s.text.p, s.start, "boost/any.hpp", 13))
		fh_buf_add_str(glue, texts->any);
	add_stand_in(glue, &s);
	if (names_engine(test) || names_engine(before)) {
		fh_buf_add_str(ret_test, texts->engines);
		fh_buf_adds(ret_test, "#line 1 \"declaration.cpp\"\n");
	}
	/* the prototype as written, because the test may use its default values */
	fh_buf_add_str(ret_test, (struct fh_str){ declaration.p, s.end });
	fh_buf_adds(ret_test, ";\n" FH_CPP_ASSERT "#line 1 \"test.cpp\"\n");
	fh_buf_add_str(ret_test, test);
	fh_buf_addc(ret_test, '\n');
	return 0;
}
