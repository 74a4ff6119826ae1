/* SPDX-License-Identifier: MIT */
#include "judge/languages/go_units.h"

#include "base/error.h"
#include "code/go_source.h"
#include "code/outline.h"
#include "code/signature.h"

/* The name in the package clause; empty: there is none. */
static struct fh_str package_of(struct fh_str blank)
{
	struct fh_str line;
	while (fh_next_line(&blank, &line))
		if (fh_str_begins(line, "package "))
			return fh_identifier(fh_str_from(line, strlen("package ")));
	return (struct fh_str){ "", 0 };
}

/* Whether a path is of a module of somebody's: the first part of these is a host, or the path is relative. */
static bool is_foreign(struct fh_str path)
{
	const char *slash = memchr(path.p, '/', path.n);
	struct fh_str first = { path.p, slash ? (size_t)(slash - path.p) : path.n };
	return memchr(first.p, '.', first.n) != NULL;
}

/* The import by which a test of package x_test has the program, package x; NULL: there is none. */
static const struct fh_go_import *program_of(const struct fh_go_source *test, struct fh_str package)
{
	static const char end[] = "_test";
	size_t n = strlen(end);
	if (package.n <= n || memcmp(package.p + package.n - n, end, n) != 0)
		return NULL;
	struct fh_str base = { package.p, package.n - n };
	for (size_t i = 0; i < test->count; i++) {
		const struct fh_go_import *in = &test->imports[i];
		if (fh_str_same(fh_go_name_of_path(in->path), base) || fh_str_same(in->name, base))
			return in;
	}
	return NULL;
}

/* Appends the test with blanks for that import, and X for name.X. */
static void add_in_package(struct fh_buf *out, struct fh_str text, const struct fh_go_source *test,
                           const struct fh_go_import *program)
{
	size_t begin = (size_t)(program->spec.p - text.p), at = (size_t)(test->body.p - text.p);
	fh_buf_add_str(out, (struct fh_str){ text.p, at });
	char *import = out->p + out->n - at + begin;
	memset(import, ' ', program->spec.n);
	char *before = import;
	while (before > out->p && (before[-1] == ' ' || before[-1] == '\t'))
		before--;
	if (before - out->p >= 6 && memcmp(before - 6, "import", 6) == 0)
		memset(before - 6, ' ', 6); /* it was not one of several in parentheses */
	bool named = !fh_str_eq(program->name, ".") && !fh_str_eq(program->name, "_");
	for (size_t i = 0; i < test->body.n;) {
		size_t next = named ? fh_go_find_use(test->blank_body, program->name, i) : test->body.n;
		fh_buf_add_str(out, (struct fh_str){ test->body.p + i, next - i });
		i = next < test->body.n ? next + program->name.n + 1 : next;
	}
}

int fh_go_test_file(struct fh_buf *test, struct fh_error *err)
{
	fh_auto_go_source struct fh_go_source t = { .count = 0 };
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(0);
	struct fh_str text = fh_buf_str(test);
	if (fh_go_source_read(text, &t, NULL) < 0)
		return 0; /* the compiler tells */
	const struct fh_go_import *program = program_of(&t, package_of(fh_buf_str(&t.blank)));
	for (size_t i = 0; i < t.count; i++) {
		const struct fh_go_import *in = &t.imports[i];
		if (in == program || fh_go_is_own(in) || !is_foreign(in->path))
			continue;
		fh_error_set(err, FH_E_CONFIG, "tests import %.*s, which is not there", FH_STR_ARGS(in->path));
		fh_error_hint(err,
		              "there are the standard library and testify's assert and require; the program is in the test's "
		              "own package, or is x where the test is in x_test");
		return -FH_E_CONFIG;
	}
	if (!program)
		return 0;
	add_in_package(&out, text, &t, program);
	fh_buf_truncate(test, 0);
	fh_buf_add_str(test, fh_buf_str(&out));
	return 0;
}
