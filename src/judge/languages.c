/* SPDX-License-Identifier: MIT */
#include "judge/languages.h"

#include "judge/go_units.h"
#include "judge/java_units.h"
#include "judge/rust_units.h"

struct fh_judge_parts fh_judge_parts_of(const struct fh_judge_problem *problem, const struct fh_judge_sample *sample)
{
	struct fh_str nothing = { "", 0 };
	return (struct fh_judge_parts){ problem,
		                            sample->is_whole ? nothing : fh_buf_str(&problem->head),
		                            { sample->completion, sample->size } };
}

static void add_program(struct fh_buf *out, const struct fh_judge_parts *p)
{
	fh_buf_add_str(out, p->head);
	fh_buf_add_str(out, p->completion);
}

static void whole_script(struct fh_buf *out, const struct fh_judge_parts *p)
{
	add_program(out, p);
	fh_buf_addc(out, '\n');
	fh_buf_add_str(out, fh_buf_str(&p->problem->tail));
}

void fh_judge_parts_for_output(struct fh_buf *out, const struct fh_judge_parts *p)
{
	add_program(out, p);
	if (p->problem->tail.n > 0)
		fh_buf_addc(out, '\n');
	fh_buf_add_str(out, fh_buf_str(&p->problem->tail));
}

/* The test is a unit of text of its own for errors, and no macro of the candidate renames its main. A main of the
 * candidate's is called otherwise. */
static void whole_cpp(struct fh_buf *out, const struct fh_judge_parts *p)
{
	fh_buf_adds(out, "#define main fh_main_of_program\n#line 1 \"program.cpp\"\n");
	add_program(out, p);
	fh_buf_adds(out, "\n#undef main\n#line 1 \"test.cpp\"\n");
	fh_buf_add_str(out, fh_buf_str(&p->problem->tail));
	fh_buf_addc(out, '\n');
}

static void input_python(struct fh_buf *in, const struct fh_judge_parts *p, const char *secret)
{
	fh_auto_buf struct fh_buf program = FH_BUF_INIT(0);
	whole_script(&program, p);
	fh_buf_addf(in, "%015zu\n", program.n);
	fh_buf_add_str(in, fh_buf_str(&program));
	fh_buf_add(in, secret, FH_SECRET_SIZE);
}

static void input_javascript(struct fh_buf *in, const struct fh_judge_parts *p, const char *secret)
{
	fh_buf_addf(in, "%015zu\n%015zu\n", p->head.n + p->completion.n, p->problem->tail.n);
	add_program(in, p);
	fh_buf_add_str(in, fh_buf_str(&p->problem->tail));
	fh_buf_add(in, secret, FH_SECRET_SIZE);
}

static void input_secret(struct fh_buf *in, const struct fh_judge_parts *p, const char *secret)
{
	fh_buf_add(in, secret, FH_SECRET_SIZE);
}

void fh_judge_unit_release(struct fh_judge_unit *u)
{
	fh_buf_release(&u->code);
	for (size_t i = 0; i < u->count; i++)
		fh_buf_release(&u->files[i].text);
	*u = (struct fh_judge_unit){ .count = 0 };
}

static void add_file(struct fh_judge_unit *u, const char *name, struct fh_str text)
{
	u->files[u->count].name = name;
	fh_buf_add_str(&u->files[u->count++].text, text);
}

/* The compiler's order, which is that of what runs before main: the test's file, main.go, comes last. */
static const char *const go_flags[] = { "names.go", "solution.go", NULL };

static int unit_go(struct fh_judge_unit *u, const struct fh_judge_parts *p, const struct fh_judge_drivers *d,
                   struct fh_error *err)
{
	const struct fh_go_task task = { .declaration = fh_buf_str(&p->problem->head),
		                             .test = fh_buf_str(&p->problem->tail),
		                             .reference = fh_buf_str(&p->problem->reference) };
	fh_auto_go_whole w = { .key = FH_BUF_INIT(0) };
	int r = fh_go_whole(&task, p->head, p->completion, &w, err);
	if (r < 0)
		return r;
	fh_buf_add_str(&u->code, fh_buf_str(&w.main));
	add_file(u, go_flags[0], fh_buf_str(&w.names));
	add_file(u, go_flags[1], fh_buf_str(&w.solution));
	add_file(u, "src/fhsplit/judge.go", fh_buf_str(&d->driver));
	add_file(u, "src/fhsplit/assert.go", fh_buf_str(&d->library));
	add_file(u, "src/fhsplit/key.go", fh_buf_str(&w.key));
	return 0;
}

static int unit_rust(struct fh_judge_unit *u, const struct fh_judge_parts *p, const struct fh_judge_drivers *d,
                     struct fh_error *err)
{
	return fh_rust_unit(p->head, p->completion, fh_buf_str(&p->problem->tail), fh_buf_str(&d->driver), &u->code, err);
}

static int beside_rust(struct fh_split *s, struct fh_client *client, const struct fh_judge_parts *p,
                       struct fh_plan *plan, struct fh_error *err)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(0);
	struct fh_str nothing = { "", 0 };
	int r = fh_rust_unit(p->head, p->completion, fh_buf_str(&p->problem->tail), nothing, &text, err);
	return r < 0 ? r : fh_rust_add_crates(s, client, fh_buf_str(&text), plan, err);
}

static int beside_java(struct fh_split *s, struct fh_client *client, const struct fh_judge_parts *p,
                       struct fh_plan *plan, struct fh_error *err)
{
	fh_java_beside_test(plan, p);
	return 0;
}

/* Without packages there is nothing for Python's site module to find: starting takes a third less without it. */
static const char *const python_flags[] = { "-I", "-S", NULL };
static const char *const cpp_flags[] = { "-w", "-Wl,--wrap=main", NULL };

const struct fh_judge_language_info fh_judge_languages[FH_JUDGE_LANGUAGE_COUNT_] = {
	[FH_JUDGE_PYTHON] = {
		.name = "python", .driver = "guest/judge.py", .whole = whole_script, .input = input_python,
		.flags = python_flags, .probe = "import sys", .probe_test = "print(sys.implementation.name, sys.version)\nassert 1 + 1 == 2",
		.split_probe_name = "version",
		.split_probe = "def version():\n    import sys\n    print(sys.implementation.name, sys.version)\n    return 1 + 1\n",
		.split_probe_test = "assert version() == 2",
		.version = "import sys\nprint(sys.implementation.name, sys.version)",
	},
	[FH_JUDGE_JAVASCRIPT] = {
		.name = "javascript", .driver = "guest/judge.js", .library = "guest/program.js", .whole = whole_script, .input = input_javascript,
		.probe = "const version = () => process.version",
		.probe_test = "console.log(version()); console.assert(1 + 1 === 2)",
		.version = "console.log(process.version)",
	},
	[FH_JUDGE_CPP] = {
		.name = "cpp", .driver = "guest/judge.cpp", .whole = whole_cpp, .input = input_secret, .compiled = true,
		.flags = cpp_flags, .packages_flags = cpp_flags, .probe = "#include <stdio.h>\n#include <assert.h>",
		.probe_test = "int main(){ assert(1 + 1 == 2); printf(\"%s %ld\\n\", __VERSION__, (long)__cplusplus); }",
		.version = "#include <stdio.h>\nint main() { printf(\"%s %ld\\n\", __VERSION__, (long)__cplusplus); }",
	},
	[FH_JUDGE_C] = {
		.name = "c",
		.version = "#include <stdio.h>\nint main(void) { printf(\"%s %ld\\n\", __VERSION__, __STDC_VERSION__); }",
	},
	[FH_JUDGE_BASH] = { .name = "bash", .version = "echo \"$BASH_VERSION\"" },
	[FH_JUDGE_JAVA] = {
		.name = "java", .driver = "guest/Judge.java", .driver_file = "Judge.java", .whole = whole_script,
		.input = input_secret, .beside = beside_java, .probe = "class Solution { }",
		.probe_test = "public class Main { public static void main(String[] a) {"
		              " System.out.println(System.getProperty(\"java.version\")); } }",
		.version = "public class Main { public static void main(String[] a) {"
		           " System.out.println(System.getProperty(\"java.version\")); } }",
	},
	[FH_JUDGE_GO] = {
		.name = "go", .driver = "guest/judge.go", .library = "guest/split_assert.go", .whole = whole_script,
		.input = input_secret, .unit = unit_go, .mark = ".go:", .flags = go_flags, .packages_flags = go_flags,
		.probe = "package main\nimport (\"os\"; \"runtime\")\nfunc version() { os.Stdout.WriteString(runtime.Version()) }\n",
		.probe_test = "func TestVersion(t *testing.T) { version() }\n",
		.version = "package main\nimport (\"os\"; \"runtime\")\nfunc main() { os.Stdout.WriteString(runtime.Version()) }",
	},
	[FH_JUDGE_RUST] = {
		.name = "rust", .driver = "guest/judge.rs", .whole = whole_script, .input = input_secret,
		.unit = unit_rust, .beside = beside_rust, .flags = fh_rust_unit_flags, .packages_flags = fh_rust_unit_flags,
		.probe = "fn main() {}", .probe_test = "#[test]\nfn version() { println!(\"rust\"); }",
		.version = "fn main() { println!(\"rust\"); }",
	},
};

const char *fh_judge_language_name(enum fh_judge_language l)
{
	return fh_judge_languages[l].name;
}

enum fh_judge_language fh_judge_language_of_name(const char *name)
{
	enum fh_judge_language l = 0;
	while (l < FH_JUDGE_LANGUAGE_COUNT_ && !fh_streq(fh_judge_languages[l].name, name))
		l++;
	return l;
}

void fh_judge_program(const struct fh_judge_problem *problem, const struct fh_judge_sample *sample, struct fh_buf *out)
{
	struct fh_judge_parts p = fh_judge_parts_of(problem, sample);
	if (problem->output)
		fh_judge_parts_for_output(out, &p);
	else
		fh_judge_languages[problem->language].whole(out, &p);
}
