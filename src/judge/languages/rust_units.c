/* SPDX-License-Identifier: MIT */
#include "judge/languages/rust_units.h"

#include "base/error.h"
#include "code/outline.h"
#include "code/signature.h"

static struct fh_str skip(struct fh_str s, size_t n)
{
	s = (struct fh_str){ s.p + n, s.n - n };
	while (s.n > 0 && (s.p[0] == ' ' || s.p[0] == '\t' || s.p[0] == '\n'))
		s = (struct fh_str){ s.p + 1, s.n - 1 };
	return s;
}

/* ----------------------------------------------------------------------------------------------------- the crates */

static const char *const rand_flags[] = { "--crate-name", "rand", "--crate-type", "lib", NULL };
static const char *const regex_flags[] = { "--crate-name", "regex", "--crate-type", "lib", NULL };
static const char *const md5_flags[] = { "--crate-name", "md5", "--crate-type", "lib", NULL };
const struct fh_rust_crate fh_rust_crates[FH_RUST_CRATES] = {
	{ "rand", "librand.rlib", { "crate_rand.rs" }, "rand=librand.rlib", rand_flags },
	{ "regex", "libregex.rlib", { "crate_regex_machine.rs", "crate_regex.rs" }, "regex=libregex.rlib", regex_flags },
	{ "md5", "libmd5.rlib", { "crate_md5.rs" }, "md5=libmd5.rlib", md5_flags },
};

static const struct fh_rust_crate *crate_of_use(struct fh_str line)
{
	line = skip(line, 0);
	if (!fh_str_begins(line, "use ") || !memchr(line.p, ';', line.n))
		return NULL;
	for (size_t i = 0; i < FH_RUST_CRATES; i++)
		if (fh_str_eq(fh_identifier(skip(line, 4)), fh_rust_crates[i].name))
			return &fh_rust_crates[i];
	return NULL;
}

static bool has_word(struct fh_str text, struct fh_str word)
{
	while (text.n > 0) {
		struct fh_str found = fh_identifier(text);
		if (found.n == word.n && memcmp(found.p, word.p, word.n) == 0)
			return true;
		text = skip(text, FH_MAX(found.n, (size_t)1));
	}
	return false;
}

/* Whether the rest of the text, or the declaration outside of `use` lines, mentions a name that the line imports. A
 * trait's methods need no name, but are useless without a value of the crate's types. */
static bool is_used(struct fh_str line, struct fh_str declaration, struct fh_str rest)
{
	for (line = skip(skip(line, 0), 4); line.n > 0;) {
		struct fh_str word = fh_identifier(line), other, left = declaration;
		line = skip(line, FH_MAX(word.n, (size_t)1));
		if (word.n > 0 && has_word(rest, word))
			return true;
		while (word.n > 0 && fh_next_line(&left, &other))
			if (!crate_of_use(other) && has_word(other, word))
				return true;
	}
	return false;
}

bool fh_rust_mentions(struct fh_str text, const struct fh_rust_crate *crate)
{
	bool found = false, module = false;
	while (text.n > 0) {
		struct fh_str word = fh_identifier(text);
		if (fh_str_eq(word, crate->name)) {
			found = true;
			if (module)
				return false;
		}
		module = fh_str_eq(word, "mod");
		text = skip(text, FH_MAX(word.n, (size_t)1));
	}
	return found;
}

/* ------------------------------------------------------------------------------------------------------- the head */

static bool is_foreign_use(struct fh_str line)
{
	static const char *const known[] = { "std", "core", "alloc", "crate", "self", "super" };
	line = skip(line, 0);
	if (!fh_str_begins(line, "use "))
		return false;
	struct fh_str name = fh_identifier(skip(line, 4));
	for (size_t i = 0; i < FH_ARRAY_SIZE(known); i++)
		if (fh_str_eq(name, known[i]))
			return false;
	for (size_t i = 0; i < FH_RUST_CRATES; i++)
		if (fh_str_eq(name, fh_rust_crates[i].name))
			return false;
	return name.n > 0 && memchr(line.p, ';', line.n);
}

/* Whether the line is `fn main(){}`, which makes the declaration a complete program. */
static bool is_empty_main(struct fh_str line)
{
	static const char plain[] = "fnmain(){}";
	size_t n = 0;
	for (line = skip(line, 0); line.n > 0; line = skip(line, 1))
		if (n == strlen(plain) || line.p[0] != plain[n++])
			return false;
	return n == strlen(plain);
}

static bool has_main(struct fh_str text)
{
	bool function = false;
	while (text.n > 0) {
		struct fh_str word = fh_identifier(text);
		if (function && fh_str_eq(word, "main"))
			return true;
		function = fh_str_eq(word, "fn");
		text = skip(text, FH_MAX(word.n, (size_t)1));
	}
	return false;
}

/* Appends the declaration's head for the text `rest`. Without the `use` lines of crates that are not mentioned, since
 * compiling those takes time. */
static void add_head(struct fh_buf *out, struct fh_str head, struct fh_str declaration, struct fh_str rest,
                     bool with_main)
{
	struct fh_str line;
	while (fh_next_line(&head, &line)) {
		bool unused = crate_of_use(line) && !is_used(line, declaration, rest);
		if (!unused && !is_foreign_use(line) && (with_main || !is_empty_main(line)))
			fh_buf_add_str(out, line);
		fh_buf_addc(out, '\n');
	}
}

void fh_rust_program(struct fh_buf *out, struct fh_str declaration, struct fh_str completion)
{
	add_head(out, declaration, declaration, completion, !has_main(completion));
	fh_buf_add_str(out, completion);
}

void fh_rust_add_uses(struct fh_buf *out, struct fh_str declaration)
{
	fh_auto_buf struct fh_buf uses = FH_BUF_INIT(0);
	struct fh_str line;
	while (fh_next_line(&declaration, &line)) {
		line = skip(line, 0);
		if (!fh_str_begins(line, "use ") || is_foreign_use(line) || !memchr(line.p, ';', line.n))
			continue;
		fh_buf_adds(&uses, "pub ");
		fh_buf_add_str(&uses, line);
		fh_buf_addc(&uses, '\n');
	}
	if (uses.n > 0)
		fh_buf_addf(out, "\nmod fh_uses {\n%s}\nuse fh_uses::*;\n", fh_buf_cstr(&uses));
}

/* ------------------------------------------------------------------------------------------------------- parameters */

/* How the serving side stores a parameter: for a reference, as the value that it refers to. */
struct kept {
	struct fh_str type;
	bool reference, changed, slice, text, any;
};

static struct kept kept_of(struct fh_str type)
{
	struct kept k = { type };
	if (!fh_str_begins(type, "&"))
		return k;
	k.reference = true;
	type = skip(type, 1);
	if (fh_str_begins(type, "'")) {
		size_t n = fh_identifier((struct fh_str){ type.p + 1, type.n - 1 }).n;
		type = skip(type, 1 + n);
	}
	k.changed = fh_str_begins(type, "mut ");
	if (k.changed)
		type = skip(type, 4);
	k.text = fh_str_eq(type, "str");
	k.any = fh_str_begins(type, "dyn ");
	k.slice = fh_str_begins(type, "[") && type.p[type.n - 1] == ']' && !memchr(type.p, ';', type.n);
	k.type = k.slice ? (struct fh_str){ type.p + 1, type.n - 2 } : type;
	return k;
}

static void add_signature(struct fh_buf *out, const struct fh_signature *s)
{
	fh_buf_adds(out, "fn ");
	fh_buf_add_str(out, s->name);
	fh_buf_add_str(out, s->lifetimes);
	fh_buf_addc(out, '(');
	for (size_t i = 0; i < s->parameter_count; i++) {
		fh_buf_add_str(out, s->parameters[i].name);
		fh_buf_adds(out, ": ");
		fh_buf_add_str(out, s->parameters[i].type);
		fh_buf_adds(out, ", ");
	}
	fh_buf_addc(out, ')');
	if (s->result.n > 0) {
		fh_buf_adds(out, " -> ");
		fh_buf_add_str(out, s->result);
	}
}

static void add_stand_in(struct fh_buf *out, const struct fh_signature *s)
{
	fh_buf_adds(out, "\n#[allow(unused_mut)]\n");
	add_signature(out, s);
	fh_buf_adds(out, " {\n    let mut fh_split_arguments = Vec::new();\n");
	for (size_t i = 0; i < s->parameter_count; i++)
		fh_buf_addf(out, "    crate::split::Put::put(&%.*s, &mut fh_split_arguments);\n",
		            FH_STR_ARGS(s->parameters[i].name));
	fh_buf_adds(out, "    crate::split::call(fh_split_arguments, |fh_split_from| {\n"
	                 "        let fh_split_result = crate::split::Get::get(fh_split_from)?;\n"
	                 "        fh_split_from.begin_arguments();\n");
	for (size_t i = 0; i < s->parameter_count; i++) {
		struct fh_str name = s->parameters[i].name;
		struct kept k = kept_of(s->parameters[i].type);
		if (!k.changed)
			continue;
		if (k.slice)
			fh_buf_addf(out,
			            "        let fh_split_back: Vec<%.*s> = fh_split_from.items(%.*s.len())?;\n"
			            "        if fh_split_back.len() != %.*s.len() { return Err(crate::split::Broken) }\n"
			            "        if crate::split::changes() {\n"
			            "            for (to, back) in %.*s.iter_mut().zip(fh_split_back) { *to = back }\n"
			            "        }\n",
			            FH_STR_ARGS(k.type), FH_STR_ARGS(name), FH_STR_ARGS(name), FH_STR_ARGS(name));
		else
			fh_buf_addf(out,
			            "        let fh_split_back = crate::split::Get::get(fh_split_from)?;\n"
			            "        let _ = [&*%.*s, &fh_split_back]; // gives it its type\n"
			            "        if crate::split::changes() { *%.*s = fh_split_back }\n",
			            FH_STR_ARGS(name), FH_STR_ARGS(name));
	}
	fh_buf_adds(out, "        Ok(fh_split_result)\n    })\n}\n");
}

/* ------------------------------------------------------------------------------------------------------- the test */

/* Appends the test without what only rustc --test understands: its functions are made public, and their paths are
 * listed. */
static int add_test(struct fh_buf *out, struct fh_buf *paths, struct fh_str test, struct fh_error *err)
{
	struct fh_str line, module = { "", 0 };
	bool marked = false;
	while (fh_next_line(&test, &line)) {
		struct fh_str code = skip(line, 0);
		if (fh_str_begins(code, "#[should_panic") || fh_str_begins(code, "#[ignore"))
			return fh_error_set(err, FH_E_UNAVAILABLE, "the test has functions that are to panic, or to be ignored");
		if (fh_str_begins(code, "#[cfg(test)]"))
			code = skip(code, 12);
		if (fh_str_begins(code, "#[test]")) {
			code = skip(code, 7);
			marked = true;
		}
		struct fh_str plain = fh_str_begins(code, "pub ") ? skip(code, 4) : code;
		if (fh_str_begins(plain, "mod "))
			module = fh_identifier(skip(plain, 4));
		if (marked && fh_str_begins(plain, "fn ")) {
			struct fh_str name = fh_identifier(skip(plain, 3));
			fh_buf_addf(paths, "(\"%.*s\", %.*s%s%.*s as fn()), ", FH_STR_ARGS(name), FH_STR_ARGS(module),
			            module.n ? "::" : "", FH_STR_ARGS(name));
			fh_buf_adds(out, "pub ");
			code = plain;
			marked = false;
		}
		fh_buf_add_str(out, code);
		fh_buf_addc(out, '\n');
	}
	if (paths->n == 0)
		return fh_error_set(err, FH_E_UNAVAILABLE, "the test has no #[test] functions");
	return 0;
}

int fh_rust_judge(struct fh_str declaration, struct fh_str test, struct fh_buf *out, struct fh_error *err)
{
	fh_auto_signature struct fh_signature s = { 0 };
	fh_auto_buf struct fh_buf paths = FH_BUF_INIT(0);
	int r = fh_rust_signature(declaration, &s, err);
	if (r < 0)
		return r;
	fh_buf_adds(out, "#![allow(warnings)]\nmod split;\nmod solution {\n");
	add_head(out, (struct fh_str){ declaration.p, s.start }, declaration, test, true);
	add_stand_in(out, &s);
	r = add_test(out, &paths, test, err);
	fh_buf_addf(out, "pub fn fh_split_judge() {\n    crate::split::judge(&[%s])\n}\n}\n", fh_buf_cstr(&paths));
	fh_buf_adds(out, "fn main() {\n    solution::fh_split_judge()\n}\n");
	return r;
}

/* -------------------------------------------------------------------------------------------------- the candidate */

/* prints an error on one line, with its position */
#define FH_RUST_SHORT "--error-format=short"
/* overflow panics, as under cargo test */
const char *const fh_rust_judge_flags[] = { "-Cdebug-assertions", FH_RUST_SHORT, NULL };
const char *const fh_rust_codec_flags[] = { "--crate-name", "fh_split", "--crate-type", "lib", NULL };
/* The crate's type is given because an attribute of the program might set another. Lints that the program denies stay
 * denied, except for an unused main, which nothing calls here. */
const char *const fh_rust_candidate_flags[] = {
	"--crate-type",       "bin",         "--extern", "fh_split=" FH_RUST_CODEC, "-Awarnings", "-Aunused",
	"-Cdebug-assertions", FH_RUST_SHORT, NULL
};

/* The program is the crate's root, unchanged. Attributes added before it may precede other inner attributes, but not a
 * byte order mark or a #! line. */
static void add_program(struct fh_buf *out, struct fh_str program)
{
	static const char mark[] = "\xef\xbb\xbf";
	struct fh_str line;
	if (fh_str_begins(program, mark))
		program = (struct fh_str){ program.p + strlen(mark), program.n - strlen(mark) };
	if (fh_str_begins(program, "#!") && !fh_str_begins(skip(program, 2), "[") && fh_next_line(&program, &line)) {
		fh_buf_add_str(out, line);
		fh_buf_addc(out, '\n');
	}
	fh_buf_adds(out, "#![no_main]");
	fh_buf_add_str(out, program);
}

/* Appends a type without the function's own lifetimes, which have no names where it is called. */
static void add_type(struct fh_buf *out, struct fh_str type)
{
	for (size_t i = 0; i < type.n; i++) {
		fh_buf_addc(out, type.p[i]);
		if (type.p[i] != '\'')
			continue;
		struct fh_str name = fh_identifier((struct fh_str){ type.p + i + 1, type.n - i - 1 });
		fh_buf_add_str(out, fh_str_eq(name, "static") ? name : fh_str("_"));
		i += name.n;
	}
}

static void add_argument(struct fh_buf *out, const struct fh_signature *s, size_t i)
{
	struct kept k = kept_of(s->parameters[i].type);
	fh_buf_addf(out, "    let %sfh_split_%zu: ", k.changed ? "mut " : "", i);
	fh_buf_adds(out, k.text ? "::fh_split::String" : k.slice ? "::fh_split::Vec<" : k.any ? "::fh_split::Box<" : "");
	if (!k.text)
		add_type(out, k.type);
	fh_buf_addf(out, "%s = ::fh_split::Get::get(fh_split_from)?;\n", k.slice || k.any ? ">" : "");
}

/* Values that are changed in place are converted before the call (back: after it, into the declared type). */
static void add_converted(struct fh_buf *out, const struct fh_signature *s, bool back)
{
	for (size_t i = 0; i < s->parameter_count; i++) {
		struct kept k = kept_of(s->parameters[i].type);
		if (!k.changed || k.any)
			continue;
		if (k.slice && !back)
			fh_buf_addf(out, "    let fh_split_length_%zu = fh_split_%zu.len();\n", i, i);
		else if (k.slice)
			fh_buf_addf(
			    out, "    if fh_split_%zu.len() != fh_split_length_%zu { ::core::panic!(\"a slice cannot grow\") }\n",
			    i, i);
		fh_buf_addf(out, "    let mut fh_split_%zu", i);
		if (back) {
			fh_buf_adds(out, k.slice ? ": ::fh_split::Vec<" : ": ");
			add_type(out, k.type);
			fh_buf_adds(out, k.slice ? ">" : "");
		} else if (k.slice || fh_str_begins(k.type, "Vec<")) { /* the program may take a slice, which tells no type */
			fh_buf_adds(out, ": ::fh_split::Vec<_>");
		}
		fh_buf_addf(out, " = ::fh_split::Fit::fit(fh_split_%zu);\n", i);
	}
}

/* The argument is converted if the program's parameter has another type. `dyn Any` cannot be, and values that are
 * changed in place are converted elsewhere. */
static void add_passed(struct fh_buf *out, const struct kept *k, size_t i, bool fit)
{
	if (fit && !k->changed && !k->any) {
		fh_buf_addf(out, "::fh_split::Fit::fit(fh_split_%zu)", i);
		return;
	}
	/* the content of the box, because a reference to the box would also be accepted as a reference to any type */
	fh_buf_addf(out, "%s%sfh_split_%zu", !k->reference ? "" : k->changed ? "&mut " : "&", k->any ? "*" : "", i);
}

/* Names that the declaration's types have by its `use` lines. The program need not import them: it may write the paths
 * out, or have other types. */
static void add_std_uses(struct fh_buf *out, struct fh_str declaration)
{
	struct fh_str line;
	while (fh_next_line(&declaration, &line)) {
		struct fh_str use = skip(line, 0);
		if (!fh_str_begins(use, "use ") || !memchr(use.p, ';', use.n))
			continue;
		if (!fh_str_eq(fh_identifier(skip(use, 4)), "std"))
			continue;
		fh_buf_adds(out, "    ");
		fh_buf_add_str(out, line);
		fh_buf_addc(out, '\n');
	}
}

static bool is_result(struct fh_str type)
{
	return fh_str_begins(type, "Result<");
}

bool fh_rust_changes(struct fh_str declaration)
{
	fh_auto_signature struct fh_signature s = { 0 };
	bool any = false;
	if (fh_rust_signature(declaration, &s, NULL) < 0)
		return false;
	for (size_t i = 0; i < s.parameter_count; i++)
		any = any || kept_of(s.parameters[i].type).changed;
	return any;
}

bool fh_rust_can_fit_more(struct fh_str declaration)
{
	fh_auto_signature struct fh_signature s = { 0 };
	return fh_rust_changes(declaration) || (fh_rust_signature(declaration, &s, NULL) >= 0 && is_result(s.result));
}

int fh_rust_candidate(struct fh_str declaration, struct fh_str program, enum fh_rust_fit how, struct fh_buf *out,
                      struct fh_error *err)
{
	fh_auto_signature struct fh_signature s = { 0 };
	bool fit = how != FH_RUST_AS_DECLARED;
	int r = fh_rust_signature(declaration, &s, err);
	if (r < 0)
		return r;
	bool error_text = how == FH_RUST_FIT_MORE && is_result(s.result);
	add_program(out, program);
	fh_buf_adds(out, "\n::fh_split::program! { |fh_split_from, fh_split_to| {\n");
	if (fit)
		add_std_uses(out, declaration);
	for (size_t i = 0; i < s.parameter_count; i++)
		add_argument(out, &s, i);
	if (how == FH_RUST_FIT_MORE)
		add_converted(out, &s, false);
	if (error_text)
		fh_buf_adds(out, "    use ::fh_split::{DebuggedError as _, DisplayedError as _, SilentError as _};\n");
	/* a value of another type than the declared one would be encoded differently in the reply */
	fh_buf_adds(out, "    let fh_split_result: ");
	add_type(out, s.result.n > 0 ? s.result : fh_str("()"));
	fh_buf_adds(out, fit ? " = ::fh_split::Fit::fit(" : " = ");
	fh_buf_add_str(out, s.name);
	fh_buf_addc(out, '(');
	for (size_t i = 0; i < s.parameter_count; i++) {
		struct kept k = kept_of(s.parameters[i].type);
		fh_buf_adds(out, i ? ", " : "");
		add_passed(out, &k, i, fit);
	}
	fh_buf_addc(out, ')');
	if (error_text)
		fh_buf_adds(out, ".map_err(|fh_split_error| (&&&::fh_split::ErrorOf(fh_split_error)).fh_split_text())");
	fh_buf_adds(out, fit ? ");\n" : ";\n");
	fh_buf_adds(out, "    ::fh_split::Put::put(&fh_split_result, fh_split_to);\n");
	if (how == FH_RUST_FIT_MORE) /* now that the result, which may borrow from the arguments, is no longer needed */
		add_converted(out, &s, true);
	for (size_t i = 0; i < s.parameter_count; i++)
		if (kept_of(s.parameters[i].type).changed)
			fh_buf_addf(out, "    ::fh_split::Put::put(&fh_split_%zu, fh_split_to);\n", i);
	fh_buf_adds(out, "} }\n");
	return 0;
}

/* ------------------------------------------------------------------------------------------------- in one process */

/* The crate's type is given because an attribute of the program might set another. Lints that the program denies must
 * not apply to our code or to unused parts of the declaration. */
const char *const fh_rust_unit_flags[] = { "--crate-type",       "bin",         "-Awarnings", "-Aunused",
	                                       "-Cdebug-assertions", FH_RUST_SHORT, NULL };

/* A lint that the program forbids for its crate also applies to the driver, which is in it, and cannot be allowed
 * there; a denied lint can. So `forbid` becomes `deny`. Only comments may precede inner attributes. */
static void add_without_forbid(struct fh_buf *out, struct fh_str program)
{
	static const char forbid[] = "#![forbid(";
	struct fh_str rest = program, line;
	while (fh_next_line(&rest, &line)) {
		struct fh_str code = skip(line, 0);
		if (code.n > 0 && !fh_str_begins(code, "#!") && !fh_str_begins(code, "//"))
			break;
		if (fh_str_begins(code, forbid)) {
			fh_buf_adds(out, "#![deny(");
			code = (struct fh_str){ code.p + strlen(forbid), code.n - strlen(forbid) };
		}
		fh_buf_add_str(out, code);
		fh_buf_addc(out, '\n');
		program = rest;
	}
	fh_buf_add_str(out, program);
}

int fh_rust_unit(struct fh_str declaration, struct fh_str completion, struct fh_str test, struct fh_str driver,
                 struct fh_buf *out, struct fh_error *err)
{
	fh_auto_buf struct fh_buf paths = FH_BUF_INIT(0), program = FH_BUF_INIT(0), root = FH_BUF_INIT(0);
	fh_auto_buf struct fh_buf behind = FH_BUF_INIT(0);
	fh_buf_add_str(&behind, completion);
	fh_buf_addc(&behind, '\n');
	fh_buf_add_str(&behind, test);
	add_head(&program, declaration, declaration, fh_buf_str(&behind), !has_main(completion));
	fh_buf_add_str(&program, completion);
	add_without_forbid(&root, fh_buf_str(&program));
	add_program(out, fh_buf_str(&root));
	/* An attribute at the program's end that has no item gets this constant, instead of the test. The names by which
	 * the test's functions are listed, and those by which it compares and makes values, are not the program's, whatever
	 * that defines. */
	fh_buf_adds(out, "\nconst _: () = ();\n"
	                 "mod fh_test {\n"
	                 "#![allow(unused, nonstandard_style, missing_docs, unreachable_pub)]\n"
	                 "extern crate std as fh_std;\n"
	                 "use self::fh_std::{assert, assert_eq, assert_ne, debug_assert, debug_assert_eq, debug_assert_ne, "
	                 "format, matches, panic, unreachable, vec};\n"
	                 "use self::fh_std::{option::Option::{None, Some}, result::Result::{Err, Ok}};\n"
	                 "use super::*;\n");
	int r = add_test(out, &paths, test, err);
	fh_buf_addf(out, "pub const FH_JUDGE_TESTS: crate::fh_judge::Tests = &[%s];\n}\n", fh_buf_cstr(&paths));
	fh_buf_add_str(out, driver);
	return r;
}
