/* SPDX-License-Identifier: MIT */
/* A task and a program in a compiled language, as they become what its compiler gets. */
#include "fuzz.h"
#include "judge/languages/cpp_adapter.h"
#include "judge/languages/cpp_units.h"
#include "judge/languages/go_units.h"
#include "judge/languages/java_units.h"
#include "judge/languages/rust_units.h"

/* What a unit is made of, each ending where its allocation does, and what came of it. */
struct units {
	struct fh_str declaration, test, program;
	struct fh_buf out, more;
	struct fh_error err;
};

/* No unit is made without a reason that can be told. */
static bool is_made(const struct units *u, int r)
{
	FH_FUZZ_CHECK(r >= 0 || (r == -(int)FH_E_UNAVAILABLE && u->err.message[0]));
	return r >= 0;
}

static bool begins(const struct fh_buf *b, const char *with)
{
	return fh_str_begins(fh_buf_str(b), with);
}

static size_t lines_of(struct fh_str s)
{
	size_t n = 0;
	for (size_t i = 0; i < s.n; i++)
		n += s.p[i] == '\n';
	return n;
}

static void try_cpp(struct units *u)
{
	const struct fh_cpp_texts texts = { fh_str("codec"), fh_str("sides"), fh_str("any"), fh_str("engines") };
	if (is_made(u, fh_cpp_units(&texts, u->declaration, u->test, &u->out, &u->more, &u->err)))
		FH_FUZZ_CHECK(begins(&u->out, "codecsides\n"));
	fh_buf_truncate(&u->out, 0);
	int r = fh_cpp_adapter(fh_str("helpers"), u->declaration, 1, u->program, &u->out, &u->err);
	if (is_made(u, r))
		FH_FUZZ_CHECK(r ? begins(&u->out, "\n#line 1 \"" FH_CPP_ADAPTER "\"\n") : u->out.n == 0);
}

static void try_go(struct units *u)
{
	fh_auto_buf struct fh_buf file = FH_BUF_INIT(0);
	fh_buf_add_str(&file, u->test);
	(void)fh_go_test_file(&file, &u->err);
	(void)fh_go_declaration_of(u->program, fh_str("f"));
	static const struct fh_str none = { "", 0 };
	struct fh_go_task task = { u->declaration, u->test, u->program };
	struct fh_go_whole whole;
	if (is_made(u, fh_go_judge(u->declaration, u->test, &u->out, &u->err)))
		FH_FUZZ_CHECK(begins(&u->out, "package main\n"));
	const struct fh_str heads[] = { none, u->declaration };
	for (size_t i = 0; i < FH_ARRAY_SIZE(heads); i++) {
		fh_buf_truncate(&u->out, 0);
		fh_buf_truncate(&u->more, 0);
		if (is_made(u, fh_go_candidate(u->declaration, u->test, heads[i], u->program, heads[i].n == 0, &u->out,
		                               &u->more, &u->err)))
			FH_FUZZ_CHECK(begins(&u->out, "package main\n") && begins(&u->more, "package main\n"));
		if (is_made(u, fh_go_whole(&task, heads[i], u->program, &whole, &u->err)))
			fh_go_whole_release(&whole);
	}
}

static void try_java(struct units *u)
{
	struct fh_judge_problem declared = { .language = FH_JUDGE_JAVA }, by_reference = { .language = FH_JUDGE_JAVA };
	fh_buf_add_str(&declared.head, u->declaration);
	fh_buf_add_str(&by_reference.reference, u->program);
	fh_buf_add_str(&by_reference.tail, u->test);
	(void)is_made(u, fh_java_stand_in(&declared, &u->more, &u->out, &u->err));
	(void)is_made(u, fh_java_stand_in(&by_reference, &u->more, &u->out, &u->err));
	(void)fh_java_test_file(&by_reference.tail, &u->err);
	fh_judge_problem_release(&declared);
	fh_judge_problem_release(&by_reference);
	fh_buf_truncate(&u->more, 0);
	fh_java_imports(u->declaration, &u->out);
	fh_java_test(u->test, &u->out);
	fh_buf_truncate(&u->out, 0);
	fh_java_program(u->program, &u->out);
	FH_FUZZ_CHECK(u->out.n == u->program.n);
	fh_java_program_beside_main(u->program, &u->more);
	FH_FUZZ_CHECK(lines_of(fh_buf_str(&u->more)) == lines_of(u->program));
	(void)fh_java_defines(u->program, fh_str("Solution"));
}

static void try_rust(struct units *u)
{
	(void)is_made(u, fh_rust_judge(u->declaration, u->test, &u->out, &u->err));
	fh_buf_truncate(&u->out, 0);
	fh_rust_program(&u->out, u->declaration, u->program);
	for (int fit = 0; fit < 2; fit++) {
		fh_buf_truncate(&u->more, 0);
		if (is_made(u, fh_rust_candidate(u->declaration, fh_buf_str(&u->out), fit, &u->more, &u->err)))
			FH_FUZZ_CHECK(u->more.n > u->out.n);
	}
	fh_buf_truncate(&u->more, 0);
	(void)is_made(u, fh_rust_unit(u->declaration, u->program, u->test, fh_str("driver"), &u->more, &u->err));
	for (size_t i = 0; i < FH_RUST_CRATES; i++)
		(void)fh_rust_mentions(u->program, &fh_rust_crates[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const languages[])(struct units *) = { try_cpp, try_go, try_java, try_rust };
	struct fh_fuzz_input in = { data, size };
	uint64_t language = fh_fuzz_number(&in, 1) % FH_ARRAY_SIZE(languages);
	struct fh_str parts[3];
	char *copies[FH_ARRAY_SIZE(parts)];
	for (size_t i = 0; i < FH_ARRAY_SIZE(parts); i++) {
		bool last = i + 1 == FH_ARRAY_SIZE(parts);
		parts[i] = fh_fuzz_bytes(&in, last ? in.n : fh_fuzz_number(&in, 2));
		copies[i] = fh_fuzz_copy((const uint8_t *)parts[i].p, parts[i].n);
		parts[i].p = copies[i];
	}
	struct units u = { .declaration = parts[0], .test = parts[1], .program = parts[2], .out = FH_BUF_INIT(0) };
	languages[language](&u);
	fh_buf_release(&u.out);
	fh_buf_release(&u.more);
	for (size_t i = 0; i < FH_ARRAY_SIZE(copies); i++)
		free(copies[i]);
	return 0;
}
