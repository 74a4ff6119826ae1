/* SPDX-License-Identifier: MIT */
#include "judge/java_units.h"

#include "base/error.h"
#include "judge/declaration.h"
#include "judge/outline.h"
#include "judge/signature.h"

static void add(struct fh_buf *out, struct fh_str s)
{
	fh_buf_add(out, s.p, s.n);
}

static bool is_number(struct fh_str type)
{
	static const char *const numbers[] = { "int", "long", "float", "double" };
	for (size_t i = 0; i < FH_ARRAY_SIZE(numbers); i++)
		if (fh_str_eq(type, numbers[i]))
			return true;
	return false;
}

int fh_java_stand_in(struct fh_str declaration, struct fh_buf *out, struct fh_error *err)
{
	fh_auto_signature struct fh_signature s = { 0 };
	int r = fh_java_signature(declaration, &s, err);
	if (r < 0)
		return r;
	if (!memmem(s.text.p, s.start, "class " FH_JAVA_CLASS, strlen("class " FH_JAVA_CLASS)))
		return fh_error_set(err, FH_E_UNAVAILABLE, "the entry point is no method of class " FH_JAVA_CLASS);
	bool gives = !fh_str_eq(s.result, "void");
	add(out, (struct fh_str){ declaration.p, s.end });
	fh_buf_adds(out, gives ? "{\n\t\tObject fh_split_result = " : "{\n\t\t");
	fh_buf_adds(out, "SplitJudge.call(\"");
	add(out, s.name);
	fh_buf_addc(out, '"');
	/* An array as the only argument would be taken for all of them. */
	fh_buf_adds(out, ", new Object[] { ");
	for (size_t i = 0; i < s.parameter_count; i++) {
		fh_buf_adds(out, i ? ", " : "");
		add(out, s.parameters[i].name);
	}
	fh_buf_adds(out, " });\n");
	if (is_number(s.result))
		fh_buf_addf(out, "\t\tfh_split_result = SplitJudge.number(fh_split_result, %.*s.class);\n",
		            FH_STR_ARGS(s.result));
	if (gives) {
		fh_buf_adds(out, "\t\ttry {\n\t\t\treturn (");
		add(out, s.result);
		fh_buf_adds(out, ") fh_split_result;\n\t\t} catch (ClassCastException | NullPointerException e) {\n"
		                 "\t\t\tSplitJudge.wrongType();\n\t\t\tthrow e;\n\t\t}\n");
	}
	fh_buf_adds(out, "\t}\n}\n");
	return 0;
}

/* The end of the comment or literal that begins at s[i], or i when none begins there. */
static size_t skip_literal(struct fh_str s, size_t i)
{
	static const char quotes[] = "\"\"\"";
	if (s.n - i < 3 || memcmp(s.p + i, quotes, 3) != 0)
		return fh_cpp_skip(s, i);
	for (size_t j = i + 3; j + 3 <= s.n; j++) {
		if (s.p[j] == '\\')
			j++;
		else if (memcmp(s.p + j, quotes, 3) == 0)
			return j + 3;
	}
	return s.n;
}

void fh_java_program(struct fh_str text, struct fh_buf *out)
{
	static const char word[] = "public";
	long depth = 0;
	for (size_t i = 0; i < text.n;) {
		size_t next = skip_literal(text, i);
		struct fh_str name = fh_identifier((struct fh_str){ text.p + i, text.n - i });
		if (next == i && depth == 0 && fh_str_eq(name, word)) {
			fh_buf_addf(out, "%*s", (int)strlen(word), "");
			i += name.n;
			continue;
		}
		if (next == i) {
			next += FH_MAX(name.n, (size_t)1);
			depth += (text.p[i] == '{') - (text.p[i] == '}');
		}
		fh_buf_add(out, text.p + i, next - i);
		i = next;
	}
}
