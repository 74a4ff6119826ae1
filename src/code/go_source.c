/* SPDX-License-Identifier: MIT */
#include "code/go_source.h"

#include "code/outline.h"
#include "code/signature.h"

void fh_go_source_release(struct fh_go_source *s)
{
	fh_buf_release(&s->blank);
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ';';
}

/* The last part of an import path; if that is a version ("math/rand/v2"), the part before. */
struct fh_str fh_go_name_of_path(struct fh_str path)
{
	for (int tries = 0; tries < 2; tries++) {
		const char *slash = memrchr(path.p, '/', path.n);
		size_t at = slash ? (size_t)(slash - path.p) + 1 : 0;
		struct fh_str last = fh_str_from(path, at);
		bool version = at > 0 && last.n > 1 && last.p[0] == 'v' && last.p[1] >= '0' && last.p[1] <= '9';
		if (!version)
			return last;
		path.n = at - 1;
	}
	return path;
}

static int keep_import(struct fh_go_source *s, struct fh_str spec, struct fh_error *err)
{
	while (spec.n > 0 && is_space(spec.p[spec.n - 1]))
		spec.n--;
	size_t quote = 0;
	while (quote < spec.n && spec.p[quote] != '"' && spec.p[quote] != '`')
		quote++;
	if (s->count == FH_GO_IMPORTS_MAX || spec.n - FH_MIN(spec.n, quote) < 3)
		return fh_error_set(err, FH_E_UNAVAILABLE,
		                    s->count == FH_GO_IMPORTS_MAX ? "it has too many imports"
		                                                  : "it has an import without a path");
	struct fh_str path = { spec.p + quote + 1, spec.n - quote - 2 }, name = { spec.p, quote };
	while (name.n > 0 && is_space(name.p[name.n - 1]))
		name.n--;
	s->imports[s->count++] = (struct fh_go_import){ spec, path, name.n ? name : fh_go_name_of_path(path) };
	return 0;
}

/* Reads an import declaration; *at is at the word import, and is set to the declaration's end. */
static int read_import(struct fh_go_source *s, struct fh_str text, size_t *at, struct fh_error *err)
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
			end = is_space(b[i]) ? end : i + 1; /* do not count a comment that follows the clause */
		if (end > start)
			r = keep_import(s, (struct fh_str){ text.p + start, end - start }, err);
	} while (r >= 0 && group && i < text.n && b[i] != ')');
	*at = i + (group && i < text.n);
	return r;
}

int fh_go_source_read(struct fh_str text, struct fh_go_source *s, struct fh_error *err)
{
	fh_signature_blank(&s->blank, text);
	struct fh_str blank = fh_buf_str(&s->blank);
	size_t i = 0, body = 0;
	for (int r = 0;;) {
		while (i < text.n && is_space(blank.p[i]))
			i++;
		struct fh_str word = fh_identifier(fh_str_from(blank, i));
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
			i++; /* skips the semicolon that ends the package clause */
		body = i;
	}
	s->body = fh_str_from(text, body);
	s->blank_body = fh_str_from(blank, body);
	return 0;
}

/* Finds `name` as a whole word that is followed by a point, in blanked text from position `at` on. s.n: it is not
 * there. */
size_t fh_go_find_use(struct fh_str s, struct fh_str name, size_t at)
{
	for (; name.n > 0 && at + name.n < s.n; at++) {
		const char *p = memmem(s.p + at, s.n - at - 1, name.p, name.n);
		if (!p)
			break;
		at = p - s.p;
		bool member =
		    at > 0 && p[-1] == '.' && !(at > 1 && p[-2] == '.'); /* x.name is a member, but "...name" a type */
		bool inside =
		    at > 0 && (member || fh_identifier((struct fh_str){ p - 1, 1 }).n > 0 || (p[-1] >= '0' && p[-1] <= '9'));
		if (!inside && p[name.n] == '.')
			return at;
	}
	return s.n;
}

bool fh_go_uses(struct fh_str blank, struct fh_str name)
{
	return fh_go_find_use(blank, name, 0) < blank.n;
}

/* -------------------------------------------------------------------------------------------------------- imports */

/* Packages that are imported when a text uses them without importing them; bigcode-evaluation-harness adds the same. */
static const char *const helpful[] = { "math",  "strings", "fmt",  "strconv",   "time",
	                                   "bytes", "regexp",  "sort", "math/rand", "crypto/md5" };
_Static_assert(FH_ARRAY_SIZE(helpful) <= FH_GO_HELPFUL_MAX, "room in fh_go_imports");
static const char *const others[] = { "errors", "unicode", "unicode/utf8", "slices", "maps",
	                                  "os",     "io",      "bufio",        "sync",   "cmp" };

bool fh_go_is_imported(const struct fh_go_imports *done, struct fh_str name)
{
	for (size_t i = 0; i < done->count; i++)
		if (fh_str_same(done->names[i], name))
			return true;
	return false;
}

bool fh_go_is_own(const struct fh_go_import *i)
{
	return fh_str_eq(i->path, "testing") || fh_str_begins(i->path, "github.com/stretchr/testify/");
}

/* Imports _ and . give no name by which to tell whether the file uses the package. */
static bool is_nameless(const struct fh_go_import *in)
{
	return fh_str_eq(in->name, "_") || fh_str_eq(in->name, ".");
}

/* Whether an assembled file leaves an import out: it has it already, it does not use it, or we provide the package. */
static bool is_left_out(const struct fh_go_import *in, const struct fh_go_imports *done, struct fh_str blank)
{
	if (is_nameless(in))
		return fh_go_is_own(in);
	return fh_go_is_own(in) || !fh_go_uses(blank, in->name) || fh_go_is_imported(done, in->name);
}

static void add_import(struct fh_buf *out, struct fh_go_imports *done, const struct fh_go_import *in)
{
	fh_buf_adds(out, "import ");
	fh_buf_add_str(out, in->spec);
	fh_buf_addc(out, '\n');
	done->names[done->count++] = in->name;
}

void fh_go_add_imports(struct fh_buf *out, struct fh_go_imports *done, const struct fh_go_source *s,
                       struct fh_str blank)
{
	for (size_t i = 0; i < s->count; i++)
		if (!is_left_out(&s->imports[i], done, blank))
			add_import(out, done, &s->imports[i]);
}

/* Go refuses a program with unused imports. But other harnesses put program and test into one file, where an import
 * counts as used if the test uses it; so programs contain all imports of their prompt. */
void fh_go_add_own_imports(struct fh_buf *out, struct fh_go_imports *done, const struct fh_go_source *program,
                           const struct fh_go_source *test)
{
	for (size_t i = 0; i < program->count; i++) {
		const struct fh_go_import *in = &program->imports[i];
		if (is_nameless(in) || fh_go_uses(program->blank_body, in->name) || !fh_go_uses(test->blank_body, in->name))
			add_import(out, done, in);
	}
}

static void add_used(struct fh_buf *out, struct fh_go_imports *done, struct fh_str blank, const char *const *paths,
                     size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct fh_str name = fh_go_name_of_path(fh_str(paths[i]));
		if (fh_go_uses(blank, name) && !fh_go_is_imported(done, name))
			fh_buf_addf(out, "import \"%s\"\n", paths[i]);
	}
}

void fh_go_add_helpful(struct fh_buf *out, struct fh_go_imports *done, struct fh_str blank)
{
	add_used(out, done, blank, helpful, FH_ARRAY_SIZE(helpful));
}

void fh_go_add_missing(struct fh_buf *out, struct fh_go_imports *done, struct fh_str blank)
{
	fh_go_add_helpful(out, done, blank);
	add_used(out, done, blank, others, FH_ARRAY_SIZE(others));
}
