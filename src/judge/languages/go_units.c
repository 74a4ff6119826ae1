/* SPDX-License-Identifier: MIT */
#include "judge/languages/go_units.h"

#include "base/error.h"
#include "base/text/sha256.h"
#include "code/declaration.h"
#include "code/go_source.h"
#include "code/outline.h"
#include "code/signature.h"

static const char file_start[] = "package main\n\nimport fhSplit \"fhsplit\"\n";
static const char no_main[] = "\nfunc main() {}\n";

/* ---------------------------------------------------------------------------------------------------- declaration */

/* A declaration that ends in the head of a function. The signature's positions count from the beginning of the source's
 * body. */
struct declaration {
	struct fh_go_source source;
	struct fh_signature signature;
};

static void declaration_release(struct declaration *d)
{
	fh_go_source_release(&d->source);
	fh_signature_release(&d->signature);
}
#define auto_declaration FH_CLEANUP(declaration_release) struct declaration

static int read_declared(struct fh_str text, struct declaration *d, struct fh_error *err)
{
	int r = fh_go_source_read(text, &d->source, err);
	return r < 0 ? r : fh_go_signature(d->source.body, &d->signature, err);
}

static struct fh_str helpers_of(const struct declaration *d)
{
	return (struct fh_str){ d->source.body.p, d->signature.start };
}

static bool has_definition(struct fh_str blank)
{
	static const char *const words[] = { "func ", "type ", "var ", "const " };
	struct fh_str line;
	while (fh_next_line(&blank, &line))
		for (size_t i = 0; i < FH_ARRAY_SIZE(words); i++)
			if (fh_str_begins(line, words[i]))
				return true;
	return false;
}

void fh_go_add_helpers(struct fh_buf *out, struct fh_str prompt, struct fh_str declaration)
{
	auto_declaration theirs = { 0 }, ours = { 0 };
	if (read_declared(prompt, &theirs, NULL) < 0 || read_declared(declaration, &ours, NULL) < 0)
		return;
	struct fh_str blank = { theirs.source.blank_body.p, theirs.signature.start };
	struct fh_str own = { ours.source.blank_body.p, ours.signature.start };
	if (!has_definition(blank) || has_definition(own))
		return;
	fh_buf_add_str(out, helpers_of(&theirs));
	fh_buf_addc(out, '\n');
}

/* Adds ", (*T)(nil)" for each type that the declaration defines. If a program is given, only for types that the program
 * or the function's head mentions: it need not have types that only the prompt's helpers use. */
static void add_types(struct fh_buf *out, const struct declaration *d, const struct fh_str *program)
{
	struct fh_str rest = { d->source.blank_body.p, d->signature.start }, line;
	while (fh_next_line(&rest, &line)) {
		if (!fh_str_begins(line, "type "))
			continue;
		struct fh_str name = fh_identifier(fh_str_from(line, 5));
		if (name.n > 0 && 5 + name.n < line.n && line.p[5 + name.n] == ' ' &&
		    (!program || fh_mentions(*program, name, NULL) || fh_mentions(d->signature.result, name, NULL)))
			fh_buf_addf(out, ", (*%.*s)(nil)", FH_STR_ARGS(name));
	}
}

/* ------------------------------------------------------------------------------------------------------ the judge */

/* The members of other packages that a test uses and that our package replaces. member NULL: all members. */
static const struct taken {
	const char *package, *path, *member;
	bool of_judge; /* only if the test has its own process */
} taken[] = {
	{ "testing", "testing", NULL, false },
	{ "rand", "math/rand", "NewSource", true },
	{ "rand", "math/rand", "Seed", true },
};

/* Whether the name refers to that package, i.e. no import gives it to another one. */
static bool means(const struct fh_go_source *test, const struct taken *t)
{
	for (size_t i = 0; i < test->count; i++)
		if (fh_str_eq(test->imports[i].name, t->package) && !fh_str_eq(test->imports[i].path, t->path))
			return false;
	return true;
}

static size_t find_taken(const struct fh_go_source *test, const struct taken *t, size_t at)
{
	struct fh_str blank = test->blank_body, name = fh_str(t->package);
	while ((at = fh_go_find_use(blank, name, at)) < blank.n) {
		struct fh_str member = fh_identifier(fh_str_from(blank, at + name.n + 1));
		if (!t->member || fh_str_eq(member, t->member))
			break;
		at += name.n + 1;
	}
	return at;
}

/* Adds the test, with the replaced members under the names of our package. */
static void add_test(struct fh_buf *out, const struct fh_go_source *test, bool is_judge)
{
	for (size_t at = 0; at < test->blank_body.n;) {
		size_t next = test->blank_body.n, end = next;
		for (size_t i = 0; i < FH_ARRAY_SIZE(taken); i++) {
			size_t found = (is_judge || !taken[i].of_judge) && means(test, &taken[i]) ? find_taken(test, &taken[i], at)
			                                                                          : test->blank_body.n;
			if (found < next) {
				next = found;
				end = found + strlen(taken[i].package) + 1;
			}
		}
		fh_buf_add_str(out, (struct fh_str){ test->body.p + at, next - at });
		if (next < end)
			fh_buf_adds(out, "fhSplit.");
		at = end;
	}
	fh_buf_addc(out, '\n');
}

/* The name of the test or fuzz test that a line begins to define; empty: none. */
static struct fh_str test_name(struct fh_str line, bool *ret_fuzz)
{
	struct fh_str name = fh_str_begins(line, "func ") ? fh_identifier(fh_str_from(line, 5)) : (struct fh_str){ "", 0 };
	*ret_fuzz = fh_str_begins(name, "Fuzz");
	bool is_test = (*ret_fuzz || fh_str_begins(name, "Test")) && !(name.n > 4 && name.p[4] >= 'a' && name.p[4] <= 'z');
	return is_test ? name : (struct fh_str){ "", 0 };
}

static int add_test_names(struct fh_buf *out, const struct fh_go_source *test, struct fh_error *err)
{
	struct fh_str rest = test->blank_body, line;
	size_t count = 0;
	while (fh_next_line(&rest, &line)) {
		bool fuzz;
		struct fh_str name = test_name(line, &fuzz);
		if (name.n == 0)
			continue;
		if (fh_str_eq(name, "TestMain"))
			return fh_error_set(err, FH_E_UNAVAILABLE,
			                    "the test has a TestMain: let a func init, or each test, do what it does");
		fh_buf_addf(out, fuzz ? "\t\t{\"%.*s\", fhSplit.Seeds(%.*s)},\n" : "\t\t{\"%.*s\", %.*s},\n", FH_STR_ARGS(name),
		            FH_STR_ARGS(name));
		count++;
	}
	return count > 0 ? 0 : fh_error_set(err, FH_E_UNAVAILABLE, "the test has no Test functions");
}

/* Adds variables that replace testify's packages. */
static int add_assertions(struct fh_buf *out, const struct fh_go_source *const *sources, size_t count,
                          struct fh_str blank, struct fh_error *err)
{
	struct fh_go_imports done = { .count = 0 };
	for (size_t k = 0; k < count; k++) {
		for (size_t i = 0; i < sources[k]->count; i++) {
			const struct fh_go_import *in = &sources[k]->imports[i];
			if (!fh_go_is_own(in) || fh_go_is_imported(&done, in->name))
				continue;
			bool testing = fh_str_eq(in->path, "testing");
			if (testing && fh_str_eq(in->name, "testing"))
				continue;
			struct fh_str package = fh_go_name_of_path(in->path);
			if (testing || fh_str_eq(in->name, ".") ||
			    (!fh_str_eq(package, "assert") && !fh_str_eq(package, "require")))
				return fh_error_set(err, FH_E_UNAVAILABLE, "the test imports %.*s", FH_STR_ARGS(in->spec));
			fh_buf_addf(out, "var %.*s fhSplit.Assert\n", FH_STR_ARGS(in->name));
			done.names[done.count++] = in->name;
		}
	}
	static const char *const usual[] = { "assert", "require" };
	for (size_t i = 0; i < FH_ARRAY_SIZE(usual); i++)
		if (!fh_go_is_imported(&done, fh_str(usual[i])) && fh_go_uses(blank, fh_str(usual[i])))
			fh_buf_addf(out, "var %s fhSplit.Assert\n", usual[i]);
	return 0;
}

int fh_go_judge(struct fh_str declaration, struct fh_str test, struct fh_buf *out, struct fh_error *err)
{
	auto_declaration d = { 0 };
	fh_auto_go_source struct fh_go_source t = { .count = 0 };
	fh_auto_buf struct fh_buf body = FH_BUF_INIT(0), blank = FH_BUF_INIT(0);
	int r = read_declared(declaration, &d, err);
	if (r >= 0)
		r = fh_go_source_read(test, &t, err);
	if (r < 0)
		return r;
	const struct fh_signature *s = &d.signature;
	fh_buf_add_str(&body, helpers_of(&d));
	fh_buf_addf(&body, "\nvar %.*s = fhSplit.StandIn((func%.*s)(nil)", FH_STR_ARGS(s->name), FH_STR_ARGS(s->result));
	add_types(&body, &d, NULL);
	fh_buf_addf(&body, ").(func%.*s)\n", FH_STR_ARGS(s->result));
	add_test(&body, &t, true);
	fh_signature_blank(&blank, fh_buf_str(&body));
	fh_buf_adds(&body, "\nfunc main() {\n\tfhSplit.Judge([]fhSplit.Test{\n");
	r = add_test_names(&body, &t, err);
	fh_buf_adds(&body, "\t})\n}\n");
	if (r < 0)
		return r;

	const struct fh_go_source *const both[] = { &d.source, &t };
	struct fh_go_imports done = { .count = 0 };
	fh_buf_adds(out, file_start);
	for (size_t i = 0; i < FH_ARRAY_SIZE(both); i++)
		fh_go_add_imports(out, &done, both[i], fh_buf_str(&blank));
	fh_go_add_helpful(out, &done, fh_buf_str(&blank));
	r = add_assertions(out, both, FH_ARRAY_SIZE(both), fh_buf_str(&blank), err);
	fh_buf_add_str(out, fh_buf_str(&body));
	return r;
}

/* -------------------------------------------------------------------------------------------------- the candidate */

static bool has_main(struct fh_str blank)
{
	struct fh_str line;
	while (fh_next_line(&blank, &line))
		if (fh_str_begins(line, "func ") && fh_str_eq(fh_identifier(fh_str_from(line, 5)), "main"))
			return true;
	return false;
}

static bool has_testify(struct fh_str program)
{
	fh_auto_go_source struct fh_go_source s = { .count = 0 };
	if (fh_go_source_read(program, &s, NULL) < 0)
		return false;
	for (size_t i = 0; i < s.count; i++)
		if (fh_go_is_own(&s.imports[i]) && !fh_str_eq(s.imports[i].path, "testing"))
			return true;
	return false;
}

/* Blanks the Test functions of a program that has them beside its function and imports testify, which is not there.
 * They do not count, and nobody runs them. Lines keep their numbers. */
static void leave_out_tests(struct fh_buf *program)
{
	fh_auto_buf struct fh_buf blank = FH_BUF_INIT(0);
	if (!has_testify(fh_buf_str(program)))
		return;
	fh_signature_blank(&blank, fh_buf_str(program));
	struct fh_str rest = fh_buf_str(&blank), line;
	bool is_test = false;
	while (fh_next_line(&rest, &line)) {
		is_test = is_test || (fh_str_begins(line, "func Test") && memmem(line.p, line.n, "testing.T", 9));
		size_t n = line.n;
		while (n > 0 && strchr(" \t\r", line.p[n - 1]))
			n--;
		if (is_test)
			memset(program->p + (line.p - blank.p), ' ', line.n);
		bool ends = fh_str_begins(line, "}") || (fh_str_begins(line, "func ") && n > 0 && line.p[n - 1] == '}');
		is_test = is_test && !ends;
	}
}

/* What the candidate's file imports besides what its text, or the head that it continues, does. */
enum more_imports { NO_MORE, HELPFUL, MISSING };

/* Adds the candidate's file; *program: the parsed source. */
static void add_solution(struct fh_buf *out, bool is_whole, struct fh_str text, const struct fh_go_source *declaration,
                         const struct fh_go_source *test, enum more_imports more, struct fh_go_source *program)
{
	struct fh_go_imports done = { .count = 0 };
	fh_buf_adds(out, "package main\n");
	if (fh_go_source_read(text, program, NULL) >= 0) {
		if (is_whole)
			fh_go_add_own_imports(out, &done, program, test);
		else
			fh_go_add_imports(out, &done, program, program->blank_body);
		if (more == HELPFUL)
			fh_go_add_helpful(out, &done, program->blank_body);
		if (more == MISSING) {
			fh_go_add_imports(out, &done, declaration, program->blank_body);
			fh_go_add_missing(out, &done, program->blank_body);
		}
		fh_buf_add_str(out, program->body);
	} else { /* the compiler will reject the imports of such a program, too */
		fh_buf_add_str(out, text);
	}
	fh_buf_addc(out, '\n');
}

/* Adds the function; or, if it has parameters, a function of the declared type that calls it, so that it may take any
 * type to which such values can be assigned, like an interface. */
static void add_entry(struct fh_buf *out, const struct fh_signature *s)
{
	if (s->parameter_count == 0) {
		fh_buf_add_str(out, s->name);
		return;
	}
	bool gives = fh_signature_closing(s->result, 0) + 1 < s->result.n;
	fh_buf_addf(out, "func%.*s { %s%.*s(", FH_STR_ARGS(s->result), gives ? "return " : "", FH_STR_ARGS(s->name));
	for (size_t i = 0; i < s->parameter_count; i++) {
		const struct fh_parameter *p = &s->parameters[i];
		fh_buf_addf(out, "%s%.*s%s", i ? ", " : "", FH_STR_ARGS(p->name),
		            memmem(p->type.p, p->type.n, "...", 3) ? "..." : "");
	}
	fh_buf_adds(out, ") }");
}

int fh_go_candidate(struct fh_str declaration, struct fh_str test, struct fh_str head, struct fh_str completion,
                    bool lacks_imports, struct fh_buf *ret_solution, struct fh_buf *ret_main, struct fh_error *err)
{
	auto_declaration d = { 0 };
	fh_auto_go_source struct fh_go_source program = { .count = 0 }, t = { .count = 0 };
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(0);
	struct fh_go_imports done = { .count = 0 };
	int r = read_declared(declaration, &d, err);
	if (r >= 0)
		r = fh_go_source_read(test, &t, err);
	if (r < 0)
		return r;
	fh_buf_add_str(&text, head);
	fh_buf_add_str(&text, completion);
	if (head.n == 0)
		leave_out_tests(&text);
	add_solution(ret_solution, head.n == 0, fh_buf_str(&text), &d.source, &t, lacks_imports ? MISSING : NO_MORE,
	             &program);

	const struct fh_signature *s = &d.signature;
	fh_buf_adds(ret_main, file_start);
	fh_go_add_imports(ret_main, &done, &d.source, s->result);
	fh_go_add_helpful(ret_main, &done, s->result);
	fh_buf_addf(ret_main, "\nvar fhSplitEntry func%.*s = ", FH_STR_ARGS(s->result));
	add_entry(ret_main, s);
	fh_buf_adds(ret_main, "\n\nfunc init() {\n\tfhSplit.Serve(fhSplitEntry");
	add_types(ret_main, &d, &program.blank_body);
	fh_buf_addf(ret_main, ")\n}\n%s", has_main(program.blank_body) ? "" : no_main);
	return 0;
}

/* ---------------------------------------------------------------------------------------------------- one process */

/* Go's predeclared identifiers. */
static const char *const predeclared[] = {
	"any",        "append",    "bool",  "byte",   "cap",    "clear",   "close",   "comparable", "complex",
	"complex128", "complex64", "copy",  "delete", "error",  "false",   "float32", "float64",    "imag",
	"int",        "int16",     "int32", "int64",  "int8",   "iota",    "len",     "make",       "max",
	"min",        "new",       "nil",   "panic",  "print",  "println", "real",    "recover",    "rune",
	"string",     "true",      "uint",  "uint16", "uint32", "uint64",  "uint8",   "uintptr",
};

/* Compiler directives by which a program could ask for the test that is compiled beside it: for the text of a file, or
 * for a function of another package by its linker name. */
static const char *const directives[] = { "//go:embed", "//go:linkname" };

void fh_go_whole_release(struct fh_go_whole *w)
{
	struct fh_buf *const all[] = { &w->main, &w->solution, &w->names, &w->key };
	for (size_t i = 0; i < FH_ARRAY_SIZE(all); i++)
		fh_buf_release(all[i]);
}

/* Whether `name` occurs as a word, and not as a member. */
static bool has_word(struct fh_str blank, const char *name)
{
	for (size_t i = 0; i < blank.n;) {
		struct fh_str word = fh_identifier(fh_str_from(blank, i));
		if (fh_str_eq(word, name) && (i == 0 || blank.p[i - 1] != '.'))
			return true;
		i += FH_MAX(word.n, (size_t)1);
	}
	return false;
}

/* Whether `name` is declared at the top level, at the beginning of a line. */
static bool declares(struct fh_str blank, const char *name)
{
	static const char *const words[] = { "func ", "type ", "var ", "const " };
	struct fh_str line;
	while (fh_next_line(&blank, &line))
		for (size_t i = 0; i < FH_ARRAY_SIZE(words); i++)
			if (fh_str_begins(line, words[i]) && fh_str_eq(fh_identifier(fh_str_from(line, strlen(words[i]))), name))
				return true;
	return false;
}

static void add_guarded_names(struct fh_buf *out, struct fh_str test, struct fh_str task)
{
	fh_auto_buf struct fh_buf uses = FH_BUF_INIT(0);
	fh_buf_adds(out, "package main\n\n");
	for (size_t i = 0; i < FH_ARRAY_SIZE(predeclared); i++) {
		const char *name = predeclared[i];
		if (!has_word(test, name) || declares(test, name) || declares(task, name))
			continue;
		fh_buf_addf(out, "import %s \"fhsplit\"\n", name);
		fh_buf_addf(&uses, "var _ %s.T\n", name);
	}
	fh_buf_add_str(out, fh_buf_str(&uses));
}

static void add_without_directives(struct fh_buf *out, struct fh_str text)
{
	size_t start = out->n;
	fh_buf_add_str(out, text);
	for (size_t i = 0; i < FH_ARRAY_SIZE(directives); i++) {
		char *p = out->p + start;
		while ((p = memmem(p, out->p + out->n - p, directives[i], strlen(directives[i]))))
			p[2] = ' '; /* changes the directive into an ordinary comment */
	}
}

/* Fails if the test uses a member of testing that has no replacement: that is a fault of the task, not of each
 * program. */
static int check_testing(const struct fh_go_source *test, struct fh_error *err)
{
	static const char *const members[] = { "T", "TB", "B", "PB", "F", "Short", "Verbose", "Testing", "CoverMode" };
	struct fh_str blank = test->blank_body, name = fh_str("testing");
	for (size_t at = 0; (at = fh_go_find_use(blank, name, at)) < blank.n;) {
		at += name.n + 1;
		struct fh_str member = fh_identifier(fh_str_from(blank, at));
		size_t i = 0;
		while (i < FH_ARRAY_SIZE(members) && !fh_str_eq(member, members[i]))
			i++;
		if (i == FH_ARRAY_SIZE(members))
			return fh_error_set(err, FH_E_UNAVAILABLE, "the test uses testing.%.*s, which is not there",
			                    FH_STR_ARGS(member));
	}
	return 0;
}

/* The package's key is a hash of test and solution. A program cannot contain a hash of itself. */
static void make_key(struct fh_str test, struct fh_str solution, char ret_key[FH_SHA256_HEX])
{
	struct fh_sha256 h = FH_SHA256_INIT;
	fh_sha256_add_field(&h, test);
	fh_sha256_add_field(&h, solution);
	fh_sha256_hex(&h, ret_key);
}

static int add_test_file(struct fh_buf *out, const struct fh_go_source *declaration, const struct fh_go_source *test,
                         const char *key, struct fh_error *err)
{
	const struct fh_go_source *const both[] = { declaration, test };
	struct fh_go_imports done = { .count = 0 };
	fh_buf_adds(out, file_start);
	for (size_t i = 0; i < FH_ARRAY_SIZE(both); i++)
		fh_go_add_imports(out, &done, both[i], test->blank_body);
	fh_go_add_helpful(out, &done, test->blank_body);
	int r = add_assertions(out, both, FH_ARRAY_SIZE(both), test->blank_body, err);
	if (r < 0)
		return r;
	fh_buf_addc(out, '\n');
	add_test(out, test, false);
	fh_buf_addf(out, "\nfunc init() {\n\tfhSplit.Judge(\"%s\", []fhSplit.Test{\n", key);
	r = add_test_names(out, test, err);
	fh_buf_adds(out, "\t})\n}\n");
	return r;
}

int fh_go_whole(const struct fh_go_task *task, struct fh_str head, struct fh_str completion, struct fh_go_whole *ret,
                struct fh_error *err)
{
	fh_auto_go_source struct fh_go_source declaration = { .count = 0 }, test = { .count = 0 }, program = { .count = 0 };
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(0), own = FH_BUF_INIT(0), own_blank = FH_BUF_INIT(0);
	struct fh_go_whole w = { .main = FH_BUF_INIT(0) };
	char key[FH_SHA256_HEX];
	int r = fh_go_source_read(task->declaration, &declaration, err);
	if (r >= 0)
		r = fh_go_source_read(task->test, &test, err);
	if (r >= 0)
		r = check_testing(&test, err);
	if (r < 0)
		return r;
	add_without_directives(&text, head);
	add_without_directives(&text, completion);
	add_solution(&w.solution, head.n == 0, fh_buf_str(&text), &declaration, &test, HELPFUL, &program);

	fh_buf_add_str(&own, task->declaration);
	fh_buf_addc(&own, '\n');
	fh_buf_add_str(&own, task->reference);
	fh_signature_blank(&own_blank, fh_buf_str(&own));
	add_guarded_names(&w.names, test.blank_body, fh_buf_str(&own_blank));

	make_key(task->test, fh_buf_str(&w.solution), key);
	fh_buf_addf(&w.key, "package fhsplit\n\nconst key = \"%s\"\n", key);
	r = add_test_file(&w.main, &declaration, &test, key, err);
	if (r < 0) {
		fh_go_whole_release(&w);
		return r;
	}
	if (!has_main(program.blank_body) && !has_main(test.blank_body))
		fh_buf_adds(&w.main, no_main);
	*ret = w;
	return 0;
}
