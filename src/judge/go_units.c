/* SPDX-License-Identifier: MIT */
#include "judge/go_units.h"

#include "base/error.h"
#include "base/sha256.h"
#include "judge/outline.h"
#include "judge/signature.h"

#define IMPORTS_MAX 64

static void add(struct fh_buf *out, struct fh_str s)
{
	fh_buf_add(out, s.p, s.n);
}

static bool begins(struct fh_str s, const char *with)
{
	return s.n >= strlen(with) && memcmp(s.p, with, strlen(with)) == 0;
}

static bool same(struct fh_str a, struct fh_str b)
{
	return a.n == b.n && memcmp(a.p, b.p, a.n) == 0;
}

static struct fh_str from(struct fh_str s, size_t at)
{
	at = FH_MIN(at, s.n);
	return (struct fh_str){ s.p + at, s.n - at };
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ';';
}

static const char file_start[] = "package main\n\nimport fhSplit \"fhsplit\"\n";
static const char no_main[] = "\nfunc main() {}\n";

/* ----------------------------------------------------------------------------------------------------- reading a file
 */

struct import {
	struct fh_str spec; /* as it stands: the path in quotes, a name in front of it where there is one */
	struct fh_str path; /* without quotes */
	struct fh_str name; /* by which the file knows it */
};

/* A file in two parts: package clause and imports, and what follows. */
struct source {
	struct fh_buf blank; /* fh_signature_blank of all of it */
	struct fh_str body, blank_body;
	struct import imports[IMPORTS_MAX];
	size_t count;
};

static void source_release(struct source *s)
{
	fh_buf_release(&s->blank);
}
#define auto_source FH_CLEANUP(source_release) struct source

/* The last part of a path, or where that is a version ("math/rand/v2") the one before. */
static struct fh_str name_of_path(struct fh_str path)
{
	for (int tries = 0; tries < 2; tries++) {
		const char *slash = memrchr(path.p, '/', path.n);
		size_t at = slash ? (size_t)(slash - path.p) + 1 : 0;
		struct fh_str last = from(path, at);
		bool version = at > 0 && last.n > 1 && last.p[0] == 'v' && last.p[1] >= '0' && last.p[1] <= '9';
		if (!version)
			return last;
		path.n = at - 1;
	}
	return path;
}

static int keep_import(struct source *s, struct fh_str spec, struct fh_error *err)
{
	while (spec.n > 0 && is_space(spec.p[spec.n - 1]))
		spec.n--;
	size_t quote = 0;
	while (quote < spec.n && spec.p[quote] != '"' && spec.p[quote] != '`')
		quote++;
	if (s->count == IMPORTS_MAX || spec.n - FH_MIN(spec.n, quote) < 3)
		return fh_error_set(err, FH_E_UNAVAILABLE,
		                    s->count == IMPORTS_MAX ? "it has too many imports" : "it has an import of nothing");
	struct fh_str path = { spec.p + quote + 1, spec.n - quote - 2 }, name = { spec.p, quote };
	while (name.n > 0 && is_space(name.p[name.n - 1]))
		name.n--;
	s->imports[s->count++] = (struct import){ spec, path, name.n ? name : name_of_path(path) };
	return 0;
}

/* At the word import; gives where the declaration ends. */
static int read_import(struct source *s, struct fh_str text, size_t *at, struct fh_error *err)
{
	const char *b = s->blank.p;
	size_t i = *at + strlen("import");
	bool group = false;
	int r = 0;
	while (i < text.n && (b[i] == ' ' || b[i] == '\t'))
		i++;
	if (i < text.n && b[i] == '(') {
		group = true;
		i++;
	}
	do {
		while (group && i < text.n && is_space(b[i]))
			i++;
		size_t start = i, end = i;
		for (; i < text.n && b[i] != '\n' && b[i] != ';' && b[i] != ')'; i++)
			end = is_space(b[i]) ? end : i + 1; /* without a comment behind it */
		if (end > start)
			r = keep_import(s, (struct fh_str){ text.p + start, end - start }, err);
	} while (r >= 0 && group && i < text.n && b[i] != ')');
	*at = i + (group && i < text.n);
	return r;
}

static int read_source(struct fh_str text, struct source *s, struct fh_error *err)
{
	fh_signature_blank(&s->blank, text);
	struct fh_str blank = fh_buf_str(&s->blank);
	size_t i = 0, body = 0;
	for (int r = 0;;) {
		while (i < text.n && is_space(blank.p[i]))
			i++;
		struct fh_str word = fh_identifier(from(blank, i));
		if (fh_str_eq(word, "package"))
			while (i < text.n && blank.p[i] != '\n' && blank.p[i] != ';')
				i++;
		else if (fh_str_eq(word, "import"))
			r = read_import(s, text, &i, err);
		else
			break;
		if (r < 0)
			return r;
		while (i < text.n && (blank.p[i] == ' ' || blank.p[i] == '\t' || blank.p[i] == ';'))
			i++; /* the body cannot begin with the semicolon that ends the clause */
		body = i;
	}
	s->body = from(text, body);
	s->blank_body = from(blank, body);
	return 0;
}

/* Where `name` stands with a point behind it in blanked text, as a word of its own; s.n: nowhere. */
static size_t find_use(struct fh_str s, struct fh_str name, size_t at)
{
	for (; name.n > 0 && at + name.n < s.n; at++) {
		const char *p = memmem(s.p + at, s.n - at - 1, name.p, name.n);
		if (!p)
			break;
		at = p - s.p;
		bool member = at > 0 && p[-1] == '.' && !(at > 1 && p[-2] == '.'); /* not the type behind "..." */
		bool inside =
		    at > 0 && (member || fh_identifier((struct fh_str){ p - 1, 1 }).n > 0 || (p[-1] >= '0' && p[-1] <= '9'));
		if (!inside && p[name.n] == '.')
			return at;
	}
	return s.n;
}

static bool uses(struct fh_str blank, struct fh_str name)
{
	return find_use(blank, name, 0) < blank.n;
}

/* ----------------------------------------------------------------------------------------------------------- imports
 */

/* What is put in where a text uses it and does not import it: as bigcode-evaluation-harness has it. */
static const char *const helpful[] = { "math",  "strings", "fmt",  "strconv",   "time",
	                                   "bytes", "regexp",  "sort", "math/rand", "crypto/md5" };

struct imports {
	struct fh_str names[2 * IMPORTS_MAX + FH_ARRAY_SIZE(helpful)];
	size_t count;
};

static bool is_imported(const struct imports *done, struct fh_str name)
{
	for (size_t i = 0; i < done->count; i++)
		if (same(done->names[i], name))
			return true;
	return false;
}

static bool is_special(const struct import *i)
{
	return fh_str_eq(i->path, "testing") || begins(i->path, "github.com/stretchr/testify/");
}

/* No name tells whether the file uses it. */
static bool is_nameless(const struct import *in)
{
	return fh_str_eq(in->name, "_") || fh_str_eq(in->name, ".");
}

/* What a file that is put together leaves out: what it has already, what it does not use, and what is our own. */
static bool is_left_out(const struct import *in, const struct imports *done, struct fh_str blank)
{
	if (is_nameless(in))
		return is_special(in);
	return is_special(in) || !uses(blank, in->name) || is_imported(done, in->name);
}

static void add_import(struct fh_buf *out, struct imports *done, const struct import *in)
{
	fh_buf_adds(out, "import ");
	add(out, in->spec);
	fh_buf_addc(out, '\n');
	done->names[done->count++] = in->name;
}

static void add_imports(struct fh_buf *out, struct imports *done, const struct source *s, struct fh_str blank)
{
	for (size_t i = 0; i < s->count; i++)
		if (!is_left_out(&s->imports[i], done, blank))
			add_import(out, done, &s->imports[i]);
}

/* A program by itself has to use what it imports, but other harnesses put the test into the same file, where the test's
 * use counts, too: programs bring all imports of their prompt. */
static void add_own_imports(struct fh_buf *out, struct imports *done, const struct source *program,
                            const struct source *test)
{
	for (size_t i = 0; i < program->count; i++) {
		const struct import *in = &program->imports[i];
		if (is_nameless(in) || uses(program->blank_body, in->name) || !uses(test->blank_body, in->name))
			add_import(out, done, in);
	}
}

static void add_helpful(struct fh_buf *out, struct imports *done, struct fh_str blank)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(helpful); i++) {
		struct fh_str name = name_of_path(fh_str(helpful[i]));
		if (uses(blank, name) && !is_imported(done, name))
			fh_buf_addf(out, "import \"%s\"\n", helpful[i]);
	}
}

/* -------------------------------------------------------------------------------------------------------- declaration
 */

/* A declaration that ends in a function's head. Positions of the signature count from its body's beginning. */
struct declaration {
	struct source source;
	struct fh_signature signature;
};

static void declaration_release(struct declaration *d)
{
	source_release(&d->source);
	fh_signature_release(&d->signature);
}
#define auto_declaration FH_CLEANUP(declaration_release) struct declaration

static int read_declared(struct fh_str text, struct declaration *d, struct fh_error *err)
{
	int r = read_source(text, &d->source, err);
	return r < 0 ? r : fh_go_signature(d->source.body, &d->signature, err);
}

static struct fh_str helpers_of(const struct declaration *d)
{
	return (struct fh_str){ d->source.body.p, d->signature.start };
}

/* ", (*T)(nil)" for each type that it makes. */
static void add_types(struct fh_buf *out, const struct declaration *d)
{
	struct fh_str rest = { d->source.blank_body.p, d->signature.start }, line;
	while (fh_next_line(&rest, &line)) {
		if (!begins(line, "type "))
			continue;
		struct fh_str name = fh_identifier(from(line, 5));
		if (name.n > 0 && 5 + name.n < line.n && line.p[5 + name.n] == ' ')
			fh_buf_addf(out, ", (*%.*s)(nil)", FH_STR_ARGS(name));
	}
}

/* ----------------------------------------------------------------------------------------------------------- the judge
 */

/* The test with what it takes of package testing under the names of ours. */
static void add_test(struct fh_buf *out, const struct source *test)
{
	struct fh_str name = fh_str("testing");
	size_t at = 0, next;
	while ((next = find_use(test->blank_body, name, at)) < test->blank_body.n) {
		add(out, (struct fh_str){ test->body.p + at, next - at });
		fh_buf_adds(out, "fhSplit.");
		at = next + name.n + 1;
	}
	add(out, from(test->body, at));
	fh_buf_addc(out, '\n');
}

static int add_test_names(struct fh_buf *out, const struct source *test, struct fh_error *err)
{
	struct fh_str rest = test->blank_body, line;
	size_t count = 0;
	while (fh_next_line(&rest, &line)) {
		struct fh_str name = begins(line, "func Test") ? fh_identifier(from(line, 5)) : (struct fh_str){ "", 0 };
		if (name.n == 0 || (name.n > 4 && name.p[4] >= 'a' && name.p[4] <= 'z'))
			continue;
		if (fh_str_eq(name, "TestMain"))
			return fh_error_set(err, FH_E_UNAVAILABLE, "the test has a TestMain");
		fh_buf_addf(out, "\t\t{\"%.*s\", %.*s},\n", FH_STR_ARGS(name), FH_STR_ARGS(name));
		count++;
	}
	return count > 0 ? 0 : fh_error_set(err, FH_E_UNAVAILABLE, "the test has no Test functions");
}

/* Variables in place of testify's packages. */
static int add_assertions(struct fh_buf *out, const struct source *const *sources, size_t count, struct fh_str blank,
                          struct fh_error *err)
{
	struct imports done = { .count = 0 };
	for (size_t k = 0; k < count; k++) {
		for (size_t i = 0; i < sources[k]->count; i++) {
			const struct import *in = &sources[k]->imports[i];
			if (!is_special(in) || is_imported(&done, in->name))
				continue;
			bool testing = fh_str_eq(in->path, "testing");
			if (testing && fh_str_eq(in->name, "testing"))
				continue;
			struct fh_str package = name_of_path(in->path);
			if (testing || fh_str_eq(in->name, ".") ||
			    (!fh_str_eq(package, "assert") && !fh_str_eq(package, "require")))
				return fh_error_set(err, FH_E_UNAVAILABLE, "the test imports %.*s", FH_STR_ARGS(in->spec));
			fh_buf_addf(out, "var %.*s fhSplit.Assert\n", FH_STR_ARGS(in->name));
			done.names[done.count++] = in->name;
		}
	}
	static const char *const usual[] = { "assert", "require" };
	for (size_t i = 0; i < FH_ARRAY_SIZE(usual); i++)
		if (!is_imported(&done, fh_str(usual[i])) && uses(blank, fh_str(usual[i])))
			fh_buf_addf(out, "var %s fhSplit.Assert\n", usual[i]);
	return 0;
}

int fh_go_judge(struct fh_str declaration, struct fh_str test, struct fh_buf *out, struct fh_error *err)
{
	auto_declaration d = { 0 };
	auto_source t = { .count = 0 };
	fh_auto_buf struct fh_buf body = FH_BUF_INIT(0), blank = FH_BUF_INIT(0);
	int r = read_declared(declaration, &d, err);
	if (r >= 0)
		r = read_source(test, &t, err);
	if (r < 0)
		return r;
	const struct fh_signature *s = &d.signature;
	add(&body, helpers_of(&d));
	fh_buf_addf(&body, "\nvar %.*s = fhSplit.StandIn((func%.*s)(nil)", FH_STR_ARGS(s->name), FH_STR_ARGS(s->result));
	add_types(&body, &d);
	fh_buf_addf(&body, ").(func%.*s)\n", FH_STR_ARGS(s->result));
	add_test(&body, &t);
	fh_signature_blank(&blank, fh_buf_str(&body));
	fh_buf_adds(&body, "\nfunc main() {\n\tfhSplit.Judge([]fhSplit.Test{\n");
	r = add_test_names(&body, &t, err);
	fh_buf_adds(&body, "\t})\n}\n");
	if (r < 0)
		return r;

	const struct source *const both[] = { &d.source, &t };
	struct imports done = { .count = 0 };
	fh_buf_adds(out, file_start);
	for (size_t i = 0; i < FH_ARRAY_SIZE(both); i++)
		add_imports(out, &done, both[i], fh_buf_str(&blank));
	add_helpful(out, &done, fh_buf_str(&blank));
	r = add_assertions(out, both, FH_ARRAY_SIZE(both), fh_buf_str(&blank), err);
	add(out, fh_buf_str(&body));
	return r;
}

/* ----------------------------------------------------------------------------------------------------- the candidate
 */

static bool has_main(struct fh_str blank)
{
	struct fh_str line;
	while (fh_next_line(&blank, &line))
		if (begins(line, "func ") && fh_str_eq(fh_identifier(from(line, 5)), "main"))
			return true;
	return false;
}

/* The candidate's file, and what of it was read. */
static void add_solution(struct fh_buf *out, bool is_whole, struct fh_str text, const struct source *test,
                         struct source *program)
{
	struct imports done = { .count = 0 };
	fh_buf_adds(out, "package main\n");
	if (read_source(text, program, NULL) >= 0) {
		if (is_whole)
			add_own_imports(out, &done, program, test);
		else
			add_imports(out, &done, program, program->blank_body);
		add_helpful(out, &done, program->blank_body);
		add(out, program->body);
	} else { /* no import that the compiler takes either */
		add(out, text);
	}
	fh_buf_addc(out, '\n');
}

int fh_go_candidate(struct fh_str declaration, struct fh_str test, struct fh_str head, struct fh_str completion,
                    struct fh_buf *ret_solution, struct fh_buf *ret_main, struct fh_error *err)
{
	auto_declaration d = { 0 };
	auto_source program = { .count = 0 }, t = { .count = 0 };
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(0);
	struct imports done = { .count = 0 };
	int r = read_declared(declaration, &d, err);
	if (r >= 0)
		r = read_source(test, &t, err);
	if (r < 0)
		return r;
	add(&text, head);
	add(&text, completion);
	add_solution(ret_solution, head.n == 0, fh_buf_str(&text), &t, &program);

	const struct fh_signature *s = &d.signature;
	fh_buf_adds(ret_main, file_start);
	add_imports(ret_main, &done, &d.source, s->result);
	add_helpful(ret_main, &done, s->result);
	fh_buf_addf(ret_main, "\nvar fhSplitEntry func%.*s = %.*s\n\nfunc init() {\n\tfhSplit.Serve(fhSplitEntry",
	            FH_STR_ARGS(s->result), FH_STR_ARGS(s->name));
	add_types(ret_main, &d);
	fh_buf_addf(ret_main, ")\n}\n%s", has_main(program.blank_body) ? "" : no_main);
	return 0;
}

/* -------------------------------------------------------------------------------------------------------- one process
 */

/* What Go declares itself. */
static const char *const predeclared[] = {
	"any",        "append",    "bool",  "byte",   "cap",    "clear",   "close",   "comparable", "complex",
	"complex128", "complex64", "copy",  "delete", "error",  "false",   "float32", "float64",    "imag",
	"int",        "int16",     "int32", "int64",  "int8",   "iota",    "len",     "make",       "max",
	"min",        "new",       "nil",   "panic",  "print",  "println", "real",    "recover",    "rune",
	"string",     "true",      "uint",  "uint16", "uint32", "uint64",  "uint8",   "uintptr",
};

/* What a program may ask of a compiler that has the test beside it: the text of a file, and a function of another
 * package by the name that the linker knows it by. */
static const char *const directives[] = { "//go:embed", "//go:linkname" };

void fh_go_whole_release(struct fh_go_whole *w)
{
	struct fh_buf *const all[] = { &w->main, &w->solution, &w->names, &w->key };
	for (size_t i = 0; i < FH_ARRAY_SIZE(all); i++)
		fh_buf_release(all[i]);
}

/* `name` as a word, and as no member of anything. */
static bool has_word(struct fh_str blank, const char *name)
{
	for (size_t i = 0; i < blank.n;) {
		struct fh_str word = fh_identifier(from(blank, i));
		if (fh_str_eq(word, name) && (i == 0 || blank.p[i - 1] != '.'))
			return true;
		i += FH_MAX(word.n, (size_t)1);
	}
	return false;
}

/* At the top level, at the beginning of a line. */
static bool declares(struct fh_str blank, const char *name)
{
	static const char *const words[] = { "func ", "type ", "var ", "const " };
	struct fh_str line;
	while (fh_next_line(&blank, &line))
		for (size_t i = 0; i < FH_ARRAY_SIZE(words); i++)
			if (begins(line, words[i]) && fh_str_eq(fh_identifier(from(line, strlen(words[i]))), name))
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
	add(out, fh_buf_str(&uses));
}

static void add_without_directives(struct fh_buf *out, struct fh_str text)
{
	size_t start = out->n;
	add(out, text);
	for (size_t i = 0; i < FH_ARRAY_SIZE(directives); i++) {
		char *p = out->p + start;
		while ((p = memmem(p, out->p + out->n - p, directives[i], strlen(directives[i]))))
			p[2] = ' '; /* a comment like any other */
	}
}

/* What there is no stand-in for is the task's, and not for a compiler to find in each program. */
static int check_testing(const struct source *test, struct fh_error *err)
{
	struct fh_str blank = test->blank_body, name = fh_str("testing");
	for (size_t at = 0; (at = find_use(blank, name, at)) < blank.n;) {
		at += name.n + 1;
		struct fh_str member = fh_identifier(from(blank, at));
		if (!fh_str_eq(member, "T"))
			return fh_error_set(err, FH_E_UNAVAILABLE, "the test takes testing.%.*s", FH_STR_ARGS(member));
	}
	return 0;
}

/* A program cannot hold a hash of itself. */
static void make_key(struct fh_str test, struct fh_str solution, char ret_key[FH_SHA256_HEX])
{
	struct fh_sha256 h = FH_SHA256_INIT;
	fh_sha256_add_field(&h, test);
	fh_sha256_add_field(&h, solution);
	fh_sha256_hex(&h, ret_key);
}

static int add_test_file(struct fh_buf *out, const struct source *declaration, const struct source *test,
                         const char *key, struct fh_error *err)
{
	const struct source *const both[] = { declaration, test };
	struct imports done = { .count = 0 };
	fh_buf_adds(out, file_start);
	for (size_t i = 0; i < FH_ARRAY_SIZE(both); i++)
		add_imports(out, &done, both[i], test->blank_body);
	add_helpful(out, &done, test->blank_body);
	int r = add_assertions(out, both, FH_ARRAY_SIZE(both), test->blank_body, err);
	if (r < 0)
		return r;
	fh_buf_addc(out, '\n');
	add_test(out, test);
	fh_buf_addf(out, "\nfunc init() {\n\tfhSplit.Judge(\"%s\", []fhSplit.Test{\n", key);
	r = add_test_names(out, test, err);
	fh_buf_adds(out, "\t})\n}\n");
	return r;
}

int fh_go_whole(const struct fh_go_task *task, struct fh_str head, struct fh_str completion, struct fh_go_whole *ret,
                struct fh_error *err)
{
	auto_source declaration = { .count = 0 }, test = { .count = 0 }, program = { .count = 0 };
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(0), own = FH_BUF_INIT(0), own_blank = FH_BUF_INIT(0);
	struct fh_go_whole w = { .main = FH_BUF_INIT(0) };
	char key[FH_SHA256_HEX];
	int r = read_source(task->declaration, &declaration, err);
	if (r >= 0)
		r = read_source(task->test, &test, err);
	if (r >= 0)
		r = check_testing(&test, err);
	if (r < 0)
		return r;
	add_without_directives(&text, head);
	add_without_directives(&text, completion);
	add_solution(&w.solution, head.n == 0, fh_buf_str(&text), &test, &program);

	add(&own, task->declaration);
	fh_buf_addc(&own, '\n');
	add(&own, task->reference);
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
