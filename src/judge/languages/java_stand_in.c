/* SPDX-License-Identifier: MIT */
#include "judge/languages/java_units.h"

#include "base/error.h"
#include "code/declaration.h"
#include "code/outline.h"
#include "code/signature.h"

static const char self[] = "\tprivate final int fh_split_self = SplitJudge.instance();\n}\n";

static bool is_number(struct fh_str type)
{
	static const char *const numbers[] = { "int", "long", "float", "double" };
	for (size_t i = 0; i < FH_ARRAY_SIZE(numbers); i++)
		if (fh_str_eq(type, numbers[i]))
			return true;
	return false;
}

/* The body of a method, or of a constructor, whose name is then <init>. */
static void add_body(struct fh_buf *out, const struct fh_signature *s, struct fh_str class, struct fh_str head,
                     const char *name)
{
	bool gives = !fh_str_eq(s->result, "void");
	fh_buf_addf(out, "{\n\t\t%sSplitJudge.call(%s, \"%.*s %s\"", gives ? "Object fh_split_result = " : "",
	            fh_mentions(head, fh_str("static"), NULL) ? "0" : "fh_split_self", FH_STR_ARGS(class), name);
	/* in an array, because a single array argument would be taken for the list of all arguments */
	fh_buf_adds(out, ", new Object[] { ");
	for (size_t i = 0; i < s->parameter_count; i++) {
		fh_buf_adds(out, i ? ", " : "");
		fh_buf_add_str(out, s->parameters[i].name);
	}
	fh_buf_adds(out, " });\n");
	if (is_number(s->result))
		fh_buf_addf(out, "\t\tfh_split_result = SplitJudge.number(fh_split_result, %.*s.class);\n",
		            FH_STR_ARGS(s->result));
	if (gives) {
		fh_buf_adds(out, "\t\ttry {\n\t\t\treturn (");
		fh_buf_add_str(out, s->result);
		fh_buf_adds(out, ") fh_split_result;\n\t\t} catch (ClassCastException | NullPointerException e) {\n"
		                 "\t\t\tSplitJudge.wrongType();\n\t\t\tthrow e;\n\t\t}\n");
	}
	fh_buf_adds(out, "\t}\n");
}

static void add_method(struct fh_buf *out, const struct fh_signature *s, struct fh_str class)
{
	fh_auto_free char *name = fh_xstrndup(s->name.p, s->name.n);
	add_body(out, s, class, (struct fh_str){ s->text.p + s->start, s->end - s->start }, name);
}

/* The name of the class that ends up open in blanked text; empty: none does. */
static struct fh_str open_class(struct fh_str blank)
{
	struct fh_str found = { "", 0 }, name = { "", 0 };
	long depth = 0;
	bool is_class = false;
	for (size_t i = 0; i < blank.n;) {
		struct fh_str word = fh_identifier(fh_str_from(blank, i));
		if (word.n == 0) {
			if (blank.p[i] == '{' && depth++ == 0)
				found = name;
			if (blank.p[i] == '}' && --depth == 0)
				found = name = (struct fh_str){ "", 0 };
			i++;
			continue;
		}
		if (is_class && depth == 0)
			name = word;
		is_class = fh_str_eq(word, "class") && (i == 0 || blank.p[i - 1] != '.');
		i += word.n;
	}
	return depth > 0 ? found : (struct fh_str){ "", 0 };
}

/* ------------------------------------------------------------------------------------- the class of the reference */

/* A class at the top level of the reference; positions in its text. */
struct class
{
	struct fh_str name;
	size_t start, open, close; /* of the word class, and of its braces */
};

/* Finds the one type of the reference that the test names. */
static int find_class(struct fh_str blank, struct fh_str test, struct class *ret, struct fh_error *err)
{
	static const char *const kinds[] = { "class", "interface", "enum", "record" };
	struct class c = { .close = 0 }, found = { .close = 0 };
	struct fh_str before = { "", 0 };
	size_t before_at = 0, count = 0;
	bool is_class = false, named = false;
	long depth = 0;
	for (size_t i = 0; i < blank.n;) {
		struct fh_str word = fh_identifier(fh_str_from(blank, i));
		if (word.n == 0) {
			if (blank.p[i] == '{' && depth++ == 0)
				c.open = i;
			if (blank.p[i] == '}' && --depth == 0 && named && fh_mentions(test, c.name, NULL)) {
				c.close = i;
				found = c;
				count++;
				if (!is_class)
					return fh_error_set(err, FH_E_UNAVAILABLE,
					                    "the test uses a type of the program's that is no class");
			}
			named = named && !(blank.p[i] == '}' && depth == 0);
			i++;
			continue;
		}
		for (size_t k = 0; k < FH_ARRAY_SIZE(kinds) && depth == 0 && !named; k++)
			if (fh_str_eq(before, kinds[k])) {
				c.name = word;
				c.start = before_at;
				is_class = k == 0;
				named = true;
			}
		before = i > 0 && blank.p[i - 1] == '.' ? (struct fh_str){ "", 0 } : word; /* X.class */
		before_at = i;
		i += word.n;
	}
	if (count != 1)
		return fh_error_set(err, FH_E_UNAVAILABLE,
		                    count ? "the test uses several classes of the program's"
		                          : "no declaration says what the test calls");
	*ret = found;
	return 0;
}

/* Whether values of a type can come from the other side, as far as its name tells; all that a method may return. */
static bool crosses(struct fh_str type)
{
	static const char *const known[] = {
		"void",      "int",        "long",       "short",         "byte",          "char",         "boolean",
		"float",     "double",     "Integer",    "Long",          "Short",         "Byte",         "Character",
		"Boolean",   "Float",      "Double",     "Number",        "String",        "Object",       "List",
		"ArrayList", "LinkedList", "Collection", "Set",           "HashSet",       "TreeSet",      "SortedSet",
		"Map",       "HashMap",    "TreeMap",    "SortedMap",     "Optional",      "BigInteger",   "BigDecimal",
		"Deque",     "Queue",      "ArrayDeque", "LinkedHashMap", "LinkedHashSet", "PriorityQueue"
	};
	struct fh_str name = fh_identifier(type);
	while (name.n > 0 && name.n + 1 < type.n && type.p[name.n] == '.') { /* java.util.List */
		type = fh_str_from(type, name.n + 1);
		name = fh_identifier(type);
	}
	for (size_t i = 0; i < FH_ARRAY_SIZE(known); i++)
		if (fh_str_eq(name, known[i]))
			return true;
	return name.n == 1 && name.p[0] >= 'A' && name.p[0] <= 'Z'; /* a type parameter */
}

/* Adds a stand-in for a member that ends with a body. Private ones, what is no method, and methods that give what
 * cannot cross, are left out: a test that needs such a thing does not compile. */
static void add_member(struct fh_buf *out, struct fh_str head, struct fh_str class)
{
	fh_auto_signature struct fh_signature s = { 0 };
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(0);
	const char *open = memchr(head.p, '(', head.n);
	if (!open || fh_mentions(head, fh_str("private"), NULL))
		return;
	struct fh_str before = { head.p, open - head.p };
	while (before.n > 0 && fh_signature_space(before.p[before.n - 1]))
		before.n--;
	bool makes = before.n >= class.n && memcmp(before.p + before.n - class.n, class.p, class.n) == 0 &&
	             (before.n == class.n || fh_signature_space(before.p[before.n - class.n - 1]));
	fh_buf_adds(&text, "class X {\n");
	fh_buf_add_str(&text, (struct fh_str){ head.p, before.n - (makes ? class.n : 0) });
	if (makes) { /* is read as a method */
		fh_buf_adds(&text, " void ");
		fh_buf_add_str(&text, class);
	}
	fh_buf_add_str(&text, fh_str_from(head, before.n));
	fh_buf_addc(&text, '{');
	if (fh_java_signature(fh_buf_str(&text), &s, NULL) < 0 || fh_str_eq(s.name, "main") || !crosses(s.result))
		return;
	for (size_t i = 0; i < s.parameter_count; i++)
		if (fh_mentions(s.parameters[i].type, class, NULL))
			return; /* an object of the program's */
	fh_buf_addc(out, '\t');
	fh_buf_add_str(out, head);
	if (makes)
		add_body(out, &s, class, head, "<init>");
	else
		add_method(out, &s, class);
}

/* The word in front of a bracket tells a member class from a method. */
static bool is_type(struct fh_str head)
{
	static const char *const kinds[] = { "class", "interface", "enum", "record" };
	for (size_t i = 0; i < FH_ARRAY_SIZE(kinds); i++)
		if (fh_mentions(head, fh_str(kinds[i]), NULL))
			return true;
	return false;
}

static void add_members(struct fh_buf *out, struct fh_str blank, const struct class *c)
{
	long depth = 0, brackets = 0;
	size_t start = c->open + 1;
	for (size_t i = start; i < c->close; i++) {
		char b = blank.p[i];
		brackets += depth == 0 ? (b == '(') - (b == ')') : 0;
		if (b == ';' && depth == 0 && brackets == 0)
			start = i + 1;
		if (b == '}' && --depth == 0 && brackets == 0) {
			struct fh_str head = fh_str_from((struct fh_str){ blank.p, i }, start);
			size_t n = 0;
			while (n < head.n && head.p[n] != '{')
				n++;
			head.n = n;
			const char *value = memchr(head.p, '=', head.n);
			if (value && !memchr(head.p, '(', value - head.p))
				continue; /* a field's value; its ; follows */
			if (!is_type(head))
				add_member(out, head, c->name);
			start = i + 1;
		}
		depth += b == '{' && brackets == 0;
	}
}

/* Whether a class extends another, whose methods the stand-in would have on the judge's side. */
static bool has_base(struct fh_str head)
{
	long angles = 0;
	for (size_t i = 0; i < head.n;) {
		struct fh_str word = fh_identifier(fh_str_from(head, i));
		angles += (head.p[i] == '<') - (head.p[i] == '>');
		if (angles == 0 && fh_str_eq(word, "extends"))
			return true;
		i += FH_MAX(word.n, (size_t)1);
	}
	return false;
}

static int stand_in_of_reference(const struct fh_judge_problem *p, struct fh_buf *ret_class, struct fh_buf *out,
                                 struct fh_error *err)
{
	fh_auto_buf struct fh_buf blank = FH_BUF_INIT(0), test = FH_BUF_INIT(0);
	struct class c = { .close = 0 };
	fh_signature_blank(&blank, fh_buf_str(&p->reference));
	fh_signature_blank(&test, fh_buf_str(&p->tail));
	int r = find_class(fh_buf_str(&blank), fh_buf_str(&test), &c, err);
	if (r < 0)
		return r;
	if (has_base((struct fh_str){ blank.p + c.start, c.open - c.start }))
		return fh_error_set(err, FH_E_UNAVAILABLE, "the class of the program's that the test uses extends another");
	fh_buf_add_str(ret_class, c.name);
	fh_java_imports(fh_buf_str(&p->reference), out);
	fh_buf_add_str(out, (struct fh_str){ blank.p + c.start, c.open + 1 - c.start });
	fh_buf_addc(out, '\n');
	add_members(out, fh_buf_str(&blank), &c);
	fh_buf_adds(out, self);
	return 0;
}

/* ---------------------------------------------------------------------------------------------------- the stand-in */

struct fh_str fh_java_class_name(struct fh_str declaration)
{
	fh_auto_buf struct fh_buf blank = FH_BUF_INIT(0);
	fh_signature_blank(&blank, declaration);
	struct fh_str name = open_class(fh_buf_str(&blank));
	return name.n ? (struct fh_str){ declaration.p + (name.p - blank.p), name.n } : name;
}

int fh_java_stand_in(const struct fh_judge_problem *p, struct fh_buf *ret_class, struct fh_buf *out,
                     struct fh_error *err)
{
	fh_auto_signature struct fh_signature s = { 0 };
	struct fh_str declaration = fh_buf_str(&p->head), class = fh_java_class_name(declaration);
	if (class.n == 0)
		return stand_in_of_reference(p, ret_class, out, err);
	int r = fh_java_signature(declaration, &s, err);
	if (r < 0)
		return r;
	fh_buf_add_str(ret_class, class);
	fh_buf_add_str(out, (struct fh_str){ declaration.p, s.end });
	add_method(out, &s, class);
	fh_buf_adds(out, self);
	return 0;
}
