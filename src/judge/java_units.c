/* SPDX-License-Identifier: MIT */
#include "judge/java_units.h"

#include "base/error.h"
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
