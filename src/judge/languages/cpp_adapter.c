/* SPDX-License-Identifier: MIT */
#include "judge/languages/cpp_adapter.h"

#include "code/cpp_guard.h"
#include "code/declaration.h"
#include "code/outline.h"
#include "judge/languages/cpp_units.h"

/* Bounds: occurrences of the name; definitions of it that are examined, each from the program's beginning; bytes of the
 * parameters. */
enum { MET_MAX = 1000, LOOKED_AT_MAX = 32, PARAMETERS_MAX_BYTES = 8192 };

/* The next significant byte of a type: skips blanks and "std::". */
static char next_of_type(struct fh_str s, size_t *i)
{
	static const char std[] = "std::";
	for (;;) {
		while (*i < s.n && fh_signature_space(s.p[*i]))
			++*i;
		if (s.n - *i < strlen(std) || memcmp(s.p + *i, std, strlen(std)) != 0)
			return *i < s.n ? s.p[(*i)++] : '\0';
		*i += strlen(std);
	}
}

static bool is_same_type(struct fh_str a, struct fh_str b)
{
	for (size_t i = 0, k = 0;;) {
		char one = next_of_type(a, &i);
		if (one != next_of_type(b, &k))
			return false;
		if (one == '\0')
			return true;
	}
}

static struct fh_str type_of(const struct fh_parameter *p)
{
	return (struct fh_str){ p->type.p, p->type.n - p->name.n };
}

static bool is_same(const struct fh_signature *a, const struct fh_signature *b)
{
	if (!fh_str_same(a->name, b->name) || !is_same_type(a->result, b->result) ||
	    a->parameter_count != b->parameter_count)
		return false;
	for (size_t i = 0; i < a->parameter_count; i++)
		if (!is_same_type(type_of(&a->parameters[i]), type_of(&b->parameters[i])))
			return false;
	return true;
}

/* The position of the `{` after a name's parameters; whole.n if this is a call or only a declaration. */
static size_t find_brace(struct fh_str whole, size_t i)
{
	struct fh_str s = { whole.p, FH_MIN(whole.n, i + PARAMETERS_MAX_BYTES) };
	long depth = 0;
	while (i < s.n && fh_signature_space(s.p[i]))
		i++;
	for (; i < s.n; i++) {
		depth += (s.p[i] == '(') - (s.p[i] == ')');
		if (depth == 0)
			break;
	}
	for (i++; i < s.n && strchr(";{}()", s.p[i]) == NULL;)
		i++;
	return i < s.n && s.p[i] == '{' ? i : whole.n;
}

/* Whether a macro of the program redefines a word of the signature, which then does not mean what it seems to. */
static bool redefines(struct fh_str blanked, struct fh_str signature)
{
	struct fh_str name;
	for (size_t at = 0; fh_cpp_next_macro(blanked, &at, &name);)
		if (name.n > 0 && fh_mentions(signature, name, NULL))
			return true;
	return false;
}

/* Removes the program's macros: the adapter's headers and the declared types mean what they say. The function itself
 * may be a macro. */
static void add_undefs(struct fh_buf *out, struct fh_str blanked, struct fh_str function)
{
	struct fh_str name;
	size_t met = 0;
	for (size_t at = 0; met < MET_MAX && fh_cpp_next_macro(blanked, &at, &name); met++)
		if (name.n > 0 && name.p[0] != '_' && !fh_str_same(name, function))
			fh_buf_addf(out, "#undef %.*s\n", FH_STR_ARGS(name));
}

/* text: the program with its literals and comments blanked. */
static bool defines(struct fh_str program, struct fh_str text, const struct fh_signature *declared)
{
	size_t met = 0, looked_at = 0;
	for (size_t i = 0; met < MET_MAX && looked_at < LOOKED_AT_MAX; met++) {
		const char *at = memmem(text.p + i, text.n - i, declared->name.p, declared->name.n);
		if (!at)
			return false;
		i = at - text.p + declared->name.n;
		size_t brace = find_brace(text, i);
		if (brace == text.n)
			continue;
		fh_auto_signature struct fh_signature found = { 0 };
		looked_at++;
		if (fh_cpp_signature((struct fh_str){ program.p, brace + 1 }, &found, NULL) == 0 && is_same(&found, declared))
			return true;
	}
	return false;
}

/* Appends the program's function as an object. checked: it takes part in overload resolution only where the function
 * does. */
static void add_function(struct fh_buf *out, struct fh_str name, bool checked)
{
	static const char values[] = "static_cast<decltype(fh_split_v) &&>(fh_split_v)...";
	fh_buf_adds(out, "[](auto &&...fh_split_v) -> decltype(");
	if (checked)
		fh_buf_addf(out, "::%.*s(%s)", FH_STR_ARGS(name), values);
	else
		fh_buf_adds(out, "auto");
	fh_buf_addf(out, ") { return ::%.*s(%s); }", FH_STR_ARGS(name), values);
}

/* Appends the type of the i-th argument with which the program's function is called: the declared parameter's, or,
 * where the test gives a variable, that of a variable of its own. */
static void add_type(struct fh_buf *out, const struct fh_signature *s, size_t i, uint64_t lvalues)
{
	bool lvalue = lvalues >> i & 1;
	fh_buf_adds(out, lvalue ? "fh_split_fitting::lvalue<decltype(" : "decltype(");
	fh_cpp_add_name(out, s, i);
	fh_buf_adds(out, lvalue ? ")>" : ")");
}

static void add_value(struct fh_buf *out, const struct fh_signature *s, size_t i, uint64_t lvalues)
{
	bool lvalue = lvalues >> i & 1;
	if (lvalue) {
		fh_buf_adds(out, "const_cast<");
		add_type(out, s, i, lvalues);
		fh_buf_adds(out, ">(");
	}
	fh_cpp_add_name(out, s, i);
	fh_buf_adds(out, lvalue ? ")" : "");
}

/* Appends a call of the program's function with the parameters. Before C++17 their types have to fit as they are. */
static void add_call(struct fh_buf *out, const struct fh_signature *s, uint64_t lvalues)
{
	fh_buf_adds(out, "\n#if __cplusplus >= 201703L\n\tfh_split_fitting::call<");
	for (size_t i = 0; i < s->parameter_count; i++) {
		fh_buf_adds(out, i ? ", " : "");
		add_type(out, s, i, lvalues);
	}
	fh_buf_adds(out, ">(");
	add_function(out, s->name, true);
	fh_buf_adds(out, ", ");
	add_function(out, s->name, false);
	for (size_t i = 0; i < s->parameter_count; i++) {
		fh_buf_adds(out, ", ");
		add_value(out, s, i, lvalues);
	}
	fh_buf_addf(out, ")\n#else\n\t::%.*s(", FH_STR_ARGS(s->name));
	for (size_t i = 0; i < s->parameter_count; i++) {
		fh_buf_adds(out, i ? ", static_cast<" : "static_cast<");
		add_type(out, s, i, lvalues);
		fh_buf_adds(out, " &&>(");
		add_value(out, s, i, lvalues);
		fh_buf_addc(out, ')');
	}
	fh_buf_adds(out, ")\n#endif\n\t");
}

static bool is_of_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The name that a line defines as another name of a type (`typedef T NAME;`, `using NAME = T;`); n = 0: it does not. */
static struct fh_str alias_of(struct fh_str line)
{
	static const char using[] = "using ";
	const char *end = line.p;
	if (fh_str_begins(line, using) && memchr(line.p, '=', line.n))
		return fh_identifier(fh_str_from(line, strlen(using)));
	if (fh_str_begins(line, "typedef ") && memchr(line.p, ';', line.n))
		end = memchr(line.p, ';', line.n);
	const char *first = end;
	while (first > line.p && is_of_name(first[-1]))
		first--;
	return (struct fh_str){ first, end - first };
}

/* Repeats the declaration's own names of types that its signature uses, in the adapter's namespace: the program need
 * not have them. */
static void add_aliases(struct fh_buf *out, struct fh_str before, struct fh_str signature)
{
	for (struct fh_str line; fh_next_line(&before, &line);) {
		struct fh_str name = alias_of(line);
		if (name.n == 0 || !fh_mentions(signature, name, NULL))
			continue;
		fh_buf_add_str(out, line);
		fh_buf_addc(out, '\n');
	}
}

int fh_cpp_adapter(struct fh_str helpers, struct fh_str declaration, uint64_t lvalues, struct fh_str program,
                   struct fh_buf *out, struct fh_error *err)
{
	fh_auto_signature struct fh_signature s = { 0 };
	int r = fh_cpp_signature(declaration, &s, err);
	if (r < 0)
		return r;
	fh_auto_buf struct fh_buf blanked = FH_BUF_INIT(0);
	fh_signature_blank(&blanked, program);
	struct fh_str text = fh_buf_str(&blanked);
	struct fh_str signature = { s.text.p + s.start, s.end - s.start };
	bool redefined = redefines(text, signature);
	if (!redefined && defines(program, text, &s))
		return 0;
	bool gives = !fh_str_eq(s.result, "void");
	fh_buf_adds(out, "\n#line 1 \"" FH_CPP_ADAPTER "\"\n");
	add_undefs(out, text, s.name);
	fh_buf_add_str(out, helpers);
	fh_cpp_add_preamble(out, (struct fh_str){ declaration.p, s.start }, true);
	fh_buf_adds(out, "namespace fh_split_adapter {\nusing namespace std;\n");
	add_aliases(out, (struct fh_str){ declaration.p, s.start }, signature);
	fh_cpp_add_head(out, &s, fh_str("fh_split_function"));
	fh_buf_adds(out, "\n{\n\t");
	if (gives) {
		fh_buf_adds(out, "return fh_split_fit<");
		fh_buf_add_str(out, s.result);
		fh_buf_adds(out, redefined ? ", true>(" : ", false>(");
	}
	add_call(out, &s, lvalues);
	fh_buf_adds(out, gives ? ");\n}\n}\n" : ";\n}\n}\n");
	return 1;
}
